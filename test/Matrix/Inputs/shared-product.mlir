// A product of two parameters that both layers use.
module {
  func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, d1]>}, %t: tensor<8x4xf32> {piper.input = #piper.input<"t", dims = [batch, d1]>}, %v: tensor<4x4xf32> {piper.param = #piper.param<"v", init = normal<0.5>>}, %g: tensor<4xf32> {piper.param = #piper.param<"g", init = normal<0.5>>}) -> (tensor<f32> {piper.output = "loss"}) {
    %_1 = piper.mul %v, %g {piper.tags = #piper.tags<layer = 0>} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %_2 = piper.matmul %x, %_1 {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %_3 = piper.tanh %_2 {piper.tags = #piper.tags<layer = 0>} : tensor<8x4xf32>
    %_4 = piper.matmul %_3, %_1 {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %_5 = piper.tanh %_4 {piper.tags = #piper.tags<layer = 1>} : tensor<8x4xf32>
    %_6 = piper.sub %_5, %t {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %_7 = piper.square %_6 {piper.tags = #piper.tags<layer = 1>} : tensor<8x4xf32>
    %_8 = piper.reduce_sum %_7 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>) -> tensor<f32>
    %_9 = piper.constant dense<8> : tensor<i64>
    %_10 = piper.divide %_8, %_9 : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %_10 : tensor<f32>
  }
}

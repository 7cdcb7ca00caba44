// Two layers and the sum of the squares of all weights, without tags of its own.
module {
  func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, d1]>}, %t: tensor<8x4xf32> {piper.input = #piper.input<"t", dims = [batch, d1]>}, %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0", init = normal<0.5>>}, %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1", init = normal<0.5>>}) -> (tensor<f32> {piper.output = "loss"}) {
    %_1 = piper.matmul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %_2 = piper.tanh %_1 {piper.tags = #piper.tags<layer = 0>} : tensor<8x4xf32>
    %_3 = piper.matmul %_2, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %_4 = piper.tanh %_3 {piper.tags = #piper.tags<layer = 1>} : tensor<8x4xf32>
    %_5 = piper.sub %_4, %t {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %_6 = piper.square %_5 {piper.tags = #piper.tags<layer = 1>} : tensor<8x4xf32>
    %_7 = piper.reduce_sum %_6 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>) -> tensor<f32>
    %_8 = piper.constant dense<8> : tensor<i64>
    %_9 = piper.divide %_7, %_8 : (tensor<f32>, tensor<i64>) -> tensor<f32>
    %_10 = piper.square %w0 : tensor<4x4xf32>
    %_11 = piper.reduce_sum %_10 {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %_12 = piper.scale %_11 {factor = 1.000000e-02 : f64} : tensor<f32>
    %_13 = piper.add %_9, %_12 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %_14 = piper.square %w1 : tensor<4x4xf32>
    %_15 = piper.reduce_sum %_14 {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %_16 = piper.scale %_15 {factor = 1.000000e-02 : f64} : tensor<f32>
    %_17 = piper.add %_13, %_16 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %_17 : tensor<f32>
  }
}

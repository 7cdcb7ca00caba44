// Two stages of one segment each; the second has no parameter.

func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %w: tensor<3x3xf32> {piper.param = #piper.param<"w", init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %h = piper.matmul %x, %w {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %q = piper.square %h {piper.tags = #piper.tags<layer = 1>} : tensor<4x3xf32>
  %loss = piper.reduce_sum %q {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

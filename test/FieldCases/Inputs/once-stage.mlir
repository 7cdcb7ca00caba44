// The segment of v runs once in a step.

func.func @train(%x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>}, %w: tensor<3xf32> {piper.param = #piper.param<"w", init = ones>}, %v: tensor<3xf32> {piper.param = #piper.param<"v", init = ones>}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.mul %x, %w {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %b = piper.square %v {piper.tags = #piper.tags<layer = 1>} : tensor<3xf32>
  %c = piper.mul %a, %b {piper.tags = #piper.tags<layer = 2>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %s = piper.reduce_sum %c {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 2>} : (tensor<4x3xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
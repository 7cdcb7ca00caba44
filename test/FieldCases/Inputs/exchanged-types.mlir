// Four layers. The first makes numbers, places and a mask; each later one reads one of them or more, the last
// all, which are outputs too, with `x` as it was given.
module {
  func.func @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %place: tensor<4xi64> {piper.input = #piper.input<"place", dims = [batch]>},
                   %flag: tensor<4x6xi32> {piper.input = #piper.input<"flag", dims = [batch, bit]>},
                   %a: tensor<1xf32> {piper.param = #piper.param<"gain.x", dims = [one], init = ones>},
                   %table: tensor<5x1xf32> {piper.param = #piper.param<"table", dims = [row, one], init = normal<1.0>>},
                   %b: tensor<1xf32> {piper.param = #piper.param<"gain.mask", dims = [one], init = ones>},
                   %c: tensor<1xf32> {piper.param = #piper.param<"gain.last", dims = [one], init = ones>})
      -> (tensor<f32> {piper.output = "loss"}, tensor<4xi32> {piper.output = "row"}, tensor<4x6xi1> {piper.output = "mask"},
          tensor<4x4xf32> {piper.output = "x"}) {
    %h = piper.mul %x, %a {piper.tags = #piper.tags<layer = 0>} : (tensor<4x4xf32>, tensor<1xf32>) -> tensor<4x4xf32>
    %row = piper.cast %place {piper.tags = #piper.tags<layer = 0>} : (tensor<4xi64>) -> tensor<4xi32>
    %mask = piper.cast %flag {piper.tags = #piper.tags<layer = 0>} : (tensor<4x6xi32>) -> tensor<4x6xi1>
    %e = piper.embedding %table, %row {piper.tags = #piper.tags<layer = 1>} : (tensor<5x1xf32>, tensor<4xi32>) -> tensor<4x1xf32>
    %h1 = piper.add %h, %e {piper.tags = #piper.tags<layer = 1>} : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
    %m2 = piper.cast %mask {piper.tags = #piper.tags<layer = 2>} : (tensor<4x6xi1>) -> tensor<4x6xf32>
    %z2 = piper.mul %m2, %b {piper.tags = #piper.tags<layer = 2>} : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<4x6xf32>
    %s2 = piper.reduce_sum %z2 {dims = array<i64: 1>, piper.tags = #piper.tags<layer = 2>} : (tensor<4x6xf32>) -> tensor<4xf32>
    %t2 = piper.reshape %s2 {piper.tags = #piper.tags<layer = 2>} : (tensor<4xf32>) -> tensor<4x1xf32>
    %h2 = piper.add %h1, %t2 {piper.tags = #piper.tags<layer = 2>} : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
    %m3 = piper.cast %mask {piper.tags = #piper.tags<layer = 3>} : (tensor<4x6xi1>) -> tensor<4x6xf32>
    %s3 = piper.reduce_sum %m3 {dims = array<i64: 1>, piper.tags = #piper.tags<layer = 3>} : (tensor<4x6xf32>) -> tensor<4xf32>
    %r3 = piper.cast %row {piper.tags = #piper.tags<layer = 3>} : (tensor<4xi32>) -> tensor<4xf32>
    %q3 = piper.mul %s3, %r3 {piper.tags = #piper.tags<layer = 3>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c3 = piper.mul %q3, %c {piper.tags = #piper.tags<layer = 3>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
    %sh = piper.reduce_sum %h2 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 3>} : (tensor<4x4xf32>) -> tensor<f32>
    %sc = piper.reduce_sum %c3 {dims = array<i64: 0>, piper.tags = #piper.tags<layer = 3>} : (tensor<4xf32>) -> tensor<f32>
    %loss = piper.add %sh, %sc {piper.tags = #piper.tags<layer = 3>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss, %row, %mask, %x : tensor<f32>, tensor<4xi32>, tensor<4x6xi1>, tensor<4x4xf32>
  }
}

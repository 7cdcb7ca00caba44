// Sums of inputs alone that need ops of the body which need such sums. Right: the body and what runs before it both get what
// they read (it crashed), with the numbers of one device for every kind.

// RUN: %python %S/Inputs/every_schedule.py 4 1 2 | grep 'chunks=1 ' | sed 's/^run/try/' > %t.cells
// RUN: timeout 60 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 0 wrong

func.func @train(
    %f0: tensor<4x2xf32> {piper.input = #piper.input<"f0", dims = [batch, d1]>},
    %p0: tensor<2xf32> {piper.param = #piper.param<"p0", init = ones>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %3 = piper.mul %f0, %p0 {piper.tags = #piper.tags<layer = 1>} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %4 = piper.reduce_sum %f0 {dims = array<i64: 0>, keep_dims, piper.tags = #piper.tags<layer = 1>} : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %5 = piper.sub %f0, %4 {piper.tags = #piper.tags<layer = 1>} : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %6 = piper.reduce_sum %3 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<4x2xf32>) -> tensor<f32>
  %7 = piper.reduce_sum %5 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<4x2xf32>) -> tensor<f32>
  %8 = piper.add %6, %7 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %8 : tensor<f32>
}

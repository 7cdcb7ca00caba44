// N15: an update ordered before a reader of its parameter. Trial: no task of the body has a backward: the gradient of w is
// that of its squares alone, and forwards of all micro-batches read w. Right: every kind runs; the result h is x w with w
// before its update (of ones: the sums of the rows of x), dw = 2 w / 4.

// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:1,4,3
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1 pipeline-parallel=1 micro-batches=2" --inputs %t.inputs \
// RUN:     --dump-gradients %t.gradients --dump-outputs %t.outputs
// RUN: %python %S/Inputs/update_before_reader.py %t.inputs %t.gradients %t.outputs

// RUN: %python %S/Inputs/every_schedule.py 2 1 2 | grep 'chunks=1 ' > %t.cells
// RUN: %python %S/Inputs/every_schedule.py 4 2 | grep 'dualpipe ' >> %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 17 match, 0 refused, 0 wrong

#a = #piper.tags<layer = 0>
#b = #piper.tags<layer = 1>
module {
func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %w: tensor<3x3xf32> {piper.param = #piper.param<"w", init = ones>})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4x3xf32> {piper.output = "h"}, tensor<4x3xf32> {piper.output = "g"}) {
  %g = piper.tanh %x {piper.tags = #a} : tensor<4x3xf32>
  %h = piper.matmul %x, %w {piper.tags = #b} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %s = piper.reduce_sum %x {dims = array<i64: 0, 1>, piper.tags = #b} : (tensor<4x3xf32>) -> tensor<f32>
  %q = piper.square %w {piper.tags = #b} : tensor<3x3xf32>
  %r = piper.reduce_sum %q {dims = array<i64: 0, 1>, piper.tags = #b} : (tensor<3x3xf32>) -> tensor<f32>
  %l = piper.add %s, %r {piper.tags = #b} : (tensor<f32>, tensor<f32>) -> tensor<f32>

  %n = piper.constant dense<4> : tensor<i64>
  %loss = piper.divide %l, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss, %h, %g : tensor<f32>, tensor<4x3xf32>, tensor<4x3xf32>
}
}

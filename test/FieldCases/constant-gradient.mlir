// N14: a gradient that is constant over the batch. Trial: sum(x + p) + sum(x p) over 4: the first sum adds 1 to each
// element of dp whatever the batch, the second the mean of x. Right: dp = 1 + sum_i x_i / 4 for every number of
// micro-batches, in every kind of schedule.

// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:1,4,3
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1" --inputs %t.inputs --dump-gradients %t.1
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1 micro-batches=2" --inputs %t.inputs --dump-gradients %t.2
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1 micro-batches=4" --inputs %t.inputs --dump-gradients %t.4
// RUN: %python %S/Inputs/constant_gradient.py %t.inputs %t.1 %t.2 %t.4

// RUN: %python %S/Inputs/every_schedule.py 4 1 | grep 'chunks=1 ' > %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 8 match, 0 refused, 0 wrong

#a = #piper.tags<layer = 0>
module {
func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %p: tensor<3xf32> {piper.param = #piper.param<"p", init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %h = piper.add %x, %p {piper.tags = #a} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %k = piper.mul %x, %p {piper.tags = #a} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %s1 = piper.reduce_sum %h {dims = array<i64: 0, 1>, piper.tags = #a} : (tensor<4x3xf32>) -> tensor<f32>
  %s2 = piper.reduce_sum %k {dims = array<i64: 0, 1>, piper.tags = #a} : (tensor<4x3xf32>) -> tensor<f32>
  %l = piper.add %s1, %s2 {piper.tags = #a} : (tensor<f32>, tensor<f32>) -> tensor<f32>

  %n = piper.constant dense<4> : tensor<i64>
  %loss = piper.divide %l, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}
}

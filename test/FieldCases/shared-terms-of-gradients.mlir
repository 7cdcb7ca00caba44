// N14: gradients that have terms of single samples beside terms that are equal for all of them. Trial:
// sum(relu(x + p) + p), sum((x + p) p), the row sum of a weight as a bias. Right: those of M = 1, in every kind.

// RUN: %python %S/Inputs/every_schedule.py 4 1 2 | grep 'chunks=1 ' > %t.cells
// RUN: echo "run micro-batches=2 recompute=true" >> %t.cells
// RUN: echo "run pipeline-parallel=2 micro-batches=4 schedule=dualpipe" >> %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 18 match, 0 refused, 0 wrong

#a = #piper.tags<layer = 0>
#b = #piper.tags<layer = 1>
func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %p: tensor<3xf32> {piper.param = #piper.param<"p", init = normal<0.5>>},
    %w: tensor<3x3xf32> {piper.param = #piper.param<"w", init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %h = piper.add %x, %p {piper.tags = #a} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %r = piper.relu %h {piper.tags = #a} : tensor<4x3xf32>
  %k = piper.add %r, %p {piper.tags = #a} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %hp = piper.mul %h, %p {piper.tags = #b} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %bias = piper.reduce_sum %w {dims = array<i64: 0>, piper.tags = #b} : (tensor<3x3xf32>) -> tensor<3xf32>
  %y = piper.matmul %x, %w {piper.tags = #b} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %yb = piper.add %y, %bias {piper.tags = #b} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %z = piper.sub %hp, %yb {piper.tags = #b} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %z2 = piper.add %z, %k {piper.tags = #b} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %l = piper.reduce_sum %z2 {dims = array<i64: 0, 1>, piper.tags = #b} : (tensor<4x3xf32>) -> tensor<f32>
  %n = piper.constant dense<4> : tensor<i64>
  %loss = piper.divide %l, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// N16: a loss that is not linear in its sums. Trial: the root of a mean, whose seed depends on all samples. Right: it runs
// where the batch is whole, in a pipeline too, with the gradient of the closed form; where it is split, it is refused for
// that, at the op that is not linear.

// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:1,4,3
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1" --inputs %t.inputs --dump-gradients %t.gradients
// RUN: %python %S/Inputs/loss_not_linear.py root %t.inputs %t.gradients

// RUN: %python %S/Inputs/every_schedule.py 1 1 2 | grep 'chunks=1 ' | grep '^run' > %t.cells
// RUN: echo "run micro-batches=1 recompute=true" >> %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: {{[0-9]+}} match, 0 refused, 0 wrong

// RUN: not piper-opt %s --piper-compile="micro-batches=2 threads=1" 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: loss-not-linear.mlir:[[#@LINE+21]]:{{[0-9]+}}: error: expects the loss to be linear in what is summed over 'batch', so that it can be split into micro-batches, but its gradient depends on such a sum
// SPLIT: loss-not-linear.mlir:{{[0-9]+}}:{{[0-9]+}}: note: each sample of what begins here needs the gradient

// A loss that is linear in the sum, with a factor of its own: the gradient of the factor is the sum, which is there at the
// end. It runs for every M.
// RUN: sed 's/%%r = .*/%%r = piper.scale %%k {factor = 1.0 : f64} : tensor<f32>/' %s > %t.linear.mlir
// RUN: piper-run %t.linear.mlir --piper-compile="optimizer=sgd threads=1 micro-batches=2" --inputs %t.inputs --dump-gradients %t.gradients
// RUN: %python %S/Inputs/loss_not_linear.py factor %t.inputs %t.gradients
// RUN: %python %S/Inputs/every_schedule.py 4 1 2 | grep 'chunks=1 ' > %t.cells
// RUN: echo "run pipeline-parallel=2 micro-batches=4 schedule=dualpipe" >> %t.cells
// RUN: timeout 120 piper-check-cells %t.linear.mlir --cells=%t.cells | FileCheck %s

func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %w: tensor<3xf32> {piper.param = #piper.param<"w", init = ones>},
    %k: tensor<f32> {piper.param = #piper.param<"k", init = dense<0.5> : tensor<f32>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %h = piper.mul %x, %w {piper.tags = #piper.tags<layer = 0>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %q = piper.square %h {piper.tags = #piper.tags<layer = 1>} : tensor<4x3xf32>
  %s = piper.reduce_sum %q {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<4x3xf32>) -> tensor<f32>
  %n = piper.constant dense<4> : tensor<i64>
  %m = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  %r = piper.rsqrt %m : tensor<f32>
  %loss = piper.mul %m, %r : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

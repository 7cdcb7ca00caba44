// N14, N09: a model without any batch in its loss. Right: each task runs once, whatever the number of micro-batches, with the
// gradient of M = 1; every kind of schedule runs it.

// RUN: %python %S/Inputs/every_schedule.py 4 1 2 | grep 'chunks=1 ' > %t.cells
// RUN: echo "run pipeline-parallel=2 micro-batches=4 schedule=dualpipe" >> %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 17 match, 0 refused, 0 wrong

// RUN: piper-opt %s --piper-compile="micro-batches=4 threads=1" | FileCheck %s --check-prefix=ONCE
// ONCE: piper.entry @train
// ONCE-COUNT-3: pass = F
// ONCE-NOT: pass = F
// ONCE: piper.entry @eval

#a = #piper.tags<layer = 0>
#b = #piper.tags<layer = 1>
#c = #piper.tags<layer = 2>
func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %w: tensor<3x3xf32> {piper.param = #piper.param<"w", init = normal<0.5>>},
    %v: tensor<3x3xf32> {piper.param = #piper.param<"v", init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %g = piper.tanh %w {piper.tags = #a} : tensor<3x3xf32>
  %h = piper.matmul %g, %v {piper.tags = #b} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %q = piper.square %h {piper.tags = #c} : tensor<3x3xf32>
  %r = piper.reduce_sum %q {dims = array<i64: 0, 1>, piper.tags = #c} : (tensor<3x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

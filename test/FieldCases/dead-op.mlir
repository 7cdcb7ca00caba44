// N13: an op that nobody needs, and recomputation. Trial: gelu of z is dead, but kept z as a result of the first segment.
// Right: it is gone before anything is decided by it; recomputation runs and has the bits of a run without.

// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:2,4,3
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1" --inputs %t.inputs --dump-gradients %t.kept
// RUN: piper-run %s --piper-compile="optimizer=sgd threads=1 recompute=true" --inputs %t.inputs --dump-gradients %t.again
// RUN: cmp %t.kept %t.again

// RUN: piper-opt %s --piper-outline-segments | FileCheck %s --check-prefix=LIVE
// LIVE-COUNT-1: piper.gelu
// LIVE-NOT: piper.gelu

// RUN: %python %S/Inputs/every_schedule.py 2 1 2 | grep 'chunks=1 ' | sed 's/$/ recompute=true/' > %t.cells
// RUN: timeout 120 piper-check-cells %s --cells=%t.cells | FileCheck %s
// CHECK: 16 match, 0 refused, 0 wrong

#a = #piper.tags<layer = 0>
#b = #piper.tags<layer = 1>
module {
func.func @train(
    %x: tensor<4x3xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %w: tensor<3x3xf32> {piper.param = #piper.param<"w", init = normal<0.5>>},
    %v: tensor<3x3xf32> {piper.param = #piper.param<"v", init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %g = piper.matmul %x, %w {piper.tags = #a} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %z = piper.tanh %g {piper.tags = #a} : tensor<4x3xf32>
  %y = piper.matmul %z, %v {piper.tags = #a} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %dd = piper.gelu %z {piper.tags = #b} : tensor<4x3xf32>
  %m = piper.matmul %y, %w {piper.tags = #b} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %e = piper.gelu %m {piper.tags = #b} : tensor<4x3xf32>
  %l = piper.reduce_sum %e {dims = array<i64: 0, 1>, piper.tags = #b} : (tensor<4x3xf32>) -> tensor<f32>

  %n = piper.constant dense<4> : tensor<i64>
  %loss = piper.divide %l, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}
}

// One gradient overflows, that of w2: it is named, on one device and whichever rank holds it, and no rank updates anything. (Large
// activations in front of w2, and large gradients behind it.)

// RUN: %python %S/Inputs/random_inputs.py %t.inputs x:F32:2,8,4 t:F32:2,8,4
// DEFINE: %{run} = piper-run %s --inputs %t.inputs --seed 3 --piper-compile="optimizer=sgd lr=1e-30 threads=1

// RUN: %{run}" --save-state %t.one 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=4" --save-state %t.four 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=2 chunks=2 schedule=interleaved_1f1b" --save-state %t.two 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=2 chunks=2 schedule=zbv" 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=8 pipeline-parallel=4 schedule=dualpipe" 2>&1 | FileCheck %s
// CHECK:      warning: step 0 is skipped: the gradient of 'w2' is not finite
// CHECK:      warning: step 1 is skipped: the gradient of 'w2' is not finite
// CHECK:      warning: 2 of 2 steps were skipped

// RUN: cmp %t.one %t.four
// RUN: cmp %t.one %t.two

// RUN: not %{run} micro-batches=4 pipeline-parallel=4" --on-nonfinite stop 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: piper-run: error: stopped at step 0: the gradient of 'w2' is not finite

module {
  func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %t: tensor<8x4xf32> {piper.input = #piper.input<"t", dims = [batch, feature]>},
                   %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0", dims = [in, out], init = normal<1.0>>},
                   %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1", dims = [in, out], init = normal<1.0e30>>},
                   %w2: tensor<4x4xf32> {piper.param = #piper.param<"w2", dims = [in, out], init = normal<1.0e-30>>},
                   %w3: tensor<4x4xf32> {piper.param = #piper.param<"w3", dims = [in, out], init = normal<1.0>>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %y0 = piper.matmul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %y1 = piper.matmul %y0, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %y2 = piper.matmul %y1, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %y3 = piper.matmul %y2, %w3 {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %e = piper.sub %y3, %t {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s = piper.scale %e {factor = 1.0e5 : f64, piper.tags = #piper.tags<layer = 3>} : tensor<8x4xf32>
    %q = piper.square %s {piper.tags = #piper.tags<layer = 3>} : tensor<8x4xf32>
    %loss = piper.reduce_sum %q {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

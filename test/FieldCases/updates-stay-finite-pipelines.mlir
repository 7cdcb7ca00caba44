// N02: one update of four would overflow, that of 'w2', whose gradient is 1e30: it is named wherever it lies, every rank skips the step, and no
// state changes. The same with a weight of two stages ('w0' takes the place of 'w3'), and with a frozen one beside.

// DEFINE: %{edit} = %python %S/../Runtime/Inputs/edit.py
// DEFINE: %{model} = %s
// DEFINE: %{run} = piper-run %{model} --inputs %t.x --seed 3 --piper-compile="threads=1
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.x x:F32:2,8,4

// RUN: %{run}" --save-state %t.one 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=4" --save-state %t.four 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=2 chunks=2 schedule=interleaved_1f1b" --save-state %t.two 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=2 chunks=2 schedule=zbv" --save-state %t.v 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=8 pipeline-parallel=4 schedule=dualpipe" --save-state %t.copies 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=4 optimizer=sgd lr=1e10" 2>&1 | FileCheck %s
// RUN: %{run} micro-batches=4 pipeline-parallel=4 optimizer=sgd lr=1e10 momentum=0.9" 2>&1 | FileCheck %s
// CHECK: warning: step 0 is skipped: the update of 'w2' would not be finite
// CHECK: warning: step 1 is skipped: the update of 'w2' would not be finite
// CHECK: warning: 2 of 2 steps were skipped
// RUN: %{run}" --steps 0 --save-state %t.start
// RUN: %{edit} %t.start %t.skipped 'iteration[0]=2'
// RUN: %{edit} %t.one %t.edited && cmp %t.edited %t.skipped
// RUN: cmp %t.one %t.four
// RUN: cmp %t.one %t.two
// RUN: cmp %t.one %t.v
// RUN: cmp %t.one %t.copies

// A weight of two stages: d(loss)/dw0 = 2 w0 w1 w2, here 2e20.
// REDEFINE: %{model} = %t.tied.mlir
// RUN: sed 's/%%h2, %%w3/%%h2, %%w0/; s/dense<1.0e-30>/dense<1.0e15>/; s/dense<1.0e30>/dense<1.0e15>/; s/dense<1.0> : tensor<4xf32>>}, \/\/ w0/dense<1.0e-10> : tensor<4xf32>>},/; s/"w3"/"w3", frozen/' %s > %t.tied.mlir
// RUN: %{run}" --save-state %t.one 2>&1 | FileCheck %s --check-prefix=TIED
// RUN: %{run} micro-batches=4 pipeline-parallel=4" --save-state %t.four 2>&1 | FileCheck %s --check-prefix=TIED
// RUN: %{run} micro-batches=4 pipeline-parallel=2 chunks=2 schedule=zbv" --save-state %t.v 2>&1 | FileCheck %s --check-prefix=TIED
// RUN: %{run} micro-batches=8 pipeline-parallel=4 schedule=dualpipe" --save-state %t.copies 2>&1 | FileCheck %s --check-prefix=TIED
// TIED: warning: step 0 is skipped: the update of 'w0' would not be finite
// TIED: warning: 2 of 2 steps were skipped
// RUN: cmp %t.one %t.four
// RUN: cmp %t.one %t.v
// RUN: cmp %t.one %t.copies

module {
  func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
                   %w0: tensor<4xf32> {piper.param = #piper.param<"w0", init = dense<1.0> : tensor<4xf32>>}, // w0
                   %w1: tensor<4xf32> {piper.param = #piper.param<"w1", init = dense<1.0e30> : tensor<4xf32>>},
                   %w2: tensor<4xf32> {piper.param = #piper.param<"w2", init = dense<1.0e-30> : tensor<4xf32>>},
                   %w3: tensor<4xf32> {piper.param = #piper.param<"w3", init = ones>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %h0 = piper.mul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %h1 = piper.mul %h0, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %h2 = piper.mul %h1, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %h3 = piper.mul %h2, %w3 {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %loss = piper.reduce_sum %h3 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

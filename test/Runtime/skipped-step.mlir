// A batch with a NaN or an infinity: the step is skipped. Parameters, moments and `update` stay as they are, bit by bit, and
// `iteration` goes on; the next good step is that of a run in which the bad batch never was, dropout included.

// DEFINE: %{edit} = %python %S/Inputs/edit.py
// DEFINE: %{state} = %python %S/Inputs/state.py
// DEFINE: %{run} = piper-run %s --seed 3 --piper-compile="lr=0.01 weight-decay=0.1 clip=0.5 lr-schedule=linear warmup-steps=2 total-steps=9 threads=1"

// Step i has other numbers than step 0; step 1 is the bad one.
// RUN: %{edit} %source/test/oracle/chain/inputs.safetensors %t.good 'x[0]=0.9' 'x[40]=0.7' 'x[70]=-0.8'
// RUN: %{edit} %t.good %t.nan 'x[33]=nan'
// RUN: %{edit} %t.good %t.inf 't[60]=-inf'
// RUN: %{edit} %t.good %t.two 'steps 0,2'

// RUN: %{run} --inputs %t.two --steps 1 --save-state %t.one.state
// RUN: %{run} --inputs %t.two --steps 2 --save-state %t.two.state
// RUN: %{run} --inputs %t.good --steps 3 --save-state %t.good.state

// RUN: %{run} --inputs %t.nan --steps 2 --save-state %t.skip.state --metrics %t.jsonl 2>&1 | FileCheck %s
// CHECK:      step 1/2
// CHECK-NEXT: step 2/2 loss nan grad norm nan
// CHECK-NEXT: warning: step 1 is skipped: the gradients of 'w0', 'w1' are not finite
// CHECK-NEXT: warning: 1 of 2 steps were skipped
// CHECK-NEXT: train loss {{[0-9.]+$}}
// RUN: FileCheck %s --check-prefix=METRICS < %t.jsonl
// METRICS:      {"step":0,"loss":{{[0-9.]+}},"grad_norm":{{[0-9.]+}},"lr":0.00499999989,"ok":true,"tokens":null,
// METRICS-NEXT: {"step":1,"loss":null,"grad_norm":null,"lr":0.00999999978,"ok":false,"tokens":null,
// RUN: %{state} %t.skip.state %t.one.state iteration=2 update=1

// RUN: %{run} --inputs %t.nan --steps 3 --save-state %t.skip.state
// RUN: %{state} %t.skip.state %t.two.state iteration=3 update=2
// RUN: %{run} --inputs %t.inf --steps 3 --save-state %t.skip.state
// RUN: %{state} %t.skip.state %t.two.state iteration=3 update=2
// RUN: not %{state} %t.skip.state %t.good.state iteration=3 update=2 | FileCheck %s --check-prefix=GOOD
// GOOD: w0 differs

// The run may be cut at the skipped step.
// RUN: %{run} --inputs %t.nan --steps 2 --save-state %t.part.state
// RUN: %{run} --inputs %t.nan --steps 1 --load %t.part.state --save-state %t.rest.state
// RUN: cmp %t.rest.state %t.skip.state

// Asked to stop, the run ends there, and nothing is saved.
// RUN: echo kept > %t.kept
// RUN: not %{run} --inputs %t.nan --steps 3 --on-nonfinite stop --save %t.kept --metrics %t.jsonl 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: step 2/3 loss nan
// STOP: piper-run: error: stopped at step 1: the gradients of 'w0', 'w1' are not finite
// STOP-NOT: loss
// RUN: grep -q kept %t.kept
// RUN: grep -c step_ms %t.jsonl | grep -qx 2

module {
  func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
                   %t: tensor<8x4xf32> {piper.input = #piper.input<"t", dims = [batch, feature]>},
                   %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0", dims = [in, out], init = normal<0.5>>},
                   %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1", dims = [in, out], init = normal<0.5>>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %y = piper.matmul %x, %w0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %h = piper.tanh %y : tensor<8x4xf32>
    %key = piper.random_key : () -> tensor<2xi64>
    %d = piper.dropout %h, %key {p = 0.25 : f64} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
    %z = piper.matmul %d, %w1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %e = piper.sub %z, %t : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %q = piper.square %e : tensor<8x4xf32>
    %loss = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

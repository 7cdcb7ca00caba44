// N02: finite gradients whose update is not finite. Trial: a gradient of 1e20 under AdamW in f32, whose square overflows; the same once, then
// 1 for 200 steps. Right: the step is skipped and said, nothing changes by a bit, and the run goes on as one without that batch: w = 1 - 200 lr.

// DEFINE: %{edit} = %python %S/../Runtime/Inputs/edit.py
// DEFINE: %{run} = piper-run %s --inputs %t.x --metrics %t.jsonl --piper-compile="threads=1
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.random x:F32:201,1,1

// RUN: %{edit} %t.random %t.x 'x[0:201]=1e20'
// RUN: %{run} lr=0.01" --steps 3 --save-state %t.state 2>&1 | FileCheck %s --check-prefix=SKIPPED
// SKIPPED: warning: step 0 is skipped: the update of 'w' would not be finite
// SKIPPED: warning: step 1 is skipped: the update of 'w' would not be finite
// SKIPPED: warning: 3 of 3 steps were skipped
// RUN: grep -c '"grad_norm":1.00000002e+20,"lr":0.00999999978,"ok":false' %t.jsonl | grep -qx 3
// RUN: piper-run %s --inputs %t.x --piper-compile="lr=0.01 threads=1" --steps 0 --save-state %t.first
// RUN: %{edit} %t.first %t.start 'iteration[0]=0'
// RUN: %{edit} %t.state %t.again 'iteration[0]=0'
// RUN: cmp %t.again %t.start
// RUN: not %{run} lr=0.01" --on-nonfinite stop 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: piper-run: error: stopped at step 0: the update of 'w' would not be finite

// Once, then 200 steps of 1: the moments of a constant gradient are its own.
// RUN: %{edit} %t.random %t.x 'x[0]=1e20' 'x[1:201]=1'
// RUN: %{run} lr=0.01" --save-state %t.state 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: warning: step 0 is skipped: the update of 'w' would not be finite
// ONCE-NOT: skipped:
// ONCE: warning: 1 of 201 steps were skipped
// RUN: %python %S/Inputs/element.py %t.state w -1 1e-4
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.random x:F32:200,1,1
// RUN: %{edit} %t.random %t.x 'x[0:200]=1'
// RUN: %{run} lr=0.01" --save-state %t.without
// RUN: %{edit} %t.without %t.again 'iteration[0]=201'
// RUN: %{edit} %t.state %t.with 'iteration[0]=201'
// RUN: cmp %t.again %t.with

// SGD: 1 - 10 * 3e38, and the same as a velocity; a large gradient that fits is no reason.
// RUN: %{edit} %t.random %t.x 'x[0:200]=3e38'
// RUN: %{run} optimizer=sgd lr=10" --steps 1 2>&1 | FileCheck %s --check-prefix=SKIPPED1
// RUN: %{run} optimizer=sgd lr=10 momentum=0.5" --steps 1 2>&1 | FileCheck %s --check-prefix=SKIPPED1
// RUN: %{edit} %t.random %t.x 'x[0:200]=2e38'
// RUN: %{run} optimizer=sgd lr=1.2e-38 momentum=0.9" --steps 2 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: %{edit} %t.random %t.x 'x[0:200]=1e37'
// RUN: %{run} optimizer=sgd lr=0.5 clip=1" --steps 2 --save-state %t.state 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: %python %S/Inputs/element.py %t.state w 0 1e-6
// SKIPPED1: warning: step 0 is skipped: the update of 'w' would not be finite
// SECOND-NOT: step 0 is
// SECOND: warning: step 1 is skipped: the update of 'w' would not be finite
// NONE-NOT: skipped

// Decay of a large weight.
// RUN: %{edit} %t.random %t.x 'x[0:200]=1'
// RUN: %{run} lr=1e30 weight-decay=1e10" --steps 1 2>&1 | FileCheck %s --check-prefix=SKIPPED1

// In f64 squares are finite up to 1e154: 1 - 3 * 0.01; a step of 1e350 is not.
// RUN: sed 's/f32/f64/g; s/factor = 1.0 : /factor = 1.0e150 : /' %s > %t.f64.mlir
// RUN: %python %S/Inputs/element.py --ones %t.x64 x 3
// RUN: piper-run %t.f64.mlir --inputs %t.x64 --piper-compile="threads=1 optimizer=sgd lr=1e200" 2>&1 | FileCheck %s --check-prefix=SKIPPED
// RUN: piper-run %t.f64.mlir --inputs %t.x64 --piper-compile="threads=1 lr=0.01" --save-state %t.state 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: %python %S/Inputs/element.py %t.state w 0.97 1e-9
// RUN: piper-run %t.f64.mlir --inputs %t.x64 --piper-compile="threads=1 clip=1 lr=0.25 optimizer=sgd" --save-state %t.state 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: %python %S/Inputs/element.py %t.state w 0.25 1e-9

module {
  func.func @train(%x: tensor<1x1xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
                   %w: tensor<1x1xf32> {piper.param = #piper.param<"w", init = ones>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %y = piper.mul %x, %w : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %z = piper.scale %y {factor = 1.0 : f64} : tensor<1x1xf32>
    %s = piper.reduce_sum %z {dims = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<f32>
    %one = piper.constant dense<1> : tensor<i64>
    %loss = piper.divide %s, %one : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

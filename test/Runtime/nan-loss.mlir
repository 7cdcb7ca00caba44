// A loss that is not finite is a skipped step, even where every gradient is finite: the gradient of sum(x w) is x.
//
// RUN: %python %S/Inputs/random_inputs.py %t.random x:F32:2,4
// RUN: %python %S/Inputs/edit.py %t.random %t.inputs 'x[0:8]=2'
// RUN: piper-run %s --inputs %t.inputs --steps 2 --piper-compile="optimizer=sgd lr=0.1 threads=1" --metrics %t.jsonl --save-state %t.state 2>&1 | FileCheck %s
// CHECK: warning: step 0 is skipped: the loss is not finite
// RUN: grep -c '"ok":false' %t.jsonl | grep -qx 2
// RUN: not piper-run %s --inputs %t.inputs --steps 2 --piper-compile="optimizer=sgd lr=0.1 threads=1" --on-nonfinite stop 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: piper-run: error: stopped at step 0: the loss is not finite

// A rate that f32 cannot hold would make every parameter infinite.
// RUN: not piper-run %s --inputs %t.inputs --steps 1 --lr 1e39 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: error: option 'lr' expects 0 or a number from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e+39

module {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">},
                   %w: tensor<4xf32> {piper.param = #piper.param<"w", init = dense<3.0e38> : tensor<4xf32>>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %p = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = piper.reduce_sum %p {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

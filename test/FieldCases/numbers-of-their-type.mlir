// N03: numbers in range as f64 and not as the f32 that uses them. Trial: a parameter of two elements of which one has no gradient, with an
// epsilon of 1e-46: 0/0. Right: 1 stays 1 and the other is 0.8 after two steps of 0.1, or the number is refused with the smallest and the largest.

// DEFINE: %{run} = piper-run %s --inputs %t.x --steps 2 --save-state %t.state --piper-compile="threads=1
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.x x:F32:2,1

// RUN: not %{run} lr=0.1 eps=1e-46" 2>&1 | FileCheck %s --check-prefix=EPS
// EPS: error: option 'eps' expects a number from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-46
// RUN: not %{run} weight-decay=1e39" 2>&1 | FileCheck %s --check-prefix=DECAY
// DECAY: error: option 'weight-decay' expects 0 or a number from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e+39
// RUN: not %{run} clip=1e-300" 2>&1 | FileCheck %s --check-prefix=CLIP
// CLIP: error: option 'clip' expects a number from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-300
// RUN: not %{run} lr=1e-50" 2>&1 | FileCheck %s --check-prefix=LR
// LR: error: option 'lr' expects 0 or a number from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-50
// RUN: not %{run} lr=1 lr-schedule=linear total-steps=9 min-lr=1e-39" 2>&1 | FileCheck %s --check-prefix=MINIMUM
// MINIMUM: error: option 'min-lr' expects 0 or a number from {{.*}} but got 1e-39
// RUN: not %{run} beta1=1e-40" 2>&1 | FileCheck %s --check-prefix=BETA1
// BETA1: error: option 'beta1' expects 0 or a number from {{.*}} but got 1e-40
// RUN: not %{run} beta2=1e-40" 2>&1 | FileCheck %s --check-prefix=BETA2
// BETA2: error: option 'beta2' expects 0 or a number from {{.*}} but got 1e-40
// RUN: not %{run} optimizer=sgd momentum=1e-40" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// MOMENTUM: error: option 'momentum' expects 0 or a number from {{.*}} but got 1e-40

// Too large or too small even for f64: neither infinite nor 0.
// RUN: not %{run} clip=1e400" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: key 'clip' expects a number that f64 can hold but got '1e400'
// RUN: not %{run} weight-decay=1e-400" 2>&1 | FileCheck %s --check-prefix=TINY
// TINY: key 'weight-decay' expects a number that f64 can hold but got '1e-400'
// RUN: %{run} weight-decay=0E5 clip=inf"

// The smallest and the largest that are named are legal.
// RUN: %{run} lr=0.1 eps=1.17549435e-38 clip=3.40282347e+38"
// RUN: %python %S/Inputs/element.py %t.state w 0.8 1e-6
// RUN: %python %S/Inputs/element.py %t.state w 1 0 1

// Close to 1 but below: 1 - beta is taken in f64, as 1e-11, so that moments move and corrections are finite.
// RUN: %{run} lr=0.1 beta1=0.99999999999 beta2=0.99999999999"
// RUN: %python %S/Inputs/element.py %t.state w 0.8 1e-5
// RUN: %python %S/Inputs/element.py %t.state w 1 0 1

// A factor of clipping that f32 cannot hold is a step that is skipped.
// RUN: sed 's/factor = 1.0 :/factor = 1.0e30 :/' %s > %t.large.mlir
// RUN: piper-run %t.large.mlir --inputs %t.x --piper-compile="threads=1 clip=1e-10" 2>&1 | FileCheck %s --check-prefix=FACTOR
// FACTOR: warning: step 0 is skipped: the norm of the gradients is too large to be clipped so far

module {
  func.func @train(%x: tensor<1xf32> {piper.input = #piper.input<"x", dims = [batch]>},
                   %w: tensor<2xf32> {piper.param = #piper.param<"w", init = ones>})
      -> (tensor<f32> {piper.output = "loss"}) {
    %a = piper.slice %w {offsets = array<i64: 0>} : (tensor<2xf32>) -> tensor<1xf32>
    %y = piper.scale %a {factor = 1.0 : f64} : tensor<1xf32>
    %s = piper.reduce_sum %y {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    %one = piper.constant dense<1> : tensor<i64>
    %loss = piper.divide %s, %one : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

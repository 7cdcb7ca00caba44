// N04: attention and cross entropy at scores of 2^24 and beyond, where a log-sum-exp in one f32 is not what it was. Two equal keys share a
// query, whatever the score: the gradient of each value is 1/2 from each of two queries. Two equal logits of which one is the label have the
// gradients -1/2 and 1/2, and a loss of ln 2.
//
// RUN: %python %S/../Runtime/Inputs/random_inputs.py %t.inputs x:F32:1,1,1
// RUN: piper-run %s --piper-compile="optimizer=sgd lr=0 threads=1" --inputs %t.inputs --dump-gradients %t.grads --dump-outputs %t.outputs
// RUN: %python %S/Inputs/tensor_values.py %t.grads | FileCheck %s
// RUN: %python %S/Inputs/tensor_values.py %t.outputs | FileCheck %s --check-prefix=LOSS
// CHECK:      v [1.0, 1.0]
// CHECK-NEXT: v20 [1.0, 1.0]
// CHECK-NEXT: z [-0.5, 0.5]
// LOSS: ce [0.693147

func.func @train(%x: tensor<1x1xf32> {piper.input = #piper.input<"x", dims = [batch, one]>},
                 %v: tensor<1x2x1x1xf32> {piper.param = #piper.param<"v", init = ones>},
                 %v20: tensor<1x2x1x1xf32> {piper.param = #piper.param<"v20", init = ones>},
                 %z: tensor<1x2xf32> {piper.param = #piper.param<"z", init = dense<16777216.0> : tensor<1x2xf32>>})
    -> (tensor<f32> {piper.output = "loss"}, tensor<f32> {piper.output = "ce"}) {
  %k = piper.constant dense<4096.0> : tensor<1x2x1x1xf32>
  %k20 = piper.constant dense<1024.0> : tensor<1x2x1x1xf32>
  %y = piper.attention %k, %k, %v {scale = 1.0 : f64} : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %y20 = piper.attention %k20, %k20, %v20 {scale = 1.0 : f64} : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %label = piper.constant dense<0> : tensor<1xi32>
  %ce = piper.cross_entropy %z, %label : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<f32>
  %both = piper.add %y, %y20 : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %s = piper.reduce_sum %both {dims = array<i64: 0, 1, 2, 3>} : (tensor<1x2x1x1xf32>) -> tensor<f32>
  %sx = piper.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<f32>
  %0 = piper.add %s, %ce : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = piper.add %0, %sx : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1, %ce : tensor<f32>, tensor<f32>
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What micro-batches must get right beside a transformer: a batch that is not the first dimension, and inside a dimension made of
// [seq, batch]; a task of parameters alone; a loss that is linear, so that its gradient has the batch from nowhere; results
// with a batch, and an input that is returned.

func.func @train(%x: tensor<3x8x4xf32> {piper.input = #piper.input<"x", dims = [seq, batch, feature]>},
                 %t: tensor<8x3xf32> {piper.input = #piper.input<"t", dims = [batch, seq]>},
                 %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1", dims = [in, out], init = normal<0.5>>},
                 %w2: tensor<4x4xf32> {piper.param = #piper.param<"w2", dims = [in, out], init = normal<0.5>>},
                 %w3: tensor<4xf32> {piper.param = #piper.param<"w3", dims = [in], init = normal<0.5>>},
                 %b: tensor<3x1x4xf32> {piper.param = #piper.param<"b", dims = [seq, one, in], init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}, tensor<24x4xf32> {piper.output = "h"}, tensor<8x3xf32> {piper.output = "y"},
        tensor<3x8x4xf32> {piper.output = "x"}) {
  %w = piper.matmul %w1, %w2 {piper.tags = #piper.tags<layer = 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = piper.tanh %w {piper.tags = #piper.tags<layer = 0>} : tensor<4x4xf32>
  %f = piper.reshape %x {piper.tags = #piper.tags<layer = 1>} : (tensor<3x8x4xf32>) -> tensor<24x4xf32>
  %h = piper.matmul %f, %v {piper.tags = #piper.tags<layer = 1>} : (tensor<24x4xf32>, tensor<4x4xf32>) -> tensor<24x4xf32>
  %g = piper.reshape %h {piper.tags = #piper.tags<layer = 2>} : (tensor<24x4xf32>) -> tensor<3x8x4xf32>
  %a = piper.add %g, %b {piper.tags = #piper.tags<layer = 2>} : (tensor<3x8x4xf32>, tensor<3x1x4xf32>) -> tensor<3x8x4xf32>
  %m = piper.mul %a, %w3 {piper.tags = #piper.tags<layer = 2>} : (tensor<3x8x4xf32>, tensor<4xf32>) -> tensor<3x8x4xf32>
  %r = piper.reduce_sum %m {dims = array<i64: 2>, piper.tags = #piper.tags<layer = 3>} : (tensor<3x8x4xf32>) -> tensor<3x8xf32>
  %y = piper.transpose %r {permutation = array<i64: 1, 0>, piper.tags = #piper.tags<layer = 3>} : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %d = piper.sub %y, %t {piper.tags = #piper.tags<layer = 4>} : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %s = piper.reduce_sum %d {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 4>} : (tensor<8x3xf32>) -> tensor<f32>
  %l = piper.scale %s {factor = 0.125 : f64, piper.tags = #piper.tags<layer = 4>} : tensor<f32>
  return %l, %h, %y, %x : tensor<f32>, tensor<24x4xf32>, tensor<8x3xf32>, tensor<3x8x4xf32>
}

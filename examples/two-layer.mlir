// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two layers tanh(x w) and a squared error: the model of docs/overview.md.

#layer0 = #piper.tags<layer = 0, name = "layer">
#layer1 = #piper.tags<layer = 1, name = "layer">
#error = #piper.tags<layer = 2, name = "error">

func.func @train(
    %x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, in]>},
    %t: tensor<8x4xf32> {piper.input = #piper.input<"t", dims = [batch, out]>},
    %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0", dims = [in, hidden], init = normal<0.5>>},
    %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1", dims = [hidden, out], init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a0 = piper.matmul %x, %w0 {piper.tags = #layer0} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h0 = piper.tanh %a0 {piper.tags = #layer0} : tensor<8x4xf32>

  %a1 = piper.matmul %h0, %w1 {piper.tags = #layer1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h1 = piper.tanh %a1 {piper.tags = #layer1} : tensor<8x4xf32>

  %d = piper.sub %h1, %t {piper.tags = #error} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %q = piper.square %d {piper.tags = #error} : tensor<8x4xf32>
  %sum = piper.reduce_sum %q {dims = array<i64: 0, 1>, piper.tags = #error} : (tensor<8x4xf32>) -> tensor<f32>
  %rows = piper.constant dense<8> : tensor<i64>
  %loss = piper.divide %sum, %rows : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}

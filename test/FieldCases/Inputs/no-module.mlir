// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model of two segments without `module`, for the places of messages.

#l0 = #piper.tags<layer = 0>
#l1 = #piper.tags<layer = 1>

func.func @train(
    %x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
    %w: tensor<4x4xf32> {piper.param = #piper.param<"w", dims = [a, b], init = normal<0.5>>},
    %v: tensor<4x4xf32> {piper.param = #piper.param<"v", dims = [b, c], init = normal<0.5>>})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.matmul %x, %w {piper.tags = #l0} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = piper.matmul %a, %v {piper.tags = #l1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %sum = piper.reduce_sum %b {dims = array<i64: 0, 1>, piper.tags = #l1} : (tensor<8x4xf32>) -> tensor<f32>
  %n = piper.constant dense<8> : tensor<i64>
  %loss = piper.divide %sum, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}

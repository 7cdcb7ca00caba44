// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest model.

func.func @train(%w: tensor<f32> {piper.param = #piper.param<"w", init = ones>}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.square %w : tensor<f32>
  return %l : tensor<f32>
}

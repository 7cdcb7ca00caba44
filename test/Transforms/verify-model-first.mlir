// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes may run alone on anything: each begins with the check of its level.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-add-evaluation
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-outline-segments

// expected-error @below {{expects only entry points in a model but 'external' is private}}
func.func private @external(tensor<4xf32>)

// -----

// expected-error @below {{expects an entry point of one block but got 2}}
func.func @train(%w: tensor<f32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  return %w : tensor<f32>
^unreachable:
  return %w : tensor<f32>
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cannot be differentiated, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-autodiff

// expected-error @below {{'piper-autodiff' expects level 'dag' but got 'model'}}
module {
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a result {piper.output = "loss"}}}
  func.func @train() {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects the loss to be tensor<f32> or tensor<f64> but got 'tensor<i32>'}}
  func.func @train(%x: tensor<i32> {piper.input = #piper.input<"x">}) -> (tensor<i32> {piper.output = "loss"}) {
    return %x : tensor<i32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a loss to differentiate but has gradients already}}
  func.func @train(%x: tensor<f32> {piper.param = #piper.param<"x">})
      -> (tensor<f32> {piper.output = "loss"}, tensor<f32> {piper.gradient = "x"}) {
    return %x, %x : tensor<f32>, tensor<f32>
  }
}

// -----

// An op without a gradient, between a parameter and the loss.
module attributes {piper.level = #piper.level<dag>} {
  func.func private @f(%w: tensor<4xf32>) -> tensor<f32> {
    // expected-error @below {{'piper.tanh_grad' op has no gradient but the loss depends on a parameter through it}}
    %a = piper.tanh_grad %w, %w : tensor<4xf32>
    %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
    %l = piper.task @f(%w) pass = F : (tensor<4xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

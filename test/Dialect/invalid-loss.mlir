// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of random numbers and of the loss refuse, one function per
// message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @random_key_counters(%n: tensor<i64>) {
  // expected-error @below {{'piper.random_key' op expects no operands or 2 (seed and update) but got 1}}
  %0 = piper.random_key %n : (tensor<i64>) -> tensor<2xi64>
  return
}

// -----

func.func @random_key_result() {
  // expected-error @below {{'piper.random_key' op expects result 'key' to be 'tensor<2xi64>' (seed and update) but got 'tensor<4xi64>'}}
  %0 = piper.random_key : () -> tensor<4xi64>
  return
}

// -----

func.func @dropout_key(%x: tensor<4x8xf32>, %key: tensor<i64>) {
  // expected-error @below {{'piper.dropout' op expects operand 'key' to be 'tensor<2xi64>' (seed and update) but got 'tensor<i64>'}}
  %0 = piper.dropout %x, %key {p = 0.1 : f64} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_p(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'p' in [0, 1) but got 1}}
  %0 = piper.dropout %x, %key {p = 1.0 : f64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_p_negative(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'p' in [0, 1) but got -0.5}}
  %0 = piper.dropout %x, %key {p = -0.5 : f64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_p_nan(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'p' in [0, 1) but got nan}}
  %0 = piper.dropout %x, %key {p = 0x7FF8000000000000 : f64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_index(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'index' not to be negative but got -2}}
  %0 = piper.dropout %x, %key {p = 0.1 : f64, index = -2 : i64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_origin(%x: tensor<4x8xf32>, %key: tensor<2xi64>, %origin: tensor<3xi64>) {
  // expected-error @below {{'piper.dropout' op expects operand 'origin' to be 'tensor<2xi64>' (one number per dimension of 'x') but got 'tensor<3xi64>'}}
  %0 = piper.dropout %x, %key, %origin {p = 0.1 : f64} : (tensor<4x8xf32>, tensor<2xi64>, tensor<3xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_global_rank(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'global_shape' to hold the shape [4, 8] of operand 'x' but got [16]}}
  %0 = piper.dropout %x, %key {p = 0.1 : f64, global_shape = array<i64: 16>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_global_shape(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'global_shape' to hold the shape [4, 8] of operand 'x' but got [16, 7]}}
  %0 = piper.dropout %x, %key {p = 0.1 : f64, global_shape = array<i64: 16, 7>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_global_count(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects the whole tensor to have fewer than 2^63 elements but got [4294967296, 4294967296]}}
  %0 = piper.dropout %x, %key {p = 0.1 : f64, global_shape = array<i64: 4294967296, 4294967296>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_result(%x: tensor<4x8xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects result 'y' to have the type 'tensor<4x8xf32>' of operand 'x' but got 'tensor<8x4xf32>'}}
  %0 = piper.dropout %x, %key {p = 0.1 : f64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  return
}

// -----

func.func @cross_entropy_logits(%z: tensor<f32>, %l: tensor<2x3xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects operand 'logits' to have at least 1 dimension but got 'tensor<f32>'}}
  %0 = piper.cross_entropy %z, %l : (tensor<f32>, tensor<2x3xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_labels(%z: tensor<2x3x16xf32>, %l: tensor<2x3x16xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects operand 'labels' to be 'tensor<2x3xi32>' (one label per row of 'logits') but got 'tensor<2x3x16xi32>'}}
  %0 = piper.cross_entropy %z, %l : (tensor<2x3x16xf32>, tensor<2x3x16xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_sum(%z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects result 'sum' to be 'tensor<f32>' (the sum over all rows) but got 'tensor<2x3xf32>'}}
  %0 = piper.cross_entropy %z, %l : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @cross_entropy_sum_type(%z: tensor<2x3x16xbf16>, %l: tensor<2x3xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects result 'sum' to be 'tensor<f32>' (the sum over all rows) but got 'tensor<bf16>'}}
  %0 = piper.cross_entropy %z, %l : (tensor<2x3x16xbf16>, tensor<2x3xi32>) -> tensor<bf16>
  return
}

// -----

func.func @cross_entropy_saved_count(%z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects 0 or 2 saved results (the largest logit of each row and the sum of its weights) but got 1}}
  %0:2 = piper.cross_entropy %z, %l : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>)
  return
}

// -----

func.func @cross_entropy_saved(%z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects saved result #0 to be 'tensor<2x3xf32>' (one number per row of 'logits') but got 'tensor<2x3x16xf32>'}}
  %0:3 = piper.cross_entropy %z, %l : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3x16xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @cross_entropy_saved_sum(%z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>) {
  // expected-error @below {{'piper.cross_entropy' op expects saved result #1 to be 'tensor<2x3xf32>' (one number per row of 'logits') but got 'tensor<2x3x16xf32>'}}
  %0:3 = piper.cross_entropy %z, %l : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<2x3x16xf32>)
  return
}

// -----

func.func @cross_entropy_grad_logits(%ds: tensor<f32>, %z: tensor<f32>, %l: tensor<2x3xi32>, %top: tensor<2x3xf32>, %total: tensor<2x3xf32>) {
  // expected-error @below {{'piper.cross_entropy_grad' op expects operand 'logits' to have at least 1 dimension but got 'tensor<f32>'}}
  %0 = piper.cross_entropy_grad %ds, %z, %l, %top, %total : (tensor<f32>, tensor<f32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x16xf32>
  return
}

// -----

func.func @cross_entropy_grad_labels(%ds: tensor<f32>, %z: tensor<2x3x16xf32>, %l: tensor<3x2xi32>, %top: tensor<2x3xf32>, %total: tensor<2x3xf32>) {
  // expected-error @below {{'piper.cross_entropy_grad' op expects operand 'labels' to be 'tensor<2x3xi32>' (one label per row of 'logits') but got 'tensor<3x2xi32>'}}
  %0 = piper.cross_entropy_grad %ds, %z, %l, %top, %total : (tensor<f32>, tensor<2x3x16xf32>, tensor<3x2xi32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x16xf32>
  return
}

// -----

func.func @cross_entropy_grad_dsum(%ds: tensor<1xf32>, %z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>, %top: tensor<2x3xf32>, %total: tensor<2x3xf32>) {
  // expected-error @below {{'piper.cross_entropy_grad' op expects operand 'dsum' to be 'tensor<f32>' (the gradient of the sum) but got 'tensor<1xf32>'}}
  %0 = piper.cross_entropy_grad %ds, %z, %l, %top, %total : (tensor<1xf32>, tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x16xf32>
  return
}

// -----

func.func @cross_entropy_grad_top(%ds: tensor<f32>, %z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>, %top: tensor<6xf32>, %total: tensor<2x3xf32>) {
  // expected-error @below {{'piper.cross_entropy_grad' op expects operand 'top' to be 'tensor<2x3xf32>' (one number per row of 'logits') but got 'tensor<6xf32>'}}
  %0 = piper.cross_entropy_grad %ds, %z, %l, %top, %total : (tensor<f32>, tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<6xf32>, tensor<2x3xf32>) -> tensor<2x3x16xf32>
  return
}

// -----

func.func @cross_entropy_grad_total(%ds: tensor<f32>, %z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>, %top: tensor<2x3xf32>, %total: tensor<6xf32>) {
  // expected-error @below {{'piper.cross_entropy_grad' op expects operand 'total' to be 'tensor<2x3xf32>' (one number per row of 'logits') but got 'tensor<6xf32>'}}
  %0 = piper.cross_entropy_grad %ds, %z, %l, %top, %total : (tensor<f32>, tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<6xf32>) -> tensor<2x3x16xf32>
  return
}

// -----

func.func @cross_entropy_grad_result(%ds: tensor<f32>, %z: tensor<2x3x16xf32>, %l: tensor<2x3xi32>, %top: tensor<2x3xf32>, %total: tensor<2x3xf32>) {
  // expected-error @below {{'piper.cross_entropy_grad' op expects result 'dlogits' to have the type 'tensor<2x3x16xf32>' of operand 'logits' but got 'tensor<2x3xf32>'}}
  %0 = piper.cross_entropy_grad %ds, %z, %l, %top, %total : (tensor<f32>, tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @divide_sum(%s: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error @below {{'piper.divide' op expects operand 'sum' to be 'tensor<f32>' (a scalar) but got 'tensor<4xf32>'}}
  %0 = piper.divide %s, %n : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @divide_mean(%s: tensor<f32>, %n: tensor<i64>) {
  // expected-error @below {{'piper.divide' op expects result 'mean' to have the type 'tensor<f32>' of operand 'sum' but got 'tensor<f64>'}}
  %0 = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f64>
  return
}

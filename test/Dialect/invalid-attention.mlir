// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of attention and its gradient refuse, one function per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @attention_q(%q: tensor<5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects operand 'q' to have 4 dimensions [batch, queries, heads, head size] but got 'tensor<5x4x16xf32>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_k(%q: tensor<2x5x4x16xf32>, %k: tensor<7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects operand 'k' to have 4 dimensions [batch, keys, key heads, head size] but got 'tensor<7x2x16xf32>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_batch(%q: tensor<2x5x4x16xf32>, %k: tensor<3x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects operand 'k' to be 'tensor<2x7x2x16xf32>' (batch and head size of 'q') but got 'tensor<3x7x2x16xf32>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<3x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_head_size(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x8xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects operand 'k' to be 'tensor<2x7x2x16xf32>' (batch and head size of 'q') but got 'tensor<2x7x2x8xf32>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_element_type(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xbf16>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects operand 'k' to be 'tensor<2x7x2x16xf32>' (batch and head size of 'q') but got 'tensor<2x7x2x16xbf16>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xbf16>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_v(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x6x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects operand 'v' to have the type 'tensor<2x7x2x16xf32>' of operand 'k' but got 'tensor<2x6x2x16xf32>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x6x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x3x16xf32>, %v: tensor<2x7x3x16xf32>) {
  // expected-error @below {{'piper.attention' op expects the key heads of operand 'k' to divide the 4 heads of operand 'q' but got 3}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x3x16xf32>, tensor<2x7x3x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_no_heads(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x0x16xf32>, %v: tensor<2x7x0x16xf32>) {
  // expected-error @below {{'piper.attention' op expects the key heads of operand 'k' to divide the 4 heads of operand 'q' but got 0}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x0x16xf32>, tensor<2x7x0x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_scale(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects 'scale' to be finite but got inf}}
  %0 = piper.attention %q, %k, %v {scale = 0x7FF0000000000000 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_causal(%q: tensor<2x5x4x16xf32>, %k: tensor<2x4x2x16xf32>, %v: tensor<2x4x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects at least as many keys as the 5 queries with 'causal' but got 4}}
  %0 = piper.attention %q, %k, %v {causal, scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x4x2x16xf32>, tensor<2x4x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_dropout(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects 'dropout' in [0, 1) but got 1}}
  %0 = piper.attention %q, %k, %v, %key {scale = 0.25 : f64, dropout = 1.0 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_index(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects 'index' not to be negative but got -1}}
  %0 = piper.attention %q, %k, %v, %key {scale = 0.25 : f64, dropout = 0.1 : f64, index = -1 : i64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_no_key(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects an operand 'key' with 'dropout' = 0.1 but got none; take it from 'piper.random_key'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64, dropout = 0.1 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_key_without_dropout(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects no operand 'key' without 'dropout' but got one; remove it or set 'dropout'}}
  %0 = piper.attention %q, %k, %v, %key {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_key(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<3xi64>) {
  // expected-error @below {{'piper.attention' op expects operand 'key' to be 'tensor<2xi64>' (seed and update) but got 'tensor<3xi64>'}}
  %0 = piper.attention %q, %k, %v, %key {scale = 0.25 : f64, dropout = 0.1 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<3xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_result(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects result 'y' to have the type 'tensor<2x5x4x16xf32>' of operand 'q' but got 'tensor<2x5x64xf32>'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x64xf32>
  return
}

// -----

func.func @attention_saved_count(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects 0 or 2 saved results (the largest score of each query and the sum of its weights) but got 1}}
  %0:2 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @attention_saved(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects saved result #0 to be 'tensor<2x4x5xf32>' (one number per sequence, head and query) but got 'tensor<2x5x4xf32>'}}
  %0:3 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x5x4xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @attention_saved_sum(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>) {
  // expected-error @below {{'piper.attention' op expects saved result #1 to be 'tensor<2x4x5xf32>' (one number per sequence, head and query) but got 'tensor<2x5x4xf32>'}}
  %0:3 = piper.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x4x5xf32>, tensor<2x5x4xf32>)
  return
}

// -----

func.func @attention_grad_q(%dy: tensor<2x5x4x16xf32>, %q: tensor<5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects operand 'q' to have 4 dimensions [batch, queries, heads, head size] but got 'tensor<5x4x16xf32>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_scale(%dy: tensor<2x5x4x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects 'scale' to be finite but got nan}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0x7FF8000000000000 : f64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_dy(%dy: tensor<2x4x5x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects operand 'dy' to have the type 'tensor<2x5x4x16xf32>' of operand 'q' but got 'tensor<2x4x5x16xf32>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x4x5x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_top(%dy: tensor<2x5x4x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x1xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects operand 'top' to be 'tensor<2x4x5xf32>' (one number per sequence, head and query) but got 'tensor<2x4x1xf32>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x1xf32>, tensor<2x4x5xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_total(%dy: tensor<2x5x4x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf64>) {
  // expected-error @below {{'piper.attention_grad' op expects operand 'total' to be 'tensor<2x4x5xf32>' (one number per sequence, head and query) but got 'tensor<2x4x5xf64>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf64>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_dq(%dy: tensor<2x5x4x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects result 'dq' to have the type 'tensor<2x5x4x16xf32>' of operand 'q' but got 'tensor<2x7x2x16xf32>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> (tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_dk(%dy: tensor<2x5x4x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects result 'dk' to have the type 'tensor<2x7x2x16xf32>' of operand 'k' but got 'tensor<2x7x4x16xf32>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x7x4x16xf32>, tensor<2x7x2x16xf32>)
  return
}

// -----

func.func @attention_grad_dv(%dy: tensor<2x5x4x16xf32>, %q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %top: tensor<2x4x5xf32>, %total: tensor<2x4x5xf32>) {
  // expected-error @below {{'piper.attention_grad' op expects result 'dv' to have the type 'tensor<2x7x2x16xf32>' of operand 'v' but got 'tensor<2x7x4x16xf32>'}}
  %0:3 = piper.attention_grad %dy, %q, %k, %v, %top, %total {scale = 0.25 : f64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x4x16xf32>)
  return
}

// -----

func.func @attention_random(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects a key and an origin at most in operand 'random' but got 3 values}}
  %0 = piper.attention %q, %k, %v, %key, %key, %key {scale = 0.25 : f64, dropout = 0.1 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_origin(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>, %origin: tensor<3xi64>) {
  // expected-error @below {{'piper.attention' op expects operand 'origin' to be 'tensor<4xi64>' (one number for batch, heads, queries and keys) but got 'tensor<3xi64>'}}
  %0 = piper.attention %q, %k, %v, %key, %origin {scale = 0.25 : f64, dropout = 0.1 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>, tensor<3xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_global_shape(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects 'global_shape' to hold the shape [2, 4, 5, 7] of the scores but got [4, 4, 5, 6]}}
  %0 = piper.attention %q, %k, %v, %key {scale = 0.25 : f64, dropout = 0.1 : f64, global_shape = array<i64: 4, 4, 5, 6>} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @attention_global_shape_without_dropout(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects no 'global_shape' without 'dropout'}}
  %0 = piper.attention %q, %k, %v {scale = 0.25 : f64, global_shape = array<i64: 4, 4, 5, 7>} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  return
}

// -----

func.func @origin_rank() {
  // expected-error @below {{'piper.origin' op expects a 'step' for each dimension but got none}}
  %0 = piper.origin {step = array<i64>} : () -> tensor<0xi64>
  return
}

// -----

func.func @origin_step() {
  // expected-error @below {{'piper.origin' op expects 'step' not to be negative but got -2}}
  %0 = piper.origin {step = array<i64: 0, -2>} : () -> tensor<2xi64>
  return
}

// -----

func.func @origin_type() {
  // expected-error @below {{'piper.origin' op expects result 'origin' to be 'tensor<2xi64>' (one number per element of 'step') but got 'tensor<3xi64>'}}
  %0 = piper.origin {step = array<i64: 2, 0>} : () -> tensor<3xi64>
  return
}

// -----

func.func @attention_small_scale(%q: tensor<2x3x4x8xf32>) {
  // expected-error @below {{'piper.attention' op expects 'scale' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-50}}
  %0 = piper.attention %q, %q, %q {scale = 1.0e-50 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_small_dropout(%q: tensor<2x3x4x8xf32>, %k: tensor<2xi64>) {
  // expected-error @below {{'piper.attention' op expects 'dropout' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-50}}
  %0 = piper.attention %q, %q, %q, %k {scale = 1.0 : f64, dropout = 1.0e-50 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2xi64>) -> tensor<2x3x4x8xf32>
  return
}

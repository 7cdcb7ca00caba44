// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of embedding, layer norm and softmax refuse, one function per
// message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @embedding_table(%t: tensor<16xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{'piper.embedding' op expects operand 'table' to have 2 dimensions [rows, columns] but got 'tensor<16xf32>'}}
  %0 = piper.embedding %t, %i : (tensor<16xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @embedding_result(%t: tensor<16x8xf32>, %i: tensor<2x3xi32>) {
  // expected-error @below {{'piper.embedding' op expects result 'y' to be 'tensor<2x3x8xf32>' (one row of 'table' per id) but got 'tensor<2x3x16xf32>'}}
  %0 = piper.embedding %t, %i : (tensor<16x8xf32>, tensor<2x3xi32>) -> tensor<2x3x16xf32>
  return
}

// -----

func.func @embedding_grad_table(%d: tensor<3xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{'piper.embedding_grad' op expects result 'dtable' to have 2 dimensions [rows, columns] but got 'tensor<16xf32>'}}
  %0 = piper.embedding_grad %d, %i : (tensor<3xf32>, tensor<3xi32>) -> tensor<16xf32>
  return
}

// -----

func.func @embedding_grad_dy(%d: tensor<3x7xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{'piper.embedding_grad' op expects operand 'dy' to be 'tensor<3x8xf32>' (one row of 'dtable' per id) but got 'tensor<3x7xf32>'}}
  %0 = piper.embedding_grad %d, %i : (tensor<3x7xf32>, tensor<3xi32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @layer_norm_rank(%x: tensor<f32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects operand 'x' to have at least 1 dimension but got 'tensor<f32>'}}
  %0 = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<f32>, tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @layer_norm_gamma(%x: tensor<4x8xf32>, %g: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects operand 'gamma' to be 'tensor<8xf32>' (one number per column of 'x') but got 'tensor<4xf32>'}}
  %0 = piper.layer_norm %x, %g, %b {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_beta(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @below {{'piper.layer_norm' op expects operand 'beta' to be 'tensor<8xf32>' (one number per column of 'x') but got 'tensor<8xf64>'}}
  %0 = piper.layer_norm %x, %g, %b {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_eps(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects 'eps' to be positive and finite but got 0}}
  %0 = piper.layer_norm %x, %g, %g {eps = 0.0 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_result(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects result 'y' to have the type 'tensor<4x8xf32>' of operand 'x' but got 'tensor<4x8xf64>'}}
  %0 = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @layer_norm_saved_count(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects 0 or 2 saved results (the mean and 1/sqrt(var + eps) of each row) but got 1}}
  %0:2 = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @layer_norm_mean(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects saved result #0 to be 'tensor<4xf32>' (one number per row of 'x') but got 'tensor<4x1xf32>'}}
  %0:3 = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4xf32>)
  return
}

// -----

func.func @layer_norm_rstd(%x: tensor<4x8xbf16>, %g: tensor<8xbf16>) {
  // expected-error @below {{'piper.layer_norm' op expects saved result #1 to be 'tensor<4xf32>' (one number per row of 'x') but got 'tensor<4xbf16>'}}
  %0:3 = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<4x8xbf16>, tensor<4xf32>, tensor<4xbf16>)
  return
}

// -----

func.func @layer_norm_grad_rank(%dy: tensor<4x8xf32>, %x: tensor<f32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects operand 'x' to have at least 1 dimension but got 'tensor<f32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<f32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_dy(%dy: tensor<8x4xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects operand 'dy' to have the type 'tensor<4x8xf32>' of operand 'x' but got 'tensor<8x4xf32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_gamma(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects operand 'gamma' to be 'tensor<8xf32>' (one number per column of 'x') but got 'tensor<4xf32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_mean(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects operand 'mean' to be 'tensor<4xf32>' (one number per row of 'x') but got 'tensor<8xf32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_rstd(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf64>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects operand 'rstd' to be 'tensor<4xf32>' (one number per row of 'x') but got 'tensor<4xf64>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf64>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_dx(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects result 'dx' to have the type 'tensor<4x8xf32>' of operand 'x' but got 'tensor<4x7xf32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x7xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_dgamma(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects result 'dgamma' to be 'tensor<8xf32>' (one number per column of 'x') but got 'tensor<4x8xf32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @layer_norm_grad_dbeta(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{'piper.layer_norm_grad' op expects result 'dbeta' to be 'tensor<8xf32>' (one number per column of 'x') but got 'tensor<1xf32>'}}
  %0:3 = piper.layer_norm_grad %dy, %x, %g, %m, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<1xf32>)
  return
}

// -----

func.func @softmax_rank(%x: tensor<f32>) {
  // expected-error @below {{'piper.softmax' op expects operand 'x' to have at least 1 dimension but got 'tensor<f32>'}}
  %0 = piper.softmax %x : tensor<f32>
  return
}

// -----

func.func @softmax_grad_rank(%x: tensor<f32>) {
  // expected-error @below {{'piper.softmax_grad' op expects operand 'saved' to have at least 1 dimension but got 'tensor<f32>'}}
  %0 = piper.softmax_grad %x, %x : tensor<f32>
  return
}

// -----

func.func @layer_norm_small_eps(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects 'eps' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-50}}
  %0 = piper.layer_norm %x, %g, %g {eps = 1.0e-50 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_large_eps(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{'piper.layer_norm' op expects 'eps' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e+39}}
  %0 = piper.layer_norm %x, %g, %g {eps = 1.0e39 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout_small(%x: tensor<4x8xf32>, %k: tensor<2xi64>) {
  // expected-error @below {{'piper.dropout' op expects 'p' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-40}}
  %0 = piper.dropout %x, %k {p = 1.0e-40 : f64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of constant, matrix product, arithmetic and reductions
// refuse, one function per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @dynamic_shape(%x: tensor<?x8xf32>) {
  // expected-error @below {{'piper.tanh' op operand #0 must be statically shaped tensor of 32-bit float or 64-bit float or bfloat16 type values, but got 'tensor<?x8xf32>'}}
  %0 = piper.tanh %x : tensor<?x8xf32>
  return
}

// -----

func.func @f16(%x: tensor<8xf16>) {
  // expected-error @below {{'piper.tanh' op operand #0 must be statically shaped tensor of 32-bit float or 64-bit float or bfloat16 type values, but got 'tensor<8xf16>'}}
  %0 = piper.tanh %x : tensor<8xf16>
  return
}

// -----

func.func @constant_kind() {
  // expected-error @below {{'piper.constant' op expects a constant written as dense<..> but got another kind of elements attribute}}
  %0 = piper.constant sparse<[[0]], [1.0]> : tensor<4xf32>
  return
}

// -----

func.func @matmul_rank_a(%a: tensor<4xf32>, %b: tensor<4x2xf32>) {
  // expected-error @below {{'piper.matmul' op expects operand 'a' to have at least 2 dimensions but got 'tensor<4xf32>'}}
  %0 = piper.matmul %a, %b : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul_rank_b(%a: tensor<4x2xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{'piper.matmul' op expects operand 'b' to have at least 2 dimensions but got 'tensor<2xf32>'}}
  %0 = piper.matmul %a, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @matmul_element_types(%a: tensor<4x8xf32>, %b: tensor<8x2xf64>) {
  // expected-error @below {{'piper.matmul' op expects operand 'b' to have the element type 'f32' of operand 'a' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @matmul_k(%a: tensor<4x64xf32>, %b: tensor<32x2xf32>) {
  // expected-error @below {{'piper.matmul' op expects operand 'b' to have K = 64 rows, the columns of operand 'a', but got 32}}
  %0 = piper.matmul %a, %b : (tensor<4x64xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @matmul_k_transposed(%a: tensor<64x4xf32>, %b: tensor<2x32xf32>) {
  // expected-error @below {{'piper.matmul' op expects operand 'b' to have K = 64 columns, the rows of operand 'a', but got 32}}
  %0 = piper.matmul %a, %b {transpose_a, transpose_b} : (tensor<64x4xf32>, tensor<2x32xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @matmul_batch(%a: tensor<3x4x8xf32>, %b: tensor<2x8x2xf32>) {
  // expected-error @below {{'piper.matmul' op expects batch dimensions that are equal, 1 or absent but got [3] of operand 'a' and [2] of operand 'b'}}
  %0 = piper.matmul %a, %b : (tensor<3x4x8xf32>, tensor<2x8x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

func.func @matmul_result(%a: tensor<3x4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{'piper.matmul' op expects result 'y' to be 'tensor<3x4x2xf32>' (batch dimensions, rows of 'a', columns of 'b') but got 'tensor<3x2x4xf32>'}}
  %0 = piper.matmul %a, %b : (tensor<3x4x8xf32>, tensor<8x2xf32>) -> tensor<3x2x4xf32>
  return
}

// -----

func.func @add_element_types(%a: tensor<8xf32>, %b: tensor<8xbf16>) {
  // expected-error @below {{'piper.add' op expects operand 'b' to have the element type 'f32' of operand 'a' but got 'bf16'; insert a 'piper.cast'}}
  %0 = piper.add %a, %b : (tensor<8xf32>, tensor<8xbf16>) -> tensor<8xf32>
  return
}

// -----

func.func @add_shapes(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{'piper.add' op expects the dimensions of operands 'a' and 'b', aligned at the last, to be equal, 1 or absent but got [4, 8] and [4]}}
  %0 = piper.add %a, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @add_result(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.add' op expects result 'y' to be 'tensor<4x8xf32>' (the operands repeated to one shape) but got 'tensor<8xf32>'}}
  %0 = piper.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sub_shapes(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.sub' op expects the dimensions of operands 'a' and 'b', aligned at the last, to be equal, 1 or absent but got [4] and [8]}}
  %0 = piper.sub %a, %b : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @mul_shapes(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.mul' op expects the dimensions of operands 'a' and 'b', aligned at the last, to be equal, 1 or absent but got [4] and [8]}}
  %0 = piper.mul %a, %b : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @div_shapes(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.div' op expects the dimensions of operands 'a' and 'b', aligned at the last, to be equal, 1 or absent but got [4] and [8]}}
  %0 = piper.div %a, %b : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @select_mask(%m: tensor<3xi1>, %a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.select' op expects the dimensions of operand 'mask', aligned at the last, to be equal to those of 'a' and 'b', 1 or absent but got [3] and [4, 8]}}
  %0 = piper.select %m, %a, %b : (tensor<3xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @unary_type(%x: tensor<4xf32>) {
  // expected-error @below {{expects different type than prior uses: 'tensor<8xf32>' vs 'tensor<4xf32>'}}
  // expected-note @-2 {{prior use here}}
  %0 = piper.tanh %x : tensor<8xf32>
  return
}

// -----

func.func @reduce_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reduce_sum' op expects 'dims' to be dimensions of an operand with 2 dimensions but got 2}}
  %0 = piper.reduce_sum %x {dims = array<i64: 0, 2>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_negative(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reduce_max' op expects 'dims' to be dimensions of an operand with 2 dimensions but got -1}}
  %0 = piper.reduce_max %x {dims = array<i64: -1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_twice(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reduce_sum' op expects 'dims' to be ascending and unique but got [1, 1]}}
  %0 = piper.reduce_sum %x {dims = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reduce_sum' op expects result 'y' to be 'tensor<4xf32>' (the dimensions of 'x' that are not reduced) but got 'tensor<4x1xf32>'}}
  %0 = piper.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @reduce_result_kept(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reduce_sum' op expects result 'y' to be 'tensor<4x1xf32>' (1 where 'x' is reduced) but got 'tensor<4xf32>'}}
  %0 = piper.reduce_sum %x {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_max_empty(%x: tensor<4x0xf32>) {
  // expected-error @below {{'piper.reduce_max' op expects at least one element along dimension 1 but got 'tensor<4x0xf32>'}}
  %0 = piper.reduce_max %x {dims = array<i64: 1>} : (tensor<4x0xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_max_grad_dims(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'piper.reduce_max_grad' op expects 'dims' to be ascending and unique but got [1, 0]}}
  %0 = piper.reduce_max_grad %y, %x, %y {dims = array<i64: 1, 0>} : (tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_max_grad_y(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'piper.reduce_max_grad' op expects operand 'y' to be 'tensor<4xf32>' (the dimensions of 'x' that are not reduced) but got 'tensor<8xf32>'}}
  %0 = piper.reduce_max_grad %y, %x, %y {dims = array<i64: 1>} : (tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_max_grad_empty(%x: tensor<4x0xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'piper.reduce_max_grad' op expects at least one element along dimension 1 but got 'tensor<4x0xf32>'}}
  %0 = piper.reduce_max_grad %y, %x, %y {dims = array<i64: 1>} : (tensor<4xf32>, tensor<4x0xf32>, tensor<4xf32>) -> tensor<4x0xf32>
  return
}

// -----

func.func @reduce_max_grad_dy(%dy: tensor<4x1xf32>, %x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'piper.reduce_max_grad' op expects operand 'dy' to have the type 'tensor<4xf32>' of operand 'y' but got 'tensor<4x1xf32>'}}
  %0 = piper.reduce_max_grad %dy, %x, %y {dims = array<i64: 1>} : (tensor<4x1xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_max_grad_result(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'piper.reduce_max_grad' op expects result 'dx' to have the type 'tensor<4x8xf32>' of operand 'x' but got 'tensor<4xf32>'}}
  %0 = piper.reduce_max_grad %y, %x, %y {dims = array<i64: 1>} : (tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scale_small(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.scale' op expects 'factor' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got -1e-50}}
  %0 = piper.scale %x {factor = -1.0e-50 : f64} : tensor<4xf32>
  return
}

// -----

func.func @scale_infinite(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.scale' op expects 'factor' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e+39}}
  %0 = piper.scale %x {factor = 1.0e39 : f64} : tensor<4xf32>
  return
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of the shape ops refuse, one function per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @reshape_element_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reshape' op expects result 'y' to have the element type 'f32' of operand 'x' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.reshape %x : (tensor<4x8xf32>) -> tensor<32xf64>
  return
}

// -----

func.func @reshape_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.reshape' op expects result 'y' to have the 32 elements of operand 'x' but got 'tensor<31xf32>'}}
  %0 = piper.reshape %x : (tensor<4x8xf32>) -> tensor<31xf32>
  return
}

// -----

// The counts are equal modulo 2^64.
func.func @reshape_overflow(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @below {{'piper.reshape' op expects operand 'x' to have fewer than 2^63 elements but got 'tensor<4294967296x4294967296xf32>'}}
  %0 = piper.reshape %x : (tensor<4294967296x4294967296xf32>) -> tensor<4294967296x8589934592xf32>
  return
}

// -----

func.func @reshape_result_overflow(%x: tensor<0x4xf32>) {
  // expected-error @below {{'piper.reshape' op expects result 'y' to have the 0 elements of operand 'x' but got 'tensor<4294967296x4294967296xf32>'}}
  %0 = piper.reshape %x : (tensor<0x4xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @transpose_length(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.transpose' op expects 'permutation' to have each dimension of operand 'x' (2 in all) once but got [0]}}
  %0 = piper.transpose %x {permutation = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.transpose' op expects 'permutation' to have each dimension of operand 'x' (2 in all) once but got [1, 1]}}
  %0 = piper.transpose %x {permutation = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @transpose_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.transpose' op expects 'permutation' to have each dimension of operand 'x' (2 in all) once but got [2, 0]}}
  %0 = piper.transpose %x {permutation = array<i64: 2, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.transpose' op expects result 'y' to be 'tensor<8x4xf32>' (the dimensions of 'x' in the order of 'permutation') but got 'tensor<4x8xf32>'}}
  %0 = piper.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_element_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.slice' op expects result 'y' to have the element type 'f32' of operand 'x' but got 'i32'; insert a 'piper.cast'}}
  %0 = piper.slice %x {offsets = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x2xi32>
  return
}

// -----

func.func @slice_rank(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.slice' op expects result 'y' to have the 2 dimensions of operand 'x' but got 'tensor<8xf32>'}}
  %0 = piper.slice %x {offsets = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @slice_offsets(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.slice' op expects 'offsets' to have one number per dimension (2) but got [0]}}
  %0 = piper.slice %x {offsets = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @slice_end(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.slice' op expects result 'y' to lie inside the 8 elements of dimension 1 of operand 'x' but got offset 7 and size 2}}
  %0 = piper.slice %x {offsets = array<i64: 0, 7>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @slice_negative(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.slice' op expects result 'y' to lie inside the 4 elements of dimension 0 of operand 'x' but got offset -1 and size 2}}
  %0 = piper.slice %x {offsets = array<i64: -1, 0>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

// Offset and size add up to less than 0 in 64 bits.
func.func @slice_overflow(%x: tensor<8xf32>) {
  // expected-error @below {{'piper.slice' op expects result 'y' to lie inside the 8 elements of dimension 0 of operand 'x' but got offset 9223372036854775807 and size 2}}
  %0 = piper.slice %x {offsets = array<i64: 9223372036854775807>} : (tensor<8xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad_element_type(%x: tensor<2xf32>) {
  // expected-error @below {{'piper.pad' op expects result 'y' to have the element type 'f32' of operand 'x' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.pad %x {offsets = array<i64: 0>} : (tensor<2xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @pad_rank(%x: tensor<2xf32>) {
  // expected-error @below {{'piper.pad' op expects operand 'x' to have the 2 dimensions of result 'y' but got 'tensor<2xf32>'}}
  %0 = piper.pad %x {offsets = array<i64: 0, 0>} : (tensor<2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_end(%x: tensor<4x2xf32>) {
  // expected-error @below {{'piper.pad' op expects operand 'x' to lie inside the 8 elements of dimension 1 of result 'y' but got offset 7 and size 2}}
  %0 = piper.pad %x {offsets = array<i64: 0, 7>} : (tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @below {{'piper.concat' op expects at least one operand but got none}}
  %0 = piper.concat {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_dim(%a: tensor<4x8xf32>) {
  // expected-error @below {{'piper.concat' op expects 'dim' to be one of the 2 dimensions of operand #0 but got 2}}
  %0 = piper.concat %a, %a {dim = 2 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @concat_dim_negative(%a: tensor<4x8xf32>) {
  // expected-error @below {{'piper.concat' op expects 'dim' to be one of the 2 dimensions of operand #0 but got -1}}
  %0 = piper.concat %a, %a {dim = -1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @concat_element_type(%a: tensor<4xf32>, %b: tensor<4xi64>) {
  // expected-error @below {{'piper.concat' op expects operand #1 to have the element type 'f32' of operand #0 but got 'i64'; insert a 'piper.cast'}}
  %0 = piper.concat %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'piper.concat' op expects operand #1 to have the dimensions of operand #0 'tensor<4x8xf32>' except dimension 0 but got 'tensor<8xf32>'}}
  %0 = piper.concat %a, %b {dim = 0 : i64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @concat_shape(%a: tensor<4x8xf32>, %b: tensor<4x7xf32>) {
  // expected-error @below {{'piper.concat' op expects operand #2 to have the dimensions of operand #0 'tensor<4x8xf32>' except dimension 0 but got 'tensor<4x7xf32>'}}
  %0 = piper.concat %a, %a, %b {dim = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<12x8xf32>
  return
}

// -----

func.func @concat_overflow(%a: tensor<9223372036854775807xf32>) {
  // expected-error @below {{'piper.concat' op expects dimension 0 of the result to be less than 2^63}}
  %0 = piper.concat %a, %a {dim = 0 : i64} : (tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_result(%a: tensor<4x8xf32>) {
  // expected-error @below {{'piper.concat' op expects result 'y' to be 'tensor<8x8xf32>' (the operands one after another) but got 'tensor<4x16xf32>'}}
  %0 = piper.concat %a, %a {dim = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @broadcast_element_type(%x: tensor<8xf32>) {
  // expected-error @below {{'piper.broadcast' op expects result 'y' to have the element type 'f32' of operand 'x' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.broadcast %x : (tensor<8xf32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @broadcast_shape(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.broadcast' op expects the dimensions of operand 'x', aligned at the last, to be those of result 'y', 1 or absent but got [4] and [4, 8]}}
  %0 = piper.broadcast %x : (tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

// A broadcast never makes a tensor smaller.
func.func @broadcast_down(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.broadcast' op expects the dimensions of operand 'x', aligned at the last, to be those of result 'y', 1 or absent but got [4, 8] and [8]}}
  %0 = piper.broadcast %x : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<4x8xf32>) {
  // expected-error @below {{'piper.cast' op expects result 'y' to be 'tensor<4x8xf64>' (the shape of 'x') but got 'tensor<32xf64>'}}
  %0 = piper.cast %x : (tensor<4x8xf32>) -> tensor<32xf64>
  return
}

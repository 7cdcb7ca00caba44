// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constant, matrix product, arithmetic, activations and reductions print as they
// are read, as text and as bytecode.
//
// RUN: piper-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @constant
func.func @constant() -> (tensor<i64>, tensor<2x2xf64>, tensor<3xi1>) {
  // CHECK: piper.constant dense<8> : tensor<i64>
  %a = piper.constant dense<8> : tensor<i64>
  // CHECK: piper.constant {piper.tags = #piper.tags<layer = 1>} dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf64>
  %b = piper.constant {piper.tags = #piper.tags<layer = 1>} dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  // CHECK: piper.constant dense<[true, false, true]> : tensor<3xi1>
  %c = piper.constant dense<[true, false, true]> : tensor<3xi1>
  return %a, %b, %c : tensor<i64>, tensor<2x2xf64>, tensor<3xi1>
}

// CHECK-LABEL: func.func @matmul
// CHECK-SAME: (%[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8x2xf32>, %[[BT:.+]]: tensor<2x8xf32>, %[[AT:.+]]: tensor<8x4xf32>)
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %bt: tensor<2x8xf32>, %at: tensor<8x4xf32>) {
  // CHECK: piper.matmul %[[A]], %[[B]] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %0 = piper.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  // CHECK: piper.matmul %[[A]], %[[BT]] {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %1 = piper.matmul %a, %bt {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  // CHECK: piper.matmul %[[AT]], %[[BT]] {transpose_a, transpose_b} : (tensor<8x4xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %2 = piper.matmul %at, %bt {transpose_a, transpose_b} : (tensor<8x4xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  return
}

// Batch dimensions are equal, 1 or absent.
// CHECK-LABEL: func.func @matmul_batched
func.func @matmul_batched(%a: tensor<3x1x4x8xf64>, %b: tensor<5x8x2xf64>, %c: tensor<8x2xbf16>, %d: tensor<5x4x8xbf16>) {
  // CHECK: piper.matmul {{.*}} : (tensor<3x1x4x8xf64>, tensor<5x8x2xf64>) -> tensor<3x5x4x2xf64>
  %0 = piper.matmul %a, %b : (tensor<3x1x4x8xf64>, tensor<5x8x2xf64>) -> tensor<3x5x4x2xf64>
  // CHECK: piper.matmul {{.*}} : (tensor<5x4x8xbf16>, tensor<8x2xbf16>) -> tensor<5x4x2xbf16>
  %1 = piper.matmul %d, %c : (tensor<5x4x8xbf16>, tensor<8x2xbf16>) -> tensor<5x4x2xbf16>
  return
}

// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>, %[[R:.+]]: tensor<8xf32>, %[[C:.+]]: tensor<4x1xf32>, %[[S:.+]]: tensor<f32>, %[[M:.+]]: tensor<4x1xi1>)
func.func @arithmetic(%x: tensor<4x8xf32>, %row: tensor<8xf32>, %column: tensor<4x1xf32>, %scalar: tensor<f32>, %mask: tensor<4x1xi1>) {
  // CHECK: piper.add %[[X]], %[[R]] : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %0 = piper.add %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: piper.sub %[[C]], %[[R]] : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = piper.sub %column, %row : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: piper.mul %[[S]], %[[X]] : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = piper.mul %scalar, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: piper.div %[[X]], %[[C]] : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = piper.div %x, %column : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  // CHECK: piper.select %[[M]], %[[R]], %[[S]] : (tensor<4x1xi1>, tensor<8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = piper.select %mask, %row, %scalar : (tensor<4x1xi1>, tensor<8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: piper.scale %[[X]] {factor = 5.000000e-01 : f64} : tensor<4x8xf32>
  %5 = piper.scale %x {factor = 0.5 : f64} : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @unary
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>)
func.func @unary(%x: tensor<4x8xf32>) {
  // CHECK: piper.neg %[[X]] : tensor<4x8xf32>
  %0 = piper.neg %x : tensor<4x8xf32>
  // CHECK: piper.exp %[[X]] : tensor<4x8xf32>
  %1 = piper.exp %x : tensor<4x8xf32>
  // CHECK: piper.log %[[X]] : tensor<4x8xf32>
  %2 = piper.log %x : tensor<4x8xf32>
  // CHECK: piper.rsqrt %[[X]] : tensor<4x8xf32>
  %3 = piper.rsqrt %x : tensor<4x8xf32>
  // CHECK: piper.square %[[X]] : tensor<4x8xf32>
  %4 = piper.square %x : tensor<4x8xf32>
  // CHECK: piper.tanh %[[X]] : tensor<4x8xf32>
  %5 = piper.tanh %x : tensor<4x8xf32>
  // CHECK: piper.sigmoid %[[X]] : tensor<4x8xf32>
  %6 = piper.sigmoid %x : tensor<4x8xf32>
  // CHECK: piper.relu %[[X]] : tensor<4x8xf32>
  %7 = piper.relu %x : tensor<4x8xf32>
  // CHECK: piper.silu %[[X]] : tensor<4x8xf32>
  %8 = piper.silu %x : tensor<4x8xf32>
  // CHECK: piper.gelu %[[X]] : tensor<4x8xf32>
  %9 = piper.gelu %x : tensor<4x8xf32>
  // CHECK: piper.gelu %[[X]] {approximate} : tensor<4x8xf32>
  %10 = piper.gelu %x {approximate} : tensor<4x8xf32>
  // CHECK: piper.stop_gradient %[[X]] : tensor<4x8xf32>
  %11 = piper.stop_gradient %x : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @unary_grad
// CHECK-SAME: (%[[DY:.+]]: tensor<4x8xf64>, %[[S:.+]]: tensor<4x8xf64>)
func.func @unary_grad(%dy: tensor<4x8xf64>, %s: tensor<4x8xf64>) {
  // CHECK: piper.tanh_grad %[[DY]], %[[S]] : tensor<4x8xf64>
  %0 = piper.tanh_grad %dy, %s : tensor<4x8xf64>
  // CHECK: piper.sigmoid_grad %[[DY]], %[[S]] : tensor<4x8xf64>
  %1 = piper.sigmoid_grad %dy, %s : tensor<4x8xf64>
  // CHECK: piper.relu_grad %[[DY]], %[[S]] : tensor<4x8xf64>
  %2 = piper.relu_grad %dy, %s : tensor<4x8xf64>
  // CHECK: piper.silu_grad %[[DY]], %[[S]] : tensor<4x8xf64>
  %3 = piper.silu_grad %dy, %s : tensor<4x8xf64>
  // CHECK: piper.gelu_grad %[[DY]], %[[S]] {approximate} : tensor<4x8xf64>
  %4 = piper.gelu_grad %dy, %s {approximate} : tensor<4x8xf64>
  return
}

// CHECK-LABEL: func.func @reductions
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>)
func.func @reductions(%x: tensor<4x8xf32>) {
  // CHECK: piper.reduce_sum %[[X]] {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %0 = piper.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: %[[Y:.+]] = piper.reduce_max %[[X]] {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = piper.reduce_max %x {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  // CHECK: piper.reduce_max_grad %[[Y]], %[[X]], %[[Y]] {dims = array<i64: 1>, keep_dims} : (tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = piper.reduce_max_grad %1, %x, %1 {dims = array<i64: 1>, keep_dims} : (tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return
}

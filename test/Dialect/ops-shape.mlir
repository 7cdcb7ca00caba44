// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape ops print as they are read, as text and as bytecode, for every element
// type.
//
// RUN: piper-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @shapes
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>, %[[I:.+]]: tensor<4x2xi32>, %[[L:.+]]: tensor<4x6xi32>)
func.func @shapes(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>, %l: tensor<4x6xi32>) {
  // CHECK: piper.reshape %[[X]] : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
  %0 = piper.reshape %x : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
  // CHECK: piper.transpose %[[X]] {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = piper.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: piper.slice %[[X]] {offsets = array<i64: 1, 6>} : (tensor<4x8xf32>) -> tensor<3x2xf32>
  %2 = piper.slice %x {offsets = array<i64: 1, 6>} : (tensor<4x8xf32>) -> tensor<3x2xf32>
  // CHECK: piper.pad %[[I]] {offsets = array<i64: 0, 4>} : (tensor<4x2xi32>) -> tensor<4x8xi32>
  %3 = piper.pad %i {offsets = array<i64: 0, 4>} : (tensor<4x2xi32>) -> tensor<4x8xi32>
  // CHECK: piper.concat %[[I]], %[[L]], %[[I]] {dim = 1 : i64} : (tensor<4x2xi32>, tensor<4x6xi32>, tensor<4x2xi32>) -> tensor<4x10xi32>
  %4 = piper.concat %i, %l, %i {dim = 1 : i64} : (tensor<4x2xi32>, tensor<4x6xi32>, tensor<4x2xi32>) -> tensor<4x10xi32>
  // CHECK: piper.broadcast %[[X]] : (tensor<4x8xf32>) -> tensor<3x4x8xf32>
  %5 = piper.broadcast %x : (tensor<4x8xf32>) -> tensor<3x4x8xf32>
  return
}

// A tensor without dimensions has one element.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[X:.+]]: tensor<i1>)
func.func @scalars(%x: tensor<i1>) {
  // CHECK: piper.reshape %[[X]] : (tensor<i1>) -> tensor<1x1xi1>
  %0 = piper.reshape %x : (tensor<i1>) -> tensor<1x1xi1>
  // CHECK: piper.broadcast %[[X]] : (tensor<i1>) -> tensor<4x8xi1>
  %1 = piper.broadcast %x : (tensor<i1>) -> tensor<4x8xi1>
  return
}

// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @casts(%x: tensor<4xf32>) {
  // CHECK: piper.cast %[[X]] : (tensor<4xf32>) -> tensor<4xbf16>
  %0 = piper.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: piper.cast %[[X]] : (tensor<4xf32>) -> tensor<4xf64>
  %1 = piper.cast %x : (tensor<4xf32>) -> tensor<4xf64>
  // CHECK: piper.cast %[[X]] : (tensor<4xf32>) -> tensor<4xi1>
  %2 = piper.cast %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: piper.cast %[[X]] : (tensor<4xf32>) -> tensor<4xi32>
  %3 = piper.cast %x : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: piper.cast %[[X]] : (tensor<4xf32>) -> tensor<4xi64>
  %4 = piper.cast %x : (tensor<4xf32>) -> tensor<4xi64>
  return
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each fold, and beside it the case that looks alike and must stay: a fold never
// changes a bit of a result.
//
// RUN: piper-opt %s --canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @neutral
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]] :
func.func @neutral(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %negative_zero = piper.constant dense<-0.0> : tensor<8xf32>
  %zero = piper.constant dense<0.0> : tensor<8xf32>
  %one = piper.constant dense<1.0> : tensor<f32>
  %0 = piper.add %x, %negative_zero : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = piper.add %negative_zero, %x : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = piper.sub %x, %zero : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %3 = piper.mul %x, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = piper.mul %one, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = piper.div %x, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -0.0 + 0.0 is 0.0, and -0.0 - -0.0 is 0.0: for this x the result is not x.
// CHECK-LABEL: func.func @signed_zero
// CHECK: piper.add
// CHECK: piper.sub
func.func @signed_zero(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
  %zero = piper.constant dense<0.0> : tensor<8xf64>
  %negative_zero = piper.constant dense<-0.0> : tensor<8xf64>
  %0 = piper.add %x, %zero : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %1 = piper.sub %x, %negative_zero : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  return %0, %1 : tensor<8xf64>, tensor<8xf64>
}

// 0 - x, 1 / x, x * 0 (NaN for an infinite x), and a constant that is 1 in some
// places only.
// CHECK-LABEL: func.func @not_neutral
// CHECK: piper.sub
// CHECK: piper.div
// CHECK: piper.mul
// CHECK: piper.mul
func.func @not_neutral(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = piper.constant dense<0.0> : tensor<2xf32>
  %one = piper.constant dense<1.0> : tensor<2xf32>
  %mixed = piper.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = piper.sub %zero, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = piper.div %one, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = piper.mul %x, %zero : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = piper.mul %x, %mixed : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// The neutral operand makes the result larger.
// CHECK-LABEL: func.func @neutral_but_larger
// CHECK: piper.mul %{{.+}}, %{{.+}} : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @neutral_but_larger(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %one = piper.constant dense<1.0> : tensor<4x8xf32>
  %0 = piper.mul %x, %one : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @negative
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = piper.neg %x : tensor<4xf32>
  %1 = piper.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A first factor of 1, -1 or a power of two above them does not round.
// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NEXT: %[[B:.+]] = piper.scale %[[X]] {factor = -1.000000e-01 : f64}
// CHECK-NEXT: %[[C:.+]] = piper.scale %[[X]] {factor = 1.200000e+01 : f64}
// CHECK-NEXT: return %[[X]], %[[B]], %[[C]]
func.func @scale(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = piper.scale %x {factor = 1.0 : f64} : tensor<4xf32>
  %1 = piper.scale %x {factor = 0.1 : f64} : tensor<4xf32>
  %2 = piper.scale %1 {factor = -1.0 : f64} : tensor<4xf32>
  %3 = piper.scale %x {factor = 4.0 : f64} : tensor<4xf32>
  %4 = piper.scale %3 {factor = 3.0 : f64} : tensor<4xf32>
  return %0, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Both factors round; the first one may underflow; the product 2^140 overflows
// f32.
// CHECK-LABEL: func.func @scale_rounds
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NEXT: %[[A:.+]] = piper.scale %[[X]] {factor = 1.000000e-01 : f64}
// CHECK-NEXT: piper.scale %[[A]] {factor = 3.000000e+00 : f64}
// CHECK-NEXT: %[[B:.+]] = piper.scale %[[X]] {factor = 5.000000e-01 : f64}
// CHECK-NEXT: piper.scale %[[B]] {factor = 2.000000e+00 : f64}
// CHECK-NEXT: %[[C:.+]] = piper.scale %[[X]] {factor = 1.2980742146337069E+33 : f64}
// CHECK-NEXT: piper.scale %[[C]] {factor = 0x41D0000000000000 : f64}
func.func @scale_rounds(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = piper.scale %x {factor = 0.1 : f64} : tensor<4xf32>
  %1 = piper.scale %0 {factor = 3.0 : f64} : tensor<4xf32>
  %2 = piper.scale %x {factor = 0.5 : f64} : tensor<4xf32>
  %3 = piper.scale %2 {factor = 2.0 : f64} : tensor<4xf32>
  %4 = piper.scale %x {factor = 0x46D0000000000000 : f64} : tensor<4xf32>
  %5 = piper.scale %4 {factor = 1073741824.0 : f64} : tensor<4xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce_nothing
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[Y:.+]] = piper.reduce_sum
// CHECK-NEXT: return %[[X]], %[[X]], %[[Y]]
func.func @reduce_nothing(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %0 = piper.reduce_sum %x {dims = array<i64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = piper.reduce_max %x {dims = array<i64>, keep_dims} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = piper.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

// Ops that leave their operand as it is.
// CHECK-LABEL: func.func @identity
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]] :
func.func @identity(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = piper.reshape %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = piper.transpose %x {permutation = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = piper.slice %x {offsets = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = piper.pad %x {offsets = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = piper.broadcast %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = piper.cast %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = piper.concat %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A transpose that happens to keep the type moves elements.
// CHECK-LABEL: func.func @square_transpose
// CHECK: piper.transpose
func.func @square_transpose(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = piper.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Two of a kind become one: offsets add up, permutations compose.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[X:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: %[[A:.+]] = piper.reshape %[[X]] : (tensor<2x3x4xf32>) -> tensor<24xf32>
// CHECK-NEXT: %[[B:.+]] = piper.transpose %[[X]] {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[C:.+]] = piper.slice %[[X]] {offsets = array<i64: 1, 1, 2>} : (tensor<2x3x4xf32>) -> tensor<1x1x2xf32>
// CHECK-NEXT: %[[D:.+]] = piper.pad %[[X]] {offsets = array<i64: 3, 0, 3>} : (tensor<2x3x4xf32>) -> tensor<8x3x8xf32>
// CHECK-NEXT: %[[E:.+]] = piper.broadcast %[[X]] : (tensor<2x3x4xf32>) -> tensor<6x5x2x3x4xf32>
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
func.func @twice(%x: tensor<2x3x4xf32>) -> (tensor<24xf32>, tensor<4x2x3xf32>, tensor<1x1x2xf32>, tensor<8x3x8xf32>, tensor<6x5x2x3x4xf32>) {
  %r0 = piper.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %r1 = piper.reshape %r0 : (tensor<6x4xf32>) -> tensor<24xf32>
  %t0 = piper.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %t1 = piper.transpose %t0 {permutation = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %s0 = piper.slice %x {offsets = array<i64: 1, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<1x3x3xf32>
  %s1 = piper.slice %s0 {offsets = array<i64: 0, 1, 1>} : (tensor<1x3x3xf32>) -> tensor<1x1x2xf32>
  %p0 = piper.pad %x {offsets = array<i64: 1, 0, 0>} : (tensor<2x3x4xf32>) -> tensor<4x3x4xf32>
  %p1 = piper.pad %p0 {offsets = array<i64: 2, 0, 3>} : (tensor<4x3x4xf32>) -> tensor<8x3x8xf32>
  %b0 = piper.broadcast %x : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
  %b1 = piper.broadcast %b0 : (tensor<5x2x3x4xf32>) -> tensor<6x5x2x3x4xf32>
  return %r1, %t1, %s1, %p1, %b1 : tensor<24xf32>, tensor<4x2x3xf32>, tensor<1x1x2xf32>, tensor<8x3x8xf32>, tensor<6x5x2x3x4xf32>
}

// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME: (%[[X:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @there_and_back(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %r0 = piper.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %r1 = piper.reshape %r0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %t0 = piper.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %t1 = piper.transpose %t0 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %r1, %t1 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// Padding and slicing back is left to whoever knows why: these stay.
// CHECK-LABEL: func.func @slice_then_pad
// CHECK: piper.slice
// CHECK: piper.pad
func.func @slice_then_pad(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = piper.slice %x {offsets = array<i64: 2>} : (tensor<8xf32>) -> tensor<4xf32>
  %1 = piper.pad %0 {offsets = array<i64: 2>} : (tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// The type in between holds every number of the first one.
// CHECK-LABEL: func.func @exact_casts
// CHECK-SAME: (%[[B:.+]]: tensor<4xbf16>, %[[F:.+]]: tensor<4xf32>, %[[I:.+]]: tensor<4xi32>, %[[M:.+]]: tensor<4xi1>)
// CHECK-NEXT: %[[R0:.+]] = piper.cast %[[F]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[R1:.+]] = piper.cast %[[I]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R2:.+]] = piper.cast %[[M]] : (tensor<4xi1>) -> tensor<4xf64>
// CHECK-NEXT: return %[[B]], %[[R0]], %[[R1]], %[[R2]], %[[I]]
func.func @exact_casts(%b: tensor<4xbf16>, %f: tensor<4xf32>, %i: tensor<4xi32>, %m: tensor<4xi1>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf64>, tensor<4xi32>) {
  %b0 = piper.cast %b : (tensor<4xbf16>) -> tensor<4xf32>
  %b1 = piper.cast %b0 : (tensor<4xf32>) -> tensor<4xbf16>
  %f0 = piper.cast %f : (tensor<4xf32>) -> tensor<4xf64>
  %f1 = piper.cast %f0 : (tensor<4xf64>) -> tensor<4xbf16>
  %i0 = piper.cast %i : (tensor<4xi32>) -> tensor<4xf64>
  %i1 = piper.cast %i0 : (tensor<4xf64>) -> tensor<4xf32>
  %m0 = piper.cast %m : (tensor<4xi1>) -> tensor<4xbf16>
  %m1 = piper.cast %m0 : (tensor<4xbf16>) -> tensor<4xf64>
  %j0 = piper.cast %i : (tensor<4xi32>) -> tensor<4xi64>
  %j1 = piper.cast %j0 : (tensor<4xi64>) -> tensor<4xi32>
  return %b1, %f1, %i1, %m1, %j1 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf64>, tensor<4xi32>
}

// The first cast rounds or truncates: i32 has 31 digits and f32 24, i64 has 63
// and f64 53.
// CHECK-LABEL: func.func @inexact_casts
// CHECK-COUNT-10: piper.cast
// CHECK: return
func.func @inexact_casts(%f: tensor<4xf32>, %i: tensor<4xi32>, %l: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi64>, tensor<4xf32>, tensor<4xi32>) {
  %0 = piper.cast %f : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = piper.cast %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = piper.cast %i : (tensor<4xi32>) -> tensor<4xf32>
  %3 = piper.cast %2 : (tensor<4xf32>) -> tensor<4xi32>
  %4 = piper.cast %l : (tensor<4xi64>) -> tensor<4xf64>
  %5 = piper.cast %4 : (tensor<4xf64>) -> tensor<4xi64>
  %6 = piper.cast %f : (tensor<4xf32>) -> tensor<4xi64>
  %7 = piper.cast %6 : (tensor<4xi64>) -> tensor<4xf32>
  %8 = piper.cast %i : (tensor<4xi32>) -> tensor<4xi1>
  %9 = piper.cast %8 : (tensor<4xi1>) -> tensor<4xi32>
  return %1, %3, %5, %7, %9 : tensor<4xf32>, tensor<4xi32>, tensor<4xi64>, tensor<4xf32>, tensor<4xi32>
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// One repeated element, of any size.
// CHECK-LABEL: func.func @repeated
// CHECK-DAG: %[[A:.+]] = piper.constant dense<2.000000e+00> : tensor<1000000xf32>
// CHECK-DAG: %[[B:.+]] = piper.constant dense<2.000000e+00> : tensor<10x1000x100xf32>
// CHECK-DAG: %[[C:.+]] = piper.constant dense<2.000000e+00> : tensor<10x10xf32>
// CHECK-DAG: %[[D:.+]] = piper.constant dense<2.000000e+00> : tensor<7x1000x10x100xf32>
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @repeated() -> (tensor<1000000xf32>, tensor<10x1000x100xf32>, tensor<10x10xf32>, tensor<7x1000x10x100xf32>) {
  %c = piper.constant dense<2.0> : tensor<1000x10x100xf32>
  %m = piper.constant dense<2.0> : tensor<1000x10xf32>
  %0 = piper.reshape %c : (tensor<1000x10x100xf32>) -> tensor<1000000xf32>
  %1 = piper.transpose %c {permutation = array<i64: 1, 0, 2>} : (tensor<1000x10x100xf32>) -> tensor<10x1000x100xf32>
  %2 = piper.slice %m {offsets = array<i64: 5, 0>} : (tensor<1000x10xf32>) -> tensor<10x10xf32>
  %3 = piper.broadcast %c : (tensor<1000x10x100xf32>) -> tensor<7x1000x10x100xf32>
  return %0, %1, %2, %3 : tensor<1000000xf32>, tensor<10x1000x100xf32>, tensor<10x10xf32>, tensor<7x1000x10x100xf32>
}

// CHECK-LABEL: func.func @small
// CHECK-DAG: %[[A:.+]] = piper.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// CHECK-DAG: %[[B:.+]] = piper.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG: %[[C:.+]] = piper.constant dense<{{\[\[}}5, 6]]> : tensor<1x2xi32>
// CHECK-DAG: %[[D:.+]] = piper.constant dense<{{\[\[\[}}1, 2, 3], [4, 5, 6]], {{\[\[}}1, 2, 3], [4, 5, 6]]]> : tensor<2x2x3xi32>
// CHECK-DAG: %[[E:.+]] = piper.constant dense<{{\[\[}}true, true, true], [false, false, false]]> : tensor<2x3xi1>
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
func.func @small() -> (tensor<6xi32>, tensor<3x2xi32>, tensor<1x2xi32>, tensor<2x2x3xi32>, tensor<2x3xi1>) {
  %c = piper.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %m = piper.constant dense<[[true], [false]]> : tensor<2x1xi1>
  %0 = piper.reshape %c : (tensor<2x3xi32>) -> tensor<6xi32>
  %1 = piper.transpose %c {permutation = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %2 = piper.slice %c {offsets = array<i64: 1, 1>} : (tensor<2x3xi32>) -> tensor<1x2xi32>
  %3 = piper.broadcast %c : (tensor<2x3xi32>) -> tensor<2x2x3xi32>
  %4 = piper.broadcast %m : (tensor<2x1xi1>) -> tensor<2x3xi1>
  return %0, %1, %2, %3, %4 : tensor<6xi32>, tensor<3x2xi32>, tensor<1x2xi32>, tensor<2x2x3xi32>, tensor<2x3xi1>
}

// More than 64 elements stay one constant and one op.
// CHECK-LABEL: func.func @large
// CHECK: piper.broadcast
func.func @large() -> tensor<33x2xi32> {
  %c = piper.constant dense<[1, 2]> : tensor<2xi32>
  %0 = piper.broadcast %c : (tensor<2xi32>) -> tensor<33x2xi32>
  return %0 : tensor<33x2xi32>
}

//===----------------------------------------------------------------------===//
// Model ops
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @dropout
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[KEY:.+]]: tensor<2xi64>)
// CHECK-NEXT: %[[Y:.+]] = piper.dropout %[[X]], %[[KEY]] {p = 5.000000e-01 : f64}
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @dropout(%x: tensor<4xf32>, %key: tensor<2xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = piper.dropout %x, %key {p = 0.0 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  %1 = piper.dropout %x, %key {p = 0.5 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// It would let a gradient through.
// CHECK-LABEL: func.func @stop_gradient
// CHECK: piper.stop_gradient
func.func @stop_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = piper.stop_gradient %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation is the loss of `train` without dropout.
//
// RUN: piper-opt %s --split-input-file --piper-add-evaluation | FileCheck %s

// `train` keeps its dropout; the copy has none, and neither has `predict`: not
// the op, not that of attention, not the key.

// CHECK-LABEL: func.func @train(
// CHECK-NEXT: piper.random_key
// CHECK-NEXT: piper.dropout
// CHECK-NEXT: piper.attention {{.*}} {dropout = 5.0
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4x1x4xf32>
// CHECK-SAME: {piper.param = #piper.param<"w", init = zeros>}
// CHECK-SAME: -> (tensor<f32> {piper.output = "loss"})
// CHECK-NEXT: piper.attention %[[X]], %[[X]], %[[X]] {scale = {{[^ ,]*}} : f64} :
// CHECK-NEXT: piper.mul
// CHECK-NEXT: piper.reduce_sum
// CHECK-NEXT: return
// CHECK-LABEL: func.func @predict(
// CHECK-NEXT: piper.attention {{.*}} {scale = {{[^ ,]*}} : f64} :
// CHECK-NEXT: return
func.func @train(%x: tensor<2x4x1x4xf32> {piper.input = #piper.input<"x", dims = [batch, seq, heads, size]>},
                 %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %k = piper.random_key : () -> tensor<2xi64>
  %d = piper.dropout %x, %k {p = 0.5 : f64} : (tensor<2x4x1x4xf32>, tensor<2xi64>) -> tensor<2x4x1x4xf32>
  %a = piper.attention %d, %d, %d, %k {scale = 0.5 : f64, dropout = 0.5 : f64, index = 1 : i64}
      : (tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2xi64>) -> tensor<2x4x1x4xf32>
  %m = piper.mul %a, %w : (tensor<2x4x1x4xf32>, tensor<4xf32>) -> tensor<2x4x1x4xf32>
  %l = piper.reduce_sum %m {dims = array<i64: 0, 1, 2, 3>} : (tensor<2x4x1x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @predict(%x: tensor<2x4x1x4xf32> {piper.input = #piper.input<"x", dims = [batch, seq, heads, size]>})
    -> (tensor<2x4x1x4xf32> {piper.output = "y"}) {
  %k = piper.random_key : () -> tensor<2xi64>
  %a = piper.attention %x, %x, %x, %k {scale = 0.5 : f64, dropout = 0.5 : f64}
      : (tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2xi64>) -> tensor<2x4x1x4xf32>
  %d = piper.dropout %a, %k {p = 0.5 : f64, index = 1 : i64} : (tensor<2x4x1x4xf32>, tensor<2xi64>) -> tensor<2x4x1x4xf32>
  return %d : tensor<2x4x1x4xf32>
}

// -----

// An `eval` of the model stays as it is.

// CHECK-LABEL: func.func @train(
// CHECK-LABEL: func.func @eval(
// CHECK-NEXT: piper.neg
// CHECK-NOT: func.func
func.func @train(%w: tensor<f32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.square %w : tensor<f32>
  return %l : tensor<f32>
}
func.func @eval(%w: tensor<f32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.neg %w : tensor<f32>
  return %l : tensor<f32>
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recomputation of a step that is split already.
//
// RUN: piper-opt %s --piper-recompute | FileCheck %s

// The forwards keep the sum, which is accumulated. A task of pass R has no
// accumulator, is of the same micro-batch, stage and copy, and stands before the
// first half of the backward; the second half reads the same values.

// CHECK-LABEL: func.func @train(
// CHECK: %[[F0:.+]] = piper.task @f(%[[X:.+]]) pass = F tags = <layer = 1> segment = 0 mb = 0 stage = 1 copy = 1 : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT: %[[F1:.+]] = piper.task @f(%[[X]]) into(%[[F0]]) pass = F tags = <layer = 1> segment = 0 mb = 1 stage = 1 copy = 1 : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[F2:.+]]:2 = piper.task @f.fw(%[[X]]) into(%[[F1]]) pass = F tags = <layer = 2> segment = 0 mb = 2 stage = 1 copy = 1
// CHECK-NEXT: %[[R0:.+]] = piper.task @f.re(%[[X]]) pass = R tags = <layer = 1> segment = 0 mb = 0 stage = 1 copy = 1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: piper.task @f.bi(%[[R0]]) pass = BI
// CHECK-NEXT: %[[R1:.+]] = piper.task @f.re(%[[X]]) pass = R tags = <layer = 1> segment = 0 mb = 1 stage = 1 copy = 1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: piper.task @f.bi(%[[R1]]) pass = BI
// CHECK-NEXT: piper.task @f.bi(%[[F2]]#0) pass = BI
// CHECK-NEXT: piper.task @f.dw(%[[R1]]) pass = BW
// CHECK-NEXT: return %[[F2]]#1
// CHECK: func.func private @f.re(%[[X:.+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.+]] = piper.softmax %[[X]]
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @f(%[[X:.+]]: tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT: %[[Y:.+]] = piper.softmax %[[X]]
// CHECK-NEXT: %[[S:.+]] = piper.reduce_sum %[[Y]]
// CHECK-NEXT: return %[[S]]
module attributes {piper.level = #piper.level<dag>, piper.directives = [{op = "recompute", filter = {layer = 1 : i64}}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<f32> {piper.output = "loss"}) {
    %f0:2 = piper.task @f.fw(%x) pass = F tags = <layer = 1> segment = 0 mb = 0 stage = 1 copy = 1 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
    %f1:2 = piper.task @f.fw(%x) into(%f0#1) pass = F tags = <layer = 1> segment = 0 mb = 1 stage = 1 copy = 1 : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
    %f2:2 = piper.task @f.fw(%x) into(%f1#1) pass = F tags = <layer = 2> segment = 0 mb = 2 stage = 1 copy = 1 : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
    %b0 = piper.task @f.bi(%f0#0) pass = BI segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %b1 = piper.task @f.bi(%f1#0) pass = BI segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %b2 = piper.task @f.bi(%f2#0) pass = BI segment = 0 mb = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %w1 = piper.task @f.dw(%f1#0) pass = BW segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %f2#1 : tensor<f32>
  }
  func.func private @f.fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
    %y = piper.softmax %x : tensor<4xf32>
    %s = piper.reduce_sum %y {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    return %y, %s : tensor<4xf32>, tensor<f32>
  }
  func.func private @f.bi(%y: tensor<4xf32>) -> tensor<4xf32> {
    %d = piper.square %y : tensor<4xf32>
    return %d : tensor<4xf32>
  }
  func.func private @f.dw(%y: tensor<4xf32>) -> tensor<4xf32> {
    %d = piper.exp %y : tensor<4xf32>
    return %d : tensor<4xf32>
  }
}

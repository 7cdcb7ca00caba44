// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backward tasks cut in two, all of them.
//
// RUN: piper-opt %s --split-input-file --piper-split-backward=all | FileCheck %s

// Two micro-batches of two segments. What other backward tasks read is an input
// gradient: segment 1 has two, one of them of a skip connection, and one of a
// weight; the sum of the two has no other result and is all BI; segment 0 has no
// input gradient and is all BW. Accumulators are those of BW. The function is
// cut once, and the halves keep salt, tags, segment, micro-batch, stage and copy.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[DY:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[I0:.+]]:3 = piper.task @f.bi(%[[DY]], %[[X]], %[[W]]) pass = BI salt = 7 tags = <layer = 2> segment = 1 mb = 0 stage = 1 copy = 1 :
// CHECK-NEXT: %[[W0:.+]] = piper.task @f.dw(%[[I0]]#2, %[[X]]) pass = BW salt = 7 tags = <layer = 2> segment = 1 mb = 0 stage = 1 copy = 1 :
// CHECK-NEXT: %[[A0:.+]] = piper.task @add(%[[I0]]#0, %[[I0]]#1) pass = BI tags = <layer = 1> segment = 0 mb = 0
// CHECK-NEXT: %[[E0:.+]] = piper.task @e.bw(%[[A0]], %[[X]]) pass = BW tags = <layer = 1> segment = 0 mb = 0
// CHECK-NEXT: %[[I1:.+]]:3 = piper.task @f.bi(%[[DY]], %[[X]], %[[W]]) pass = BI salt = 7 tags = <layer = 2> segment = 1 mb = 1 stage = 1 copy = 1 :
// CHECK-NEXT: %[[W1:.+]] = piper.task @f.dw(%[[I1]]#2, %[[X]]) into(%[[W0]]) pass = BW salt = 7 tags = <layer = 2> segment = 1 mb = 1 stage = 1 copy = 1 :
// CHECK-NEXT: %[[A1:.+]] = piper.task @add(%[[I1]]#0, %[[I1]]#1) pass = BI tags = <layer = 1> segment = 0 mb = 1
// CHECK-NEXT: %[[E1:.+]] = piper.task @e.bw(%[[A1]], %[[X]]) into(%[[E0]]) pass = BW tags = <layer = 1> segment = 0 mb = 1
// CHECK-NEXT: return %[[W1]], %[[E1]]

// %d is 128 bytes, and so are %dy and %x: with %d passed the second half holds
// 256 bytes (it reads %x anyway), with %d made again of %dy and %x it would hold
// 256 as well: of two such cuts the one that runs fewer ops twice is taken.
// CHECK: func.func private @f.bi(%[[DY:[a-z0-9]+]]: tensor<4x8xf32>, %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[W:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[D:.+]] = piper.mul %[[DY]], %[[X]]
// CHECK-NEXT: %[[DX:.+]] = piper.mul %[[D]], %[[W]]
// CHECK-NEXT: %[[DS:.+]] = piper.neg %[[DX]]
// CHECK-NEXT: return %[[DX]], %[[DS]], %[[D]]
// CHECK: func.func private @f.dw(%[[D:[a-z0-9]+]]: tensor<4x8xf32>, %[[X:[a-z0-9]+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[DW:.+]] = piper.mul %[[D]], %[[X]]
// CHECK-NEXT: return %[[DW]]
// CHECK-NOT: @f.bi_
// CHECK-NOT: @f.bw
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%w: tensor<4x8xf32> {piper.param = #piper.param<"w">},
                   %x: tensor<4x8xf32> {piper.input = #piper.input<"x">},
                   %dy: tensor<4x8xf32> {piper.input = #piper.input<"dy">})
      -> (tensor<4x8xf32> {piper.gradient = "w"}, tensor<4x8xf32> {piper.output = "e"}) {
    %b0:3 = piper.task @f.bw(%dy, %x, %w) pass = B salt = 7 tags = <layer = 2> segment = 1 mb = 0 stage = 1 copy = 1
        : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
    %a0 = piper.task @add(%b0#0, %b0#1) pass = B tags = <layer = 1> segment = 0 mb = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %e0 = piper.task @e.bw(%a0, %x) pass = B tags = <layer = 1> segment = 0 mb = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %b1:3 = piper.task @f.bw(%dy, %x, %w) into(%b0#2) pass = B salt = 7 tags = <layer = 2> segment = 1 mb = 1 stage = 1 copy = 1
        : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
    %a1 = piper.task @add(%b1#0, %b1#1) pass = B tags = <layer = 1> segment = 0 mb = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %e1 = piper.task @e.bw(%a1, %x) into(%e0) pass = B tags = <layer = 1> segment = 0 mb = 1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %b1#2, %e1 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @f.bw(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %d = piper.mul %dy, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %dx = piper.mul %d, %w : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %ds = piper.neg %dx : tensor<4x8xf32>
    %dw = piper.mul %d, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %dx, %ds, %dw : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @add(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = piper.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %s : tensor<4x8xf32>
  }
  func.func private @e.bw(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = piper.sub %d, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %s : tensor<4x8xf32>
  }
}

// -----

// An accumulated gradient of a value that all micro-batches share (here %w + %w)
// is complete after the last of them: the task that reads it is no reason to
// compute it early.

// CHECK-LABEL: func.func @train(
// CHECK: %[[I0:.+]] = piper.task @f.bi({{.*}}) pass = BI segment = 1 mb = 0
// CHECK-NEXT: %[[W0:.+]] = piper.task @f.dw({{.*}}) pass = BW segment = 1 mb = 0
// CHECK-NEXT: piper.task @next.bw(%[[I0]]) pass = BW
// CHECK-NEXT: %[[I1:.+]] = piper.task @f.bi({{.*}}) pass = BI segment = 1 mb = 1
// CHECK-NEXT: %[[W1:.+]] = piper.task @f.dw({{.*}}) into(%[[W0]]) pass = BW segment = 1 mb = 1
// CHECK-NEXT: piper.task @next.bw(%[[I1]]) pass = BW
// CHECK-NEXT: piper.task @double.bw(%[[W1]]) pass = BW segment = 0
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%w: tensor<4x8xf32> {piper.param = #piper.param<"w">}, %x: tensor<4x8xf32> {piper.input = #piper.input<"x">})
      -> (tensor<4x8xf32> {piper.gradient = "w"}, tensor<4x8xf32> {piper.output = "a"}, tensor<4x8xf32> {piper.output = "b"}) {
    %b0:2 = piper.task @f.bw(%x) pass = B segment = 1 mb = 0 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    %n0 = piper.task @next.bw(%b0#0) pass = B segment = 2 mb = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %b1:2 = piper.task @f.bw(%x) into(%b0#1) pass = B segment = 1 mb = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    %n1 = piper.task @next.bw(%b1#0) pass = B segment = 2 mb = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %d = piper.task @double.bw(%b1#1) pass = B segment = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %d, %n0, %n1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @f.bw(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %a = piper.tanh %x : tensor<4x8xf32>
    %b = piper.exp %x : tensor<4x8xf32>
    return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @next.bw(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %a = piper.square %x : tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  func.func private @double.bw(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %a = piper.scale %x {factor = 2.0 : f64} : tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
}

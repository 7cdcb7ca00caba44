// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a placed step may hold. A module without places may stay on level 1.
//
// RUN: piper-opt %s --split-input-file --piper-verify-placed | FileCheck %s

// CHECK-LABEL: func.func @train(
// CHECK: piper.micro_batch
// CHECK: piper.transfer
// CHECK: piper.all_reduce
!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
!both = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
!count = !piper.dist<tensor<i64>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", split = 0>}, %w: !both {piper.param = #piper.param<"w">},
      %m: !both {piper.state = #piper.state<"w.m", of = "w">}, %i: !count {piper.state = #piper.state<"iteration">})
      -> (!p1 {piper.output = "loss"}, !both {piper.next = "w"}, !both {piper.next = "w.m"}, !count {piper.next = "iteration"}) {
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %a0 = piper.task @f(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %t0 = piper.transfer %a0 : !p0 -> !p1
    %b0 = piper.task @f(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!p1) -> !p1
    %b1 = piper.task @f(%a0) pass = F segment = 1 mb = 1 stage = 1 copy = 1 : (!p0) -> !p0
    %b2 = piper.task @f(%w) pass = F segment = 1 stage = 1 : (!both) -> !both
    %s = piper.all_reduce %b0, %b1 over ["pp"] : (!p1, !p0) -> !both
    %u = piper.task @f(%s) pass = U : (!both) -> !both
    return %b0, %u, %m, %i : !p1, !both, !both, !count
  }
}

// -----

// CHECK-LABEL: func.func @dag(
module attributes {piper.level = #piper.level<dag>} {
  func.func @dag() {
    return
  }
}

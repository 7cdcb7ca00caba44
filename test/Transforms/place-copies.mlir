// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two copies of each stage (DualPipe): the second half of the micro-batches runs
// through the second copies.
//
// RUN: piper-opt %s --split-input-file --piper-place --piper-verify-placed | FileCheck %s

// Chains of accumulators are cut between the copies; what needs the sum reads
// one all-reduce of both, copy 0 first. Tasks without a micro-batch run once on
// each coordinate of their stage that needs them.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W0:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"w0", init = zeros>}
// CHECK-SAME: %[[W1:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"w1", init = zeros>}
// CHECK: %[[P:.+]] = piper.task @grad(%[[W0]]) pass = F segment = 0 stage = 0 : (!piper.dist<tensor<4xf32>, on [pp = 0, 1]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK: %[[H0:.+]] = piper.task @f(%{{.+}}, %[[P]]) pass = F segment = 0 mb = 0 stage = 0 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[H0]] : {{.*}} -> <tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[H1:.+]] = piper.task @f(%{{.+}}, %[[P]]) pass = F segment = 0 mb = 1 stage = 0 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[H1]] : {{.*}} -> <tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[H2:.+]] = piper.task @f(%{{.+}}, %[[P]]) pass = F segment = 0 mb = 2 stage = 0 copy = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[T2:.+]] = piper.transfer %[[H2]] : {{.*}} -> <tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[H3:.+]] = piper.task @f(%{{.+}}, %[[P]]) pass = F segment = 0 mb = 3 stage = 0 copy = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[T3:.+]] = piper.transfer %[[H3]] : {{.*}} -> <tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[L0:.+]] = piper.task @f(%[[T0]], %[[W1]]) pass = F segment = 1 mb = 0 stage = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[L1:.+]] = piper.task @f(%[[T1]], %[[W1]]) into(%[[L0]]) pass = F segment = 1 mb = 1 stage = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[L2:.+]] = piper.task @f(%[[T2]], %[[W1]]) pass = F segment = 1 mb = 2 stage = 1 copy = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[L3:.+]] = piper.task @f(%[[T3]], %[[W1]]) into(%[[L2]]) pass = F segment = 1 mb = 3 stage = 1 copy = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[G0:.+]] = piper.task @grad(%[[T0]]) pass = B segment = 1 mb = 0
// CHECK-NEXT: %[[G1:.+]] = piper.task @grad(%[[T1]]) into(%[[G0]]) pass = B segment = 1 mb = 1
// CHECK-NEXT: %[[G2:.+]] = piper.task @grad(%[[T2]]) pass = B segment = 1 mb = 2
// CHECK-NEXT: %[[G3:.+]] = piper.task @grad(%[[T3]]) into(%[[G2]]) pass = B segment = 1 mb = 3
// CHECK-NEXT: %[[D0:.+]] = piper.task @grad(%[[H0]]) pass = B segment = 0 mb = 0
// CHECK-NEXT: %[[D1:.+]] = piper.task @grad(%[[H1]]) into(%[[D0]])
// CHECK-NEXT: %[[D2:.+]] = piper.task @grad(%[[H2]]) pass = B segment = 0 mb = 2
// CHECK-NEXT: %[[D3:.+]] = piper.task @grad(%[[H3]]) into(%[[D2]])
// CHECK-NEXT: %[[D:.+]] = piper.all_reduce %[[D1]], %[[D3]] over ["pp"] : (!piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 1]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK-NEXT: %[[DW0:.+]] = piper.task @grad(%[[D]]) pass = B segment = 0 stage = 0 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// The mean is where the last part of its operand is.
// CHECK-NEXT: %[[L:.+]] = piper.all_reduce %[[L1]], %[[L3]] over ["pp"] : (!piper.dist<tensor<4xf32>, on [pp = 1]>, !piper.dist<tensor<4xf32>, on [pp = 0]>) -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[M:.+]] = piper.task @grad(%[[L]]) pass = once : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[U0:.+]] = piper.task @update(%[[W0]], %[[DW0]]) pass = U
// CHECK-NEXT: %[[DW1:.+]] = piper.all_reduce %[[G1]], %[[G3]] over ["pp"] : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK-NEXT: %[[U1:.+]] = piper.task @update(%[[W1]], %[[DW1]]) pass = U
// CHECK-NEXT: return %[[M]], %[[U0]], %[[U1]]
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  func.func @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x", split = 0>}, %w0: tensor<4xf32> {piper.param = #piper.param<"w0">}, %w1: tensor<4xf32> {piper.param = #piper.param<"w1">}) -> (tensor<4xf32> {piper.output = "loss"}, tensor<4xf32> {piper.next = "w0"}, tensor<4xf32> {piper.next = "w1"}) {
    %x0 = piper.micro_batch %x[0] : tensor<4x4xf32> -> tensor<4xf32>
    %x1 = piper.micro_batch %x[1] : tensor<4x4xf32> -> tensor<4xf32>
    %x2 = piper.micro_batch %x[2] : tensor<4x4xf32> -> tensor<4xf32>
    %x3 = piper.micro_batch %x[3] : tensor<4x4xf32> -> tensor<4xf32>
    %p = piper.task @grad(%w0) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %h0 = piper.task @f(%x0, %p) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%x1, %p) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h2 = piper.task @f(%x2, %p) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h3 = piper.task @f(%x3, %p) pass = F segment = 0 mb = 3 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l0 = piper.task @f(%h0, %w1) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l1 = piper.task @f(%h1, %w1) into(%l0) pass = F segment = 1 mb = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l2 = piper.task @f(%h2, %w1) into(%l1) pass = F segment = 1 mb = 2 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l3 = piper.task @f(%h3, %w1) into(%l2) pass = F segment = 1 mb = 3 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g0 = piper.task @grad(%h0) pass = B segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g1 = piper.task @grad(%h1) into(%g0) pass = B segment = 1 mb = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g2 = piper.task @grad(%h2) into(%g1) pass = B segment = 1 mb = 2 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g3 = piper.task @grad(%h3) into(%g2) pass = B segment = 1 mb = 3 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d0 = piper.task @grad(%h0) pass = B segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %d1 = piper.task @grad(%h1) into(%d0) pass = B segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d2 = piper.task @grad(%h2) into(%d1) pass = B segment = 0 mb = 2 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d3 = piper.task @grad(%h3) into(%d2) pass = B segment = 0 mb = 3 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %dw = piper.task @grad(%d3) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %m = piper.task @grad(%l3) pass = once : (tensor<4xf32>) -> tensor<4xf32>
    %u0 = piper.task @update(%w0, %dw) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u1 = piper.task @update(%w1, %g3) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %m, %u0, %u1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A parameter of both stages: one all-reduce of the parts of each segment, the
// copies of a segment side by side. A chain that nothing reads is not reduced.

// CHECK-LABEL: func.func @train(
// CHECK: %[[A1:.+]] = piper.task @grad({{.*}}) into(%{{.+}}) pass = B segment = 1 mb = 1 stage = 1 :
// CHECK: %[[A3:.+]] = piper.task @grad({{.*}}) into(%{{.+}}) pass = B segment = 1 mb = 3 stage = 1 copy = 1 :
// CHECK: %[[B1:.+]] = piper.task @grad({{.*}}) into(%{{.+}}) pass = B segment = 0 mb = 1 stage = 0 :
// CHECK: %[[B3:.+]] = piper.task @grad({{.*}}) into(%{{.+}}) pass = B segment = 0 mb = 3 stage = 0 copy = 1 :
// CHECK-NEXT: %[[S:.+]] = piper.all_reduce %[[B1]], %[[B3]], %[[A1]], %[[A3]] over ["pp"] : (!piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 1]>, !piper.dist<tensor<4xf32>, on [pp = 1]>, !piper.dist<tensor<4xf32>, on [pp = 0]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK-NEXT: piper.task @update({{.*}}, %[[S]])
// CHECK-NOT: all_reduce
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  func.func @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x", split = 0>}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.next = "w"}) {
    %x0 = piper.micro_batch %x[0] : tensor<4x4xf32> -> tensor<4xf32>
    %x1 = piper.micro_batch %x[1] : tensor<4x4xf32> -> tensor<4xf32>
    %x2 = piper.micro_batch %x[2] : tensor<4x4xf32> -> tensor<4xf32>
    %x3 = piper.micro_batch %x[3] : tensor<4x4xf32> -> tensor<4xf32>
    %h0 = piper.task @f(%x0, %w) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%x1, %w) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h2 = piper.task @f(%x2, %w) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h3 = piper.task @f(%x3, %w) pass = F segment = 0 mb = 3 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l0 = piper.task @f(%h0, %w) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l1 = piper.task @f(%h1, %w) into(%l0) pass = F segment = 1 mb = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l2 = piper.task @f(%h2, %w) into(%l1) pass = F segment = 1 mb = 2 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l3 = piper.task @f(%h3, %w) into(%l2) pass = F segment = 1 mb = 3 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g0 = piper.task @grad(%h0) pass = B segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g1 = piper.task @grad(%h1) into(%g0) pass = B segment = 1 mb = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g2 = piper.task @grad(%h2) into(%g1) pass = B segment = 1 mb = 2 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g3 = piper.task @grad(%h3) into(%g2) pass = B segment = 1 mb = 3 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d0 = piper.task @grad(%h0) pass = B segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %d1 = piper.task @grad(%h1) into(%d0) pass = B segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d2 = piper.task @grad(%h2) into(%d1) pass = B segment = 0 mb = 2 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d3 = piper.task @grad(%h3) into(%d2) pass = B segment = 0 mb = 3 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = piper.task @add(%d3, %g3) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = piper.task @update(%w, %s) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %u : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A step of one micro-batch runs through the first copies. The links of a chain
// may alternate between the copies: each has its own.

// CHECK-LABEL: func.func @train(
// CHECK: %[[L0:.+]] = piper.task @grad(%{{.+}}) pass = F segment = 0 mb = 0 stage = 0 :
// CHECK-NEXT: %[[L2:.+]] = piper.task @grad(%{{.+}}) pass = F segment = 0 mb = 2 stage = 0 copy = 1 :
// CHECK-NEXT: %[[L1:.+]] = piper.task @grad(%{{.+}}) into(%[[L0]]) pass = F segment = 0 mb = 1 stage = 0 :
// CHECK-NEXT: %[[L3:.+]] = piper.task @grad(%{{.+}}) into(%[[L2]]) pass = F segment = 0 mb = 3 stage = 0 copy = 1 :
// CHECK: %[[L:.+]] = piper.all_reduce %[[L1]], %[[L3]] over
// CHECK-NEXT: return %[[L]]
// CHECK: func.func @eval(
// CHECK: %[[Y:.+]] = piper.task @grad(%{{.+}}) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[T:.+]] = piper.transfer %[[Y]]
// CHECK-NEXT: piper.task @grad(%[[T]]) pass = F segment = 1 stage = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  func.func @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x", split = 0>}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %x0 = piper.micro_batch %x[0] : tensor<4x4xf32> -> tensor<4xf32>
    %x1 = piper.micro_batch %x[1] : tensor<4x4xf32> -> tensor<4xf32>
    %x2 = piper.micro_batch %x[2] : tensor<4x4xf32> -> tensor<4xf32>
    %x3 = piper.micro_batch %x[3] : tensor<4x4xf32> -> tensor<4xf32>
    %l0 = piper.task @grad(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %l2 = piper.task @grad(%x2) into(%l0) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l1 = piper.task @grad(%x1) into(%l2) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l3 = piper.task @grad(%x3) into(%l1) pass = F segment = 0 mb = 3 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = piper.task @grad(%x0) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %l3 : tensor<4xf32>
  }
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
    %y = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %z = piper.task @grad(%y) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The block in the order of the schedule: views and what comes before the body
// first, the actions as they start, each transfer where its value gets ready but
// at most `prefetch` actions of the receiver ahead of its reader, the epilogue
// last.
// The sums of weights follow the order of running.
//
// RUN: piper-opt %s --split-input-file --piper-apply-schedule | FileCheck %s -enable-var-scope

// Two stages, three micro-batches, written stage after stage. 1F1B, F = 1, B =
// 2: coordinate 0 runs F0 F1 B0 F2 B1 B2 from 0 1 4 6 7 10 on, coordinate 1 F0 B0
// F1 B1 F2 B2 from 1 2 4 5 7 8 on. The value for F1 of coordinate 1 may come from
// behind its F0 on, one action ahead; that for F2 from behind F1 on. B1 ends at 7,
// as F2 of coordinate 0 does: its value stands behind that action, which starts
// at 6.
// CHECK-LABEL: func.func @train
// CHECK:      %[[X0:.+]] = piper.micro_batch %{{.+}}[0]
// CHECK-NEXT: %[[X1:.+]] = piper.micro_batch %{{.+}}[1]
// CHECK-NEXT: %[[X2:.+]] = piper.micro_batch %{{.+}}[2]
// CHECK-NEXT: %[[N:.+]] = piper.task @seed() pass = once
// CHECK-NEXT: %[[M:.+]] = piper.all_reduce %[[N]]
// CHECK-NEXT: %[[H0:.+]]:2 = piper.task @fw(%[[X0]]) pass = F segment = 0 mb = 0
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[H0]]#0
// CHECK-NEXT: %[[Y0:.+]]:2 = piper.task @fw(%[[T0]]) pass = F segment = 1 mb = 0
// CHECK-NEXT: %[[H1:.+]]:2 = piper.task @fw(%[[X1]]) pass = F segment = 0 mb = 1
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[H1]]#0
// CHECK-NEXT: %[[B0:.+]]:2 = piper.task @bw(%[[M]], %[[Y0]]#1) pass = B segment = 1 mb = 0
// CHECK-NEXT: %[[D0:.+]] = piper.transfer %[[B0]]#0
// CHECK-NEXT: %[[A0:.+]]:2 = piper.task @bw(%[[D0]], %[[H0]]#1) pass = B segment = 0 mb = 0
// CHECK-NEXT: %[[Y1:.+]]:2 = piper.task @fw(%[[T1]]) pass = F segment = 1 mb = 1
// CHECK-NEXT: %[[B1:.+]]:2 = piper.task @bw(%[[M]], %[[Y1]]#1) into(%[[B0]]#1) pass = B segment = 1 mb = 1
// CHECK-NEXT: %[[H2:.+]]:2 = piper.task @fw(%[[X2]]) pass = F segment = 0 mb = 2
// CHECK-NEXT: %[[D1:.+]] = piper.transfer %[[B1]]#0
// CHECK-NEXT: %[[T2:.+]] = piper.transfer %[[H2]]#0
// CHECK-NEXT: %[[A1:.+]]:2 = piper.task @bw(%[[D1]], %[[H1]]#1) into(%[[A0]]#1) pass = B segment = 0 mb = 1
// CHECK-NEXT: %[[Y2:.+]]:2 = piper.task @fw(%[[T2]]) pass = F segment = 1 mb = 2
// CHECK-NEXT: %[[B2:.+]]:2 = piper.task @bw(%[[M]], %[[Y2]]#1) into(%[[B1]]#1) pass = B segment = 1 mb = 2
// CHECK-NEXT: %[[D2:.+]] = piper.transfer %[[B2]]#0
// CHECK-NEXT: %[[A2:.+]]:2 = piper.task @bw(%[[D2]], %[[H2]]#1) into(%[[A1]]#1) pass = B segment = 0 mb = 2
// CHECK-NEXT: %[[G:.+]] = piper.all_reduce %[[A2]]#1, %[[B2]]#1
// CHECK-NEXT: %[[U:.+]] = piper.task @update(%[[G]]) pass = U
// CHECK-NEXT: return %[[U]]
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
!ab = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<3x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> !ab {
    %x0 = piper.micro_batch %x[0] : tensor<3x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<3x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %x2 = piper.micro_batch %x[2] : tensor<3x4xf32> -> tensor<4xf32>
    %h2:2 = piper.task @fw(%x2) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %n = piper.task @seed() pass = once : () -> !b
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    %t2 = piper.transfer %h2#0 : !a -> !b
    %y2:2 = piper.task @fw(%t2) pass = F segment = 1 mb = 2 stage = 1 : (!b) -> (!b, !b)
    %m = piper.all_reduce %n over ["pp"] : (!b) -> !ab
    %b0:2 = piper.task @bw(%m, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!ab, !b) -> (!b, !b)
    %b1:2 = piper.task @bw(%m, %y1#1) into(%b0#1) pass = B segment = 1 mb = 1 stage = 1 : (!ab, !b, !b) -> (!b, !b)
    %b2:2 = piper.task @bw(%m, %y2#1) into(%b1#1) pass = B segment = 1 mb = 2 stage = 1 : (!ab, !b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %d1 = piper.transfer %b1#0 : !b -> !a
    %a1:2 = piper.task @bw(%d1, %h1#1) into(%a0#1) pass = B segment = 0 mb = 1 stage = 0 : (!a, !a, !a) -> (!a, !a)
    %d2 = piper.transfer %b2#0 : !b -> !a
    %a2:2 = piper.task @bw(%d2, %h2#1) into(%a1#1) pass = B segment = 0 mb = 2 stage = 0 : (!a, !a, !a) -> (!a, !a)
    %g = piper.all_reduce %a2#1, %b2#1 over ["pp"] : (!a, !b) -> !ab
    %u = piper.task @update(%g) pass = U : (!ab) -> !ab
    return %u : !ab
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @bw(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.tanh %dy : tensor<4xf32>
    %dx = piper.tanh %0 : tensor<4xf32>
    %1 = piper.square %s : tensor<4xf32>
    %dw = piper.square %1 : tensor<4xf32>
    return %dx, %dw : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// With prefetch 0 the value for F1 of coordinate 1 comes no earlier than behind
// B0, the action before; it is ready earlier than that of B0. An evaluation runs the forwards of each coordinate in
// the same order.
// CHECK-LABEL: func.func @train
// CHECK:      piper.task @fw(%{{.+}}) pass = F segment = 0 mb = 0
// CHECK-NEXT: piper.transfer
// CHECK-NEXT: piper.task @fw(%{{.+}}) pass = F segment = 1 mb = 0
// CHECK-NEXT: %[[H1:.+]]:2 = piper.task @fw(%{{.+}}) pass = F segment = 0 mb = 1
// CHECK-NEXT: %[[B0:.+]]:2 = piper.task @bw(%{{.+}}) pass = B segment = 1 mb = 0
// CHECK-NEXT: piper.transfer %[[H1]]#0
// CHECK-NEXT: piper.transfer %[[B0]]#0
// CHECK-NEXT: piper.task @bw(%{{.+}}) pass = B segment = 0 mb = 0
// CHECK-NEXT: piper.task @fw(%{{.+}}) pass = F segment = 1 mb = 1
// CHECK-NEXT: piper.task @bw(%{{.+}}) into(%[[B0]]#1) pass = B segment = 1 mb = 1
// CHECK-LABEL: func.func @eval
// CHECK:      %[[X0:.+]] = piper.micro_batch
// CHECK-NEXT: %[[X1:.+]] = piper.micro_batch
// CHECK-NEXT: %[[H0:.+]]:2 = piper.task @fw(%[[X0]]) pass = F segment = 0 mb = 0
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[H0]]#0
// CHECK-NEXT: %[[H1:.+]]:2 = piper.task @fw(%[[X1]]) pass = F segment = 0 mb = 1
// CHECK-NEXT: %[[Y0:.+]]:2 = piper.task @fw(%[[T0]]) pass = F segment = 1 mb = 0
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[H1]]#0
// CHECK-NEXT: %[[Y1:.+]]:2 = piper.task @fw(%[[T1]]) pass = F segment = 1 mb = 1
// CHECK-NEXT: return %[[Y1]]#0
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
!ab = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"},
    {op = "options", prefetch = 0}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    %b1:2 = piper.task @bw(%n, %y1#1) into(%b0#1) pass = B segment = 1 mb = 1 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d1 = piper.transfer %b1#0 : !b -> !a
    %a1:2 = piper.task @bw(%d1, %h1#1) into(%a0#1) pass = B segment = 0 mb = 1 stage = 0 : (!a, !a, !a) -> (!a, !a)
    return %a1#1, %b1#1 : !a, !b
  }
  func.func @eval(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> !b {
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    return %y1#0 : !b
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @bw(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.tanh %dy : tensor<4xf32>
    %dx = piper.tanh %0 : tensor<4xf32>
    %1 = piper.square %s : tensor<4xf32>
    %dw = piper.square %1 : tensor<4xf32>
    return %dx, %dw : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Several values of a boundary, one past a stage, and one of the prologue, which
// stays there; stage 0 has two tasks. What is read first leaves first. Without a
// schedule the tasks stay and the transfers move.
// CHECK-LABEL: func.func @eval
// CHECK-NEXT: %[[W:.+]] = piper.task @one
// CHECK-NEXT: %[[V:.+]] = piper.transfer %[[W]]
// CHECK-NEXT: %[[H0:.+]]:2 = piper.task @fw(%arg0)
// CHECK-NEXT: %[[S0:.+]] = piper.transfer %[[H0]]#1
// CHECK-NEXT: %[[K0:.+]]:2 = piper.task @fw(%[[H0]]#0)
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[K0]]#0
// CHECK-NEXT: %[[U0:.+]] = piper.transfer %[[K0]]#1
// CHECK-NEXT: %[[Y0:.+]] = piper.task @two(%[[T0]], %[[U0]])
// CHECK-NEXT: %[[R0:.+]] = piper.transfer %[[Y0]]
// CHECK-NEXT: %[[Z0:.+]] = piper.task @three(%[[R0]], %[[S0]], %[[V]])
// CHECK-NEXT: %[[H1:.+]]:2 = piper.task @fw(%arg1)
// CHECK-NEXT: %[[S1:.+]] = piper.transfer %[[H1]]#1
// CHECK-NEXT: %[[K1:.+]]:2 = piper.task @fw(%[[H1]]#0)
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[K1]]#0
// CHECK-NEXT: %[[U1:.+]] = piper.transfer %[[K1]]#1
// CHECK-NEXT: %[[Y1:.+]] = piper.task @two(%[[T1]], %[[U1]])
// CHECK-NEXT: %[[R1:.+]] = piper.transfer %[[Y1]]
// CHECK-NEXT: %[[Z1:.+]] = piper.task @three(%[[R1]], %[[S1]], %[[V]])
// CHECK-NEXT: return %[[Z0]], %[[Z1]]
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
!c = !piper.dist<tensor<4xf32>, on [pp = 2]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "place", filter = {SEGMENT = 2}, devices = [2]}]} {
  piper.mesh @mesh ["pp"] = [3]
  func.func @eval(%x0: tensor<4xf32> {piper.input = #piper.input<"x0">}, %x1: tensor<4xf32> {piper.input = #piper.input<"x1">}) -> (!c, !c) {
    %w = piper.task @one(%x0) pass = once : (tensor<4xf32>) -> !a
    %v = piper.transfer %w : !a -> !c
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %k0:2 = piper.task @fw(%h0#0) pass = F segment = 0 mb = 0 stage = 0 : (!a) -> (!a, !a)
    %s0 = piper.transfer %h0#1 : !a -> !c
    %t0 = piper.transfer %k0#0 : !a -> !b
    %u0 = piper.transfer %k0#1 : !a -> !b
    %y0 = piper.task @two(%t0, %u0) pass = F segment = 1 mb = 0 stage = 1 : (!b, !b) -> !b
    %r0 = piper.transfer %y0 : !b -> !c
    %z0 = piper.task @three(%r0, %s0, %v) pass = F segment = 2 mb = 0 stage = 2 : (!c, !c, !c) -> !c
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %k1:2 = piper.task @fw(%h1#0) pass = F segment = 0 mb = 1 stage = 0 : (!a) -> (!a, !a)
    %s1 = piper.transfer %h1#1 : !a -> !c
    %t1 = piper.transfer %k1#0 : !a -> !b
    %u1 = piper.transfer %k1#1 : !a -> !b
    %y1 = piper.task @two(%t1, %u1) pass = F segment = 1 mb = 1 stage = 1 : (!b, !b) -> !b
    %r1 = piper.transfer %y1 : !b -> !c
    %z1 = piper.task @three(%r1, %s1, %v) pass = F segment = 2 mb = 1 stage = 2 : (!c, !c, !c) -> !c
    return %z0, %z1 : !c, !c
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %z = piper.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @three(%x: tensor<4xf32>, %y: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
    %z = piper.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = piper.add %z, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %u : tensor<4xf32>
  }
}

// -----

// The same under a schedule, with one more value from stage 0 to stage 2, which
// leaves behind those that stage 1 reads before it.
// CHECK-LABEL: func.func @train
// CHECK-NEXT: %[[W:.+]] = piper.task @one
// CHECK-NEXT: %[[V:.+]] = piper.transfer %[[W]]
// CHECK-NEXT: %[[H0:.+]]:2 = piper.task @fw(%arg0)
// CHECK-NEXT: %[[S0:.+]] = piper.transfer %[[H0]]#1
// CHECK-NEXT: %[[K0:.+]]:2 = piper.task @fw(%[[H0]]#0)
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[K0]]#0
// CHECK-NEXT: %[[U0:.+]] = piper.transfer %[[K0]]#1
// CHECK-NEXT: %[[Q0:.+]] = piper.transfer %[[K0]]#1
// CHECK-NEXT: %[[H1:.+]]:2 = piper.task @fw(%arg1)
// CHECK-NEXT: %[[S1:.+]] = piper.transfer %[[H1]]#1
// CHECK-NEXT: %[[K1:.+]]:2 = piper.task @fw(%[[H1]]#0)
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[K1]]#0
// CHECK-NEXT: %[[U1:.+]] = piper.transfer %[[K1]]#1
// CHECK-NEXT: %[[Y0:.+]] = piper.task @two(%[[T0]], %[[U0]])
// CHECK-NEXT: %[[R0:.+]] = piper.transfer %[[Y0]]
// CHECK-NEXT: %[[Z0:.+]] = piper.task @three(%[[R0]], %[[S0]], %[[Q0]])
// CHECK-NEXT: %[[Y1:.+]] = piper.task @two(%[[T1]], %[[U1]])
// CHECK-NEXT: %[[R1:.+]] = piper.transfer %[[Y1]]
// CHECK-NEXT: %[[Z1:.+]] = piper.task @three(%[[R1]], %[[S1]], %[[V]])
// CHECK-NEXT: return %[[Z0]], %[[Z1]]
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
!c = !piper.dist<tensor<4xf32>, on [pp = 2]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "place", filter = {SEGMENT = 2}, devices = [2]},
    {op = "schedule", kind = "gpipe"}]} {
  piper.mesh @mesh ["pp"] = [3]
  func.func @train(%x0: tensor<4xf32> {piper.input = #piper.input<"x0">}, %x1: tensor<4xf32> {piper.input = #piper.input<"x1">}) -> (!c, !c) {
    %w = piper.task @one(%x0) pass = once : (tensor<4xf32>) -> !a
    %v = piper.transfer %w : !a -> !c
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %k0:2 = piper.task @fw(%h0#0) pass = F segment = 0 mb = 0 stage = 0 : (!a) -> (!a, !a)
    %s0 = piper.transfer %h0#1 : !a -> !c
    %q0 = piper.transfer %k0#1 : !a -> !c
    %t0 = piper.transfer %k0#0 : !a -> !b
    %u0 = piper.transfer %k0#1 : !a -> !b
    %y0 = piper.task @two(%t0, %u0) pass = F segment = 1 mb = 0 stage = 1 : (!b, !b) -> !b
    %r0 = piper.transfer %y0 : !b -> !c
    %z0 = piper.task @three(%r0, %s0, %q0) pass = F segment = 2 mb = 0 stage = 2 : (!c, !c, !c) -> !c
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %k1:2 = piper.task @fw(%h1#0) pass = F segment = 0 mb = 1 stage = 0 : (!a) -> (!a, !a)
    %s1 = piper.transfer %h1#1 : !a -> !c
    %t1 = piper.transfer %k1#0 : !a -> !b
    %u1 = piper.transfer %k1#1 : !a -> !b
    %y1 = piper.task @two(%t1, %u1) pass = F segment = 1 mb = 1 stage = 1 : (!b, !b) -> !b
    %r1 = piper.transfer %y1 : !b -> !c
    %z1 = piper.task @three(%r1, %s1, %v) pass = F segment = 2 mb = 1 stage = 2 : (!c, !c, !c) -> !c
    return %z0, %z1 : !c, !c
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %z = piper.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @three(%x: tensor<4xf32>, %y: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
    %z = piper.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = piper.add %z, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %u : tensor<4xf32>
  }
}

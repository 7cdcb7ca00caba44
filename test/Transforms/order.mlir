// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The block in the order of `order` directives. Tasks that no directive names
// run as early as their coordinate is free.
//
// RUN: piper-opt %s --split-input-file --piper-order | FileCheck %s -enable-var-scope

// One order over both coordinates that the data flow implies: the step stays as it is.
// CHECK-LABEL: func.func @train
// CHECK:      %[[N:.+]] = piper.task @seed()
// CHECK-NEXT: %[[H:.+]]:2 = piper.task @fw(%{{.+}}) pass = F segment = 0 mb = 0
// CHECK-NEXT: %[[T:.+]] = piper.transfer %[[H]]#0
// CHECK-NEXT: %[[Y:.+]]:2 = piper.task @fw(%[[T]]) pass = F segment = 1 mb = 0
// CHECK-NEXT: %[[B:.+]]:2 = piper.task @bw(%[[N]], %[[Y]]#1) pass = B segment = 1 mb = 0
// CHECK-NEXT: %[[D:.+]] = piper.transfer %[[B]]#0
// CHECK-NEXT: %[[A:.+]]:2 = piper.task @bw(%[[D]], %[[H]]#1) pass = B segment = 0 mb = 0
// CHECK-NEXT: return %[[A]]#1, %[[B]]#1
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
!ab = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "F", MB = 0, STAGE = 1}], [{PASS = "B", MB = 0, STAGE = 1}], [{PASS = "B", MB = 0, STAGE = 0}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<1x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<1x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    return %a0#1, %b0#1 : !a, !b
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

// Stage 1 runs its backwards in the order 2, 0, 1: the sums of both stages are
// linked so. Stage 0 is free: its backwards run as their gradients come. The
// value for B1 of stage 0 may come one action ahead of it: all come at once.
// CHECK-LABEL: func.func @train
// CHECK:      %[[N:.+]] = piper.task @seed()
// CHECK-NEXT: %[[H0:.+]]:2 = piper.task @fw(%{{.+}}) pass = F segment = 0 mb = 0
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[H0]]#0
// CHECK-NEXT: %[[H1:.+]]:2 = piper.task @fw(%{{.+}}) pass = F segment = 0 mb = 1
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[H1]]#0
// CHECK-NEXT: %[[Y0:.+]]:2 = piper.task @fw(%[[T0]]) pass = F segment = 1 mb = 0
// CHECK-NEXT: %[[H2:.+]]:2 = piper.task @fw(%{{.+}}) pass = F segment = 0 mb = 2
// CHECK-NEXT: %[[T2:.+]] = piper.transfer %[[H2]]#0
// CHECK-NEXT: %[[Y1:.+]]:2 = piper.task @fw(%[[T1]]) pass = F segment = 1 mb = 1
// CHECK-NEXT: %[[Y2:.+]]:2 = piper.task @fw(%[[T2]]) pass = F segment = 1 mb = 2
// CHECK-NEXT: %[[B2:.+]]:2 = piper.task @bw(%[[N]], %[[Y2]]#1) pass = B segment = 1 mb = 2
// CHECK-NEXT: %[[D2:.+]] = piper.transfer %[[B2]]#0
// CHECK-NEXT: %[[A2:.+]]:2 = piper.task @bw(%[[D2]], %[[H2]]#1) pass = B segment = 0 mb = 2
// CHECK-NEXT: %[[B0:.+]]:2 = piper.task @bw(%[[N]], %[[Y0]]#1) into(%[[B2]]#1) pass = B segment = 1 mb = 0
// CHECK-NEXT: %[[D0:.+]] = piper.transfer %[[B0]]#0
// CHECK-NEXT: %[[A0:.+]]:2 = piper.task @bw(%[[D0]], %[[H0]]#1) into(%[[A2]]#1) pass = B segment = 0 mb = 0
// CHECK-NEXT: %[[B1:.+]]:2 = piper.task @bw(%[[N]], %[[Y1]]#1) into(%[[B0]]#1) pass = B segment = 1 mb = 1
// CHECK-NEXT: %[[D1:.+]] = piper.transfer %[[B1]]#0
// CHECK-NEXT: %[[A1:.+]]:2 = piper.task @bw(%[[D1]], %[[H1]]#1) into(%[[A0]]#1) pass = B segment = 0 mb = 1
// CHECK-NEXT: return %[[A1]]#1, %[[B1]]#1
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
!ab = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "B", MB = 2, STAGE = 1}], [{PASS = "B", MB = 0, STAGE = 1}], [{PASS = "B", MB = 1, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<3x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<3x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<3x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    %b1:2 = piper.task @bw(%n, %y1#1) into(%b0#1) pass = B segment = 1 mb = 1 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d1 = piper.transfer %b1#0 : !b -> !a
    %a1:2 = piper.task @bw(%d1, %h1#1) into(%a0#1) pass = B segment = 0 mb = 1 stage = 0 : (!a, !a, !a) -> (!a, !a)
    %x2 = piper.micro_batch %x[2] : tensor<3x4xf32> -> tensor<4xf32>
    %h2:2 = piper.task @fw(%x2) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t2 = piper.transfer %h2#0 : !a -> !b
    %y2:2 = piper.task @fw(%t2) pass = F segment = 1 mb = 2 stage = 1 : (!b) -> (!b, !b)
    %b2:2 = piper.task @bw(%n, %y2#1) into(%b1#1) pass = B segment = 1 mb = 2 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d2 = piper.transfer %b2#0 : !b -> !a
    %a2:2 = piper.task @bw(%d2, %h2#1) into(%a1#1) pass = B segment = 0 mb = 2 stage = 0 : (!a, !a, !a) -> (!a, !a)
    return %a2#1, %b2#1 : !a, !b
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

// A group of three filters: their tasks take turns, on one device without places.
// The recomputation (R) is not named: it stays right before its backward, whose
// second half comes last. The evaluation has the forwards of the order.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X0:.+]]: tensor<4xf32> {{{.*}}}, %[[X1:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: %[[C:.+]] = piper.task @one(%[[X1]]) pass = F segment = 0 mb = 1
// CHECK-NEXT: %[[D:.+]] = piper.task @one(%[[C]]) pass = F segment = 1 mb = 1
// CHECK-NEXT: %[[A:.+]] = piper.task @one(%[[X0]]) pass = F segment = 0 mb = 0
// CHECK-NEXT: %[[RD:.+]] = piper.task @one(%[[C]]) pass = R segment = 1 mb = 1
// CHECK-NEXT: %[[BD:.+]] = piper.task @two(%[[D]], %[[RD]]) pass = BI segment = 1 mb = 1
// CHECK-NEXT: %[[BC:.+]] = piper.task @two(%[[BD]], %[[C]]) pass = B segment = 0 mb = 1
// CHECK-NEXT: %[[B:.+]] = piper.task @one(%[[A]]) pass = F segment = 1 mb = 0
// CHECK-NEXT: %[[WD:.+]] = piper.task @one(%[[RD]]) pass = BW segment = 1 mb = 1
// CHECK-NEXT: return %[[B]], %[[BC]], %[[WD]]
// CHECK-LABEL: func.func @eval
// CHECK-SAME: (%[[X0:.+]]: tensor<4xf32> {{{.*}}}, %[[X1:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: %[[C:.+]] = piper.task @one(%[[X1]]) pass = F segment = 0 mb = 1
// CHECK-NEXT: %[[A:.+]] = piper.task @one(%[[X0]]) pass = F segment = 0 mb = 0
// CHECK-NEXT: return %[[A]], %[[C]]
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "order", filters = [[{PASS = "F", MB = 1}], [{PASS = "F", MB = 0}, {PASS = "BI", MB = 1}, {PASS = "B", MB = 1}], [{PASS = "BW"}]]}]} {
  func.func @train(%x0: tensor<4xf32> {piper.input = #piper.input<"x0">}, %x1: tensor<4xf32> {piper.input = #piper.input<"x1">}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a = piper.task @one(%x0) pass = F segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %b = piper.task @one(%a) pass = F segment = 1 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %c = piper.task @one(%x1) pass = F segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %d = piper.task @one(%c) pass = F segment = 1 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %rd = piper.task @one(%c) pass = R segment = 1 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %bd = piper.task @two(%d, %rd) pass = BI segment = 1 mb = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %wd = piper.task @one(%rd) pass = BW segment = 1 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %bc = piper.task @two(%bd, %c) pass = B segment = 0 mb = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %b, %bc, %wd : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func @eval(%x0: tensor<4xf32> {piper.input = #piper.input<"x0">}, %x1: tensor<4xf32> {piper.input = #piper.input<"x1">}) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = piper.task @one(%x0) pass = F segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %c = piper.task @one(%x1) pass = F segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %a, %c : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %z = piper.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
}

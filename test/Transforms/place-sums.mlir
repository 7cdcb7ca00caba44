// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over coordinates: gradients of parameters that several segments use, and
// their norm.
//
// RUN: piper-opt %s --split-input-file --piper-place --piper-verify-placed | FileCheck %s

// The first and the last stage of a V lie on one coordinate: a parameter of
// both is stored once and its gradients are added there, as in one program.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.param = #piper.param<"w", init = zeros>})
// CHECK-NOT: all_reduce
// CHECK: %[[G0:.+]] = piper.task @grad({{.*}}) pass = B segment = 0
// CHECK: %[[SUM:.+]] = piper.task @add(%[[G0]], %{{.+}}) pass = once : (!piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 0]>) -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: piper.task @update(%[[W]], %[[SUM]])
// CHECK-NOT: all_reduce
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]},
    {op = "place", filter = {SEGMENT = 2 : i64}, devices = [1 : i64]},
    {op = "place", filter = {SEGMENT = 3 : i64}, devices = [0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.next = "w"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @grad(%h0) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %h2 = piper.task @grad(%h1) pass = F segment = 2 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %h3 = piper.task @f(%h2, %w) pass = F segment = 3 stage = 2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g3 = piper.task @grad(%h3) pass = B segment = 3 stage = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %d1 = piper.task @grad(%h2) pass = B segment = 2 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g0 = piper.task @grad(%d1) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %s = piper.task @add(%g0, %g3) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
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

// Three uses on two coordinates: one all-reduce, its operands in the order of
// the segments, whatever their coordinates.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"w", init = zeros>})
// CHECK: %[[G2:.+]] = piper.task @grad({{.*}}) pass = B segment = 2 stage = 2
// CHECK: %[[G1:.+]] = piper.task @grad({{.*}}) pass = B segment = 1 stage = 1
// CHECK: %[[G0:.+]] = piper.task @grad({{.*}}) pass = B segment = 0 stage = 0
// CHECK-NOT: @add
// CHECK: %[[SUM:.+]] = piper.all_reduce %[[G0]], %[[G1]], %[[G2]] over ["pp"] : (!piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 1]>, !piper.dist<tensor<4xf32>, on [pp = 0]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK-NOT: all_reduce
// CHECK: %[[U:.+]] = piper.task @update(%[[W]], %[[SUM]]) pass = U : (!piper.dist<tensor<4xf32>, on [pp = 0, 1]>, !piper.dist<tensor<4xf32>, on [pp = 0, 1]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// A gradient that is kept is the sum as well.
// CHECK-NEXT: return %[[SUM]], %[[U]]
// CHECK-NOT: func.func private @add
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]},
    {op = "place", filter = {SEGMENT = 2 : i64}, devices = [0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.gradient = "w"}, tensor<4xf32> {piper.next = "w"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %w) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h2 = piper.task @f(%h1, %w) pass = F segment = 2 stage = 2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g2 = piper.task @grad(%h2) pass = B segment = 2 stage = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %g1 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g0 = piper.task @grad(%h0) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %s = piper.task @add(%g0, %g1) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = piper.task @add(%s, %g2) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = piper.task @update(%w, %t) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %t, %u : tensor<4xf32>, tensor<4xf32>
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

// Sums are added as they are written: what is added to g0 is a sum of its own.

// CHECK-LABEL: func.func @train(
// CHECK: %[[G2:.+]] = piper.task @grad({{.*}}) pass = B segment = 2 stage = 2
// CHECK: %[[G1:.+]] = piper.task @grad({{.*}}) pass = B segment = 1 stage = 1
// CHECK: %[[G0:.+]] = piper.task @grad({{.*}}) pass = B segment = 0 stage = 0
// CHECK: %[[S:.+]] = piper.all_reduce %[[G1]], %[[G2]] over
// CHECK: %[[T:.+]] = piper.all_reduce %[[G0]], %[[S]] over
// CHECK: piper.task @update(%{{.+}}, %[[T]])
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]},
    {op = "place", filter = {SEGMENT = 2 : i64}, devices = [0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.gradient = "w"}, tensor<4xf32> {piper.next = "w"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %w) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h2 = piper.task @f(%h1, %w) pass = F segment = 2 stage = 2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g2 = piper.task @grad(%h2) pass = B segment = 2 stage = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %g1 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g0 = piper.task @grad(%h0) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %s = piper.task @add(%g1, %g2) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = piper.task @add(%g0, %s) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = piper.task @update(%w, %t) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %t, %u : tensor<4xf32>, tensor<4xf32>
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

// A parameter that eval uses elsewhere is stored and updated there too. The
// moment and the frozen parameter follow their uses; what nothing uses is on 0.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"w", init = zeros>}
// CHECK-SAME: %[[M:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.state = #piper.state<"w.m", of = "w">}
// CHECK-SAME: !piper.dist<tensor<4xf32>, on [pp = 1]> {piper.param = #piper.param<"c", init = zeros, frozen>}
// CHECK-SAME: !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.param = #piper.param<"unused", init = zeros>}
// CHECK: %[[G:.+]] = piper.task @grad({{.*}}) pass = B segment = 0 stage = 0
// CHECK-NEXT: %[[ALL:.+]] = piper.all_reduce %[[G]] over ["pp"] : (!piper.dist<tensor<4xf32>, on [pp = 0]>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK-NEXT: piper.task @update(%[[W]], %[[ALL]]) pass = U
// CHECK-NEXT: piper.task @update(%[[M]], %[[ALL]]) pass = U
// CHECK: func.func @eval(
// CHECK-SAME: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"w", init = zeros>}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}, %m: tensor<4xf32> {piper.state = #piper.state<"w.m", of = "w">},
      %c: tensor<4xf32> {piper.param = #piper.param<"c", frozen>}, %unused: tensor<4xf32> {piper.param = #piper.param<"unused">}) -> (tensor<4xf32> {piper.next = "w"}, tensor<4xf32> {piper.next = "w.m"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %c) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d1 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g0 = piper.task @grad(%d1) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %u = piper.task @update(%w, %g0) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %v = piper.task @update(%m, %g0) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %u, %v : tensor<4xf32>, tensor<4xf32>
  }
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.output = "y"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %w) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %h1 : tensor<4xf32>
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

// A gradient that lies on several coordinates counts on the first. The counts
// of gradients 0, 3 and 4 and of 1 and 2 stand at their places among all five.

// CHECK-LABEL: func.func @train(
// CHECK: %[[SUM:.+]] = piper.all_reduce
// CHECK-NEXT: %[[P0:.+]]:2 = piper.task @[[NORM0:[a-z_0-9]+]](%[[SUM]], %{{.+}}) pass = once : (!piper.dist<tensor<4xf32>, on [pp = 0, 1]>, !piper.dist<tensor<4xf32>, on [pp = 0]>) -> (!piper.dist<tensor<68xi64>, on [pp = 0]>,
// CHECK-NEXT: %[[P1:.+]]:2 = piper.task @[[NORM1:[a-z_0-9]+]](%{{.+}}, %{{.+}}, %{{.+}}) pass = once : (!piper.dist<tensor<4xf32>, on [pp = 1]>, {{.*}}) -> (!piper.dist<tensor<68xi64>, on [pp = 1]>,
// Nothing needs the sum on more than one coordinate.
// CHECK-NEXT: piper.task @update(%{{.+}}, %[[SUM]])
// CHECK-NEXT: %[[ALL:.+]] = piper.all_reduce %[[P0]]#0, %[[P1]]#0 over ["pp"] : {{.*}} -> !piper.dist<tensor<68xi64>, on [pp = 1]>
// CHECK-NEXT: %[[BAD:.+]] = piper.all_reduce %[[P0]]#1, %[[P1]]#1 over ["pp"] : {{.*}} -> !piper.dist<tensor<5xi64>, on [pp = 1]>
// CHECK-NEXT: return %[[ALL]], %[[BAD]]
// CHECK: func.func private @[[NORM0]](%[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.+]], %[[C:.+]] = piper.norm_table %[[A]], %[[B]]
// CHECK-NEXT: %[[Z1:.+]] = piper.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[Z2:.+]] = piper.constant dense<0> : tensor<2xi64>
// CHECK-NEXT: %[[V:.+]] = piper.concat %[[Z1]], %[[C]], %[[Z2]] {dim = 0 : i64}
// CHECK-NEXT: return %[[S]], %[[V]]
// CHECK: func.func private @[[NORM1]](%[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.+]], %[[C:.+]] = piper.norm_table %[[A]], %[[B]], %[[D]]
// CHECK-NEXT: %[[C0:.+]] = piper.slice %[[C]] {offsets = array<i64: 0>} : (tensor<3xi64>) -> tensor<1xi64>
// CHECK-NEXT: %[[Z:.+]] = piper.constant dense<0> : tensor<2xi64>
// CHECK-NEXT: %[[C1:.+]] = piper.slice %[[C]] {offsets = array<i64: 1>} : (tensor<3xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V:.+]] = piper.concat %[[C0]], %[[Z]], %[[C1]] {dim = 0 : i64}
// CHECK-NEXT: return %[[S]], %[[V]]
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<68xi64> {piper.output = "sum"}, tensor<5xi64> {piper.output = "nonfinite"}, tensor<4xf32> {piper.next = "w"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %w) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g1 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g2 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g3 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g4 = piper.task @grad(%h1) pass = B segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %d0 = piper.task @grad(%h0) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %e0 = piper.task @grad(%h0) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %s = piper.task @add(%d0, %g1) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t:2 = piper.task @norm_table(%g2, %s, %e0, %g3, %g4) pass = once : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<68xi64>, tensor<5xi64>)
    %u = piper.task @update(%w, %s) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %t#0, %t#1, %u : tensor<68xi64>, tensor<5xi64>, tensor<4xf32>
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
  func.func private @norm_table(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>) -> (tensor<68xi64>, tensor<5xi64>) {
    %0:2 = piper.norm_table %a, %b, %c, %d, %e : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<68xi64>, tensor<5xi64>)
    return %0#0, %0#1 : tensor<68xi64>, tensor<5xi64>
  }
}

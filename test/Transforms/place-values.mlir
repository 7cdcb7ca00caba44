// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What crosses: every type, over any distance, once for each coordinate that
// needs it; and what runs where it is used instead.
//
// RUN: piper-opt %s --split-input-file --piper-place --piper-verify-placed | FileCheck %s

// Four stages on three coordinates. Several values of several types from stage 0
// to all others: one transfer each to coordinates 1 and 2, none for the last
// stage, which is on 1 as well. No stage has parameters.

// CHECK-LABEL: func.func @train(
// CHECK: %[[A:.+]]:4 = piper.task @types(%{{.+}}) pass = F segment = 0 stage = 0
// CHECK-NEXT: %[[I1:.+]] = piper.transfer %[[A]]#1 : <tensor<4xi32>, on [pp = 0]> -> <tensor<4xi32>, on [pp = 1]>
// CHECK-NEXT: %[[B1:.+]] = piper.transfer %[[A]]#2 : <tensor<4xi1>, on [pp = 0]> -> <tensor<4xi1>, on [pp = 1]>
// CHECK-NEXT: %[[H1:.+]] = piper.transfer %[[A]]#3 : <tensor<4xbf16>, on [pp = 0]> -> <tensor<4xbf16>, on [pp = 1]>
// CHECK-NEXT: %[[X2:.+]] = piper.transfer %[[A]]#0 : <tensor<4xf32>, on [pp = 0]> -> <tensor<4xf32>, on [pp = 2]>
// CHECK-NEXT: %[[I2:.+]] = piper.transfer %[[A]]#1 : <tensor<4xi32>, on [pp = 0]> -> <tensor<4xi32>, on [pp = 2]>
// CHECK-NEXT: %[[Y:.+]] = piper.task @use(%[[I1]], %[[B1]], %[[H1]]) pass = F segment = 1 stage = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[Z:.+]] = piper.task @join(%[[X2]], %[[I2]]) pass = F segment = 2 stage = 2 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 2]>
// CHECK-NEXT: %[[Z1:.+]] = piper.transfer %[[Z]]
// CHECK-NEXT: piper.task @join(%[[Z1]], %[[I1]]) pass = F segment = 3 stage = 3 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]},
    {op = "place", filter = {SEGMENT = 2 : i64}, devices = [2 : i64]},
    {op = "place", filter = {SEGMENT = 3 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "y"}) {
    %a:4 = piper.task @types(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xbf16>)
    %y = piper.task @use(%a#1, %a#2, %a#3) pass = F segment = 1 stage = 1 : (tensor<4xi32>, tensor<4xi1>, tensor<4xbf16>) -> tensor<4xf32>
    %z = piper.task @join(%a#0, %a#1) pass = F segment = 2 stage = 2 : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
    %l = piper.task @join(%z, %a#1) pass = F segment = 3 stage = 3 : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
    return %l, %y : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @types(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xbf16>) {
    %0 = piper.neg %x : tensor<4xf32>
    %1 = piper.cast %x : (tensor<4xf32>) -> tensor<4xi32>
    %2 = piper.cast %x : (tensor<4xf32>) -> tensor<4xi1>
    %3 = piper.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xbf16>
  }
  func.func private @use(%i: tensor<4xi32>, %b: tensor<4xi1>, %h: tensor<4xbf16>) -> tensor<4xf32> {
    %0 = piper.cast %h : (tensor<4xbf16>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @join(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
    %0 = piper.tanh %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// The stage in the middle is frozen: its parameter has no gradient and no
// update, but the gradient of its input flows on.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.param
// CHECK-SAME: %[[C:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 1]> {piper.param = #piper.param<"c", init = zeros, frozen>}
// CHECK: piper.task @f(%{{.+}}, %[[C]]) pass = F segment = 1 stage = 1
// CHECK: %[[D1:.+]] = piper.task @f(%{{.+}}, %[[C]]) pass = B segment = 1 stage = 1 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[T:.+]] = piper.transfer %[[D1]] : {{.*}} -> <tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[D0:.+]] = piper.task @grad(%[[T]]) pass = B segment = 0 stage = 0 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: piper.task @update(%[[W]], %[[D0]]) pass = U
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]},
    {op = "place", filter = {SEGMENT = 2 : i64}, devices = [0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}, %c: tensor<4xf32> {piper.param = #piper.param<"c", frozen>}) -> (tensor<4xf32> {piper.next = "w"}) {
    %h0 = piper.task @f(%x, %w) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %c) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h2 = piper.task @grad(%h1) pass = F segment = 2 stage = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %d2 = piper.task @grad(%h2) pass = B segment = 2 stage = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %d1 = piper.task @f(%d2, %c) pass = B segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d0 = piper.task @grad(%d1) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %u = piper.task @update(%w, %d0) pass = U : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
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
  func.func private @update(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// The end of the step: a task of values on several coordinates runs where the
// first of them is; a parameter that is returned is copied where it is stored;
// what depends on no value of the body runs where it is used, or on 0.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 1]> {piper.param = #piper.param<"w", init = zeros>}
// CHECK: %[[SEED:.+]] = piper.task @constant() pass = once : () -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
// CHECK-NEXT: %[[K:.+]] = piper.task @constant() pass = once : () -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[H0:.+]] = piper.task @f(%{{.+}}, %[[SEED]]) pass = F segment = 0
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[H0]]
// CHECK-NEXT: %[[H1:.+]] = piper.task @f(%[[T0]], %[[W]]) pass = F segment = 1
// CHECK-NEXT: %[[M:.+]] = piper.task @three(%[[SEED]], %[[H1]], %[[T0]]) pass = once : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[MT:.+]] = piper.transfer %[[M]]
// CHECK-NEXT: %[[N:.+]] = piper.task @f(%[[H0]], %[[MT]]) pass = once : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[C:.+]] = piper.task @grad(%[[W]]) pass = once : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: return %[[N]], %[[K]], %[[C]], %{{.+}} : !piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 0]>, !piper.dist<tensor<4xf32>, on [pp = 1]>, tensor<4xf32>
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "k"}, tensor<4xf32> {piper.output = "c"}, tensor<4xf32> {piper.output = "x"}) {
    %s = piper.task @constant() pass = once : () -> tensor<4xf32>
    %k = piper.task @constant() pass = once : () -> tensor<4xf32>
    %h0 = piper.task @f(%x, %s) pass = F segment = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%h0, %w) pass = F segment = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %m = piper.task @three(%s, %h1, %h0) pass = once : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = piper.task @f(%h0, %m) pass = once : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = piper.task @grad(%w) pass = once : (tensor<4xf32>) -> tensor<4xf32>
    return %n, %k, %c, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @constant() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @three(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.mul %0, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// One coordinate is legal, and a body may have the name of the mesh.

// CHECK-LABEL: piper.mesh @mesh_0 ["pp"] = [1]
// CHECK: func.func @train(
// CHECK-NOT: piper.transfer
// CHECK: %[[Y:.+]] = piper.task @mesh({{.*}}) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: piper.task @mesh(%[[Y]]) pass = F segment = 1 stage = 0
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %y = piper.task @mesh(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %z = piper.task @mesh(%y) pass = F segment = 1 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @mesh(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Without directives nothing changes.

// CHECK: module attributes {piper.level = #piper.level<dag>} {
// CHECK-NEXT: func.func @train(%{{.+}}: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %y = piper.task @grad(%x) pass = F segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

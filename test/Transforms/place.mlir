// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places: where each task runs and each parameter is stored, what is moved
// between coordinates and what is added up.
//
// RUN: piper-opt %s --split-input-file --piper-place --piper-verify-placed | FileCheck %s

// Two stages, two micro-batches. Chains of accumulators stay on the coordinate
// of their stage; one transfer for each value that crosses, behind its
// producer; the mean is where the loss is and goes to all that decide.

// CHECK-LABEL: module attributes {{.*}}piper.level = #piper.level<placed>
// CHECK: piper.mesh @mesh ["pp"] = [2]
// CHECK: func.func @train(%[[X:[a-z0-9]+]]: tensor<2x4xf32> {piper.input = #piper.input<"x", split = 0>},
// CHECK-SAME: %[[A:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.param = #piper.param<"a", init = zeros>},
// CHECK-SAME: %[[B:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 1]> {piper.param = #piper.param<"b", init = zeros>},
// CHECK-SAME: %[[AM:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.state = #piper.state<"a.v", of = "a">},
// CHECK-SAME: %[[BM:[a-z0-9]+]]: !piper.dist<tensor<4xf32>, on [pp = 1]> {piper.state = #piper.state<"b.v", of = "b">},
// CHECK-SAME: %[[I:[a-z0-9]+]]: !piper.dist<tensor<i64>, on [pp = 0, 1]> {piper.state = #piper.state<"iteration">},
// CHECK-SAME: %[[U:[a-z0-9]+]]: !piper.dist<tensor<i64>, on [pp = 0, 1]> {piper.state = #piper.state<"update">})
// CHECK-SAME: -> (!piper.dist<tensor<f32>, on [pp = 1]> {piper.output = "loss"}, !piper.dist<tensor<2xi64>, on [pp = 0, 1]> {piper.output = "nonfinite"},
// CHECK-SAME: !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.next = "a"}, !piper.dist<tensor<4xf32>, on [pp = 0]> {piper.next = "a.v"}, !piper.dist<tensor<4xf32>, on [pp = 1]> {piper.next = "b"},
// The prologue runs where it is used.
// CHECK: %[[N:.+]] = piper.task @count(%[[X]]) pass = once : (tensor<2x4xf32>) -> !piper.dist<tensor<i64>, on [pp = 1]>
// CHECK: %[[X0:.+]] = piper.micro_batch %[[X]][0] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK: %[[X1:.+]] = piper.micro_batch %[[X]][1] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[H0:.+]] = piper.task @f(%[[X0]], %[[A]]) pass = F segment = 0 mb = 0 stage = 0 : {{.*}} -> !piper.dist<tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[T0:.+]] = piper.transfer %[[H0]] : <tensor<4xf32>, on [pp = 0]> -> <tensor<4xf32>, on [pp = 1]>
// CHECK-NEXT: %[[H1:.+]] = piper.task @f(%[[X1]], %[[A]]) pass = F segment = 0 mb = 1 stage = 0
// CHECK-NEXT: %[[T1:.+]] = piper.transfer %[[H1]] :
// CHECK-NEXT: %[[L0:.+]] = piper.task @loss(%[[T0]], %[[B]]) pass = F segment = 1 mb = 0 stage = 1 : {{.*}} -> !piper.dist<tensor<f32>, on [pp = 1]>
// CHECK-NEXT: %[[L1:.+]] = piper.task @loss(%[[T1]], %[[B]]) into(%[[L0]]) pass = F segment = 1 mb = 1 stage = 1
// CHECK-NEXT: %[[D0:.+]]:2 = piper.task @f.bw(%[[T0]], %[[B]]) pass = B segment = 1 mb = 0 stage = 1 : {{.*}} -> (!piper.dist<tensor<4xf32>, on [pp = 1]>, !piper.dist<tensor<4xf32>, on [pp = 1]>)
// CHECK-NEXT: %[[TD0:.+]] = piper.transfer %[[D0]]#0 : <tensor<4xf32>, on [pp = 1]> -> <tensor<4xf32>, on [pp = 0]>
// CHECK-NEXT: %[[D1:.+]]:2 = piper.task @f.bw(%[[T1]], %[[B]]) into(%[[D0]]#1)
// CHECK-NEXT: %[[TD1:.+]] = piper.transfer %[[D1]]#0
// CHECK-NEXT: %[[E0:.+]]:2 = piper.task @f.bw(%[[TD0]], %[[A]]) pass = B segment = 0 mb = 0 stage = 0
// CHECK-NEXT: %[[E1:.+]]:2 = piper.task @f.bw(%[[TD1]], %[[A]]) into(%[[E0]]#1)
// CHECK-NEXT: %[[MEAN:.+]] = piper.task @divide(%[[L1]], %[[N]]) pass = once : {{.*}} -> !piper.dist<tensor<f32>, on [pp = 1]>
// CHECK-NEXT: %[[LR:.+]] = piper.task @rate(%[[U]]) pass = once : {{.*}} -> !piper.dist<tensor<f32>, on [pp = 0, 1]>
// One table on each coordinate, added as integers.
// CHECK-NEXT: %[[P0:.+]]:2 = piper.task @[[NORM0:.+]](%[[E1]]#1) pass = once : {{.*}} -> (!piper.dist<tensor<68xi64>, on [pp = 0]>, !piper.dist<tensor<2xi64>, on [pp = 0]>)
// CHECK-NEXT: %[[P1:.+]]:2 = piper.task @[[NORM1:.+]](%[[D1]]#1) pass = once : {{.*}} -> (!piper.dist<tensor<68xi64>, on [pp = 1]>, !piper.dist<tensor<2xi64>, on [pp = 1]>)
// CHECK-NEXT: %[[SUM:.+]] = piper.all_reduce %[[P0]]#0, %[[P1]]#0 over ["pp"] : {{.*}} -> !piper.dist<tensor<68xi64>, on [pp = 0, 1]>
// CHECK-NEXT: %[[BAD:.+]] = piper.all_reduce %[[P0]]#1, %[[P1]]#1 over ["pp"] : {{.*}} -> !piper.dist<tensor<2xi64>, on [pp = 0, 1]>
// CHECK-NEXT: %[[LOSS:.+]] = piper.all_reduce %[[MEAN]] over ["pp"] : (!piper.dist<tensor<f32>, on [pp = 1]>) -> !piper.dist<tensor<f32>, on [pp = 0, 1]>
// CHECK-NEXT: %[[CLIP:.+]]:2 = piper.task @clip(%[[SUM]], %[[BAD]], %[[LOSS]]) pass = once : {{.*}} -> (!piper.dist<tensor<f32>, on [pp = 0, 1]>, !piper.dist<tensor<i1>, on [pp = 0, 1]>)
// CHECK-NEXT: %[[UA:.+]]:2 = piper.task @sgd(%[[A]], %[[E1]]#1, %[[LR]], %[[CLIP]]#0, %[[CLIP]]#1, %[[AM]]) pass = U : {{.*}} -> (!piper.dist<tensor<4xf32>, on [pp = 0]>,
// CHECK-NEXT: %[[UB:.+]]:2 = piper.task @sgd(%[[B]], %[[D1]]#1, %[[LR]], %[[CLIP]]#0, %[[CLIP]]#1, %[[BM]]) pass = U : {{.*}} -> (!piper.dist<tensor<4xf32>, on [pp = 1]>,
// CHECK-NEXT: %[[ADV:.+]]:2 = piper.task @advance(%[[I]], %[[U]], %[[CLIP]]#1) pass = once : {{.*}} -> (!piper.dist<tensor<i64>, on [pp = 0, 1]>,
// CHECK-NEXT: return %[[MEAN]], %[[BAD]], %[[UA]]#0, %[[UA]]#1, %[[UB]]#0, %[[UB]]#1, %[[ADV]]#0, %[[ADV]]#1

// Nothing of eval is needed on other coordinates.
// CHECK: func.func @eval(
// CHECK-NOT: all_reduce
// CHECK: func.func private

// The counts of one gradient stand at its place among all.
// CHECK: func.func private @[[NORM0]](%[[G:.+]]: tensor<4xf32>) -> (tensor<68xi64>, tensor<2xi64>)
// CHECK-NEXT: %[[S:.+]], %[[C:.+]] = piper.norm_table %[[G]]
// CHECK-NEXT: %[[Z:.+]] = piper.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[V:.+]] = piper.concat %[[C]], %[[Z]] {dim = 0 : i64}
// CHECK-NEXT: return %[[S]], %[[V]]
// CHECK: func.func private @[[NORM1]](%[[G:.+]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.+]], %[[C:.+]] = piper.norm_table %[[G]]
// CHECK-NEXT: %[[Z:.+]] = piper.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[V:.+]] = piper.concat %[[Z]], %[[C]] {dim = 0 : i64}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", split = 0>},
      %a: tensor<4xf32> {piper.param = #piper.param<"a">}, %b: tensor<4xf32> {piper.param = #piper.param<"b">},
      %av: tensor<4xf32> {piper.state = #piper.state<"a.v", of = "a">}, %bv: tensor<4xf32> {piper.state = #piper.state<"b.v", of = "b">},
      %i: tensor<i64> {piper.state = #piper.state<"iteration">}, %u: tensor<i64> {piper.state = #piper.state<"update">})
      -> (tensor<f32> {piper.output = "loss"}, tensor<2xi64> {piper.output = "nonfinite"},
          tensor<4xf32> {piper.next = "a"}, tensor<4xf32> {piper.next = "a.v"}, tensor<4xf32> {piper.next = "b"}, tensor<4xf32> {piper.next = "b.v"},
          tensor<i64> {piper.next = "iteration"}, tensor<i64> {piper.next = "update"}) {
    %n = piper.task @count(%x) pass = once : (tensor<2x4xf32>) -> tensor<i64>
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h0 = piper.task @f(%x0, %a) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = piper.task @f(%x1, %a) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l0 = piper.task @loss(%h0, %b) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %l1 = piper.task @loss(%h1, %b) into(%l0) pass = F segment = 1 mb = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %d0:2 = piper.task @f.bw(%h0, %b) pass = B segment = 1 mb = 0 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %d1:2 = piper.task @f.bw(%h1, %b) into(%d0#1) pass = B segment = 1 mb = 1 stage = 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %e0:2 = piper.task @f.bw(%d0#0, %a) pass = B segment = 0 mb = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %e1:2 = piper.task @f.bw(%d1#0, %a) into(%e0#1) pass = B segment = 0 mb = 1 stage = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %m = piper.task @divide(%l1, %n) pass = once : (tensor<f32>, tensor<i64>) -> tensor<f32>
    %lr = piper.task @rate(%u) pass = once : (tensor<i64>) -> tensor<f32>
    %t:2 = piper.task @norm_table(%e1#1, %d1#1) pass = once : (tensor<4xf32>, tensor<4xf32>) -> (tensor<68xi64>, tensor<2xi64>)
    %c:2 = piper.task @clip(%t#0, %t#1, %m) pass = once : (tensor<68xi64>, tensor<2xi64>, tensor<f32>) -> (tensor<f32>, tensor<i1>)
    %ua:2 = piper.task @sgd(%a, %e1#1, %lr, %c#0, %c#1, %av) pass = U : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %ub:2 = piper.task @sgd(%b, %d1#1, %lr, %c#0, %c#1, %bv) pass = U : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %v:2 = piper.task @advance(%i, %u, %c#1) pass = once : (tensor<i64>, tensor<i64>, tensor<i1>) -> (tensor<i64>, tensor<i64>)
    return %m, %t#1, %ua#0, %ua#1, %ub#0, %ub#1, %v#0, %v#1 : tensor<f32>, tensor<2xi64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<i64>
  }
  func.func @eval(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", split = 0>},
      %a: tensor<4xf32> {piper.param = #piper.param<"a">}, %b: tensor<4xf32> {piper.param = #piper.param<"b">}) -> (tensor<f32> {piper.output = "loss"}) {
    %n = piper.task @count(%x) pass = once : (tensor<2x4xf32>) -> tensor<i64>
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0 = piper.task @f(%x0, %a) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l0 = piper.task @loss(%h0, %b) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %m = piper.task @divide(%l0, %n) pass = once : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %m : tensor<f32>
  }
  func.func private @count(%x: tensor<2x4xf32>) -> tensor<i64> {
    %0 = piper.constant dense<8> : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @loss(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
    %0 = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @f.bw(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.neg %x : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @divide(%l: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
    %0 = piper.divide %l, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @rate(%u: tensor<i64>) -> tensor<f32> {
    %0 = piper.learning_rate %u {schedule = "constant", lr = 1.0 : f64} : (tensor<i64>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @norm_table(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<68xi64>, tensor<2xi64>) {
    %0:2 = piper.norm_table %a, %b : (tensor<4xf32>, tensor<4xf32>) -> (tensor<68xi64>, tensor<2xi64>)
    return %0#0, %0#1 : tensor<68xi64>, tensor<2xi64>
  }
  func.func private @clip(%t: tensor<68xi64>, %b: tensor<2xi64>, %l: tensor<f32>) -> (tensor<f32>, tensor<i1>) {
    %0:3 = piper.clip %t, %b {max_norm = 1.0 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
    %1 = piper.mul %0#1, %l : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %1, %0#2 : tensor<f32>, tensor<i1>
  }
  func.func private @sgd(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0:2 = piper.sgd %w, %g, %lr, %s, %ok, %v {momentum = 0.5 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @advance(%i: tensor<i64>, %u: tensor<i64>, %ok: tensor<i1>) -> (tensor<i64>, tensor<i64>) {
    %0:2 = piper.advance %i, %u, %ok : (tensor<i64>, tensor<i64>, tensor<i1>) -> (tensor<i64>, tensor<i64>)
    return %0#0, %0#1 : tensor<i64>, tensor<i64>
  }
}

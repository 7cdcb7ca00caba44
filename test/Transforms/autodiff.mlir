// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward tasks: what the loss needs and no more.
//
// RUN: piper-opt %s --split-input-file --piper-outline-segments --piper-autodiff --verify-diagnostics | FileCheck %s

// A parameter used in two segments has one gradient of each, added at the end in
// the order of the segments. A frozen parameter, integers and a parameter that
// the loss does not reach have none. The seed comes before the body.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2xi32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x12xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: -> (tensor<f32> {piper.output = "loss"}, tensor<i64> {piper.output = "count"}, tensor<4x12xf32> {piper.gradient = "w"})
// CHECK-NEXT: %[[N:.+]] = piper.task @count(%[[T]]) pass = once
// CHECK-NEXT: %[[SEED:.+]] = piper.task @mean.bw(%[[N]]) pass = once
// CHECK-NEXT: %[[F1:.+]]:3 = piper.task @layer1.fw(%[[X]], %[[W]]) pass = F tags = <layer = 1> segment = 0 :
// CHECK-NEXT: %[[F2:.+]] = piper.task @layer2.fw(%[[F1]]#0, %[[B]], %[[W]]) pass = F tags = <layer = 2> segment = 1 :
// CHECK-NEXT: %[[F3:.+]]:3 = piper.task @layer3.fw(%[[F2]], %[[T]]) pass = F tags = <layer = 3> segment = 2 :
// CHECK-NEXT: %[[B3:.+]] = piper.task @layer3.bw(%[[SEED]], %[[F3]]#1, %[[F3]]#2, %[[F2]], %[[T]]) pass = B tags = <layer = 3> segment = 2 :
// CHECK-NEXT: %[[B2:.+]]:2 = piper.task @layer2.bw(%[[B3]], %[[W]], %[[F1]]#0, %[[B]]) pass = B tags = <layer = 2> segment = 1 :
// CHECK-NEXT: %[[B1:.+]] = piper.task @layer1.bw(%[[B2]]#0, %[[F1]]#1, %[[F1]]#2, %[[X]]) pass = B tags = <layer = 1> segment = 0 :
// CHECK-NEXT: %[[L:.+]] = piper.task @mean.fw(%[[F3]]#0, %[[N]]) pass = once
// CHECK-NEXT: %[[G:.+]] = piper.task @add(%[[B1]], %[[B2]]#1) pass = once
// CHECK-NEXT: return %[[L]], %[[N]], %[[G]]

// The seed is made from the count: reciprocal, not a division of each gradient.
// CHECK: func.func private @mean.bw(%[[N:.+]]: tensor<i64>) -> tensor<f32>
// CHECK: piper.reciprocal %[[N]]

// The forward of the loss also returns its statistics.
// CHECK: func.func private @layer3.fw(
// CHECK-NEXT: %[[SUM:.+]], %[[SAVED:.+]]:2 = piper.cross_entropy
// CHECK-NEXT: return %[[SUM]], %[[SAVED]]#0, %[[SAVED]]#1

// gelu is made again from its operand, which is saved as an operand of the task.
// CHECK: func.func private @layer2.fw(
// CHECK: return %{{[a-z0-9]+}} : tensor<2x12xf32>
// CHECK: func.func private @layer2.bw(%[[DY:[a-z0-9]+]]: tensor<2x12xf32>, %[[W:[a-z0-9]+]]: tensor<4x12xf32>, %[[H:[a-z0-9]+]]: tensor<2x4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>)
// CHECK: %[[G:.+]] = piper.gelu %[[H]]
// CHECK: piper.gelu_grad %{{.+}}, %[[H]]

// Of the matrix product two slices are needed and saved, the third is not. The
// gradients of the three slices are one concatenation.
// CHECK: func.func private @layer1.fw(
// CHECK: %[[A:.+]] = piper.matmul
// CHECK-NEXT: %[[P:.+]] = piper.slice %[[A]] {offsets = array<i64: 0, 0>}
// CHECK-NEXT: %[[Q:.+]] = piper.slice %[[A]] {offsets = array<i64: 0, 4>}
// CHECK: return %{{.+}}, %[[P]], %[[Q]]
// CHECK: func.func private @layer1.bw(%[[DY:[a-z0-9]+]]: tensor<2x4xf32>, %[[P:[a-z0-9]+]]: tensor<2x4xf32>, %[[Q:[a-z0-9]+]]: tensor<2x4xf32>, %[[X:[a-z0-9]+]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[DP:.+]] = piper.mul %[[DY]], %[[Q]]
// CHECK-NEXT: %[[DQ:.+]] = piper.mul %[[DY]], %[[P]]
// CHECK-NEXT: %[[D:.+]] = piper.concat %[[DP]], %[[DQ]], %[[DY]] {dim = 1
// CHECK-NEXT: %[[DW:.+]] = piper.matmul %[[X]], %[[D]] {transpose_a}
// CHECK-NEXT: return %[[DW]]
// expected-remark @below {{parameter 'unused' is not reached by the loss: it has no gradient and is left alone}}
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %t: tensor<2xi32> {piper.input = #piper.input<"labels", dims = [batch]>},
                 %w: tensor<4x12xf32> {piper.param = #piper.param<"w">},
                 %b: tensor<4xf32> {piper.param = #piper.param<"b", frozen>},
                 %u: tensor<4xf32> {piper.param = #piper.param<"unused">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.matmul %x, %w {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
  %p = piper.slice %a {offsets = array<i64: 0, 0>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %q = piper.slice %a {offsets = array<i64: 0, 4>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %r = piper.slice %a {offsets = array<i64: 0, 8>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %pq = piper.mul %p, %q : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %h = piper.add %pq, %r : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = piper.gelu %h {piper.tags = #piper.tags<layer = 2>} : tensor<2x4xf32>
  %gb = piper.mul %g, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %k = piper.matmul %gb, %w : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
  %s = piper.cross_entropy %k, %t {piper.tags = #piper.tags<layer = 3>} : (tensor<2x12xf32>, tensor<2xi32>) -> tensor<f32>
  %n = piper.count_valid %t : (tensor<2xi32>) -> tensor<i64>
  %l = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A loss without an epilogue seeds itself. A value used by two segments gets the
// sum of two gradients, last user first, in one more backward task. Where the
// gradient of an operand is that of the result no task is made: layer 2 has no
// backward. What stands behind stop_gradient is a factor and no more.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.gradient = "w"}, tensor<2x4xf32> {piper.gradient = "v"})
// CHECK-NEXT: %[[A:.+]] = piper.task @layer1.fw(%[[X]], %[[W]])
// CHECK-NEXT: %[[B:.+]] = piper.task @layer2.fw(%[[A]], %[[V]])
// CHECK-NEXT: %[[D:.+]] = piper.task @layer3.fw(%[[B]])
// CHECK-NEXT: %[[L:.+]] = piper.task @layer4.fw(%[[D]], %[[A]])
// CHECK-NEXT: %[[G4:.+]] = piper.task @layer4.bw() pass = B tags = <layer = 4>
// CHECK-NEXT: %[[G3:.+]] = piper.task @layer3.bw(%[[G4]], %[[B]]) pass = B tags = <layer = 3>
// CHECK-NEXT: %[[GA:.+]] = piper.task @{{.+}}(%[[G4]], %[[G3]]) pass = B tags = <layer = 1> segment = 0 :
// CHECK-NEXT: %[[GW:.+]] = piper.task @layer1.bw(%[[GA]], %[[X]]) pass = B tags = <layer = 1>
// CHECK-NEXT: return %[[L]], %[[GW]], %[[G3]]
// CHECK: func.func private @layer4.bw() -> tensor<2x4xf32>
// CHECK-NEXT: piper.constant dense<1.0
// CHECK: func.func private @layer3.bw(%[[DY:[a-z0-9]+]]: tensor<2x4xf32>, %[[B:[a-z0-9]+]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[C:.+]] = piper.stop_gradient %[[B]]
// CHECK-NEXT: %[[DB:.+]] = piper.mul %[[DY]], %[[C]]
// CHECK-NEXT: return %[[DB]]
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4xf32> {piper.param = #piper.param<"w">},
                 %v: tensor<2x4xf32> {piper.param = #piper.param<"v">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.mul %x, %w {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %b = piper.add %a, %v {piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = piper.stop_gradient %b {piper.tags = #piper.tags<layer = 3>} : tensor<2x4xf32>
  %d = piper.mul %c, %b  : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %e = piper.add %d, %a {piper.tags = #piper.tags<layer = 4>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %l = piper.reduce_sum %e {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Equal bodies are differentiated once for each set of gradients that is
// wanted: the first block has no parameter before it. The backward of the tasks
// of a frozen parameter before the first trained one does not exist, and the
// salt of a forward is that of its backward.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[K:.+]] = piper.task @random_key()
// CHECK-NEXT: %[[A:.+]] = piper.task @layer1(%[[X]], %[[F:[a-z0-9]+]], %[[K]]) pass = F salt = [[#S:]] tags = <layer = 1>
// CHECK-NEXT: %[[B:.+]] = piper.task @layer1.fw(%[[A]], %[[W2:[a-z0-9]+]], %[[K]]) pass = F salt = [[#S+1]] tags = <layer = 2>
// CHECK-NEXT: %[[C:.+]] = piper.task @layer1.fw(%[[B]], %[[W3:[a-z0-9]+]], %[[K]]) pass = F salt = [[#S+2]] tags = <layer = 3>
// CHECK-NEXT: %[[D:.+]] = piper.task @layer1.fw(%[[C]], %[[W4:[a-z0-9]+]], %[[K]]) pass = F salt = [[#S+3]] tags = <layer = 4>
// CHECK: %[[G4:.+]]:2 = piper.task @layer1.bw(%{{.+}}, %[[K]], %[[W4]], %[[C]]) pass = B salt = [[#S+3]] tags = <layer = 4>
// CHECK-NEXT: %[[G3:.+]]:2 = piper.task @layer1.bw(%[[G4]]#0, %[[K]], %[[W3]], %[[B]]) pass = B salt = [[#S+2]] tags = <layer = 3>
// CHECK-NEXT: %[[G2:.+]] = piper.task @layer1.bw_{{[0-9]+}}(%[[G3]]#0, %[[K]], %[[A]]) pass = B salt = [[#S+1]] tags = <layer = 2>
// CHECK-NEXT: return
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w1: tensor<4xf32> {piper.param = #piper.param<"w1", frozen>},
                 %w2: tensor<4xf32> {piper.param = #piper.param<"w2">},
                 %w3: tensor<4xf32> {piper.param = #piper.param<"w3">},
                 %w4: tensor<4xf32> {piper.param = #piper.param<"w4">}) -> (tensor<f32> {piper.output = "loss"}) {
  %k = piper.random_key : () -> tensor<2xi64>
  %a1 = piper.mul %x, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d1 = piper.dropout %a1, %k {p = 0.5 : f64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %a2 = piper.mul %d1, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d2 = piper.dropout %a2, %k {p = 0.5 : f64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %a3 = piper.mul %d2, %w3 {piper.tags = #piper.tags<layer = 3>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d3 = piper.dropout %a3, %k {p = 0.5 : f64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %a4 = piper.mul %d3, %w4 {piper.tags = #piper.tags<layer = 4>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d4 = piper.dropout %a4, %k {p = 0.5 : f64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %l = piper.reduce_sum %d4 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 5>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Two operands with the same gradient share one result of the backward.

// CHECK-LABEL: func.func @train(
// CHECK: %[[G:.+]] = piper.task @segment.bw() pass = B segment = 0 : () -> tensor<f32>
// CHECK-NEXT: return %{{.+}}, %[[G]], %[[G]] :
func.func @train(%w: tensor<f32> {piper.param = #piper.param<"w">},
                 %v: tensor<f32> {piper.param = #piper.param<"v">}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.add %w, %v : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// What is made again is made once, however often it is used.

// CHECK-LABEL: func.func @train(
// CHECK: func.func private @segment.bw(
// CHECK-COUNT-3: piper.square
// CHECK-NOT: piper.square
// CHECK: return
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %b = piper.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = piper.square %b : tensor<4xf32>
  %d = piper.mul %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = piper.square %d : tensor<4xf32>
  %f = piper.mul %e, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = piper.reduce_sum %f {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments that are run again before their backward.
//
// RUN: piper-opt %s --split-input-file --piper-outline-segments --piper-autodiff --piper-recompute | FileCheck %s

// The forward of a matched segment returns its output alone, and calls what was
// differentiated. The task of pass R has the same salt, tags and inputs but those
// that only dropped ops read (the last weight); it stands right before its reader. The
// forwards of layers 0 and 3 are read by nobody later, or save nothing.

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32> {piper.input
// CHECK-SAME: %[[W0:[a-z0-9]+]]: tensor<4x4xf32>
// CHECK-SAME: %[[G1:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[B1:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[U1:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[V1:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[G2:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[B2:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[U2:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[V2:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-NEXT: %[[K:.+]] = piper.task @random_key()
// CHECK-NEXT: %[[H0:.+]] = piper.task @layer0.fw(%[[X]], %[[W0]]) pass = F
// CHECK-NEXT: %[[H1:.+]] = piper.task @layer1(%[[H0]], %[[G1]], %[[B1]], %[[U1]], %[[K]], %[[V1]]) pass = F salt = 2 tags = <layer = 1> segment = 1 :
// CHECK-NEXT: %[[H2:.+]] = piper.task @layer1(%[[H1]], %[[G2]], %[[B2]], %[[U2]], %[[K]], %[[V2]]) pass = F salt = 3 tags = <layer = 2> segment = 2 :
// CHECK-NEXT: piper.task @layer3.fw(%[[H2]])
// CHECK-NEXT: %[[D3:.+]] = piper.task @layer3.bw(%[[H2]])
// CHECK-NEXT: %[[R2:.+]]:4 = piper.task @layer1.re(%[[H1]], %[[G2]], %[[B2]], %[[U2]], %[[K]]) pass = R salt = 3 tags = <layer = 2> segment = 2 :
// CHECK-NEXT: %[[D2:.+]]:5 = piper.task @layer1.bw(%[[D3]], %[[R2]]#0, %[[R2]]#1, %[[R2]]#2, %[[R2]]#3, {{.*}}) pass = B salt = 3
// CHECK-NEXT: %[[R1:.+]]:4 = piper.task @layer1.re(%[[H0]], %[[G1]], %[[B1]], %[[U1]], %[[K]]) pass = R salt = 2 tags = <layer = 1> segment = 1 :
// CHECK-NEXT: %[[D1:.+]]:5 = piper.task @layer1.bw(%[[D2]]#0, %[[R1]]#0, %[[R1]]#1, %[[R1]]#2, %[[R1]]#3, {{.*}}) pass = B salt = 2
// CHECK-NEXT: piper.task @layer0.bw(%[[D1]]#0, %[[X]]) pass = B
// CHECK-NEXT: return

// The form that saved is gone.
// CHECK-NOT: @layer1.fw

// Run again: all but the last product and sum.
// CHECK: func.func private @layer1.re(
// CHECK-NEXT: %[[Y:.+]], %[[SAVED:.+]]:2 = piper.layer_norm
// CHECK-NEXT: %[[A:.+]] = piper.matmul %[[Y]]
// CHECK-NEXT: %[[D:.+]] = piper.dropout %[[A]]
// CHECK-NEXT: %[[S:.+]] = piper.softmax %[[D]]
// CHECK-NEXT: return %[[Y]], %[[SAVED]]#0, %[[SAVED]]#1, %[[S]] :

// The norm of the forward has no statistics to return.
// CHECK: func.func private @layer1(
// CHECK-NEXT: %[[Y:[a-z0-9]+]] = piper.layer_norm
// CHECK: %[[Z:.+]] = piper.add
// CHECK-NEXT: return %[[Z]] : tensor<2x4xf32>
module attributes {piper.directives = [{op = "recompute", filter = {layer = 1 : i64}}, {op = "recompute", filter = {layer = 2 : i64}}]} {
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0">},
                 %g1: tensor<4xf32> {piper.param = #piper.param<"g1">},
                 %b1: tensor<4xf32> {piper.param = #piper.param<"b1">},
                 %u1: tensor<4x8xf32> {piper.param = #piper.param<"u1">},
                 %v1: tensor<8x4xf32> {piper.param = #piper.param<"v1">},
                 %g2: tensor<4xf32> {piper.param = #piper.param<"g2">},
                 %b2: tensor<4xf32> {piper.param = #piper.param<"b2">},
                 %u2: tensor<4x8xf32> {piper.param = #piper.param<"u2">},
                 %v2: tensor<8x4xf32> {piper.param = #piper.param<"v2">}) -> (tensor<f32> {piper.output = "loss"}) {
  %k = piper.random_key : () -> tensor<2xi64>
  %h0 = piper.matmul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %n1 = piper.layer_norm %h0, %g1, %b1 {eps = 1.0e-05 : f64, piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %a1 = piper.matmul %n1, %u1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %d1 = piper.dropout %a1, %k {p = 0.5 : f64} : (tensor<2x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %t1 = piper.softmax %d1 : tensor<2x8xf32>
  %m1 = piper.matmul %t1, %v1 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %h1 = piper.add %h0, %m1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %n2 = piper.layer_norm %h1, %g2, %b2 {eps = 1.0e-05 : f64, piper.tags = #piper.tags<layer = 2>} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %a2 = piper.matmul %n2, %u2 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %d2 = piper.dropout %a2, %k {p = 0.5 : f64} : (tensor<2x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %t2 = piper.softmax %d2 : tensor<2x8xf32>
  %m2 = piper.matmul %t2, %v2 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %h2 = piper.add %h1, %m2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %q = piper.square %h2 {piper.tags = #piper.tags<layer = 3>} : tensor<2x4xf32>
  %l = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
}

// -----

// What the backward reads is the output of layer 0, which layer 1 reads too:
// nothing is saved for the backward alone and nothing is run again. The last
// segment reads it for itself. A frozen layer has no backward. Evaluation stays as it is.

// CHECK-LABEL: func.func @train(
// CHECK: %[[F:.+]] = piper.task @layer0(%{{.+}}, %{{.+}}) pass = F tags = <layer = 0>
// CHECK-NEXT: %[[H:.+]] = piper.task @layer1.fw(%[[F]], %[[W:.+]]) pass = F tags = <layer = 1>
// CHECK-NEXT: %[[L:.+]] = piper.task @layer2(%[[H]]) pass = F tags = <layer = 2>
// CHECK-NEXT: %[[S:.+]] = piper.task @layer2.re(%[[H]]) pass = R tags = <layer = 2>
// CHECK-NEXT: %[[D:.+]] = piper.task @layer2.bw(%[[S]]) pass = B tags = <layer = 2>
// CHECK-NEXT: %[[G:.+]] = piper.task @layer1.bw(%[[D]], %[[H]], %[[F]]) pass = B
// CHECK-NEXT: return %[[L]], %[[G]]
// CHECK-LABEL: func.func @eval(
// CHECK-NEXT: %[[F:.+]] = piper.task @layer0(%{{.+}}, %{{.+}}) pass = F tags = <layer = 0>
// CHECK-NEXT: %[[H:.+]] = piper.task @layer1(%[[F]], %{{.+}}) pass = F tags = <layer = 1>
// CHECK-NEXT: piper.task @layer2(%[[H]]) pass = F tags = <layer = 2>
// CHECK-NEXT: return
module attributes {piper.directives = [{op = "recompute", filter = {}}]} {
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0", frozen>},
                 %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1">}) -> (tensor<f32> {piper.output = "loss"}) {
  %h0 = piper.matmul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %a1 = piper.matmul %h0, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h1 = piper.tanh %a1 : tensor<2x4xf32>
  %s = piper.softmax %h1 {piper.tags = #piper.tags<layer = 2>} : tensor<2x4xf32>
  %q = piper.square %s : tensor<2x4xf32>
  %l = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @eval(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0", frozen>},
                 %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1">}) -> (tensor<f32> {piper.output = "loss"}) {
  %h0 = piper.matmul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %a1 = piper.matmul %h0, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h1 = piper.tanh %a1 : tensor<2x4xf32>
  %s = piper.softmax %h1 {piper.tags = #piper.tags<layer = 2>} : tensor<2x4xf32>
  %q = piper.square %s : tensor<2x4xf32>
  %l = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
}

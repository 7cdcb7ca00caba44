// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where one backward is cut: the bytes in the comments are those that the second
// half takes.
//
// RUN: piper-opt %s --split-input-file --piper-split-backward=all | FileCheck %s

// A block x + tanh(x u) v: of the two values of the first half that the second
// reads, %dt is made by a product and %da by a gradient op, so both are kept or
// both operands of the ops that make them. %da (128 bytes) is; %dt is read in
// the first half only. %dy, %t and %x are operands that the second half reads.
// 128 + 64 + 128 + 64 bytes.

// CHECK: func.func private @block.bi_0(%[[DY:[a-z0-9]+]]: tensor<4x4xf32>, %[[T:[a-z0-9]+]]: tensor<4x8xf32>, %[[V:[a-z0-9]+]]: tensor<8x4xf32>, %[[U:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[DT:.+]] = piper.matmul %[[DY]], %[[V]] {transpose_b}
// CHECK-NEXT: %[[DA:.+]] = piper.tanh_grad %[[DT]], %[[T]]
// CHECK-NEXT: %[[DN:.+]] = piper.matmul %[[DA]], %[[U]] {transpose_b}
// CHECK-NEXT: %[[DX:.+]] = piper.add %[[DY]], %[[DN]]
// CHECK-NEXT: return %[[DX]], %[[DA]] :
// CHECK: func.func private @block.dw_0(%[[DA:[a-z0-9]+]]: tensor<4x8xf32>, %[[DY:[a-z0-9]+]]: tensor<4x4xf32>, %[[X:[a-z0-9]+]]: tensor<4x4xf32>, %[[T:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[DV:.+]] = piper.matmul %[[T]], %[[DY]] {transpose_a}
// CHECK-NEXT: %[[DU:.+]] = piper.matmul %[[X]], %[[DA]] {transpose_a}
// CHECK-NEXT: return %[[DU]], %[[DV]]
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%u: tensor<4x8xf32> {piper.param = #piper.param<"u">}, %v: tensor<8x4xf32> {piper.param = #piper.param<"v">},
                   %x: tensor<4x4xf32> {piper.input = #piper.input<"x">}, %t: tensor<4x8xf32> {piper.input = #piper.input<"t">})
      -> (tensor<4x8xf32> {piper.gradient = "u"}, tensor<8x4xf32> {piper.gradient = "v"}, tensor<4x4xf32> {piper.output = "dx"}) {
    %0:3 = piper.task @block.bw_0(%x, %x, %t, %v, %u) pass = B
        : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>)
    %1 = piper.task @next.bw(%0#0) pass = B : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0#1, %0#2, %1 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  }
  func.func private @block.bw_0(%dy: tensor<4x4xf32>, %x: tensor<4x4xf32>, %t: tensor<4x8xf32>, %v: tensor<8x4xf32>, %u: tensor<4x8xf32>)
      -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>) {
    %dt = piper.matmul %dy, %v {transpose_b} : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
    %dv = piper.matmul %t, %dy {transpose_a} : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %da = piper.tanh_grad %dt, %t : tensor<4x8xf32>
    %dn = piper.matmul %da, %u {transpose_b} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    %du = piper.matmul %x, %da {transpose_a} : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %dx = piper.add %dy, %dn : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %dx, %du, %dv : tensor<4x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>
  }
  func.func private @next.bw(%d: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e = piper.tanh %d : tensor<4x4xf32>
    return %e : tensor<4x4xf32>
  }
}

// -----

// Cheap ops run twice where that takes fewer bytes. %b is a broadcast of %s: 16
// bytes instead of 128. %c puts %p and %q side by side: 96 bytes either way, so
// %c is passed. %k is made of a constant: nothing is passed. %e and %g are made
// of one %a, cheaply: %a (64 bytes) instead of both (128).

// CHECK: func.func private @f.bi(
// CHECK: return %[[DX:[a-z0-9]+]], %[[A:[a-z0-9]+]], %[[S:[a-z0-9]+]], %[[C:[a-z0-9]+]] : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x6xf32>
// CHECK: func.func private @f.dw(%[[A:[a-z0-9]+]]: tensor<4x4xf32>, %[[S:[a-z0-9]+]]: tensor<4x1xf32>, %[[C:[a-z0-9]+]]: tensor<4x6xf32>, %[[X:[a-z0-9]+]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[E:.+]] = piper.exp %[[A]]
// CHECK-NEXT: %[[G:.+]] = piper.tanh %[[A]]
// CHECK-NEXT: %[[B:.+]] = piper.broadcast %[[S]]
// CHECK-NEXT: %[[K:.+]] = piper.constant
// CHECK-NEXT: %[[W0:.+]] = piper.matmul %[[X]], %[[B]] {transpose_a}
// CHECK-NEXT: %[[W1:.+]] = piper.matmul %[[X]], %[[C]] {transpose_a}
// CHECK-NEXT: %[[W2:.+]] = piper.matmul %[[E]], %[[G]]
// CHECK-NEXT: %[[W3:.+]] = piper.matmul %[[X]], %[[K]]
// CHECK-NEXT: return %[[W0]], %[[W1]], %[[W2]], %[[W3]]
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x">}, %s: tensor<4x1xf32> {piper.input = #piper.input<"s">},
                   %p: tensor<4x3xf32> {piper.input = #piper.input<"p">})
      -> (tensor<4x4xf32> {piper.output = "dx"}, tensor<4x8xf32> {piper.output = "w0"}, tensor<4x6xf32> {piper.output = "w1"},
          tensor<4x4xf32> {piper.output = "w2"}, tensor<4x4xf32> {piper.output = "w3"}) {
    %0:5 = piper.task @f.bw(%x, %s, %p) pass = B : (tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x3xf32>)
        -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
    %1 = piper.task @next.bw(%0#0) pass = B : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1, %0#1, %0#2, %0#3, %0#4 : tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  func.func private @f.bw(%x: tensor<4x4xf32>, %t: tensor<4x1xf32>, %r: tensor<4x3xf32>)
      -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    %a = piper.softmax %x : tensor<4x4xf32>
    %e = piper.exp %a : tensor<4x4xf32>
    %g = piper.tanh %a : tensor<4x4xf32>
    %s = piper.softmax %t : tensor<4x1xf32>
    %b = piper.broadcast %s : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %p = piper.softmax %r : tensor<4x3xf32>
    %q = piper.softmax %p : tensor<4x3xf32>
    %c = piper.concat %p, %q {dim = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
    %k = piper.constant dense<2.0> : tensor<4x4xf32>
    %y0 = piper.matmul %b, %b {transpose_b} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    %y1 = piper.matmul %c, %c {transpose_b} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
    %y2 = piper.matmul %e, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y3 = piper.matmul %k, %y0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y4 = piper.add %y1, %y2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dx = piper.add %y3, %y4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %w0 = piper.matmul %x, %b {transpose_a} : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %w1 = piper.matmul %x, %c {transpose_a} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %w2 = piper.matmul %e, %g {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %w3 = piper.matmul %x, %k {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %dx, %w0, %w1, %w2, %w3 : tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  func.func private @next.bw(%d: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e = piper.tanh %d : tensor<4x4xf32>
    return %e : tensor<4x4xf32>
  }
}

// -----

// The second half reads no weight. %m is made of one for the second half alone,
// by a cheap op, and is passed nevertheless, as are gradients that the op with
// the weight makes beside %dx: the second half returns copies.

// CHECK: piper.task @f.bi(%[[X:.+]], %[[S:.+]], %[[G:.+]]) pass = BI
// CHECK-NEXT: piper.task @f.dw(%{{.+}}#1, %{{.+}}#2, %{{.+}}#3, %[[X]]) pass = BW
// CHECK: func.func private @f.bi(%[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[S:[a-z0-9]+]]: tensor<4xf32>, %[[G:[a-z0-9]+]]: tensor<8xf32>)
// CHECK-NEXT: %[[DX:.+]], %[[DG:.+]], %[[DB:.+]] = piper.layer_norm_grad %[[X]], %[[X]], %[[G]], %[[S]], %[[S]]
// CHECK-NEXT: %[[N:.+]] = piper.softmax %[[X]]
// CHECK-NEXT: %[[M:.+]] = piper.mul %[[N]], %[[G]]
// CHECK-NEXT: return %[[DX]], %[[DG]], %[[DB]], %[[M]]
// CHECK: func.func private @f.dw(%[[DG:[a-z0-9]+]]: tensor<8xf32>, %[[DB:[a-z0-9]+]]: tensor<8xf32>, %[[M:[a-z0-9]+]]: tensor<4x8xf32>, %[[X:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[W:.+]] = piper.matmul %[[X]], %[[M]] {transpose_a}
// CHECK-NEXT: %[[G:.+]] = piper.scale %[[DG]] {factor = 1.000000e+00 : f64}
// CHECK-NEXT: %[[B:.+]] = piper.scale %[[DB]] {factor = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[G]], %[[B]], %[[W]]
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4x8xf32> {piper.input = #piper.input<"x">}, %s: tensor<4xf32> {piper.input = #piper.input<"s">},
                   %g: tensor<8xf32> {piper.param = #piper.param<"g">})
      -> (tensor<4x8xf32> {piper.output = "dx"}, tensor<8xf32> {piper.gradient = "g"}, tensor<8xf32> {piper.output = "b"}, tensor<8x8xf32> {piper.output = "w"}) {
    %0:4 = piper.task @f.bw(%x, %s, %g) pass = B : (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>)
    %1 = piper.task @next.bw(%0#0) pass = B : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1, %0#1, %0#2, %0#3 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>
  }
  func.func private @f.bw(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %g: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
    %dx, %dg, %db = piper.layer_norm_grad %x, %x, %g, %s, %s
        : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
    %n = piper.softmax %x : tensor<4x8xf32>
    %m = piper.mul %n, %g : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %w = piper.matmul %x, %m {transpose_a} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    return %dx, %dg, %db, %w : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>
  }
  func.func private @next.bw(%d: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %e = piper.tanh %d : tensor<4x8xf32>
    return %e : tensor<4x8xf32>
  }
}

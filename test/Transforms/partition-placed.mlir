// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placed step becomes one program for each coordinate: what each holds, the two
// ends of a transfer, the members of an all-reduce, and ids that are places in
// the order of the step.
//
// RUN: piper-opt %s --piper-partition="threads=2" | FileCheck %s

// The first program has the input that nobody reads and its own parameters. A
// task on several coordinates says which, and what two hold is an output and a
// kept gradient of the first only. A body has the name p0.
// CHECK: piper.mesh @mesh ["pp"] = [3]
// CHECK-NEXT: piper.program @p0_0 at [pp = 0] target = <cpu, threads = 2> buffering = 2 {
// CHECK-NEXT: piper.entry @train(%[[X:.+]]: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}, %{{.+}}: tensor<4xf32> {piper.input = #piper.input<"unused">}, %[[W:.+]]: tensor<4xf32> {piper.param = #piper.param<"w", init = zeros>}, %[[V:.+]]: tensor<4xf32> {piper.param = #piper.param<"v", init = zeros>})
// CHECK-SAME: -> (tensor<4xf32> {piper.next = "w"}, tensor<4xf32> {piper.next = "v"}, tensor<4xf32> {piper.output = "s"}, tensor<4xf32> {piper.gradient = "v"})
// CHECK-SAME: attributes {ops = 10 : i64} {
// CHECK-NEXT: %[[X0:.+]] = piper.micro_batch %[[X]][0]
// CHECK-NEXT: %[[A0:.+]] = piper.task @mul(%[[X0]], %[[W]]) pass = F segment = 0 mb = 0 stage = 0 id = 0 :
// CHECK-NEXT: piper.send %[[A0]] to 2 id = 1 : tensor<4xf32>
// CHECK-NEXT: %[[X1:.+]] = piper.micro_batch %[[X]][1]
// CHECK-NEXT: %[[A1:.+]] = piper.task @mul(%[[X1]], %[[W]]) pass = F segment = 0 mb = 1 stage = 0 id = 3 :
// CHECK-NEXT: piper.send %[[A1]] to 2 id = 4 : tensor<4xf32>
// CHECK-NEXT: %[[S:.+]] = piper.reduce %[[A1]], %[[A0]] terms = [0, 2, 0] members = [0, 1, 2] id = 6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[W1:.+]] = piper.task @p0(%[[W]], %[[S]]) pass = U id = 7 :
// CHECK-NEXT: %[[V1:.+]] = piper.task @p0(%[[V]], %[[S]]) pass = U id = 9 on = [0, 1] :
// CHECK-NEXT: piper.return %[[W1]], %[[V1]], %[[S]], %[[S]] :
// CHECK-NEXT: }
// An entry point of which it has nothing.
// CHECK-NEXT: piper.entry @eval() attributes {ops = 1 : i64} {
// CHECK-NEXT: piper.return
// CHECK-NEXT: }
// CHECK-NEXT: }

// The second reads an input, but not by micro-batches; it holds no output.
// CHECK: piper.program @p1 at [pp = 1] target = <cpu, threads = 2> buffering = 2 {
// CHECK-NEXT: piper.entry @train(%[[X:.+]]: tensor<2x4xf32> {piper.input = {{.+}}}, %[[V:.+]]: tensor<4xf32> {piper.param = #piper.param<"v", init = zeros>}) -> (tensor<4xf32> {piper.next = "v"})
// CHECK-NEXT: %[[S:.+]] = piper.reduce terms = [0, 2, 0] members = [0, 1, 2] id = 6 : () -> tensor<4xf32>
// CHECK-NEXT: piper.task @whole(%[[X]]) pass = once id = 8 :
// CHECK-NEXT: %[[V1:.+]] = piper.task @p0(%[[V]], %[[S]]) pass = U id = 9 on = [0, 1] :
// CHECK-NEXT: piper.return %[[V1]] :

// The third adds its term and does not store the sum. The accumulator is an
// operand of the body.
// CHECK: piper.program @p2 at [pp = 2]
// CHECK-NEXT: piper.entry @train() attributes {ops = 10 : i64} {
// CHECK-NEXT: %[[T0:.+]] = piper.receive from 0 id = 1 : tensor<4xf32>
// CHECK-NEXT: %[[B0:.+]] = piper.task @square(%[[T0]]) pass = F segment = 1 mb = 0 stage = 1 id = 2 :
// CHECK-NEXT: %[[T1:.+]] = piper.receive from 0 id = 4 : tensor<4xf32>
// CHECK-NEXT: %[[B1:.+]] = piper.task @square.into(%[[T1]], %[[B0]]) pass = F segment = 1 mb = 1 stage = 1 id = 5 :
// CHECK-NEXT: piper.reduce %[[B1]] terms = [0, 2, 0] members = [0, 1, 2] id = 6 : (tensor<4xf32>) -> ()
// CHECK-NEXT: piper.return
// CHECK: piper.entry @eval(%[[X:.+]]: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"})
// CHECK-NEXT: %[[Y:.+]] = piper.task @square(%[[X]]) pass = F id = 0 :
// CHECK-NEXT: piper.return %[[Y]] :
// CHECK-NOT: piper.dist
!x = tensor<4xf32>
!x0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!x1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
!x2 = !piper.dist<tensor<4xf32>, on [pp = 2]>
!x01 = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [{op = "options", buffering = 2 : i64}]} {
  piper.mesh @mesh ["pp"] = [3]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>},
      %u: tensor<4xf32> {piper.input = #piper.input<"unused">},
      %w: !x0 {piper.param = #piper.param<"w">}, %v: !x01 {piper.param = #piper.param<"v">})
      -> (!x0 {piper.next = "w"}, !x01 {piper.next = "v"}, !x01 {piper.output = "s"}, !x01 {piper.gradient = "v"}) {
    %m0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %m1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %a0 = piper.task @mul(%m0, %w) pass = F segment = 0 mb = 0 stage = 0 : (!x, !x0) -> !x0
    %t0 = piper.transfer %a0 : !x0 -> !x2
    %b0 = piper.task @square(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!x2) -> !x2
    %a1 = piper.task @mul(%m1, %w) pass = F segment = 0 mb = 1 stage = 0 : (!x, !x0) -> !x0
    %t1 = piper.transfer %a1 : !x0 -> !x2
    %b1 = piper.task @square(%t1) into(%b0) pass = F segment = 1 mb = 1 stage = 1 : (!x2, !x2) -> !x2
    %s = piper.all_reduce %a1, %b1, %a0 over ["pp"] : (!x0, !x2, !x0) -> !x01
    %w1 = piper.task @p0(%w, %s) pass = U : (!x0, !x01) -> !x0
    %c = piper.task @whole(%x) pass = once : (tensor<2x4xf32>) -> !piper.dist<tensor<2x4xf32>, on [pp = 1]>
    %v1 = piper.task @p0(%v, %s) pass = U : (!x01, !x01) -> !x01
    return %w1, %v1, %s, %s : !x0, !x01, !x01, !x01
  }
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (!x2 {piper.output = "y"}) {
    %y = piper.task @square(%x) pass = F : (!x) -> !x2
    return %y : !x2
  }
  func.func private @mul(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func private @square(%a: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.square %a : tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func private @whole(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %s = piper.neg %a : tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
  func.func private @p0(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

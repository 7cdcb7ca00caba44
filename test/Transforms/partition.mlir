// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of a step that was not placed become those of one program for
// one target. A body with the program's name keeps it.
//
// RUN: piper-opt %s --split-input-file --piper-partition="threads=3" | FileCheck %s
// RUN: piper-opt %s --split-input-file --piper-partition | FileCheck %s --check-prefix=CORES

// CHECK: module attributes {piper.level = #piper.level<programs>}
// CHECK-NEXT: piper.program @main_{{.*}} target = <cpu, threads = 3> {
// CHECK-NEXT: piper.entry @train(%[[X:.+]]: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<4xf32> {piper.output = "y"}) attributes {ops = 1 : i64} {
// CHECK-NEXT: %[[Y:.+]] = piper.task @main(%[[X]]) pass = F salt = 3 tags = <layer = 1> id = 0 :
// CHECK-NEXT: piper.return %[[Y]] :
// CHECK: piper.entry @eval(%[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: piper.return %[[X]] :
// CHECK: func.func private @main

// CORES: target = <cpu, threads = {{[1-9][0-9]*}}>
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<4xf32> {piper.output = "y"}) {
    %y = piper.task @main(%x) pass = F salt = 3 tags = <layer = 1> : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
    return %x : tensor<4xf32>
  }
  func.func private @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Micro-batches and accumulators. A call with accumulators is one of a body that
// adds, accumulator first, right where the part is made; one such body for each
// number of accumulators. A body whose every call has accumulators is gone. Only
// views that a task reads are left.

// CHECK: piper.entry @train(%[[X:.+]]: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>})
// CHECK-SAME: attributes {ops = 4 : i64}
// CHECK-NEXT: %[[X0:.+]] = piper.micro_batch %[[X]][0]
// CHECK-NEXT: %[[A:.+]]:2 = piper.task @f(%[[X0]]) pass = F mb = 0 id = 0 : (tensor<4xf32>)
// CHECK-NEXT: %[[X1:.+]] = piper.micro_batch %[[X]][1]
// CHECK-NEXT: %[[B:.+]]:2 = piper.task @f.into(%[[X1]], %[[A]]#1) pass = F mb = 1 id = 1 : (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[C:.+]]:2 = piper.task @f.into_0(%[[X1]], %[[B]]#0, %[[B]]#1) pass = F id = 2 :
// CHECK-NEXT: %[[D:.+]] = piper.task @g.into(%[[X0]], %[[C]]#0) pass = F id = 3 :
// CHECK-NEXT: piper.return %[[C]]#1, %[[D]] :
// CHECK: func.func private @f(%{{.+}}: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NOT: func.func private @g(
// CHECK: func.func private @f.into(%[[X:.+]]: tensor<4xf32>, %[[ACC:.+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %[[T:.+]] = piper.tanh %[[X]]
// CHECK-NEXT: %[[SUM:.+]] = piper.add %[[ACC]], %[[T]]
// CHECK-NEXT: %[[E:.+]] = piper.exp %[[T]]
// CHECK-NEXT: return %[[E]], %[[SUM]]
// CHECK: func.func private @f.into_0(%[[X:.+]]: tensor<4xf32>, %[[FIRST:.+]]: tensor<4xf32>, %[[SECOND:.+]]: tensor<4xf32>)
// CHECK: piper.add %[[SECOND]], %{{.+}}
// CHECK: piper.add %[[FIRST]], %{{.+}}
// CHECK: func.func private @g.into(
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>})
      -> (tensor<4xf32> {piper.output = "y"}, tensor<4xf32> {piper.output = "z"}) {
    %unused = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %a:2 = piper.task @f(%x0) pass = F mb = 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %b:2 = piper.task @f(%x1) into(%a#1) pass = F mb = 1 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %c:2 = piper.task @f(%x1) into(%b#0, %b#1) pass = F : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %d = piper.task @g(%x0) into(%c#0) pass = F : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %c#1, %d : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %z = piper.exp %y : tensor<4xf32>
    return %z, %y : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.neg %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

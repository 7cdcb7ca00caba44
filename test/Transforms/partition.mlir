// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points become those of one program for one target. A body with the
// program's name keeps it.
//
// RUN: piper-opt %s --piper-partition="threads=3" | FileCheck %s
// RUN: piper-opt %s --piper-partition | FileCheck %s --check-prefix=CORES

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

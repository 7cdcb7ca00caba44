// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks, programs and entry points print as they are read, as text and as
// bytecode; a program sees the functions of the module around it.
//
// RUN: piper-opt %s --verify-roundtrip | FileCheck %s

func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
  %y = piper.tanh %x : tensor<4xf32>
  %flag = piper.constant dense<true> : tensor<i1>
  return %y, %flag : tensor<4xf32>, tensor<i1>
}
func.func private @none() {
  return
}

// CHECK-LABEL: func.func @dag
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @dag(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.+]]:2 = piper.task @f(%[[X]]) pass = F salt = 3 tags = <layer = 1> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
  %y:2 = piper.task @f(%x) pass = F salt = 3 tags = <layer = 1> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
  // CHECK: piper.task @f(%[[Y]]#0) pass = B workspace = 128 offsets = [64, 192] {note = "kept"} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
  %z:2 = piper.task @f(%y#0) pass = B workspace = 128 offsets = [64, 192] {note = "kept"} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
  // CHECK: piper.task @none() pass = BI : () -> ()
  piper.task @none() pass = BI : () -> ()
  // CHECK: piper.task @none() pass = BW : () -> ()
  piper.task @none() pass = BW : () -> ()
  // CHECK: piper.task @none() pass = R : () -> ()
  piper.task @none() pass = R : () -> ()
  // CHECK: piper.task @none() pass = U : () -> ()
  piper.task @none() pass = U : () -> ()
  // CHECK: piper.task @none() pass = once : () -> ()
  piper.task @none() pass = once : () -> ()
  return %z#0 : tensor<4xf32>
}

// CHECK: piper.program @main target = <cpu, threads = 2> arena = 4096 {
piper.program @main target = <cpu, threads = 2> arena = 4096 {
  // CHECK: piper.entry @eval(%[[X:.+]]: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"})
  // CHECK-SAME: attributes {live = 16 : i64, offsets = array<i64: 0>, peak = 80 : i64, peak_op = 0 : i64}
  piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"})
      attributes {offsets = array<i64: 0>, peak = 80 : i64, live = 16 : i64, peak_op = 0 : i64} {
    // CHECK: %[[Y:.+]]:2 = piper.task @f(%[[X]]) pass = F
    %y:2 = piper.task @f(%x) pass = F : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
    // CHECK: piper.return %[[Y]]#0 : tensor<4xf32>
    piper.return %y#0 : tensor<4xf32>
  }
  // CHECK: piper.entry @nothing()
  piper.entry @nothing() {
    // CHECK: piper.return
    piper.return
  }
}
// CHECK: piper.program @empty target = <cpu, threads = 1> attributes {note = "kept"} {
piper.program @empty target = <cpu, threads = 1> attributes {note = "kept"} {
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan of two coordinates that is right, and plans as the passes make them.
//
// RUN: piper-opt %s --piper-verify-plan | FileCheck %s
// RUN: piper-opt %S/partition-placed.mlir --piper-partition="threads=1" --piper-plan-memory --piper-verify-plan -o %t.placed.mlir
// RUN: piper-opt %S/partition.mlir --split-input-file --piper-partition="threads=1" --piper-plan-memory --piper-verify-plan -o %t.main.mlir

// Nothing changes.
// CHECK: piper.send %{{.+}} to 1 id = 1 waits = [0] :
// CHECK: piper.receive from 0 id = 1 offsets = [0] :
module attributes {piper.level = #piper.level<plan>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> arena = 128 {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) attributes {ops = 3 : i64, offsets = array<i64: 0>, peak = 128 : i64} {
      %a = piper.task @square(%x) pass = F id = 0 offsets = [64] : (tensor<16xf32>) -> tensor<16xf32>
      piper.send %a to 1 id = 1 waits = [0] : tensor<16xf32>
      piper.return
    }
  }
  piper.program @p1 at [pp = 1] target = <cpu, threads = 1> arena = 64 {
    piper.entry @eval() -> (tensor<16xf32> {piper.output = "y"}) attributes {ops = 3 : i64, offsets = array<i64>, peak = 64 : i64} {
      %a = piper.receive from 0 id = 1 offsets = [0] : tensor<16xf32>
      %b = piper.task @square(%a) pass = F id = 2 waits = [1] offsets = [0] : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %b : tensor<16xf32>
    }
  }
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> attributes {piper.memory = #piper.memory<bytes = 0, values = [1, 0, 0], kernels = [-1]>} {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

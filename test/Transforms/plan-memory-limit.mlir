// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A limit of memory that a program does not keep: which, its stages, what it needs.
//
// RUN: not piper-opt %s --piper-plan-memory="limit=191" 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not piper-opt %s --piper-plan-memory="limit=100" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not piper-opt %s --piper-plan-memory="limit=192,100" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: piper-opt %s --piper-plan-memory="limit=192,128" | FileCheck %s --check-prefix=ENOUGH
// RUN: not piper-opt %s --piper-plan-memory="limit=1,2,3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not piper-opt %s --piper-plan-memory="limit=12k" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not piper-opt %s --piper-plan-memory="limit=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: sed 's/programs>}/programs>, piper.directives = [{op = "options", memory_limit = [192, 100]}]}/' %s | not piper-opt --piper-plan-memory 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/programs>}/programs>, piper.directives = [{op = "options", memory_limit = [1]}]}/' %s | piper-opt --piper-plan-memory="limit=192" -o %t.mlir

// FIRST: [[@LINE+19]]:3: error: coordinate 0 (stages 0, 2) needs 192 bytes but the limit is 191
// FIRST-NOT: error
// One error, whatever the number of places.
// BOTH: error: coordinate 0 (stages 0, 2) needs 192 bytes but the limit is 100
// BOTH-NOT: error
// BOTH: note: coordinate 1 (stage 1) needs 128 bytes but the limit is 100
// BOTH-NOT: error
// ONE-NOT: coordinate 0
// ONE: error: coordinate 1 (stage 1) needs 128 bytes but the limit is 100
// ENOUGH: piper.program @p0 {{.*}} arena = 192 {
// ENOUGH: piper.program @p1 {{.*}} arena = 128 {
// COUNT: error: expects one memory limit, or one for each of the 2 programs, but got 3
// WORD: error: option 'limit' expects numbers of bytes but got '12k'
// NEGATIVE: error: option 'limit' expects numbers of bytes but got '-1'
module attributes {piper.level = #piper.level<programs>} {
  func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> {
    %y = piper.square %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) -> (tensor<16xf32> {piper.output = "x"}, tensor<16xf32> {piper.output = "a"}, tensor<16xf32> {piper.output = "b"}) {
      %a = piper.task @square(%x) pass = F stage = 0 id = 0 : (tensor<16xf32>) -> tensor<16xf32>
      %b = piper.task @square(%a) pass = F stage = 2 id = 2 : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %x, %a, %b : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    }
  }
  piper.program @p1 at [pp = 1] target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<16xf32> {piper.input = #piper.input<"x">}) -> (tensor<16xf32> {piper.output = "x"}, tensor<16xf32> {piper.output = "a"}) {
      %a = piper.task @square(%x) pass = F stage = 1 id = 1 : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %x, %a : tensor<16xf32>, tensor<16xf32>
    }
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and waits of ops that run beside the tasks, worked out by hand: what each
// op must wait for on other streams, and nothing that follows from it anyway.
//
// RUN: piper-opt %s --split-input-file --piper-plan-memory | FileCheck %s

// Every value has 64 bytes; %x, at 0, lives to the end.
// CHECK: arena = 256
// CHECK: piper.entry
// The values at op 5: %x, %c (the send of it may still run), %d, and %e (which may
// arrive as soon as op 5 has started).
// CHECK-SAME: categories = {inputs = 64 : i64, messages = 64 : i64, temporaries = 128 : i64}, live = 256 : i64, offsets = array<i64: 0>, ops = 12 : i64, peak = 256 : i64, peak_op = 5 : i64
// CHECK-NEXT: %[[A:.+]] = piper.task {{.*}} id = 0 offsets = [64] :
// CHECK-NEXT: piper.send %[[A]] to 1 id = 1 waits = [0] :
// Not over %a, although no task reads it: its send may run at the same time.
// CHECK-NEXT: piper.task {{.*}} id = 2 offsets = [128] :
// Over %a, once the send has ended.
// CHECK-NEXT: piper.task {{.*}} id = 3 waits = [1] offsets = [64] :
// CHECK-NEXT: piper.send %{{.+}} to 1 id = 4 waits = [3] :
// CHECK-NEXT: piper.task {{.*}} id = 5 offsets = [192] :
// Over %b: its last reader, op 3, has ended when op 5 starts, and op 6 starts no
// earlier.
// CHECK-NEXT: piper.receive from 1 id = 6 offsets = [128] :
// CHECK-NEXT: piper.task {{.*}} id = 7 waits = [6] offsets = [192] :
// Over %c: for the send of it nobody has waited yet.
// CHECK-NEXT: piper.receive from 1 id = 8 waits = [4] offsets = [64] :
// CHECK-NEXT: piper.task {{.*}} id = 9 waits = [8] offsets = [192] :
// Over %e, whose reader has ended when op 9 starts.
// CHECK-NEXT: piper.receive from 1 id = 10 offsets = [128] :
// CHECK-NEXT: piper.task {{.*}} id = 11 waits = [10] offsets = [64] :
module attributes {piper.level = #piper.level<programs>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> {
    piper.entry @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4x4xf32> {piper.output = "x"}) attributes {ops = 12 : i64} {
      %a = piper.task @t(%x) pass = F id = 0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.send %a to 1 id = 1 : tensor<4x4xf32>
      %b = piper.task @t(%x) pass = F id = 2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %c = piper.task @t(%b) pass = F id = 3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.send %c to 1 id = 4 : tensor<4x4xf32>
      %d = piper.task @t(%x) pass = F id = 5 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %e = piper.receive from 1 id = 6 : tensor<4x4xf32>
      %f = piper.task @t(%e) pass = F id = 7 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %g = piper.receive from 1 id = 8 : tensor<4x4xf32>
      %h = piper.task @t(%g) pass = F id = 9 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %i = piper.receive from 1 id = 10 : tensor<4x4xf32>
      %j = piper.task @t(%i) pass = F id = 11 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.return %x : tensor<4x4xf32>
    }
  }
  func.func private @t(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %y = piper.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// Reductions. The parameter is at 0, %x at 64.
// CHECK: piper.task {{.*}} id = 0 offsets = [128] :
// The sum is made over a term of this coordinate that dies,
// CHECK-NEXT: piper.reduce %{{.+}} terms = [0, 1] members = [0, 1] id = 1 waits = [0] offsets = [128] :
// CHECK-NEXT: piper.task {{.*}} id = 2 waits = [1] offsets = [256] :
// CHECK-NEXT: piper.send %{{.+}} to 1 id = 3 waits = [2] :
// but not over one that is being sent,
// CHECK-NEXT: piper.reduce %{{.+}} terms = [0, 1] members = [0, 1] id = 4 waits = [2] offsets = [320] :
// nor over state.
// CHECK-NEXT: piper.reduce %{{.+}} terms = [0] members = [0, 1] id = 5 offsets = [192] :
// CHECK-NEXT: piper.send %{{.+}} to 1 id = 6 :
// The update reads the sum of op 4, and overwrites what ops 5 and 6 read; op 4
// ends before op 5.
// CHECK-NEXT: piper.task {{.*}} pass = U id = 7 waits = [5, 6] offsets = [0] :
// Op 5 has ended for the task before.
// CHECK-NEXT: piper.task {{.*}} id = 8 offsets = [128] :
module attributes {piper.level = #piper.level<programs>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> {
    piper.entry @train(%w: tensor<4x4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4x4xf32> {piper.input = #piper.input<"x">})
        -> (tensor<4x4xf32> {piper.next = "w"}, tensor<4x4xf32> {piper.output = "x"}) {
      %a = piper.task @t(%x) pass = F id = 0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %b = piper.reduce %a terms = [0, 1] members = [0, 1] id = 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %c = piper.task @t(%b) pass = F id = 2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.send %c to 1 id = 3 : tensor<4x4xf32>
      %d = piper.reduce %c terms = [0, 1] members = [0, 1] id = 4 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %e = piper.reduce %w terms = [0] members = [0, 1] id = 5 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.send %w to 1 id = 6 : tensor<4x4xf32>
      %f = piper.task @add(%w, %d) pass = U id = 7 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %g = piper.task @t(%e) pass = F id = 8 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.return %f, %x : tensor<4x4xf32>, tensor<4x4xf32>
    }
  }
  func.func private @t(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %y = piper.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
  func.func private @add(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %s = piper.add %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}

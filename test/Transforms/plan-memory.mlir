// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values lie: state first and at the same offsets in all entry points,
// updates in place, values that die make room.
//
// RUN: piper-opt %s --split-input-file --piper-plan-memory | FileCheck %s

// Two entry points: `eval` has w at the offset it has in `train`, and its input
// lies behind all state. The arena is the larger peak.

// CHECK: piper.program @main target = <cpu, threads = 1> arena = 320 {
// CHECK: piper.entry @train(
// w at 0, its moment at 64, the input at 128, two temporaries.
// CHECK-SAME: categories = {inputs = 64 : i64, "optimizer state" = 64 : i64, parameters = 64 : i64, temporaries = 128 : i64}
// CHECK-SAME: live = 320 : i64, offsets = array<i64: 0, 64, 128>, peak = 320 : i64, peak_op = 0 : i64
// CHECK: piper.task @two({{.*}}) pass = F offsets = [192, 256]
// CHECK: piper.task @product({{.*}}) pass = F offsets = [192]
// CHECK: piper.task @update({{.*}}) pass = U offsets = [0, 64]
// CHECK: piper.entry @eval(
// CHECK-SAME: live = 192 : i64, offsets = array<i64: 128, 0>, peak = 192 : i64
// CHECK: piper.task @add({{.*}}) pass = F offsets = [128]

// The sum is begun while %c is still to be read, so the result may lie over %a
// or %b only; both values of the body lie there.
// CHECK: func.func private @product({{.*}} values = [1, 0, 0, 1, 0, 0], kernels = [-1, -1]>
module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">},
                       %v: tensor<4xf32> {piper.state = #piper.state<"w.v", of = "w">},
                       %x: tensor<4xf32> {piper.input = #piper.input<"x">})
        -> (tensor<4xf32> {piper.next = "w"}, tensor<4xf32> {piper.next = "w.v"}) {
      %a:2 = piper.task @two(%x) pass = F : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %g = piper.task @product(%a#0, %a#1, %x) pass = F : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %n:2 = piper.task @update(%w, %g, %v) pass = U : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      piper.return %n#0, %n#1 : tensor<4xf32>, tensor<4xf32>
    }
    piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">},
                      %w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.output = "y"}) {
      %a = piper.task @add(%x, %w) pass = F : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      piper.return %a : tensor<4xf32>
    }
  }
  func.func private @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = piper.tanh %x : tensor<4xf32>
    %b = piper.exp %x : tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @product(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = piper.mul %s, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %t : tensor<4xf32>
  }
  func.func private @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func private @update(%w: tensor<4xf32>, %g: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %n = piper.add %v, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = piper.sub %w, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %u, %n : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A task that reads an operand twice does not write over it; a value that is
// returned is not written over; nor is one that a later task reads.

// CHECK: piper.entry @eval(
// CHECK-SAME: offsets = array<i64: 0>
// CHECK: piper.task @add(%{{.+}}, %{{.+}}) pass = F offsets = [64]
// CHECK: piper.task @neg(%{{.+}}) pass = F offsets = [0]
// CHECK: piper.task @neg(%{{.+}}) pass = F offsets = [128]
// CHECK: piper.task @neg(%{{.+}}) pass = F offsets = [128]
module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">})
        -> (tensor<4xf32> {piper.output = "a"}, tensor<4xf32> {piper.output = "b"}, tensor<4xf32> {piper.output = "d"}) {
      %a = piper.task @add(%x, %x) pass = F : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %b = piper.task @neg(%a) pass = F : (tensor<4xf32>) -> tensor<4xf32>
      %c = piper.task @neg(%b) pass = F : (tensor<4xf32>) -> tensor<4xf32>
      %d = piper.task @neg(%c) pass = F : (tensor<4xf32>) -> tensor<4xf32>
      piper.return %a, %b, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
  }
  func.func private @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
    %s = piper.neg %a : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Two results that nothing reads do not share memory.

// CHECK: piper.task @two(%{{.+}}, %{{.+}}) pass = F offsets = [{{(0, 64|64, 0)}}]
module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %y: tensor<4xf32> {piper.input = #piper.input<"y">}) {
      %a:2 = piper.task @two(%x, %y) pass = F : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      piper.return
    }
  }
  func.func private @two(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %n = piper.neg %b : tensor<4xf32>
    %s = piper.add %a, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %s, %n : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Bodies. A view lies in its source: the reshape of the tanh, over which the exp
// is made, so that all three lie in result 0; the second row of an operand lies
// 16 bytes into it. A view of an operand that is returned is copied into its
// result. Temporaries and the scratch memory of kernels lie in the workspace.

// CHECK: piper.task @views(%{{.+}}) pass = F offsets = [64, 128, 192]
// CHECK: piper.task @chain(%{{.+}}) pass = F workspace = 128 offsets = [64]
// CHECK: piper.task @scratch(%{{.+}}) pass = F workspace = 128 offsets = [64]
// CHECK: func.func private @views({{.*}} #piper.memory<bytes = 0, values = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 16, 1, 1, 0, 1, 2, 0], kernels = [-1, -1, -1, -1, -1, -1]>
// The exp is made over the tanh, which dies; the sum needs both sides.
// CHECK: func.func private @chain({{.*}} #piper.memory<bytes = 64, values = [2, 0, 0, 2, 0, 0, 1, 0, 0], kernels = [-1, -1, -1]>
// CHECK: func.func private @scratch({{.*}} #piper.memory<bytes = [[#B:]], values = [1, 0, 0], kernels = [0]>
module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<2x4xf32> {piper.input = #piper.input<"x">}) {
      %a:3 = piper.task @views(%x) pass = F : (tensor<2x4xf32>) -> (tensor<8xf32>, tensor<1x4xf32>, tensor<8xf32>)
      %b = piper.task @chain(%x) pass = F : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %c = piper.task @scratch(%x) pass = F : (tensor<2x4xf32>) -> tensor<2x2xf32>
      piper.return
    }
  }
  func.func private @views(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<1x4xf32>, tensor<8xf32>) {
    %t = piper.tanh %x : tensor<2x4xf32>
    %v = piper.reshape %t : (tensor<2x4xf32>) -> tensor<8xf32>
    %e = piper.exp %v : tensor<8xf32>
    %s = piper.slice %x {offsets = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %n = piper.neg %s : tensor<1x4xf32>
    %r = piper.reshape %x : (tensor<2x4xf32>) -> tensor<8xf32>
    return %e, %n, %r : tensor<8xf32>, tensor<1x4xf32>, tensor<8xf32>
  }
  func.func private @chain(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %t = piper.tanh %x : tensor<2x4xf32>
    %e = piper.exp %t : tensor<2x4xf32>
    %s = piper.add %e, %e : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
  func.func private @scratch(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
    %y = piper.matmul %x, %x {transpose_b} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  }
}

// -----

// An accumulator. The part, which is a product and cannot be made over the
// accumulator, lies in the workspace, so that the sum can.

// CHECK: piper.entry @train(
// CHECK-SAME: categories = {gradients = 64 : i64, inputs = 64 : i64, workspace = [[#WORKSPACE:]] : i64}
// CHECK: piper.task @part(%{{.+}}) pass = B {{.*}}offsets = [64]
// CHECK: piper.task @part.into(%{{.+}}, %{{.+}}) pass = B {{.*}}offsets = [64]
// CHECK: func.func private @part.into({{.*}} #piper.memory<bytes = [[#]], values = [2, 0, [[#]], 1, 0, 0],
module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @train(%x: tensor<4x4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4x4xf32> {piper.output = "u"}) {
      %a = piper.task @part(%x) pass = B mb = 0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %b = piper.task @part.into(%x, %a) pass = B mb = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %u = piper.task @sum(%b) pass = U : (tensor<4x4xf32>) -> tensor<4x4xf32>
      piper.return %u : tensor<4x4xf32>
    }
  }
  func.func private @part(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %p = piper.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %p : tensor<4x4xf32>
  }
  func.func private @part.into(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %p = piper.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = piper.add %a, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
  func.func private @sum(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %p = piper.neg %x : tensor<4x4xf32>
    return %p : tensor<4x4xf32>
  }
}

// -----

// Views of micro-batches lie in the input, which lives as long as the last of
// them; a result is not made over a part of it.

// CHECK: piper.entry @eval(
// CHECK-SAME: offsets = array<i64: 0>
// CHECK: piper.task @neg(%{{.+}}) pass = F mb = 0 offsets = [128]
// CHECK: piper.task @neg(%{{.+}}) pass = F offsets = [128]
// CHECK: piper.task @neg(%{{.+}}) pass = F mb = 1 offsets = [192]
// CHECK: piper.task @neg(%{{.+}}) pass = F offsets = [192]
module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<2x16xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (tensor<16xf32> {piper.output = "a"}, tensor<16xf32> {piper.output = "b"}) {
      %x0 = piper.micro_batch %x[0] : tensor<2x16xf32> -> tensor<16xf32>
      %a0 = piper.task @neg(%x0) pass = F mb = 0 : (tensor<16xf32>) -> tensor<16xf32>
      %a = piper.task @neg(%a0) pass = F : (tensor<16xf32>) -> tensor<16xf32>
      %x1 = piper.micro_batch %x[1] : tensor<2x16xf32> -> tensor<16xf32>
      %b1 = piper.task @neg(%x1) pass = F mb = 1 : (tensor<16xf32>) -> tensor<16xf32>
      %b = piper.task @neg(%b1) pass = F : (tensor<16xf32>) -> tensor<16xf32>
      piper.return %a, %b : tensor<16xf32>, tensor<16xf32>
    }
  }
  func.func private @neg(%a: tensor<16xf32>) -> tensor<16xf32> {
    %s = piper.neg %a : tensor<16xf32>
    return %s : tensor<16xf32>
  }
}

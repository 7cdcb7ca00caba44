// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-plan-memory refuses, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-plan-memory

module attributes {piper.level = #piper.level<programs>} {
  // expected-error @below {{expects a body of one block but got 0}}
  func.func private @external(tensor<4xf32>)
}

// -----

module attributes {piper.level = #piper.level<programs>} {
  // expected-error @below {{expects each result to be a value of its own but result #0 is an operand or another result}}
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  piper.program @main target = <cpu, threads = 1> {
  }
}

// -----

module attributes {piper.level = #piper.level<programs>} {
  // expected-error @below {{expects each result to be a value of its own but result #1 is an operand or another result}}
  func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = piper.neg %x : tensor<4xf32>
    return %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  piper.program @main target = <cpu, threads = 1> {
  }
}

// -----

module attributes {piper.level = #piper.level<programs>} {
  piper.program @main target = <cpu, threads = 1> {
    // expected-error @below {{has a next value of 'v' but no such state}}
    piper.entry @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.next = "v"}) {
      piper.return %x : tensor<4xf32>
    }
  }
}

// -----

// The old value is an output too: its memory cannot be overwritten.
module attributes {piper.level = #piper.level<programs>} {
  func.func private @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = piper.neg %x : tensor<4xf32>
    return %a : tensor<4xf32>
  }
  piper.program @main target = <cpu, threads = 1> {
    // expected-error @below {{expects the next value of 'w' to be made over the state by an update that is its last reader}}
    piper.entry @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
        -> (tensor<4xf32> {piper.next = "w"}, tensor<4xf32> {piper.output = "old"}) {
      %a = piper.task @neg(%w) pass = U : (tensor<4xf32>) -> tensor<4xf32>
      piper.return %a, %w : tensor<4xf32>, tensor<4xf32>
    }
  }
}

// -----

// Bodies are planned once for all.
module attributes {piper.level = #piper.level<programs>} {
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> {
  }
  // expected-error @below {{expects the target of the other programs, #piper.target<cpu, threads = 1>, but got #piper.target<cpu, threads = 2>}}
  piper.program @p1 at [pp = 1] target = <cpu, threads = 2> {
  }
}

// -----

module attributes {piper.level = #piper.level<programs>} {
  func.func private @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = piper.neg %x : tensor<4xf32>
    return %a : tensor<4xf32>
  }
  piper.program @p0 at [pp = 0] target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
      // expected-error @below {{expects an id, as another op waits for it}}
      %a = piper.task @neg(%x) pass = F : (tensor<4xf32>) -> tensor<4xf32>
      // expected-note @below {{this one does}}
      piper.send %a to 1 id = 1 : tensor<4xf32>
      piper.return
    }
  }
}

// -----

module attributes {piper.level = #piper.level<programs>, piper.directives = [{op = "options", memory_limit = [63]}]} {
  // expected-error @below {{needs 64 bytes but the limit is 63}}
  piper.program @main target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "x"}) {
      piper.return %x : tensor<4xf32>
    }
  }
}

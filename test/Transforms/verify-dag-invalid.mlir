// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no training DAG, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-verify-dag

// expected-error @below {{'piper-verify-dag' expects level 'dag' but got 'model'}}
module {
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{'builtin.module' op cannot stand in a module of tasks: expects functions and programs}}
  module @inner {
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a body of one block but got 0}}
  func.func private @external(tensor<4xf32>)
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a body of one block but got 2}}
  func.func private @blocks(%x: tensor<4xf32>) {
    return
  ^unreachable:
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects argument #0 to have a ranked tensor type but got 'f32'}}
  func.func private @scalar(%x: f32) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func private @call(%x: tensor<4xf32>) {
    // expected-error @below {{'func.call' op cannot stand in a body: expects compute ops of the piper dialect}}
    call @call(%x) : (tensor<4xf32>) -> ()
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func private @f(%x: tensor<4xf32>) {
    // expected-error @below {{expects result #0 to have dimensions of 1 or more but got 'tensor<0xf32>'}}
    %a = piper.constant dense<> : tensor<0xf32>
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects an entry point of one block but got 2}}
  func.func @train() {
    return
  ^unreachable:
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects argument #0 to have a static shape but got 'tensor<?xf32>'}}
  func.func @train(%x: tensor<?xf32>) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{'piper.tanh' op cannot stand in an entry point: expects only tasks}}
    %a = piper.tanh %x : tensor<4xf32>
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @eval() {
    return
  }
  func.func @train() {
    // expected-error @below {{expects a private function but 'eval' is an entry point}}
    piper.task @eval() pass = F : () -> ()
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  piper.program @p target = <cpu, threads = 1> {
    // expected-error @below {{'func.func' op cannot stand in a program: expects only entry points}}
    func.func @f() {
      return
    }
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects one next value of 'w' but got two}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
      -> (tensor<4xf32> {piper.next = "w"}, tensor<4xf32> {piper.next = "w"}) {
    return %w, %w : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a next value of 'w.m' but got none}}
  func.func @train(%w: tensor<4xf32> {piper.state = #piper.state<"w.m", of = "w">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects frozen parameter 'w' to have no update}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w", frozen>}) -> (tensor<4xf32> {piper.next = "w"}) {
    return %w : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects the next value of 'w' to be 'tensor<4xf32>' but got 'tensor<2xf32>'}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<2xf32> {piper.input = #piper.input<"x">})
      -> (tensor<2xf32> {piper.next = "w"}) {
    return %x : tensor<2xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{has a next value of 'v' but no such state}}
  func.func @train(%x: tensor<2xf32> {piper.input = #piper.input<"x">}) -> (tensor<2xf32> {piper.next = "v"}) {
    return %x : tensor<2xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func private @update(%w: tensor<4xf32>) -> tensor<4xf32> {
    %a = piper.neg %w : tensor<4xf32>
    return %a : tensor<4xf32>
  }
  // expected-error @below {{expects parameter 'w' in one update but got 2}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.next = "w"}) {
    %a = piper.task @update(%w) pass = U : (tensor<4xf32>) -> tensor<4xf32>
    %b = piper.task @update(%w) pass = U : (tensor<4xf32>) -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{'piper.mesh' op cannot stand in a module of tasks: expects functions and programs}}
  piper.mesh @mesh ["pp"] = [2]
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%w: tensor<2x4xf32> {piper.param = #piper.param<"w">}) {
    // expected-error @below {{expects a step input but got state}}
    %a = piper.micro_batch %w[1] : tensor<2x4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<2x2x4xf32> {piper.input = #piper.input<"x", split = 0>}) {
    %a = piper.micro_batch %x[1] : tensor<2x2x4xf32> -> tensor<2x4xf32>
    // expected-error @below {{expects a step input but got a result of the step}}
    %b = piper.micro_batch %a[1] : tensor<2x4xf32> -> tensor<4xf32>
    return
  }
}

// -----

!here = !piper.dist<tensor<4xf32>, on [pp = 0]>
module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects argument #0 to have a ranked tensor type but got '!piper.dist<tensor<4xf32>, on [pp = 0]>'}}
  func.func @train(%x: !here {piper.param = #piper.param<"x">}) {
    return
  }
}

// -----

!here = !piper.dist<tensor<4xf32>, on [pp = 0]>
module attributes {piper.level = #piper.level<dag>} {
  func.func private @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = piper.neg %x : tensor<4xf32>
    return %a : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{expects result #0 to have no coordinates but got '!piper.dist<tensor<4xf32>, on [pp = 0]>'}}
    %a = piper.task @neg(%x) pass = F : (tensor<4xf32>) -> !here
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func private @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = piper.neg %x : tensor<4xf32>
    return %a : tensor<4xf32>
  }
  piper.program @p target = <cpu, threads = 1> {
    piper.entry @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> () {
      // expected-error @below {{cannot have operands of 'into' in a program}}
      %a = piper.task @neg(%x) into(%x) pass = F : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      piper.return
    }
  }
}

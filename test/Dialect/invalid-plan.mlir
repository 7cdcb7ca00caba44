// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of tasks and entry points refuse, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @no_callee(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects a function 'f' but the module has none}}
  piper.task @f(%x) pass = F : (tensor<4xf32>) -> ()
  return
}

// -----

func.func private @f(tensor<4xf32>)
func.func @no_body(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects function 'f' to have a body}}
  piper.task @f(%x) pass = F : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-note @below {{the callee is here}}
func.func private @f(%x: tensor<4xf32>) {
  return
}
func.func @operand_count(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects 1 operands of 'f' but got 2}}
  piper.task @f(%x, %x) pass = F : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

// expected-note @below {{the callee is here}}
func.func private @f(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  return
}
func.func @operand_type(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects operand #1 of 'f' to be 'tensor<8xf32>' but got 'tensor<4xf32>'}}
  piper.task @f(%x, %x) pass = F : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

// expected-note @below {{the callee is here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @result_count(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects 1 results of 'f' but got 0}}
  piper.task @f(%x) pass = F : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-note @below {{the callee is here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @result_type(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects result #0 of 'f' to be 'tensor<4xf32>' but got 'tensor<4xf64>'}}
  %0 = piper.task @f(%x) pass = F : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @offsets(%x: tensor<4xf32>) {
  // expected-error @below {{'piper.task' op expects one offset for each of its 1 results but got 2}}
  %0 = piper.task @f(%x) pass = F offsets = [0, 64] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

piper.program @main target = <cpu, threads = 1> {
  piper.entry @eval(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{'piper.return' op expects the result types ('tensor<4xf32>') of entry 'eval' but got ()}}
    piper.return
  }
}

// -----

// expected-error @below {{'piper.entry' op expects parent op 'piper.program'}}
piper.entry @eval() {
  piper.return
}

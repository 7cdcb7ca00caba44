// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-partition refuses.
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-partition="threads=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-partition="threads=1025" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-partition="threads=1"

// NEGATIVE: error: option 'threads' expects 1 to 1024, or 0 for all cores, but got -1
// MANY: error: option 'threads' expects 1 to 1024, or 0 for all cores, but got 1025

// expected-error @below {{'piper-partition' expects level 'dag' or 'placed' but got 'plan'}}
module attributes {piper.level = #piper.level<plan>} {
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

// expected-error @below {{expects one 'piper.mesh' in a placed step but got 0}}
module attributes {piper.level = #piper.level<placed>} {
  func.func @eval() {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  // expected-error @below {{'piper.mesh' op expects the axes ["pp"] but got ["dp"]}}
  piper.mesh @mesh ["dp"] = [2]
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  // expected-error @below {{'piper.mesh' op expects at most 1024 coordinates but got 1025}}
  piper.mesh @mesh ["pp"] = [1025]
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects coordinates below the size 2 of the mesh but got '!piper.dist<tensor<4xf32>, on [pp = 0, 2]>'}}
  func.func @eval(%w: !piper.dist<tensor<4xf32>, on [pp = 0, 2]> {piper.param = #piper.param<"w">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{'piper.task' op expects coordinates below the size 2 of the mesh but got '!piper.dist<tensor<4xf32>, on [pp = 2]>'}}
    %a = piper.task @f(%x) pass = F : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 2]>
    return
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects argument #0, which is no step input, to have coordinates but got 'tensor<4xf32>'}}
  func.func @eval(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{'piper.task' op expects results with coordinates, which are those of the task}}
    %a = piper.task @f(%x) pass = F : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects the next value of 'w' on pp = 1, where the state is, but got '!piper.dist<tensor<4xf32>, on [pp = 0]>'}}
  func.func @train(%w: !piper.dist<tensor<4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"w">})
      -> (!piper.dist<tensor<4xf32>, on [pp = 0]> {piper.next = "w"}) {
    %a = piper.task @f(%w) pass = U : (!piper.dist<tensor<4xf32>, on [pp = 0, 1]>) -> !piper.dist<tensor<4xf32>, on [pp = 0]>
    return %a : !piper.dist<tensor<4xf32>, on [pp = 0]>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}, %a: tensor<4xf32> {piper.input = #piper.input<"a">}) {
    // expected-error @below {{'piper.task' op cannot add up result #0: in the body 'same' it is an operand or another result}}
    %b = piper.task @same(%x) into(%a) pass = F : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return
  }
  func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no placed step, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-verify-placed

// expected-error @below {{'piper-verify-placed' expects level 'placed' but got 'model'}}
module {
}

// -----

// expected-error @below {{'piper-verify-placed' expects level 'placed' but got 'dag'}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
}

// -----

// expected-error @below {{expects one 'piper.mesh' in a placed step but got 0}}
module attributes {piper.level = #piper.level<placed>} {
}

// -----

// expected-error @below {{expects one 'piper.mesh' in a placed step but got 2}}
module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  piper.mesh @other ["pp"] = [2]
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  // expected-error @below {{expects the axes ["pp"] but got ["dp"]}}
  piper.mesh @mesh ["dp"] = [2]
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  // expected-error @below {{expects 2 coordinates, as the 'place' directives say, but got 3}}
  piper.mesh @mesh ["pp"] = [3]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %1 = piper.transfer %0 : !p0 -> !p1
    %2 = piper.task @f(%1) pass = F segment = 1 stage = 1 : (!p1) -> !p1
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects argument #0 to have no coordinates, as it is a step input, but got '!piper.dist<tensor<4xf32>, on [pp = 0]>'}}
  func.func @train(%x: !p0 {piper.input = #piper.input<"x">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects argument #0 to have coordinates, as it is state, but got 'tensor<4xf32>'}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects argument #0 on coordinates below 2 but got '!piper.dist<tensor<4xf32>, on [pp = 2]>'}}
  func.func @train(%w: !piper.dist<tensor<4xf32>, on [pp = 2]> {piper.param = #piper.param<"w">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects counter 'update' on all 2 coordinates but got '!piper.dist<tensor<i64>, on [pp = 1]>'}}
  func.func @train(%u: !piper.dist<tensor<i64>, on [pp = 1]> {piper.state = #piper.state<"update">}) {
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-error @below {{expects 'w.m' on the coordinates of 'w', which is '!piper.dist<tensor<4xf32>, on [pp = 0]>', but got '!piper.dist<tensor<4xf32>, on [pp = 1]>'}}
  func.func @train(%w: !p0 {piper.param = #piper.param<"w">}, %m: !p1 {piper.state = #piper.state<"w.m", of = "w">}) {
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  // expected-note @below {{the other entry point is here}}
  func.func @train(%w: !p0 {piper.param = #piper.param<"w">}) {
    return
  }
  // expected-error @below {{expects 'w' to be '!piper.dist<tensor<4xf32>, on [pp = 0]>', as in 'train', but got '!piper.dist<tensor<4xf32>, on [pp = 1]>'}}
  func.func @eval(%w: !p1 {piper.param = #piper.param<"w">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{'piper.tanh' op cannot stand in an entry point: expects only tasks, views of micro-batches, transfers and all-reduces}}
    %0 = piper.tanh %x : tensor<4xf32>
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{expects result #0 to have coordinates but got 'tensor<4xf32>'}}
    %0 = piper.task @f(%x) pass = F : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{expects result #0 on coordinates below 2 but got '!piper.dist<tensor<4xf32>, on [pp = 0, 2]>'}}
    %0 = piper.task @f(%x) pass = F : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 2]>
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @nothing(%x: tensor<4xf32>) {
    return
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{expects a result, without which it runs nowhere}}
    piper.task @nothing(%x) pass = once : (tensor<4xf32>) -> ()
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %1 = piper.task @f(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> !p1
    // expected-error @below {{expects stage 1 to run on pp = 1 but result #0 is '!piper.dist<tensor<4xf32>, on [pp = 0]>'}}
    %2 = piper.task @f(%0) pass = B segment = 1 stage = 1 : (!p0) -> !p0
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %1 = piper.task @f(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> !p1
    // expected-error @below {{expects stage 1 to run on pp = 0 but result #0 is '!piper.dist<tensor<4xf32>, on [pp = 1]>'}}
    %2 = piper.task @f(%1) pass = B segment = 1 mb = 1 stage = 1 copy = 1 : (!p1) -> !p1
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %1 = piper.task @f(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> !p1
    // expected-error @below {{expects a copy from 0 to 0 but got 1}}
    %2 = piper.task @f(%0) pass = B segment = 0 stage = 0 copy = 1 : (!p0) -> !p0
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %1 = piper.task @f(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> !p1
    // expected-error @below {{expects a stage from 0 to 1 but got 2}}
    %2 = piper.task @f(%0) pass = B segment = 0 stage = 2 : (!p0) -> !p0
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!p1 = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !p0
    %1 = piper.task @f(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> !p1
    // expected-error @below {{expects a stage from 0 to 1 but got -1}}
    %2 = piper.task @f(%0) pass = B segment = 0 : (!p0) -> !p0
    return
  }
}

// -----

module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 3 : i64]}, {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 2 : i64]},
    {op = "place", filter = {SEGMENT = 2 : i64}, devices = [2 : i64, 1 : i64]}, {op = "place", filter = {SEGMENT = 3 : i64}, devices = [3 : i64, 0 : i64]}]} {
  piper.mesh @mesh ["pp"] = [4]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    %0 = piper.task @f(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 0]>
    %1 = piper.task @f(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 1]>
    %2 = piper.task @f(%x) pass = F segment = 2 mb = 0 stage = 2 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 2]>
    %3 = piper.task @f(%x) pass = F segment = 3 mb = 0 stage = 3 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 3]>
    // expected-error @below {{expects stage 0 to run on pp = 0 or 3 but result #0 is '!piper.dist<tensor<4xf32>, on [pp = 0, 1]>'}}
    %4 = piper.task @f(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
    return
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
!both = !piper.dist<tensor<4xf32>, on [pp = 0, 1]>
module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // expected-error @below {{expects the next value of 'w' to be '!piper.dist<tensor<4xf32>, on [pp = 0, 1]>' but got '!piper.dist<tensor<4xf32>, on [pp = 0]>'}}
  func.func @train(%w: !both {piper.param = #piper.param<"w">}) -> (!p0 {piper.next = "w"}) {
    %0 = piper.task @f(%w) pass = U : (!both) -> !p0
    return %0 : !p0
  }
}

// -----

!p0 = !piper.dist<tensor<4xf32>, on [pp = 0]>
module attributes {piper.level = #piper.level<placed>} {
  piper.mesh @mesh ["pp"] = [2]
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // expected-error @below {{expects parameter 'w' in one update but got 2}}
  func.func @train(%w: !p0 {piper.param = #piper.param<"w">}) -> (!p0 {piper.next = "w"}) {
    %0 = piper.task @f(%w) pass = U : (!p0) -> !p0
    %1 = piper.task @f(%w) pass = U : (!p0) -> !p0
    return %0 : !p0
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a schedule cannot be applied to.
//
// RUN: piper-opt %s --split-input-file --piper-apply-schedule --verify-diagnostics
// RUN: not piper-opt %S/Inputs/two-stages.mlir --piper-apply-schedule=schedule=nonesuch 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not piper-opt %S/Inputs/two-stages.mlir --piper-apply-schedule=schedule=%t.json 2>&1 | FileCheck %s --check-prefix=FILE

// KIND: error: directive #3 (schedule): unknown kind 'nonesuch', expected one of gpipe,
// FILE: error: directive #3 (schedule): cannot open '{{.*}}.json'

// An order is a schedule too.
// expected-error @below {{directive #3 (schedule) and directive #4 (order) both say in which order tasks run: expects one of them}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "F", MB = 0, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
}

// -----

// There are no stages.
// expected-error @below {{directive #1 (schedule) expects 'place' directives, whose stages it orders, but there are none}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [{op = "schedule", kind = "1f1b"}]} {
}

// -----

// Stages that are not placed yet.
// expected-error @below {{'piper-apply-schedule' expects level 'placed' but got 'dag'}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]}, {op = "schedule", kind = "1f1b"}]} {
}

// -----

// 1F1B keeps as many activations as stages follow.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (schedule): coordinate 0 (stage 0) needs 2 chunk activations at F(stage 0, mb 1) but its limit is 1}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b", limit = [1]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<3x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<3x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<3x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    %b1:2 = piper.task @bw(%n, %y1#1) into(%b0#1) pass = B segment = 1 mb = 1 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d1 = piper.transfer %b1#0 : !b -> !a
    %a1:2 = piper.task @bw(%d1, %h1#1) into(%a0#1) pass = B segment = 0 mb = 1 stage = 0 : (!a, !a, !a) -> (!a, !a)
    %x2 = piper.micro_batch %x[2] : tensor<3x4xf32> -> tensor<4xf32>
    %h2:2 = piper.task @fw(%x2) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t2 = piper.transfer %h2#0 : !a -> !b
    %y2:2 = piper.task @fw(%t2) pass = F segment = 1 mb = 2 stage = 1 : (!b) -> (!b, !b)
    %b2:2 = piper.task @bw(%n, %y2#1) into(%b1#1) pass = B segment = 1 mb = 2 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d2 = piper.transfer %b2#0 : !b -> !a
    %a2:2 = piper.task @bw(%d2, %h2#1) into(%a1#1) pass = B segment = 0 mb = 2 stage = 0 : (!a, !a, !a) -> (!a, !a)
    return %a2#1, %b2#1 : !a, !b
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @bw(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.tanh %dy : tensor<4xf32>
    %dx = piper.tanh %0 : tensor<4xf32>
    %1 = piper.square %s : tensor<4xf32>
    %dw = piper.square %1 : tensor<4xf32>
    return %dx, %dw : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A stage that the schedule has not.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    // expected-error @below {{stands in no action of the schedule: 'fw' (F, mb 1, stage 5) of 2 stages and 2 micro-batches}}
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 5 : (!b) -> (!b, !b)
    %b1:2 = piper.task @bw(%n, %y1#1) into(%b0#1) pass = B segment = 1 mb = 1 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d1 = piper.transfer %b1#0 : !b -> !a
    %a1:2 = piper.task @bw(%d1, %h1#1) into(%a0#1) pass = B segment = 0 mb = 1 stage = 0 : (!a, !a, !a) -> (!a, !a)
    return %a1#1, %b1#1 : !a, !b
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @bw(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.tanh %dy : tensor<4xf32>
    %dx = piper.tanh %0 : tensor<4xf32>
    %1 = piper.square %s : tensor<4xf32>
    %dw = piper.square %1 : tensor<4xf32>
    return %dx, %dw : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A second copy that it has not.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    %b1:2 = piper.task @bw(%n, %y1#1) into(%b0#1) pass = B segment = 1 mb = 1 stage = 1 : (!b, !b, !b) -> (!b, !b)
    %d1 = piper.transfer %b1#0 : !b -> !a
    // expected-error @below {{stands in no action of the schedule: 'bw' (B, mb 1, stage 0, copy 1) of 2 stages and 2 micro-batches}}
    %a1:2 = piper.task @bw(%d1, %h1#1) into(%a0#1) pass = B segment = 0 mb = 1 stage = 0 copy = 1 : (!a, !a, !a) -> (!a, !a)
    return %a1#1, %b1#1 : !a, !b
  }
  func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    %s = piper.square %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @bw(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.tanh %dy : tensor<4xf32>
    %dx = piper.tanh %0 : tensor<4xf32>
    %1 = piper.square %s : tensor<4xf32>
    %dw = piper.square %1 : tensor<4xf32>
    return %dx, %dw : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A task on another coordinate than its stage.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> !a {
    %0 = piper.task @seed() pass = F segment = 0 stage = 0 : () -> !a
    // expected-error @below {{expects coordinate 1, where the schedule has its stage, but got 0}}
    %1 = piper.task @seed() pass = F segment = 1 stage = 1 : () -> !a
    return %1 : !a
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A stage that reads what a later stage makes of its own values.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> !a {
    %0 = piper.task @seed() pass = F segment = 0 stage = 0 : () -> !a
    %1 = piper.transfer %0 : !a -> !b
    // expected-note @below {{the result is made here}}
    %2 = piper.task @update(%1) pass = F segment = 1 stage = 1 : (!b) -> !b
    %3 = piper.transfer %2 : !b -> !a
    // expected-error @below {{expects 'update' (F, stage 1) before it, whose result it reads, but the order puts that later}}
    %4 = piper.task @update(%3) pass = F segment = 0 stage = 0 : (!a) -> !a
    return %4 : !a
  }
  func.func private @seed() -> tensor<4xf32> {
    %0 = piper.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @update(%g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %g : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

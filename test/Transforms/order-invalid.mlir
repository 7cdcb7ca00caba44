// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders that cannot be: each is one error that says why.
//
// RUN: piper-opt %s --split-input-file --piper-order --verify-diagnostics

// A schedule is an order too.
// expected-error @below {{directive #3 (schedule) and directive #4 (order) both say in which order tasks run: expects one of them}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "1f1b"},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "F", MB = 0, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
}

// -----

// An index that does not exist.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): filter {MB = 9, PASS = "B", STAGE = 1} of group 2 matches no task: 'MB' goes from 0 to 1}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "B", MB = 9, STAGE = 1}]]}]} {
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

// One that is the only one.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): filter {MB = 1, PASS = "B"} of group 2 matches no task: 'MB' is 0}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "B", MB = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<1x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<1x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    return %a0#1, %b0#1 : !a, !b
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

// Halves of backwards that are not split.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): filter {MB = 0, PASS = "BW", STAGE = 1} of group 2 matches no task: no task of the body has {PASS = "BW"}}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "BW", MB = 0, STAGE = 1}]]}]} {
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

// Each term alone has tasks.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): filter {SEGMENT = 0, STAGE = 1} of group 1 matches no task: no task has all of these}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{SEGMENT = 0, STAGE = 1}], [{PASS = "B", MB = 0, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<1x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<1x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    return %a0#1, %b0#1 : !a, !b
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

// Once each.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): names 'fw' (F, mb 0, stage 0) twice, in groups 1 and 3}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "F", MB = 0, STAGE = 1}], [{PASS = "F", MB = 0, STAGE = 0}]]}]} {
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

// By another filter of its group.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): names 'bw' (B, mb 1, stage 1) twice in group 2}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{MB = 1}, {PASS = "B", MB = 1}]]}]} {
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

// The gradient of the weights of micro-batch 1 is missing.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order): names 'bi' (BI, mb 1, stage 1) in group 3 but not the gradient of the weights, 'dw' (BW, mb 1, stage 1)}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "BI", MB = 0, STAGE = 1}], [{PASS = "BW", MB = 0, STAGE = 1}], [{PASS = "BI", MB = 1, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bi(%n, %y0#1) pass = BI segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %v0 = piper.task @dw(%b0#1) pass = BW segment = 1 mb = 0 stage = 1 : (!b) -> !b
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bi(%d0, %h0#1) pass = BI segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %w0 = piper.task @dw(%a0#1) pass = BW segment = 0 mb = 0 stage = 0 : (!a) -> !a
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
    %b1:2 = piper.task @bi(%n, %y1#1) pass = BI segment = 1 mb = 1 stage = 1 : (!b, !b) -> (!b, !b)
    %v1 = piper.task @dw(%b1#1) into(%v0) pass = BW segment = 1 mb = 1 stage = 1 : (!b, !b) -> !b
    %d1 = piper.transfer %b1#0 : !b -> !a
    %a1:2 = piper.task @bi(%d1, %h1#1) pass = BI segment = 0 mb = 1 stage = 0 : (!a, !a) -> (!a, !a)
    %w1 = piper.task @dw(%a1#1) into(%w0) pass = BW segment = 0 mb = 1 stage = 0 : (!a, !a) -> !a
    return %w1, %v1 : !a, !b
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
  func.func private @bi(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %dx = piper.tanh %dy : tensor<4xf32>
    %r = piper.square %s : tensor<4xf32>
    return %dx, %r : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @dw(%r: tensor<4xf32>) -> tensor<4xf32> {
    %dw = piper.square %r : tensor<4xf32>
    return %dw : tensor<4xf32>
  }
}

// -----

// Against the data flow: the gradient of stage 0 comes from stage 1.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order) puts 'bw' (B, mb 0, stage 0) before 'bw' (B, mb 0, stage 1), which must run first: 'bw' (B, mb 0, stage 1) -> 'bw' (B, mb 0, stage 0) -(directive #3 (order))-> 'bw' (B, mb 0, stage 1)}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "B", MB = 0, STAGE = 0}], [{PASS = "B", MB = 0, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<1x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<1x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    // expected-note @below {{needed by the other}}
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    // expected-note @below {{ordered before the other}}
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    return %a0#1, %b0#1 : !a, !b
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

// The two that contradict each other are not neighbours.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order) puts 'bw' (B, mb 0, stage 1) before 'fw' (F, mb 0, stage 1), which must run first: 'fw' (F, mb 0, stage 1) -> 'bw' (B, mb 0, stage 1) -(directive #3 (order))-> 'fw' (F, mb 1, stage 0) -(directive #3 (order))-> 'fw' (F, mb 0, stage 1)}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "B", MB = 0, STAGE = 1}], [{PASS = "F", MB = 1, STAGE = 0}], [{PASS = "F", MB = 0, STAGE = 1}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    // expected-note @below {{needed by the other}}
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    // expected-note @below {{ordered before the other}}
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
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

// Two directives that contradict each other.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #4 (order) puts 'fw' (F, mb 1, stage 0) before 'fw' (F, mb 0, stage 0), which must run first: 'fw' (F, mb 0, stage 0) -(directive #3 (order))-> 'fw' (F, mb 1, stage 0) -(directive #4 (order))-> 'fw' (F, mb 0, stage 0)}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0, STAGE = 0}], [{PASS = "F", MB = 1, STAGE = 0}]]},
    {op = "order", filters = [[{PASS = "F", MB = 1, STAGE = 0}], [{PASS = "F", MB = 0, STAGE = 0}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<2x4xf32> -> tensor<4xf32>
    // expected-note @below {{needed by the other}}
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    %x1 = piper.micro_batch %x[1] : tensor<2x4xf32> -> tensor<4xf32>
    // expected-note @below {{ordered before the other}}
    %h1:2 = piper.task @fw(%x1) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t1 = piper.transfer %h1#0 : !a -> !b
    %y1:2 = piper.task @fw(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> (!b, !b)
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

// Tasks of a group that need each other cannot take turns.
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
// expected-error @below {{directive #3 (order) puts 'bw' (B, mb 0, stage 1) before 'fw' (F, mb 0, stage 1), which must run first: 'fw' (F, mb 0, stage 1) -> 'bw' (B, mb 0, stage 1) -(directive #3 (order))-> 'fw' (F, mb 0, stage 1)}}
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "order", filters = [[{PASS = "F", MB = 0}, {PASS = "B", MB = 0, STAGE = 1}], [{PASS = "B", MB = 0, STAGE = 0}]]}]} {
  piper.mesh @mesh ["pp"] = [2]
  func.func @train(%x: tensor<1x4xf32> {piper.input = #piper.input<"x", dims = [batch], split = 0>}) -> (!a, !b) {
    %n = piper.task @seed() pass = once : () -> !b
    %x0 = piper.micro_batch %x[0] : tensor<1x4xf32> -> tensor<4xf32>
    %h0:2 = piper.task @fw(%x0) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (!a, !a)
    %t0 = piper.transfer %h0#0 : !a -> !b
    // expected-note @below {{needed by the other}}
    %y0:2 = piper.task @fw(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> (!b, !b)
    // expected-note @below {{ordered before the other}}
    %b0:2 = piper.task @bw(%n, %y0#1) pass = B segment = 1 mb = 0 stage = 1 : (!b, !b) -> (!b, !b)
    %d0 = piper.transfer %b0#0 : !b -> !a
    %a0:2 = piper.task @bw(%d0, %h0#1) pass = B segment = 0 mb = 0 stage = 0 : (!a, !a) -> (!a, !a)
    return %a0#1, %b0#1 : !a, !b
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

// Of a long cycle both ends are shown.
// expected-error @below {{directive #1 (order) puts 'one' (layer = 15, F) before 'one' (layer = 0, F), which must run first: 'one' (layer = 0, F) -> 'one' (layer = 1, F) -> 'one' (layer = 2, F) -> 'one' (layer = 3, F) -> 'one' (layer = 4, F) -> 'one' (layer = 5, F) -> 'one' (layer = 6, F) -> 'one' (layer = 7, F) -> 'one' (layer = 8, F) -> ... -> 'one' (layer = 13, F) -> 'one' (layer = 14, F) -> 'one' (layer = 15, F) -(directive #1 (order))-> 'one' (layer = 0, F)}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "order", filters = [[{SEGMENT = 15}], [{SEGMENT = 0}]]}]} {
  func.func @train(%v: tensor<4xf32> {piper.input = #piper.input<"x">}) -> tensor<4xf32> {
    // expected-note @below {{needed by the other}}
    %v0 = piper.task @one(%v) pass = F tags = <layer = 0> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %v1 = piper.task @one(%v0) pass = F tags = <layer = 1> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %v2 = piper.task @one(%v1) pass = F tags = <layer = 2> segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %v3 = piper.task @one(%v2) pass = F tags = <layer = 3> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %v4 = piper.task @one(%v3) pass = F tags = <layer = 4> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    %v5 = piper.task @one(%v4) pass = F tags = <layer = 5> segment = 5 : (tensor<4xf32>) -> tensor<4xf32>
    %v6 = piper.task @one(%v5) pass = F tags = <layer = 6> segment = 6 : (tensor<4xf32>) -> tensor<4xf32>
    %v7 = piper.task @one(%v6) pass = F tags = <layer = 7> segment = 7 : (tensor<4xf32>) -> tensor<4xf32>
    %v8 = piper.task @one(%v7) pass = F tags = <layer = 8> segment = 8 : (tensor<4xf32>) -> tensor<4xf32>
    %v9 = piper.task @one(%v8) pass = F tags = <layer = 9> segment = 9 : (tensor<4xf32>) -> tensor<4xf32>
    %v10 = piper.task @one(%v9) pass = F tags = <layer = 10> segment = 10 : (tensor<4xf32>) -> tensor<4xf32>
    %v11 = piper.task @one(%v10) pass = F tags = <layer = 11> segment = 11 : (tensor<4xf32>) -> tensor<4xf32>
    %v12 = piper.task @one(%v11) pass = F tags = <layer = 12> segment = 12 : (tensor<4xf32>) -> tensor<4xf32>
    %v13 = piper.task @one(%v12) pass = F tags = <layer = 13> segment = 13 : (tensor<4xf32>) -> tensor<4xf32>
    %v14 = piper.task @one(%v13) pass = F tags = <layer = 14> segment = 14 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{ordered before the other}}
    %v15 = piper.task @one(%v14) pass = F tags = <layer = 15> segment = 15 : (tensor<4xf32>) -> tensor<4xf32>
    return %v15 : tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Places that are not there yet.
// expected-error @below {{'piper-order' expects level 'placed' but got 'dag'}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "order", filters = [[{PASS = "F"}], [{PASS = "B"}]]}]} {
}

// -----

// A task of the body reads what comes after it: one of the end of the step.
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "order", filters = [[{MB = 0}], [{MB = 1}]]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> tensor<4xf32> {
    %0 = piper.task @one(%x) pass = F segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{the result is made here}}
    %1 = piper.task @one(%0) pass = once : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects 'one' (once) before it, whose result it reads, but the order puts that later}}
    %2 = piper.task @one(%1) pass = F segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-place refuses: tasks that do not fit the directives.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-place

// expected-error @below {{'piper-place' expects level 'dag' but got 'model'}}
module {
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects a stage, which 'piper-pipeline' sets, but has none}}
    %y = piper.task @grad(%h) pass = F segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects a stage below 2 but got 2}}
    %y = piper.task @grad(%h) pass = F segment = 1 stage = 2 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects stage 1, where 'place' puts segment 1, but got 0}}
    %y = piper.task @grad(%h) pass = F segment = 1 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %y = piper.task @grad(%h) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects a segment of the forward of 'train' but got 2}}
    %z = piper.task @grad(%y) pass = B segment = 2 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %y = piper.task @grad(%h) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects a segment of the forward of 'train' but got -1}}
    %z = piper.task @grad(%y) pass = B stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %y = piper.task @grad(%h) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects no stage outside the body of the step but got 1}}
    %z = piper.task @grad(%y) pass = once stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %y = piper.task @grad(%h) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{expects a result, without which it runs nowhere}}
    piper.task @nothing(%y) pass = once : (tensor<4xf32>) -> ()
    return %y : tensor<4xf32>
  }
  func.func private @nothing(%x: tensor<4xf32>) {
    return
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  // expected-error @below {{expects an even number of micro-batches for two copies of each stage but got 3}}
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %h = piper.task @grad(%x) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %y = piper.task @grad(%h) pass = F segment = 1 mb = 2 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64, 1 : i64]},
    {op = "place", filter = {SEGMENT = 1 : i64}, devices = [1 : i64, 0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %a:2 = piper.task @two(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %b:2 = piper.task @two(%x) pass = F segment = 0 mb = 3 stage = 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    // expected-error @below {{expects operands of 'into' that all come from the same micro-batches, so that the chain can be cut between the two copies of its stage}}
    %c:2 = piper.task @two(%x) into(%a#0, %b#1) pass = F segment = 0 mb = 2 stage = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %y = piper.task @grad(%x) pass = F segment = 1 mb = 0 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %c#1 : tensor<4xf32>
  }
  func.func private @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.neg %x : tensor<4xf32>
    %1 = piper.tanh %x : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @grad(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Directives that were not executed: no piper-split, no piper-recompute.

// expected-error @below {{'piper-place' expects the step in 4 micro-batches, as directive #1 (split) says, but got 1: run piper-split first}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "split", num_microbatches = 4 : i64},
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}) {
    %y = piper.task @neg(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @neg(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.neg %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @below {{'piper-place' expects segments that run again, as directive #2 (recompute) says, but got 'fw' (layer = 0, F, stage 0), which keeps results for its backward: run piper-recompute first}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0 : i64}, devices = [0 : i64]},
    {op = "recompute", filter = {layer = 0 : i64}}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "dx"}) {
    // expected-note @below {{the task}}
    %y:2 = piper.task @fw(%x) pass = F tags = <layer = 0> segment = 0 stage = 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %d = piper.task @bw(%y#1) pass = B tags = <layer = 0> segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y#0, %d : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @fw(%d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = piper.neg %d : tensor<4xf32>
    %1 = piper.tanh %0 : tensor<4xf32>
    return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @bw(%d: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.square %d : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-split-backward refuses.
//
// RUN: piper-opt %s --split-input-file --piper-split-backward=all --verify-diagnostics

// expected-error @below {{'piper-split-backward' expects level 'dag' but got 'model'}}
module {
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}, tensor<4xf32> {piper.output = "z"}) {
    %b:2 = piper.task @f.bw(%x) pass = B : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %c = piper.task @g.bw(%b#0) pass = B : (tensor<4xf32>) -> tensor<4xf32>
    return %b#1, %c : tensor<4xf32>, tensor<4xf32>
  }
  // expected-error @below {{expects each result to be a value of its own but result #1 is an operand or another result}}
  func.func private @f.bw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    return %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @g.bw(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}, tensor<4xf32> {piper.output = "z"}) {
    %b:2 = piper.task @f.bw(%x) pass = B : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %c = piper.task @g.bw(%b#0) pass = B : (tensor<4xf32>) -> tensor<4xf32>
    return %b#1, %c : tensor<4xf32>, tensor<4xf32>
  }
  // expected-error @below {{expects each result to be a value of its own but result #1 is an operand or another result}}
  func.func private @f.bw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = piper.tanh %x : tensor<4xf32>
    return %y, %y : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @g.bw(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xi32> {piper.input = #piper.input<"x">}) -> (tensor<i64> {piper.output = "n"}, tensor<4xf32> {piper.output = "z"}) {
    // expected-error @below {{expects gradients of floating point but result #1 is 'tensor<i64>'}}
    %b:2 = piper.task @f.bw(%x) pass = B : (tensor<4xi32>) -> (tensor<4xf32>, tensor<i64>)
    %c = piper.task @g.bw(%b#0) pass = B : (tensor<4xf32>) -> tensor<4xf32>
    return %b#1, %c : tensor<i64>, tensor<4xf32>
  }
  func.func private @f.bw(%x: tensor<4xi32>) -> (tensor<4xf32>, tensor<i64>) {
    %y = piper.constant dense<1.0> : tensor<4xf32>
    %n = piper.count_valid %x : (tensor<4xi32>) -> tensor<i64>
    return %y, %n : tensor<4xf32>, tensor<i64>
  }
  func.func private @g.bw(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

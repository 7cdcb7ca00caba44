// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directives that piper-recompute refuses.
//
// RUN: piper-opt %s --split-input-file --piper-recompute --verify-diagnostics

// expected-error @below {{'piper-recompute' expects level 'dag' but got 'model'}}
module {
}

// -----

// The epilogue and the backward have these tags too, but only forwards are run
// again. The first directive matches.
// expected-error @+2 {{directive #2 (recompute): filter {layer = 2} matches no forward task}}
// expected-remark @below {{directive #1 (recompute) changes nothing: what filter {layer = 1} matches keeps only its inputs for the backward}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "recompute", filter = {layer = 1 : i64}}, {op = "recompute", filter = {layer = 2 : i64}}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
    %y = piper.task @f(%x) pass = F tags = <layer = 1> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %z = piper.task @f(%y) pass = B tags = <layer = 2> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Only `train` has a backward.
// expected-error @below {{directive #1 (recompute): filter {} matches no forward task}}
module attributes {piper.level = #piper.level<dag>, piper.directives = [{op = "recompute", filter = {}}]} {
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (tensor<4xf32> {piper.output = "y"}) {
    %y = piper.task @f(%x) pass = F tags = <layer = 1> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

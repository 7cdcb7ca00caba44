// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model may be: no inputs, an input returned unchanged, parameters of
// f64, frozen ones of bf16, an `eval` and a `predict` of its own.
//
// RUN: piper-opt %s --split-input-file --piper-verify-model | FileCheck %s

// CHECK-LABEL: func.func @train(
// CHECK-LABEL: func.func @eval(
// CHECK-LABEL: func.func @predict(
func.func @train(%x: tensor<2x4xf64> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w: tensor<4xf64> {piper.param = #piper.param<"w">},
                 %f: tensor<4xbf16> {piper.param = #piper.param<"f", frozen>})
    -> (tensor<f64> {piper.output = "loss"}, tensor<2x4xf64> {piper.output = "x"}) {
  %a = piper.mul %x, %w : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  %b = piper.cast %f : (tensor<4xbf16>) -> tensor<4xf64>
  %c = piper.mul %a, %b : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  %l = piper.reduce_sum %c {dims = array<i64: 0, 1>} : (tensor<2x4xf64>) -> tensor<f64>
  return %l, %x : tensor<f64>, tensor<2x4xf64>
}
func.func @eval(%w: tensor<4xf64> {piper.param = #piper.param<"w">},
                %g: tensor<4xf64> {piper.param = #piper.param<"only_here", frozen>})
    -> (tensor<f64> {piper.output = "loss"}, tensor<4xf64> {piper.output = "ok"}) {
  %a = piper.mul %w, %g : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf64>) -> tensor<f64>
  return %l, %a : tensor<f64>, tensor<4xf64>
}
func.func @predict(%w: tensor<4xf64> {piper.param = #piper.param<"w">}) -> (tensor<4xf64> {piper.output = "count"}) {
  %a = piper.neg %w : tensor<4xf64>
  return %a : tensor<4xf64>
}

// -----

// CHECK-LABEL: func.func @train(
func.func @train(%w: tensor<f32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.square %w : tensor<f32>
  return %l : tensor<f32>
}

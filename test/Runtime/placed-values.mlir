// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step that is cut at unusual values computes what the whole step does: a
// transform of a parameter, used by two stages and made from a parameter that a
// third use reads as it is; a skip connection; a frozen stage; a stage without
// parameters; a parameter that nothing uses; outputs of every part of the step.
//
// DEFINE: %{keys} = optimizer=sgd lr=0.01 momentum=0.9 clip=0.5 keep-gradients=true threads=1
// DEFINE: %{extra} =
// DEFINE: %{compare} = %python %source/test/oracle/compare.py
// DEFINE: %{check} = piper-opt %s --piper-compile="%{keys} %{extra}" -o %t.plan && piper-run %t.plan --inputs %t.in --poison --deadline 60 --dump-outputs %t.out && %{compare} %t.out %t.whole.out && piper-run %t.plan --inputs %t.in --deadline 60 --oracle %t.whole | FileCheck %s

// RUN: %python %S/Inputs/random_inputs.py %t.in x:F32:3,8,4 t:F32:3,8,4
// RUN: piper-opt %s --piper-compile="%{keys}" -o %t.whole
// RUN: piper-run %t.whole --inputs %t.in --dump-outputs %t.whole.out
// CHECK: matches
// REDEFINE: %{extra} = pipeline-parallel=2
// RUN: %{check}
// REDEFINE: %{extra} = pipeline-parallel=5 micro-batches=4
// RUN: %{check}
// REDEFINE: %{extra} = pipeline-parallel=2 micro-batches=4 schedule=zbv recompute=true
// RUN: %{check}
// REDEFINE: %{extra} = pipeline-parallel=2 micro-batches=4 schedule=dualpipe
// RUN: %{check}
// REDEFINE: %{extra} = pipeline-parallel=4 micro-batches=8 schedule=dualpipe recompute=true
// RUN: %{check}
func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, feature]>},
    %t: tensor<8x4xf32> {piper.input = #piper.input<"t", dims = [batch, feature]>},
    %w: tensor<4x4xf32> {piper.param = #piper.param<"w", init = normal<0.5>>},
    %s: tensor<4xf32> {piper.param = #piper.param<"s", init = normal<1.0>>},
    %c: tensor<4x4xf32> {piper.param = #piper.param<"c", init = normal<0.7>, frozen>},
    %v: tensor<4x4xf32> {piper.param = #piper.param<"v", init = normal<0.5>>},
    %unused: tensor<4xf32> {piper.param = #piper.param<"unused", init = ones>})
    -> (tensor<f32> {piper.output = "loss"}, tensor<f32> {piper.output = "metric"}, tensor<4x4xf32> {piper.output = "wcopy"}, tensor<8x4xf32> {piper.output = "h"}, tensor<f32> {piper.output = "both"}, tensor<4x4xf32> {piper.output = "wt"}) {
  %ws = piper.mul %w, %s {piper.tags = #piper.tags<layer = 7>} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %wt = piper.tanh %ws {piper.tags = #piper.tags<layer = 7>} : tensor<4x4xf32>
  %a = piper.matmul %x, %wt {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %a1 = piper.tanh %a {piper.tags = #piper.tags<layer = 0>} : tensor<8x4xf32>
  %b = piper.matmul %a1, %c {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %d = piper.square %b {piper.tags = #piper.tags<layer = 2>} : tensor<8x4xf32>
  %sum1 = piper.reduce_sum %d {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 2>} : (tensor<8x4xf32>) -> tensor<f32>
  %e = piper.matmul %d, %wt {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %e1 = piper.add %e, %a1 {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %e2 = piper.matmul %e1, %w {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %f = piper.matmul %e2, %v {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %f1 = piper.sub %f, %t {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %f2 = piper.square %f1 {piper.tags = #piper.tags<layer = 3>} : tensor<8x4xf32>
  %l = piper.reduce_sum %f2 {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>) -> tensor<f32>
  %n = piper.constant dense<8> : tensor<i64>
  %loss = piper.divide %l, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  %metric = piper.divide %sum1, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  %both = piper.add %sum1, %l : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %metric, %w, %a1, %both, %wt : tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<4x4xf32>
}

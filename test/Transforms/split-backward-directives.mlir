// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which backward tasks are cut: those whose halves the schedule or an `order`
// directive names.
//
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-pipeline="pipeline-parallel=2 micro-batches=4 schedule=dualpipe cuts=2" --piper-split --piper-split-backward | FileCheck %s --check-prefix=DUALPIPE
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-pipeline="pipeline-parallel=2 micro-batches=4 schedule=1f1b cuts=2" --piper-split --piper-split-backward | FileCheck %s --check-prefix=WHOLE
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-split-backward | FileCheck %s --check-prefix=NONE
// RUN: sed 's|^// DIRECTIVES: ||' %s | piper-opt - --piper-outline-segments --piper-autodiff --piper-split --piper-split-backward | FileCheck %s --check-prefix=ORDER

// DualPipe with two stages and four micro-batches runs in halves what each
// coordinate does last: stage 0 of micro-batch 1, and, as the first stage of
// the second copy (stage 2 of the schedule), stage 0 of micro-batch 3. Of it, segment 0
// has no input gradient and segment 1 has both.
// DUALPIPE-LABEL: func.func @train(
// DUALPIPE-NOT: pass = B{{[IW]}}
// DUALPIPE: piper.task @layer0.bi({{.*}}) pass = BI tags = <layer = 1> segment = 1 mb = 1 stage = 0
// DUALPIPE-NEXT: piper.task @layer0.dw({{.*}}) pass = BW tags = <layer = 1> segment = 1 mb = 1 stage = 0
// DUALPIPE-NEXT: piper.task @{{.+}} pass = BW tags = <layer = 0> segment = 0 mb = 1 stage = 0
// DUALPIPE-NOT: pass = B{{[IW]}}
// DUALPIPE: piper.task @layer0.bi({{.*}}) pass = BI tags = <layer = 1> segment = 1 mb = 3 stage = 0
// DUALPIPE-NEXT: piper.task @layer0.dw({{.*}}) pass = BW tags = <layer = 1> segment = 1 mb = 3 stage = 0
// DUALPIPE-NEXT: piper.task @{{.+}} pass = BW tags = <layer = 0> segment = 0 mb = 3 stage = 0
// DUALPIPE-NOT: pass = B{{[IW]}}
// DUALPIPE: return

// WHOLE: pass = B tags
// WHOLE-NOT: pass = B{{[IW]}}
// NONE: pass = B tags
// NONE-NOT: pass = B{{[IW]}}

// The filters name the input half of segment 1 in micro-batch 2 and the weights'
// half of segment 2 in all; a filter of whole backwards cuts nothing.
// DIRECTIVES: module attributes {piper.directives = [
// DIRECTIVES:   {op = "split", filter = {}, dim_name = "MB", dim = "batch", num_microbatches = 4 : i64},
// DIRECTIVES:   {op = "order", filters = [[{PASS = "BI", SEGMENT = 1 : i64, MB = 2 : i64}],
// DIRECTIVES:                             [{PASS = "B", SEGMENT = 0 : i64, MB = 2 : i64}], [{layer = 2 : i64, PASS = "BW"}]]}]} {
// ORDER-LABEL: func.func @train(
// ORDER: piper.task {{.*}} pass = BI tags = <layer = 2> segment = 2 mb = 0
// ORDER-NEXT: piper.task {{.*}} pass = BW tags = <layer = 2> segment = 2 mb = 0
// ORDER-NEXT: piper.task {{.*}} pass = B tags = <layer = 1> segment = 1 mb = 0
// ORDER-NEXT: piper.task {{.*}} pass = B tags = <layer = 0> segment = 0 mb = 0
// ORDER: piper.task {{.*}} pass = BI tags = <layer = 2> segment = 2 mb = 2
// ORDER-NEXT: piper.task {{.*}} pass = BW tags = <layer = 2> segment = 2 mb = 2
// ORDER-NEXT: piper.task {{.*}} pass = BI tags = <layer = 1> segment = 1 mb = 2
// ORDER-NEXT: piper.task {{.*}} pass = BW tags = <layer = 1> segment = 1 mb = 2
// ORDER-NEXT: piper.task {{.*}} pass = B tags = <layer = 0> segment = 0 mb = 2
// ORDER: piper.task {{.*}} pass = BI tags = <layer = 2> segment = 2 mb = 3
// ORDER-NEXT: piper.task {{.*}} pass = BW tags = <layer = 2> segment = 2 mb = 3
// ORDER-NEXT: piper.task {{.*}} pass = B tags = <layer = 1> segment = 1 mb = 3
func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %w0: tensor<4x4xf32> {piper.param = #piper.param<"w0">},
                 %w1: tensor<4x4xf32> {piper.param = #piper.param<"w1">},
                 %w2: tensor<4x4xf32> {piper.param = #piper.param<"w2">},
                 %w3: tensor<4x4xf32> {piper.param = #piper.param<"w3">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a0 = piper.matmul %x, %w0 {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h0 = piper.tanh %a0 : tensor<8x4xf32>
  %a1 = piper.matmul %h0, %w1 {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h1 = piper.tanh %a1 : tensor<8x4xf32>
  %a2 = piper.matmul %h1, %w2 {piper.tags = #piper.tags<layer = 2>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h2 = piper.tanh %a2 : tensor<8x4xf32>
  %a3 = piper.matmul %h2, %w3 {piper.tags = #piper.tags<layer = 3>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %q = piper.square %a3 : tensor<8x4xf32>
  %l = piper.reduce_sum %q {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// DIRECTIVES: }

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of an update runs once, on the first coordinate of its parameter; the counts become a vector on each coordinate, with zeros for the
// others, and one sum: the decision reads it where the updates are. 'tied' is on both coordinates.
//
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-optimizer="optimizer=sgd" --piper-pipeline="pipeline-parallel=2" --piper-place | FileCheck %s

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[TIED:[a-z0-9]+]]: !piper.dist<tensor<4x4xf32>, on [pp = 0, 1]> {piper.param = #piper.param<"tied"
// CHECK-SAME: %[[W:[a-z0-9]+]]: !piper.dist<tensor<4x4xf32>, on [pp = 1]> {piper.param = #piper.param<"w"
// CHECK-DAG: %[[A:.+]] = piper.task @sgd_check(%[[TIED]], {{.*}} -> !piper.dist<tensor<1xi64>, on [pp = 0]>
// CHECK-DAG: %[[B:.+]] = piper.task @sgd_check(%[[W]], {{.*}} -> !piper.dist<tensor<1xi64>, on [pp = 1]>
// CHECK: %[[T0:.+]] = piper.task @[[FIRST:check_table.*]](%[[A]]) pass = once : {{.*}} -> !piper.dist<tensor<2xi64>, on [pp = 0]>
// CHECK: %[[T1:.+]] = piper.task @[[SECOND:check_table.*]](%[[B]]) pass = once : {{.*}} -> !piper.dist<tensor<2xi64>, on [pp = 1]>
// CHECK: %[[SUM:.+]] = piper.all_reduce %[[T0]], %[[T1]] over ["pp"] : {{.*}} -> !piper.dist<tensor<2xi64>, on [pp = 0, 1]>
// CHECK: %[[OK:.+]] = piper.task @decide({{.*}}%[[SUM]], {{.*}} -> !piper.dist<tensor<i1>, on [pp = 0, 1]>
// CHECK: piper.task @sgd(%[[TIED]], {{.*}}%[[OK]]) pass = U
// CHECK: piper.task @sgd(%[[W]], {{.*}}%[[OK]]) pass = U
func.func @train(%x: tensor<8x4xf32> {piper.input = #piper.input<"x", dims = [batch, f]>},
                 %tied: tensor<4x4xf32> {piper.param = #piper.param<"tied", init = normal<0.5>>},
                 %w: tensor<4x4xf32> {piper.param = #piper.param<"w", init = normal<0.5>>}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.matmul %x, %tied {piper.tags = #piper.tags<layer = 0>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = piper.matmul %a, %w {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %c = piper.matmul %b, %tied {piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %loss = piper.reduce_sum %c {dims = array<i64: 0, 1>, piper.tags = #piper.tags<layer = 1>} : (tensor<8x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

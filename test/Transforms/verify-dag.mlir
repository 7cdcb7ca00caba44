// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training DAG that piper-verify-dag takes as it is: state with its next
// value, a parameter with one update, a frozen one without.
//
// RUN: piper-opt %s --piper-verify-dag | FileCheck %s

// CHECK: module attributes {piper.level = #piper.level<dag>}
// CHECK: func.func @train
// CHECK: piper.task @update
module attributes {piper.level = #piper.level<dag>} {
  func.func private @update(%w: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = piper.sub %w, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = piper.neg %s : tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">},
                   %f: tensor<4xf32> {piper.param = #piper.param<"f", frozen>},
                   %s: tensor<4xf32> {piper.state = #piper.state<"w.v", of = "w">},
                   %seed: tensor<i64> {piper.state = #piper.state<"seed">})
      -> (tensor<4xf32> {piper.next = "w"}, tensor<4xf32> {piper.next = "w.v"}) {
    %a:2 = piper.task @update(%w, %s) pass = U : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %a#0, %a#1 : tensor<4xf32>, tensor<4xf32>
  }
}

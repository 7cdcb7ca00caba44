// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attributes print as they are read, as text and as bytecode.
//
// RUN: piper-opt %s --verify-roundtrip | FileCheck %s

// CHECK: module attributes {piper.level = #piper.level<model>}
module attributes {piper.level = #piper.level<model>} {

// Inputs and parameters: names of dimensions, each rule for initial values.
// CHECK-LABEL: func.func @arguments(
func.func @arguments(
    // CHECK-SAME: tensor<2x3xi32> {piper.input = #piper.input<"tokens", dims = [batch, seq]>}
    %tokens: tensor<2x3xi32> {piper.input = #piper.input<"tokens", dims = [batch, seq]>},
    // CHECK-SAME: tensor<i1> {piper.input = #piper.input<"flag">}
    %flag: tensor<i1> {piper.input = #piper.input<"flag">},
    // CHECK-SAME: tensor<8xf32> {piper.param = #piper.param<"a.b", init = zeros>}
    %a: tensor<8xf32> {piper.param = #piper.param<"a.b">},
    // CHECK-SAME: tensor<8xf32> {piper.param = #piper.param<"ones", dims = [embed], init = ones>}
    %b: tensor<8xf32> {piper.param = #piper.param<"ones", dims = [embed], init = ones>},
    // CHECK-SAME: tensor<16x8xf32> {piper.param = #piper.param<"wte", dims = [vocab, embed], init = normal<2.000000e-02>>}
    %c: tensor<16x8xf32> {piper.param = #piper.param<"wte", dims = [vocab, embed], init = normal<0.02>>},
    // CHECK-SAME: tensor<2xf32> {piper.param = #piper.param<"dense", init = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>, frozen>}
    %d: tensor<2xf32> {piper.param = #piper.param<"dense", frozen, init = dense<[1.0, 2.0]> : tensor<2xf32>>},
    // A name that is no word is printed as a string.
    // CHECK-SAME: tensor<4xf32> {piper.param = #piper.param<"odd \22name\22", dims = ["2 d"], init = zeros>}
    %e: tensor<4xf32> {piper.param = #piper.param<"odd \22name\22", dims = ["2 d"], init = zeros>})
    // CHECK-SAME: -> (tensor<i1> {piper.output = "flag"})
    -> (tensor<i1> {piper.output = "flag"}) {
  return %flag : tensor<i1>
}

// State, and what a result is to the next step.
// CHECK-LABEL: func.func @state(
func.func @state(
    // CHECK-SAME: tensor<i64> {piper.state = #piper.state<"update">}
    %update: tensor<i64> {piper.state = #piper.state<"update">},
    // CHECK-SAME: tensor<8xf32> {piper.state = #piper.state<"wte.m", of = "wte">}
    %m: tensor<8xf32> {piper.state = #piper.state<"wte.m", of = "wte">})
    // CHECK-SAME: -> (tensor<i64> {piper.next = "update"}, tensor<8xf32> {piper.gradient = "wte"})
    -> (tensor<i64> {piper.next = "update"}, tensor<8xf32> {piper.gradient = "wte"}) {
  return %update, %m : tensor<i64>, tensor<8xf32>
}

// CHECK-LABEL: func.func @tags
func.func @tags(%x: tensor<4xf32>) {
  // CHECK: piper.tanh %{{.+}} {piper.tags = #piper.tags<layer = -3>}
  %0 = piper.tanh %x {piper.tags = #piper.tags<layer = -3>} : tensor<4xf32>
  // The order of the names does not matter.
  // CHECK: piper.tanh %{{.+}} {piper.tags = #piper.tags<layer = 1, name = "block">}
  %1 = piper.tanh %x {piper.tags = #piper.tags<name = "block", layer = 1>} : tensor<4xf32>
  // CHECK: piper.tanh %{{.+}} {piper.tags = #piper.tags<"two words" = 1>}
  %2 = piper.tanh %x {piper.tags = #piper.tags<"two words" = 1>} : tensor<4xf32>
  // CHECK: piper.tanh %{{.+}} {piper.tags = #piper.tags<>}
  %3 = piper.tanh %x {piper.tags = #piper.tags<>} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @memory
// CHECK-SAME: attributes {piper.memory = #piper.memory<bytes = 128, values = [0, 64], kernels = [0, 0]>}
func.func @memory() attributes {piper.memory = #piper.memory<bytes = 128, values = [0, 64], kernels = [0, 0]>} {
  return
}
// CHECK-LABEL: func.func @no_memory
// CHECK-SAME: attributes {piper.memory = #piper.memory<bytes = 0>}
func.func @no_memory() attributes {piper.memory = #piper.memory<bytes = 0>} {
  return
}

// CHECK: module attributes {piper.level = #piper.level<dag>}
module attributes {piper.level = #piper.level<dag>} {}
// CHECK: module attributes {piper.level = #piper.level<placed>}
module attributes {piper.level = #piper.level<placed>} {}
// CHECK: module attributes {piper.level = #piper.level<programs>}
module attributes {piper.level = #piper.level<programs>} {}
// CHECK: module attributes {piper.level = #piper.level<plan>}
module attributes {piper.level = #piper.level<plan>} {}

}

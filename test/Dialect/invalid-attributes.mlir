// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parsers and verifiers of the attributes refuse, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @tag_twice(%x: tensor<4xf32>) {
  // expected-error @below {{tag 'layer' is given twice}}
  %0 = piper.tanh %x {piper.tags = #piper.tags<layer = 1, layer = 2>} : tensor<4xf32>
  return
}

// -----

func.func @tag_value(%x: tensor<4xf32>) {
  // expected-error @below {{expects tag 'layer' to be an integer or a string}}
  %0 = piper.tanh %x {piper.tags = #piper.tags<layer = f32>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{dimension 'batch' is named twice}}
func.func @input_dims_twice(%x: tensor<4x4xf32> {piper.input = #piper.input<"x", dims = [batch, batch]>}) {
  return
}

// -----

// expected-error @below {{expects input 'x' of type 'tensor<4xf32>' to have 1 dimension names but got 2}}
func.func @input_dims(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch, seq]>}) {
  return
}

// -----

// expected-error @below {{expects input 'x' to be a tensor but got 'f32'}}
func.func @input_type(%x: f32 {piper.input = #piper.input<"x">}) {
  return
}

// -----

// expected-error @below {{expects parameter 'w' of type 'tensor<4x8xf32>' to have 2 dimension names but got 1}}
func.func @param_dims(%w: tensor<4x8xf32> {piper.param = #piper.param<"w", dims = [embed]>}) {
  return
}

// -----

// expected-error @below {{expects parameter 'w' to have float elements but got 'tensor<4xi32>'}}
func.func @param_type(%w: tensor<4xi32> {piper.param = #piper.param<"w">}) {
  return
}

// -----

// expected-error @below {{expects 'dims', 'init' or 'frozen' but got 'shape'}}
func.func @param_key(%w: tensor<4xf32> {piper.param = #piper.param<"w", shape = [embed]>}) {
  return
}

// -----

// expected-error @below {{expects a positive standard deviation}}
func.func @param_normal_zero(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = normal<0.0>>}) {
  return
}

// -----

// expected-error @below {{expects a positive standard deviation}}
func.func @param_normal_negative(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = normal<-0.02>>}) {
  return
}

// -----

// expected-error @below {{expects 'zeros', 'ones', 'normal<S>' or a dense constant}}
func.func @param_init(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = "uniform">}) {
  return
}

// -----

// expected-error @below {{expects the initial value of parameter 'w' to have its type 'tensor<4xf32>' but got 'tensor<2xf32>'}}
func.func @param_init_type(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = dense<1.0> : tensor<2xf32>>}) {
  return
}

// -----

// expected-error @below {{expects device 'cpu' but got 'tpu'}}
piper.program @target_device target = <tpu, threads = 1> {
}

// -----

// expected-error @below {{expects 1 to 1024 threads but got 0}}
piper.program @target_threads target = <cpu, threads = 0> {
}

// -----

// expected-error @below {{expects 1 to 1024 threads but got 1025}}
piper.program @target_many_threads target = <cpu, threads = 1025> {
}

// -----

// expected-error @below {{expects attribute 'piper.level' to be #piper.level<..> but got "plan"}}
module attributes {piper.level = "plan"} {}

// -----

// expected-error @below {{expects attribute 'piper.memory' to be #piper.memory<..> but got 64 : i64}}
func.func @memory_kind() attributes {piper.memory = 64} {
  return
}

// -----

func.func @tags_kind(%x: tensor<4xf32>) {
  // expected-error @below {{expects attribute 'piper.tags' to be #piper.tags<..> but got 1 : i64}}
  %0 = piper.tanh %x {piper.tags = 1} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{expects attribute 'piper.input' to be #piper.input<..> but got "x"}}
func.func @input_kind(%x: tensor<4xf32> {piper.input = "x"}) {
  return
}

// -----

// expected-error @below {{expects attribute 'piper.param' to be #piper.param<..> but got "x"}}
func.func @param_kind(%x: tensor<4xf32> {piper.param = "x"}) {
  return
}

// -----

// expected-error @below {{expects attribute 'piper.state' to be #piper.state<..> but got "x"}}
func.func @state_kind(%x: tensor<4xf32> {piper.state = "x"}) {
  return
}

// -----

// expected-error @below {{expects attribute 'piper.output' to be a string but got 1 : i64}}
func.func @output_kind(%x: tensor<4xf32>) -> (tensor<4xf32> {piper.output = 1}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects attribute 'piper.next' to be a string but got 1 : i64}}
func.func @next_kind(%x: tensor<4xf32>) -> (tensor<4xf32> {piper.next = 1}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects attribute 'piper.gradient' to be a string but got unit}}
func.func @gradient_kind(%x: tensor<4xf32>) -> (tensor<4xf32> {piper.gradient}) {
  return %x : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error @below {{unknown attribute 'piper.tag' of the piper dialect}}
  %0 = piper.tanh %x {piper.tag = #piper.tags<layer = 1>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'dims' is given twice}}
func.func @param_dims_twice(%w: tensor<4xf32> {piper.param = #piper.param<"w", dims = [embed], dims = [vocab]>}) {
  return
}

// -----

// expected-error @below {{'init' is given twice}}
func.func @param_init_twice(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = ones, init = zeros>}) {
  return
}

// -----

// expected-error @below {{'frozen' is given twice}}
func.func @param_frozen_twice(%w: tensor<4xf32> {piper.param = #piper.param<"w", frozen, frozen>}) {
  return
}

// -----

// expected-error @below {{expects 'zeros', 'ones', 'normal<S>' or a dense constant}}
func.func @param_init_sparse(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = sparse<[[1]], [2.0]> : tensor<4xf32>>}) {
  return
}

// -----

// expected-error @below {{expects 'zeros', 'ones', 'normal<S>' or a dense constant}}
func.func @param_init_resource(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = dense_resource<r> : tensor<4xf32>>}) {
  return
}

// -----

// expected-error @below {{expects a standard deviation from 1.17549435e-38 to 2.12676479e+37 but got 1e+38}}
func.func @param_init_large(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = normal<1.0e38>>}) {
  return
}

// -----

// expected-error @below {{expects a standard deviation from 1.17549435e-38 to 2.12676479e+37 but got 1e-46}}
func.func @param_init_small(%w: tensor<4xf64> {piper.param = #piper.param<"w", init = normal<1.0e-46>>}) {
  return
}

// -----

// expected-error @below {{expects finite initial values of parameter 'w' but got nan}}
func.func @param_init_nan(%w: tensor<2xf32> {piper.param = #piper.param<"w", init = dense<[1.0, 0x7FC00000]> : tensor<2xf32>>}) {
  return
}

// -----

// expected-error @below {{expects finite initial values of parameter 'w' but got -inf}}
func.func @param_init_inf(%w: tensor<2xf64> {piper.param = #piper.param<"w", init = dense<0xFFF0000000000000> : tensor<2xf64>>}) {
  return
}

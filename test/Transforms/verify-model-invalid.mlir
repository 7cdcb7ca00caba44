// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no model, one case per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-verify-model

// expected-error @below {{expects a function 'train' but the model has none}}
module {
}

// -----

// expected-error @below {{'piper-verify-model' expects level 'model' but got 'dag'}}
module attributes {piper.level = #piper.level<dag>} {
}

// -----

// expected-error @below {{'builtin.module' op cannot stand in a model: expects only functions}}
module @inner {
}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{'piper.program' op cannot stand in a model: expects only functions}}
piper.program @p target = <cpu, threads = 1> {
}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects only entry points in a model but 'helper' is private}}
func.func private @helper(%x: tensor<4xf32>) {
  return
}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects only entry points in a model but 'other' is private}}
func.func private @other(tensor<4xf32>)
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects only entry points in a model but 'helper' is nested}}
func.func nested @helper(%x: tensor<4xf32>) {
  return
}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects the entry points 'train', 'eval' and 'predict' but got 'evel'}}
func.func @evel(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @predict(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.output = "y"}) {
  return %w : tensor<4xf32>
}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  // expected-error @below {{'func.call' op cannot stand in a model: expects compute ops of the piper dialect}}
  %a = call @predict(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  // expected-error @below {{'piper.origin' op cannot stand in a model: 'piper-split' makes it for each micro-batch}}
  %o = piper.origin {step = array<i64: 2>} : () -> tensor<1xi64>
  %l = piper.reduce_sum %w {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects an entry point of one block but got 2}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
^unreachable:
  %c = piper.constant dense<0.0> : tensor<f32>
  return %c : tensor<f32>
}

// -----

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}) {
  // expected-error @below {{expects result #0 to have dimensions of 1 or more but got 'tensor<0xf32>'}}
  %z = piper.constant dense<> : tensor<0xf32>
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}) {
  // expected-error @below {{expects result #0 to have a type without an encoding but got 'tensor<4xf32, "x">'}}
  %z = piper.constant dense<1.0> : tensor<4xf32, "x">
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have a type without an encoding but got 'tensor<4xf32, "x">'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf32, "x"> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have elements of f32, f64, bf16, i1, i32 or i64 but got 'tensor<4xf16>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf16> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have elements of f32, f64, bf16, i1, i32 or i64 but got 'tensor<4xsi32>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xsi32> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have a static shape but got 'tensor<?x4xf32>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<?x4xf32> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have dimensions of 1 or more but got 'tensor<0x4xf32>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<0x4xf32> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have at most 2^46 bytes but got 'tensor<4611686018427387904x4xf32>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4611686018427387904x4xf32> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument 'x' to have at most 2^46 bytes but got 'tensor<35184372088832x3xi1>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<35184372088832x3xi1> {piper.input = #piper.input<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument #1 to have either #piper.input or #piper.param but got none}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf32>)
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument #1 to have either #piper.input or #piper.param but got both}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf32> {piper.input = #piper.input<"x">, piper.param = #piper.param<"x">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects argument #1 to have a name}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf32> {piper.input = #piper.input<"">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects names of arguments to be unique but 'w' is both #0 and #1}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf32> {piper.input = #piper.input<"w">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects parameter 'h' to be f32 or f64, cast where it is used, or frozen but got 'tensor<4xbf16>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %h: tensor<4xbf16> {piper.param = #piper.param<"h">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects no parameter named 'update', the name of a counter of the step}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %h: tensor<4xf32> {piper.param = #piper.param<"update">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects no parameter named 'w.m', the name of a moment of parameter 'w'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %h: tensor<4xf32> {piper.param = #piper.param<"w.m">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects result #1 to have a name, as {piper.output = "..."}}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32>) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects result #1 to have a name}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = ""}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects names of results to be unique but 'loss' is both #0 and #1}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %l : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{expects no result named 'grad_norm', the name of a result of the step}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "grad_norm"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects no result named 'ok', the name of a result of the step}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "ok"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects no result named 'lr', the name of a result of the step}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "lr"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects no result named 'nonfinite', the name of a result of the step}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "nonfinite"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects no result named 'count', the name of a result of the step}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "count"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expects no result named 'count', the name of a result of the step}}
func.func @eval(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "loss"}, tensor<4xf32> {piper.output = "count"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l, %a : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects a result {piper.output = "loss"}}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "Loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expects a result {piper.output = "loss"}}}
func.func @eval(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<f32> {piper.output = "l"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects the loss to be tensor<f32> or tensor<f64> but got 'tensor<4xf32>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<4xf32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{expects the loss to be tensor<f32> or tensor<f64> but got 'tensor<i64>'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">})
    -> (tensor<i64> {piper.output = "loss"}) {
  %c = piper.constant dense<0> : tensor<i64>
  return %c : tensor<i64>
}

// -----

// expected-error @below {{expects trained parameters of one element type but 'w' has 'f32' and 'v' has 'f64'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %v: tensor<4xf64> {piper.param = #piper.param<"v">})
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expects parameter 'v' to be one of 'train' or frozen}}
func.func @predict(%v: tensor<4xf32> {piper.param = #piper.param<"v">}) -> (tensor<4xf32> {piper.output = "y"}) {
  return %v : tensor<4xf32>
}

// -----

// expected-note @below {{as in 'train'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expects parameter 'w' to be 'tensor<4xf32>' #piper.param<"w", init = zeros> but got 'tensor<8xf32>' #piper.param<"w", init = zeros>}}
func.func @predict(%w: tensor<8xf32> {piper.param = #piper.param<"w">}) -> (tensor<8xf32> {piper.output = "y"}) {
  return %w : tensor<8xf32>
}

// -----

// expected-note @below {{as in 'train'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expects parameter 'w' to be 'tensor<4xf32>' #piper.param<"w", init = zeros> but got 'tensor<4xf32>' #piper.param<"w", init = ones>}}
func.func @predict(%w: tensor<4xf32> {piper.param = #piper.param<"w", init = ones>}) -> (tensor<4xf32> {piper.output = "y"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{expects argument #1 to have either #piper.input or #piper.param but got none}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<4xf32>)
    -> (tensor<f32> {piper.output = "loss"}) {
  %a = piper.square %w : tensor<4xf32>
  %l = piper.reduce_sum %a {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expects result #0 to have a name}}
func.func @predict() -> tensor<4xf32> {
  %c = piper.constant dense<0.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @train(%w: tensor<4x8xf32> {piper.param = #piper.param<"w">}, %g: tensor<8xf32> {piper.param = #piper.param<"g">})
    -> (tensor<f32> {piper.output = "loss"}) {
  // expected-error @below {{expects one result in a model but got 3: the others are made for gradients}}
  %y, %m, %r = piper.layer_norm %w, %g, %g {eps = 1.000000e-05 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %l = piper.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{expects parameters to have names that a safetensors file can hold but got '__metadata__'}}
func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"__metadata__">}) -> (tensor<f32> {piper.output = "loss"}) {
  %l = piper.reduce_sum %w {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

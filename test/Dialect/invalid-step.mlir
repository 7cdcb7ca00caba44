// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of learning rate, norm, clipping and updates refuse, one
// function per message.
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics

func.func @learning_rate_schedule(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'schedule' to be 'constant', 'linear' or 'cosine' but got 'step'}}
  %0 = piper.learning_rate %u {schedule = "step", lr = 0.1 : f64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_lr(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'lr' in [0, inf) but got -1}}
  %0 = piper.learning_rate %u {schedule = "constant", lr = -1.0 : f64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_nan(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'lr' in [0, inf) but got nan}}
  %0 = piper.learning_rate %u {schedule = "constant", lr = 0x7FF8000000000000 : f64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_inf(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'lr' in [0, inf) but got inf}}
  %0 = piper.learning_rate %u {schedule = "constant", lr = 0x7FF0000000000000 : f64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_min_lr(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'min_lr' in [0, inf) but got -0.1}}
  %0 = piper.learning_rate %u {schedule = "linear", lr = 0.1 : f64, min_lr = -0.1 : f64, total_steps = 9 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_warmup(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'warmup_steps' not to be negative but got -1}}
  %0 = piper.learning_rate %u {schedule = "constant", lr = 0.1 : f64, warmup_steps = -1 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_total(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'total_steps' not to be negative but got -1}}
  %0 = piper.learning_rate %u {schedule = "constant", lr = 0.1 : f64, total_steps = -1 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_order(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'min_lr' to be at most 'lr' = 0.001 but got 0.01}}
  %0 = piper.learning_rate %u {schedule = "cosine", lr = 0.001 : f64, min_lr = 0.01 : f64, total_steps = 9 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_no_total(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'total_steps' of schedule 'linear' to be more than 'warmup_steps' = 0 but got 0}}
  %0 = piper.learning_rate %u {schedule = "linear", lr = 0.1 : f64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_short(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'total_steps' of schedule 'cosine' to be more than 'warmup_steps' = 10 but got 10}}
  %0 = piper.learning_rate %u {schedule = "cosine", lr = 0.1 : f64, warmup_steps = 10 : i64, total_steps = 10 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @norm_table_sum(%g: tensor<4xf32>) {
  // expected-error @below {{'piper.norm_table' op expects result 'sum' to be 'tensor<68xi64>' (the digits of the sum) but got 'tensor<64xi64>'}}
  %0:2 = piper.norm_table %g : (tensor<4xf32>) -> (tensor<64xi64>, tensor<1xi64>)
  return
}

// -----

func.func @norm_table_nonfinite(%g: tensor<4xf32>) {
  // expected-error @below {{'piper.norm_table' op expects result 'nonfinite' to be 'tensor<2xi64>' (one count per operand) but got 'tensor<1xi64>'}}
  %0:2 = piper.norm_table %g, %g : (tensor<4xf32>, tensor<4xf32>) -> (tensor<68xi64>, tensor<1xi64>)
  return
}

// -----

func.func @clip_sum(%s: tensor<68xi32>, %b: tensor<2xi64>) {
  // expected-error @below {{'piper.clip' op expects operand 'sum' to be 'tensor<68xi64>' (the digits of 'piper.norm_table') but got 'tensor<68xi32>'}}
  %0:3 = piper.clip %s, %b {max_norm = 1.0 : f64} : (tensor<68xi32>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

func.func @clip_nonfinite_rank(%s: tensor<68xi64>, %b: tensor<2x1xi64>) {
  // expected-error @below {{'piper.clip' op expects operand 'nonfinite' to have 1 dimension [gradients] but got 'tensor<2x1xi64>'}}
  %0:3 = piper.clip %s, %b {max_norm = 1.0 : f64} : (tensor<68xi64>, tensor<2x1xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

func.func @clip_nonfinite_type(%s: tensor<68xi64>, %b: tensor<2xi32>) {
  // expected-error @below {{'piper.clip' op expects operand 'nonfinite' to be 'tensor<2xi64>' (one count per gradient) but got 'tensor<2xi32>'}}
  %0:3 = piper.clip %s, %b {max_norm = 1.0 : f64} : (tensor<68xi64>, tensor<2xi32>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

func.func @clip_scale(%s: tensor<68xi64>, %b: tensor<2xi64>) {
  // expected-error @below {{'piper.clip' op expects result 'scale' to have the type 'tensor<f32>' of result 'norm' but got 'tensor<f64>'}}
  %0:3 = piper.clip %s, %b {max_norm = 1.0 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f32>, tensor<f64>, tensor<i1>)
  return
}

// -----

func.func @clip_zero(%s: tensor<68xi64>, %b: tensor<2xi64>) {
  // expected-error @below {{'piper.clip' op expects 'max_norm' to be positive ('inf' to measure without clipping) but got 0}}
  %0:3 = piper.clip %s, %b {max_norm = 0.0 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

func.func @clip_negative(%s: tensor<68xi64>, %b: tensor<2xi64>) {
  // expected-error @below {{'piper.clip' op expects 'max_norm' to be positive ('inf' to measure without clipping) but got -1}}
  %0:3 = piper.clip %s, %b {max_norm = -1.0 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

func.func @clip_nan(%s: tensor<68xi64>, %b: tensor<2xi64>) {
  // expected-error @below {{'piper.clip' op expects 'max_norm' to be positive ('inf' to measure without clipping) but got nan}}
  %0:3 = piper.clip %s, %b {max_norm = 0x7FF8000000000000 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

func.func @sgd_bf16(%p: tensor<4xbf16>, %g: tensor<4xbf16>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects operand 'param' to have the element type 'f32' or 'f64' but got 'bf16'; update an f32 copy of the parameter}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok : (tensor<4xbf16>, tensor<4xbf16>, tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<4xbf16>
  return
}

// -----

func.func @sgd_grad(%p: tensor<4x8xf32>, %g: tensor<8x4xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects operand 'grad' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8x4xf32>'}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sgd_lr(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects operand 'lr' to have the element type 'f32' of operand 'param' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f64>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sgd_scale(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f64>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects operand 'scale' to have the element type 'f32' of operand 'param' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f64>, tensor<i1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sgd_weight_decay(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects 'weight_decay' in [0, inf) but got -0.1}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok {weight_decay = -0.1 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sgd_momentum(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>, %v: tensor<4x8xf32>) {
  // expected-error @below {{'piper.sgd' op expects 'momentum' in [0, 1) but got 1}}
  %0:2 = piper.sgd %p, %g, %lr, %s, %ok, %v {momentum = 1.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @sgd_velocity(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>, %v: tensor<32xf32>) {
  // expected-error @below {{'piper.sgd' op expects operand 'velocity' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<32xf32>'}}
  %0:2 = piper.sgd %p, %g, %lr, %s, %ok, %v {momentum = 0.9 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<32xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @sgd_no_velocity(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects an operand 'velocity' with 'momentum' = 0.9 but got none}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok {momentum = 0.9 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sgd_two_results(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects 1 result (the parameter, without velocity) but got 2}}
  %0:2 = piper.sgd %p, %g, %lr, %s, %ok : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @sgd_one_result(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>, %v: tensor<4x8xf32>) {
  // expected-error @below {{'piper.sgd' op expects 2 results (parameter and velocity) but got 1}}
  %0 = piper.sgd %p, %g, %lr, %s, %ok, %v : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sgd_result(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %lr: tensor<f32>, %s: tensor<f32>, %ok: tensor<i1>, %v: tensor<4x8xf32>) {
  // expected-error @below {{'piper.sgd' op expects result #1 to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<4xf32>'}}
  %0:2 = piper.sgd %p, %g, %lr, %s, %ok, %v : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @adamw_bf16(%p: tensor<4xbf16>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects operand 'param' to have the element type 'f32' or 'f64' but got 'bf16'; update an f32 copy of the parameter}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4xbf16>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_grad(%p: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects operand 'grad' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8xf32>'}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_m(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects operand 'm' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8xf32>'}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_v(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects operand 'v' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8xf32>'}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_new_param(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects result 'new_param' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8xf32>'}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_new_m(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects result 'new_m' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8xf32>'}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_new_v(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects result 'new_v' to have the type 'tensor<4x8xf32>' of operand 'param' but got 'tensor<8xf32>'}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_beta1(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'beta1' in [0, 1) but got 1}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 1.0 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_beta2(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'beta2' in [0, 1) but got -0.5}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = -0.5 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_eps(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'eps' to be positive and finite but got 0}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @adamw_weight_decay(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %u: tensor<i64>, %s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'weight_decay' in [0, inf) but got nan}}
  %0:3 = piper.adamw %p, %g, %m, %v, %lr, %u, %s, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0x7FF8000000000000 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @sgd_check_velocity(%p: tensor<4xf32>, %lr: tensor<f32>, %v: tensor<5xf32>) {
  // expected-error @below {{'piper.sgd_check' op expects operand 'velocity' to have the type 'tensor<4xf32>' of operand 'param' but got 'tensor<5xf32>'}}
  %0 = piper.sgd_check %p, %p, %lr, %lr, %lr, %v {momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<5xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @sgd_check_result(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'piper.sgd_check' op expects result 'nonfinite' to be 'tensor<1xi64>' (one count) but got 'tensor<4xi64>'}}
  %0 = piper.sgd_check %p, %p, %lr, %lr, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xi64>
  return
}

// -----

func.func @adamw_check_m(%p: tensor<4xf32>, %m: tensor<5xf32>, %lr: tensor<f32>, %u: tensor<i64>) {
  // expected-error @below {{'piper.adamw_check' op expects operand 'm' to have the type 'tensor<4xf32>' of operand 'param' but got 'tensor<5xf32>'}}
  %0 = piper.adamw_check %p, %p, %m, %p, %lr, %u, %lr, %lr {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1xi64>
  return
}

// -----

func.func @adamw_check_result(%p: tensor<4xf32>, %lr: tensor<f32>, %u: tensor<i64>) {
  // expected-error @below {{'piper.adamw_check' op expects result 'nonfinite' to be 'tensor<1xi64>' (one count) but got 'tensor<1xi32>'}}
  %0 = piper.adamw_check %p, %p, %p, %p, %lr, %u, %lr, %lr {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1xi32>
  return
}

// -----

func.func @sgd_check_norm(%p: tensor<4xf32>, %lr: tensor<f32>, %n: tensor<f64>) {
  // expected-error @below {{'piper.sgd_check' op expects operand 'norm' to have the element type 'f32' of operand 'param' but got 'f64'; insert a 'piper.cast'}}
  %0 = piper.sgd_check %p, %p, %lr, %lr, %n : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f64>) -> tensor<1xi64>
  return
}

// -----

func.func @adamw_small_eps(%p: tensor<4xf32>, %lr: tensor<f32>, %u: tensor<i64>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'eps' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-46}}
  %0:3 = piper.adamw %p, %p, %p, %p, %lr, %u, %lr, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-46 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @adamw_small_beta1(%p: tensor<4xf32>, %lr: tensor<f32>, %u: tensor<i64>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'beta1' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-46}}
  %0:3 = piper.adamw %p, %p, %p, %p, %lr, %u, %lr, %ok {beta1 = 1.0e-46 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @adamw_small_beta2(%p: tensor<4xf32>, %lr: tensor<f32>, %u: tensor<i64>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'beta2' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-39}}
  %0:3 = piper.adamw %p, %p, %p, %p, %lr, %u, %lr, %ok {beta1 = 0.9 : f64, beta2 = 1.0e-39 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @adamw_large_decay(%p: tensor<4xf32>, %lr: tensor<f32>, %u: tensor<i64>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.adamw' op expects 'weight_decay' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e+39}}
  %0:3 = piper.adamw %p, %p, %p, %p, %lr, %u, %lr, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 1.0e39 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sgd_small_momentum(%p: tensor<4xf32>, %lr: tensor<f32>, %ok: tensor<i1>) {
  // expected-error @below {{'piper.sgd' op expects 'momentum' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-40}}
  %0:2 = piper.sgd %p, %p, %lr, %lr, %ok, %p {momentum = 1.0e-40 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @learning_rate_small(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'lr' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-50}}
  %0 = piper.learning_rate %u {schedule = "constant", lr = 1.0e-50 : f64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @learning_rate_small_minimum(%u: tensor<i64>) {
  // expected-error @below {{'piper.learning_rate' op expects 'min_lr' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-50}}
  %0 = piper.learning_rate %u {schedule = "linear", lr = 0.1 : f64, min_lr = 1.0e-50 : f64, total_steps = 9 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @clip_small(%s: tensor<68xi64>, %b: tensor<2xi64>) {
  // expected-error @below {{'piper.clip' op expects 'max_norm' to be 0 or of a magnitude from 1.17549435e-38 to 3.40282347e+38, the normal numbers of f32, but got 1e-300}}
  %0:3 = piper.clip %s, %b {max_norm = 1.0e-300 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return
}

// -----

// In f64 the bounds are those of f64.
func.func @legal_in_f64(%s: tensor<68xi64>, %b: tensor<2xi64>, %u: tensor<i64>) {
  %0:3 = piper.clip %s, %b {max_norm = 1.0e-300 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f64>, tensor<f64>, tensor<i1>)
  // expected-error @below {{'piper.learning_rate' op expects 'lr' to be 0 or of a magnitude from 2.22507386e-308 to 1.79769313e+308, the normal numbers of f64, but got 1e-310}}
  %1 = piper.learning_rate %u {schedule = "constant", lr = 1.0e-310 : f64} : (tensor<i64>) -> tensor<f64>
  return
}

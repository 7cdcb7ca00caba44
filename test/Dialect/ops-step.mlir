// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops at the end of a step print as they are read, as text and as bytecode.
// Defaults are not printed.
//
// RUN: piper-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @learning_rate
// CHECK-SAME: (%[[U:.+]]: tensor<i64>)
func.func @learning_rate(%u: tensor<i64>) {
  // CHECK: piper.learning_rate %[[U]] {lr = 1.000000e-03 : f64, schedule = "constant"} : (tensor<i64>) -> tensor<f32>
  %0 = piper.learning_rate %u {schedule = "constant", lr = 1.0e-3 : f64, min_lr = 0.0 : f64} : (tensor<i64>) -> tensor<f32>
  // CHECK: piper.learning_rate %[[U]] {lr = 1.000000e-03 : f64, schedule = "linear", total_steps = 100 : i64} : (tensor<i64>) -> tensor<f64>
  %1 = piper.learning_rate %u {schedule = "linear", lr = 1.0e-3 : f64, total_steps = 100 : i64} : (tensor<i64>) -> tensor<f64>
  // CHECK: piper.learning_rate %[[U]] {lr = 1.000000e-03 : f64, min_lr = 1.000000e-04 : f64, schedule = "cosine", total_steps = 100 : i64, warmup_steps = 10 : i64} : (tensor<i64>) -> tensor<f32>
  %2 = piper.learning_rate %u {schedule = "cosine", lr = 1.0e-3 : f64, min_lr = 1.0e-4 : f64, warmup_steps = 10 : i64, total_steps = 100 : i64} : (tensor<i64>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @norm
// CHECK-SAME: (%[[G:.+]]: tensor<4x8xf32>, %[[H:.+]]: tensor<8xf32>, %[[N:.+]]: tensor<i64>)
func.func @norm(%g: tensor<4x8xf32>, %h: tensor<8xf32>, %n: tensor<i64>) {
  // CHECK: %[[SUM:.+]], %[[BAD:.+]] = piper.norm_table %[[G]], %[[H]] : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<68xi64>, tensor<2xi64>)
  %t, %bad = piper.norm_table %g, %h : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<68xi64>, tensor<2xi64>)
  // CHECK: piper.clip %[[SUM]], %[[BAD]], %[[N]] {max_norm = 1.000000e+00 : f64} : (tensor<68xi64>, tensor<2xi64>, tensor<i64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  %0:3 = piper.clip %t, %bad, %n {max_norm = 1.0 : f64} : (tensor<68xi64>, tensor<2xi64>, tensor<i64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
  // An infinite bound measures the norm and does not clip; no count.
  // CHECK: piper.clip %[[SUM]], %[[BAD]] {max_norm = 0x7FF0000000000000 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f64>, tensor<f64>, tensor<i1>)
  %1:3 = piper.clip %t, %bad {max_norm = 0x7FF0000000000000 : f64} : (tensor<68xi64>, tensor<2xi64>) -> (tensor<f64>, tensor<f64>, tensor<i1>)
  return
}

// CHECK-LABEL: func.func @sgd
// CHECK-SAME: (%[[W:.+]]: tensor<4x8xf32>, %[[G:.+]]: tensor<4x8xf32>, %[[V:.+]]: tensor<4x8xf32>, %[[LR:.+]]: tensor<f32>, %[[OK:.+]]: tensor<i1>)
func.func @sgd(%w: tensor<4x8xf32>, %g: tensor<4x8xf32>, %v: tensor<4x8xf32>, %lr: tensor<f32>, %ok: tensor<i1>) {
  // CHECK: piper.sgd %[[W]], %[[G]], %[[LR]], %[[LR]], %[[OK]] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  %0 = piper.sgd %w, %g, %lr, %lr, %ok {momentum = 0.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  // CHECK: piper.sgd %[[W]], %[[G]], %[[LR]], %[[LR]], %[[OK]], %[[V]] {momentum = 9.000000e-01 : f64, weight_decay = 1.000000e-02 : f64} : ({{.*}}) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %1:2 = piper.sgd %w, %g, %lr, %lr, %ok, %v {momentum = 0.9 : f64, weight_decay = 0.01 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// CHECK-LABEL: func.func @adamw
// CHECK-SAME: (%[[W:.+]]: tensor<8xf64>, %[[LR:.+]]: tensor<f64>, %[[U:.+]]: tensor<i64>, %[[OK:.+]]: tensor<i1>)
func.func @adamw(%w: tensor<8xf64>, %lr: tensor<f64>, %u: tensor<i64>, %ok: tensor<i1>) {
  // CHECK: piper.adamw %[[W]], %[[W]], %[[W]], %[[W]], %[[LR]], %[[U]], %[[LR]], %[[OK]] {beta1 = 9.000000e-01 : f64, beta2 = 0.99899999999999999 : f64, eps = 1.000000e-08 : f64, weight_decay = 0.000000e+00 : f64} : ({{.*}}) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  %0:3 = piper.adamw %w, %w, %w, %w, %lr, %u, %lr, %ok {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<i64>, tensor<f64>, tensor<i1>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  return
}

// CHECK-LABEL: func.func @checks
// CHECK-SAME: (%[[W:.+]]: tensor<8xf64>, %[[LR:.+]]: tensor<f64>, %[[U:.+]]: tensor<i64>)
func.func @checks(%w: tensor<8xf64>, %lr: tensor<f64>, %u: tensor<i64>) {
  // CHECK: piper.sgd_check %[[W]], %[[W]], %[[LR]], %[[LR]], %[[LR]] : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<1xi64>
  %0 = piper.sgd_check %w, %w, %lr, %lr, %lr {weight_decay = 0.0 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<1xi64>
  // CHECK: piper.sgd_check %[[W]], %[[W]], %[[LR]], %[[LR]], %[[LR]], %[[W]] {momentum = 9.000000e-01 : f64} : ({{.*}}) -> tensor<1xi64>
  %1 = piper.sgd_check %w, %w, %lr, %lr, %lr, %w {momentum = 0.9 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<8xf64>) -> tensor<1xi64>
  // CHECK: piper.adamw_check %[[W]], %[[W]], %[[W]], %[[W]], %[[LR]], %[[U]], %[[LR]], %[[LR]] {beta1 = 9.000000e-01 : f64, beta2 = 0.99899999999999999 : f64, eps = 1.000000e-08 : f64, weight_decay = 0.000000e+00 : f64} : ({{.*}}) -> tensor<1xi64>
  %2 = piper.adamw_check %w, %w, %w, %w, %lr, %u, %lr, %lr {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<i64>, tensor<f64>, tensor<f64>) -> tensor<1xi64>
  return
}

// CHECK-LABEL: func.func @advance
// CHECK-SAME: (%[[I:.+]]: tensor<i64>, %[[U:.+]]: tensor<i64>, %[[OK:.+]]: tensor<i1>)
func.func @advance(%i: tensor<i64>, %u: tensor<i64>, %ok: tensor<i1>) {
  // CHECK: piper.advance %[[I]], %[[U]], %[[OK]] : (tensor<i64>, tensor<i64>, tensor<i1>) -> (tensor<i64>, tensor<i64>)
  %0:2 = piper.advance %i, %u, %ok : (tensor<i64>, tensor<i64>, tensor<i1>) -> (tensor<i64>, tensor<i64>)
  return
}

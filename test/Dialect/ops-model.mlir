// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a transformer print as they are read, as text and as bytecode,
// with and without what they save for the gradient. Defaults are not printed.
//
// RUN: piper-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @embedding
// CHECK-SAME: (%[[T:.+]]: tensor<16x8xf32>, %[[I:.+]]: tensor<2x3xi32>)
func.func @embedding(%table: tensor<16x8xf32>, %ids: tensor<2x3xi32>) {
  // CHECK: %[[Y:.+]] = piper.embedding %[[T]], %[[I]] : (tensor<16x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  %y = piper.embedding %table, %ids : (tensor<16x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  // CHECK: piper.embedding_grad %[[Y]], %[[I]] : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<16x8xf32>
  %d = piper.embedding_grad %y, %ids : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: (%[[X:.+]]: tensor<2x3x8xf32>, %[[G:.+]]: tensor<8xf32>)
func.func @layer_norm(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) {
  // CHECK: piper.layer_norm %[[X]], %[[G]], %[[G]] {eps = 1.000000e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %y = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  // CHECK: %{{.+}}, %[[S:.+]]:2 = piper.layer_norm {{.*}} -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %z, %mean, %rstd = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: piper.layer_norm_grad %[[X]], %[[X]], %[[G]], %[[S]]#0, %[[S]]#1 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %dx, %dg, %db = piper.layer_norm_grad %x, %x, %g, %mean, %rstd : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// The statistics of bf16 operands are f32, those of f64 operands f64.
// CHECK-LABEL: func.func @statistics
func.func @statistics(%x: tensor<4x8xbf16>, %g: tensor<8xbf16>, %z: tensor<4x8xf64>, %l: tensor<4xi64>) {
  // CHECK: piper.layer_norm {{.*}} -> (tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>)
  %0:3 = piper.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: piper.cross_entropy {{.*}} -> (tensor<f64>, tensor<4xf64>, tensor<4xf64>)
  %1:3 = piper.cross_entropy %z, %l : (tensor<4x8xf64>, tensor<4xi64>) -> (tensor<f64>, tensor<4xf64>, tensor<4xf64>)
  // CHECK: piper.cross_entropy {{.*}} -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  %2:3 = piper.cross_entropy %x, %l : (tensor<4x8xbf16>, tensor<4xi64>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>)
func.func @softmax(%x: tensor<4x8xf32>) {
  // CHECK: %[[Y:.+]] = piper.softmax %[[X]] : tensor<4x8xf32>
  %y = piper.softmax %x : tensor<4x8xf32>
  // CHECK: piper.softmax_grad %[[X]], %[[Y]] : tensor<4x8xf32>
  %dx = piper.softmax_grad %x, %y : tensor<4x8xf32>
  return
}

// Two heads of queries share a head of keys; more keys than queries.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:.+]]: tensor<2x5x4x16xf32>, %[[K:.+]]: tensor<2x7x2x16xf32>, %[[V:.+]]: tensor<2x7x2x16xf32>, %[[KEY:.+]]: tensor<2xi64>)
func.func @attention(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x2x16xf32>, %v: tensor<2x7x2x16xf32>, %key: tensor<2xi64>) {
  // CHECK: piper.attention %[[Q]], %[[K]], %[[V]] {causal, scale = 2.500000e-01 : f64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  %0 = piper.attention %q, %k, %v {causal, scale = 0.25 : f64, dropout = 0.0 : f64, index = 0 : i64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x5x4x16xf32>
  // CHECK: %[[Y:.+]], %[[SAVED:.+]]:2 = piper.attention %[[Q]], %[[K]], %[[V]], %[[KEY]] {dropout = 1.000000e-01 : f64, index = 3 : i64, scale = 2.500000e-01 : f64} : ({{.*}}, tensor<2xi64>) -> (tensor<2x5x4x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %1, %top, %total = piper.attention %q, %k, %v, %key {scale = 0.25 : f64, dropout = 0.1 : f64, index = 3 : i64} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>) -> (tensor<2x5x4x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  // CHECK: piper.attention_grad %[[Q]], %[[Q]], %[[K]], %[[V]], %[[SAVED]]#0, %[[SAVED]]#1, %[[KEY]] {dropout = 1.000000e-01 : f64, index = 3 : i64, scale = 2.500000e-01 : f64} : ({{.*}}) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  %d:3 = piper.attention_grad %q, %q, %k, %v, %top, %total, %key {scale = 0.25 : f64, dropout = 0.1 : f64, index = 3 : i64} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2xi64>) -> (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>)
  // CHECK: %[[O:.+]] = piper.origin {step = array<i64: 2, 0, 0, 0>} : () -> tensor<4xi64>
  %origin = piper.origin {step = array<i64: 2, 0, 0, 0>} : () -> tensor<4xi64>
  // CHECK: piper.attention %[[Q]], %[[K]], %[[V]], %[[KEY]], %[[O]] {dropout = 1.000000e-01 : f64, global_shape = array<i64: 6, 4, 5, 7>, scale = 2.500000e-01 : f64} : ({{.*}}, tensor<2xi64>, tensor<4xi64>) -> tensor<2x5x4x16xf32>
  %2 = piper.attention %q, %k, %v, %key, %origin {scale = 0.25 : f64, dropout = 0.1 : f64, global_shape = array<i64: 6, 4, 5, 7>} : (tensor<2x5x4x16xf32>, tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>, tensor<2xi64>, tensor<4xi64>) -> tensor<2x5x4x16xf32>
  return
}

// CHECK-LABEL: func.func @random
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>, %[[SEED:.+]]: tensor<i64>, %[[U:.+]]: tensor<i64>, %[[O:.+]]: tensor<2xi64>)
func.func @random(%x: tensor<4x8xf32>, %seed: tensor<i64>, %update: tensor<i64>, %origin: tensor<2xi64>) {
  // CHECK: piper.random_key : () -> tensor<2xi64>
  %0 = piper.random_key : () -> tensor<2xi64>
  // CHECK: %[[KEY:.+]] = piper.random_key %[[SEED]], %[[U]] : (tensor<i64>, tensor<i64>) -> tensor<2xi64>
  %key = piper.random_key %seed, %update : (tensor<i64>, tensor<i64>) -> tensor<2xi64>
  // CHECK: piper.dropout %[[X]], %[[KEY]] {p = 1.000000e-01 : f64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %1 = piper.dropout %x, %key {p = 0.1 : f64, index = 0 : i64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  // CHECK: piper.dropout %[[X]], %[[KEY]], %[[O]] {global_shape = array<i64: 16, 8>, index = 1 : i64, p = 1.000000e-01 : f64} : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x8xf32>
  %2 = piper.dropout %x, %key, %origin {p = 0.1 : f64, index = 1 : i64, global_shape = array<i64: 16, 8>} : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @loss
// CHECK-SAME: (%[[Z:.+]]: tensor<2x3x16xf32>, %[[L:.+]]: tensor<2x3xi32>)
func.func @loss(%logits: tensor<2x3x16xf32>, %labels: tensor<2x3xi32>) -> tensor<f32> {
  // CHECK: %[[S:.+]] = piper.cross_entropy %[[Z]], %[[L]] : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> tensor<f32>
  %s = piper.cross_entropy %logits, %labels : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> tensor<f32>
  // CHECK: %[[S2:.+]], %[[SAVED:.+]]:2 = piper.cross_entropy %[[Z]], %[[L]] : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %s2, %max, %sum = piper.cross_entropy %logits, %labels : (tensor<2x3x16xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: %[[N:.+]] = piper.count_valid %[[L]] : (tensor<2x3xi32>) -> tensor<i64>
  %n = piper.count_valid %labels : (tensor<2x3xi32>) -> tensor<i64>
  // CHECK: piper.divide %[[S]], %[[N]] : (tensor<f32>, tensor<i64>) -> tensor<f32>
  %mean = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  // CHECK: %[[SEED:.+]] = piper.reciprocal %[[N]] : (tensor<i64>) -> tensor<f32>
  %seed = piper.reciprocal %n : (tensor<i64>) -> tensor<f32>
  // CHECK: piper.cross_entropy_grad %[[SEED]], %[[Z]], %[[L]], %[[SAVED]]#0, %[[SAVED]]#1 : (tensor<f32>, tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x16xf32>
  %d = piper.cross_entropy_grad %seed, %logits, %labels, %max, %sum : (tensor<f32>, tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x16xf32>
  return %mean : tensor<f32>
}

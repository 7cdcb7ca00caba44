// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of the step: rate, norm, checks of the updates, decision, updates,
// counters, in this order; nothing reads a gradient before the norm of all, and
// no state is written before the decision, which waits for a check of each
// update.
//
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-optimizer="weight-decay=0.1 clip=2 lr=0.5 beta1=0.75 beta2=0.5 eps=0.25 lr-schedule=cosine warmup-steps=3 total-steps=9 min-lr=0.125" | FileCheck %s --check-prefixes=CHECK,ADAMW
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-optimizer="optimizer=sgd momentum=0.5 weight-decay=0.25" | FileCheck %s --check-prefixes=CHECK,MOMENTUM
// RUN: piper-opt %s --piper-outline-segments --piper-autodiff --piper-optimizer="optimizer=sgd keep-gradients=true" | FileCheck %s --check-prefixes=CHECK,SGD

// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {piper.param = #piper.param<"w"
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32> {piper.param = #piper.param<"b"
// CHECK-SAME: %[[F:[a-z0-9]+]]: tensor<4xf32> {piper.param = #piper.param<"frozen"

// Moments of what is trained only, then the counters.
// ADAMW-SAME: %[[WM:[a-z0-9]+]]: tensor<4x4xf32> {piper.state = #piper.state<"w.m", of = "w">}
// ADAMW-SAME: %[[WV:[a-z0-9]+]]: tensor<4x4xf32> {piper.state = #piper.state<"w.v", of = "w">}
// ADAMW-SAME: %[[BM:[a-z0-9]+]]: tensor<4xf32> {piper.state = #piper.state<"b.m", of = "b">}
// ADAMW-SAME: %[[BV:[a-z0-9]+]]: tensor<4xf32> {piper.state = #piper.state<"b.v", of = "b">}
// MOMENTUM-SAME: %[[WV:[a-z0-9]+]]: tensor<4x4xf32> {piper.state = #piper.state<"w.v", of = "w">}
// MOMENTUM-SAME: %[[BV:[a-z0-9]+]]: tensor<4xf32> {piper.state = #piper.state<"b.v", of = "b">}
// SGD-NOT: of = "
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<i64> {piper.state = #piper.state<"iteration">}
// CHECK-SAME: %[[U:[a-z0-9]+]]: tensor<i64> {piper.state = #piper.state<"update">}
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i64> {piper.state = #piper.state<"seed">}

// The gradients are results only where they are kept.
// CHECK-SAME: -> (tensor<f32> {piper.output = "loss"}, tensor<i64> {piper.output = "count"}
// SGD-SAME: tensor<4x4xf32> {piper.gradient = "w"}, tensor<4xf32> {piper.gradient = "b"}
// CHECK-SAME: tensor<f32> {piper.output = "grad_norm"}, tensor<i1> {piper.output = "ok"}, tensor<f32> {piper.output = "lr"}, tensor<2xi64> {piper.output = "nonfinite"}, tensor<2xi64> {piper.output = "nonfinite_updates"}
// ADAMW-SAME: tensor<4x4xf32> {piper.next = "w"}, tensor<4x4xf32> {piper.next = "w.m"}, tensor<4x4xf32> {piper.next = "w.v"}, tensor<4xf32> {piper.next = "b"}, tensor<4xf32> {piper.next = "b.m"}, tensor<4xf32> {piper.next = "b.v"}
// MOMENTUM-SAME: tensor<4x4xf32> {piper.next = "w"}, tensor<4x4xf32> {piper.next = "w.v"}, tensor<4xf32> {piper.next = "b"}, tensor<4xf32> {piper.next = "b.v"}
// SGD-SAME: tensor<4x4xf32> {piper.next = "w"}, tensor<4xf32> {piper.next = "b"}
// CHECK-SAME: tensor<i64> {piper.next = "iteration"}, tensor<i64> {piper.next = "update"})

// CHECK: %[[N:.+]] = piper.task @count
// The key of the random numbers is made of seed and update.
// CHECK: piper.task @random_key{{.*}}(%[[SEED]], %[[U]]) pass = once
// CHECK: %[[G:.+]]:2 = piper.task @segment.bw({{.*}}) pass = B
// CHECK: %[[LR:.+]] = piper.task @learning_rate(%[[U]]) pass = once
// CHECK-NEXT: %[[T:.+]]:2 = piper.task @norm_table(%[[G]]#0, %[[G]]#1) pass = once
// CHECK-NEXT: %[[D:.+]]:3 = piper.task @clip(%[[T]]#0, %[[T]]#1, %[[N]]) pass = once

// ADAMW-NEXT: %[[WC:.+]] = piper.task @adamw_check(%[[W]], %[[G]]#0, %[[WM]], %[[WV]], %[[LR]], %[[U]], %[[D]]#1, %[[D]]#0) pass = once
// ADAMW-NEXT: %[[BC:.+]] = piper.task @adamw_check_{{[0-9]+}}(%[[B]], %[[G]]#1, %[[BM]], %[[BV]], %[[LR]], %[[U]], %[[D]]#1, %[[D]]#0) pass = once
// MOMENTUM-NEXT: %[[WC:.+]] = piper.task @sgd_check(%[[W]], %[[G]]#0, %[[LR]], %[[D]]#1, %[[D]]#0, %[[WV]]) pass = once
// MOMENTUM-NEXT: %[[BC:.+]] = piper.task @sgd_check_{{[0-9]+}}(%[[B]], %[[G]]#1, %[[LR]], %[[D]]#1, %[[D]]#0, %[[BV]]) pass = once
// SGD-NEXT: %[[WC:.+]] = piper.task @sgd_check(%[[W]], %[[G]]#0, %[[LR]], %[[D]]#1, %[[D]]#0) pass = once
// SGD-NEXT: %[[BC:.+]] = piper.task @sgd_check_{{[0-9]+}}(%[[B]], %[[G]]#1, %[[LR]], %[[D]]#1, %[[D]]#0) pass = once
// CHECK-NEXT: %[[C:.+]] = piper.task @check_table(%[[WC]], %[[BC]]) pass = once
// CHECK-NEXT: %[[OK:.+]] = piper.task @decide(%[[T]]#0, %[[T]]#1, %[[C]], %[[L:.+]], %[[N]]) pass = once

// ADAMW-NEXT: %[[W1:.+]]:3 = piper.task @adamw(%[[W]], %[[G]]#0, %[[WM]], %[[WV]], %[[LR]], %[[U]], %[[D]]#1, %[[OK]]) pass = U
// ADAMW-NEXT: %[[B1:.+]]:3 = piper.task @adamw_{{[0-9]+}}(%[[B]], %[[G]]#1, %[[BM]], %[[BV]], %[[LR]], %[[U]], %[[D]]#1, %[[OK]]) pass = U
// MOMENTUM-NEXT: %[[W1:.+]]:2 = piper.task @sgd(%[[W]], %[[G]]#0, %[[LR]], %[[D]]#1, %[[OK]], %[[WV]]) pass = U
// MOMENTUM-NEXT: %[[B1:.+]]:2 = piper.task @sgd_{{[0-9]+}}(%[[B]], %[[G]]#1, %[[LR]], %[[D]]#1, %[[OK]], %[[BV]]) pass = U
// SGD-NEXT: %[[W1:.+]] = piper.task @sgd(%[[W]], %[[G]]#0, %[[LR]], %[[D]]#1, %[[OK]]) pass = U
// SGD-NEXT: %[[B1:.+]] = piper.task @sgd_{{[0-9]+}}(%[[B]], %[[G]]#1, %[[LR]], %[[D]]#1, %[[OK]]) pass = U
// CHECK-NEXT: %[[A:.+]]:2 = piper.task @advance(%[[I]], %[[U]], %[[OK]]) pass = once
// CHECK-NEXT: return %[[L]], %[[N]],
// SGD-SAME: %[[G]]#0, %[[G]]#1,
// CHECK-SAME: %[[D]]#0, %[[OK]], %[[LR]], %[[T]]#1, %[[C]],
// ADAMW-SAME: %[[W1]]#0, %[[W1]]#1, %[[W1]]#2, %[[B1]]#0, %[[B1]]#1, %[[B1]]#2, %[[A]]#0, %[[A]]#1 :
// MOMENTUM-SAME: %[[W1]]#0, %[[W1]]#1, %[[B1]]#0, %[[B1]]#1, %[[A]]#0, %[[A]]#1 :
// SGD-SAME: %[[W1]], %[[B1]], %[[A]]#0, %[[A]]#1 :

// Decay applies to parameters of two or more dimensions. A check has the
// numbers of its update.
// ADAMW: piper.learning_rate %{{.+}} {lr = 5.000000e-01 : f64, min_lr = 1.250000e-01 : f64, schedule = "cosine", total_steps = 9 : i64, warmup_steps = 3 : i64}
// ADAMW: piper.clip {{.*}} {max_norm = 2.0
// ADAMW: piper.adamw_check {{.*}} {beta1 = 7.500000e-01 : f64, beta2 = 5.000000e-01 : f64, eps = 2.500000e-01 : f64, weight_decay = 1.000000e-01 : f64} : (tensor<4x4xf32>
// ADAMW: piper.adamw_check {{.*}} {beta1 = 7.500000e-01 : f64, beta2 = 5.000000e-01 : f64, eps = 2.500000e-01 : f64, weight_decay = 0.000000e+00 : f64} : (tensor<4xf32>
// ADAMW: piper.adamw {{.*}} {beta1 = 7.500000e-01 : f64, beta2 = 5.000000e-01 : f64, eps = 2.500000e-01 : f64, weight_decay = 1.000000e-01 : f64} : (tensor<4x4xf32>
// ADAMW: piper.adamw {{.*}} {beta1 = 7.500000e-01 : f64, beta2 = 5.000000e-01 : f64, eps = 2.500000e-01 : f64, weight_decay = 0.000000e+00 : f64} : (tensor<4xf32>
// MOMENTUM: piper.learning_rate %{{.+}} {lr = 1.000000e-03 : f64, schedule = "constant"}
// MOMENTUM: piper.clip {{.*}} {max_norm = 0x7FF0000000000000 : f64}
// MOMENTUM: piper.sgd_check {{.*}} {momentum = 5.000000e-01 : f64, weight_decay = 2.500000e-01 : f64} : (tensor<4x4xf32>
// MOMENTUM: piper.sgd_check {{.*}} {momentum = 5.000000e-01 : f64} : (tensor<4xf32>
// MOMENTUM: piper.sgd {{.*}} {momentum = 5.000000e-01 : f64, weight_decay = 2.500000e-01 : f64} : (tensor<4x4xf32>
// MOMENTUM: piper.sgd {{.*}} {momentum = 5.000000e-01 : f64} : (tensor<4xf32>
// SGD: piper.sgd_check %{{[^{]*}} : (tensor<4x4xf32>
// SGD: piper.sgd %{{[^{]*}} : (tensor<4x4xf32>
func.func @train(%x: tensor<2x4xf32> {piper.input = #piper.input<"x", dims = [batch, embed]>},
                 %t: tensor<2xi32> {piper.input = #piper.input<"labels", dims = [batch]>},
                 %w: tensor<4x4xf32> {piper.param = #piper.param<"w">},
                 %b: tensor<4xf32> {piper.param = #piper.param<"b">},
                 %f: tensor<4xf32> {piper.param = #piper.param<"frozen", frozen>}) -> (tensor<f32> {piper.output = "loss"}) {
  %k = piper.random_key : () -> tensor<2xi64>
  %d = piper.dropout %x, %k {p = 0.5 : f64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %a = piper.matmul %d, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = piper.add %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %e = piper.add %c, %f : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %s = piper.cross_entropy %e, %t : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  %n = piper.count_valid %t : (tensor<2xi32>) -> tensor<i64>
  %l = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %l : tensor<f32>
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options and programs that piper-optimizer refuses, one case per message.
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="optimizer=lion" 2>&1 | FileCheck %s --check-prefix=E0
// E0: error: option 'optimizer' expects adamw or sgd but got 'lion'
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="lr-schedule=step" 2>&1 | FileCheck %s --check-prefix=E1
// E1: error: option 'lr-schedule' expects constant, linear or cosine but got 'step'
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="lr=nan" 2>&1 | FileCheck %s --check-prefix=E2
// E2: error: option 'lr' expects a finite number of 0 or more but got nan
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="lr=inf" 2>&1 | FileCheck %s --check-prefix=E3
// E3: error: option 'lr' expects a finite number of 0 or more but got inf
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="lr=-1" 2>&1 | FileCheck %s --check-prefix=E4
// E4: error: option 'lr' expects a finite number of 0 or more but got -1
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="momentum=1 optimizer=sgd" 2>&1 | FileCheck %s --check-prefix=E5
// E5: error: option 'momentum' expects a number from 0 to below 1 but got 1
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="beta1=-0.5" 2>&1 | FileCheck %s --check-prefix=E6
// E6: error: option 'beta1' expects a number from 0 to below 1 but got -0.5
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="beta2=1" 2>&1 | FileCheck %s --check-prefix=E7
// E7: error: option 'beta2' expects a number from 0 to below 1 but got 1
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="eps=0" 2>&1 | FileCheck %s --check-prefix=E8
// E8: error: option 'eps' expects a positive finite number but got 0
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="eps=inf" 2>&1 | FileCheck %s --check-prefix=E9
// E9: error: option 'eps' expects a positive finite number but got inf
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="weight-decay=-0.1" 2>&1 | FileCheck %s --check-prefix=E10
// E10: error: option 'weight-decay' expects a finite number of 0 or more but got -0.1
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="clip=0" 2>&1 | FileCheck %s --check-prefix=E11
// E11: error: option 'clip' expects a positive number, or inf to measure only, but got 0
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="clip=-1" 2>&1 | FileCheck %s --check-prefix=E12
// E12: error: option 'clip' expects a positive number, or inf to measure only, but got -1
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="clip=nan" 2>&1 | FileCheck %s --check-prefix=E13
// E13: error: option 'clip' expects a positive number, or inf to measure only, but got nan
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="min-lr=2 lr=1 lr-schedule=linear total-steps=2" 2>&1 | FileCheck %s --check-prefix=E14
// E14: error: option 'min-lr' expects a number from 0 to lr but got 2
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="warmup-steps=-1" 2>&1 | FileCheck %s --check-prefix=E15
// E15: error: option 'warmup-steps' expects a number of 0 or more but got -1
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="lr-schedule=linear" 2>&1 | FileCheck %s --check-prefix=E16
// E16: error: option 'total-steps' expects more steps than warmup-steps for a schedule that is not constant but got 0
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-optimizer="lr-schedule=cosine warmup-steps=5 total-steps=5" 2>&1 | FileCheck %s --check-prefix=E17
// E17: error: option 'total-steps' expects more steps than warmup-steps for a schedule that is not constant but got 5
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-optimizer

// expected-error @below {{'piper-optimizer' expects level 'dag' but got 'model'}}
module {
}

// -----

// expected-error @below {{expects a parameter to train but the loss depends on no trainable parameter}}
module attributes {piper.level = #piper.level<dag>} {
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects a step without an optimizer but has its state already}}
  func.func @train(%u: tensor<i64> {piper.state = #piper.state<"update">}) {
    return
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects result #0 to be the gradient of a parameter of its type but there is no such parameter 'v'}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}) -> (tensor<4xf32> {piper.gradient = "v"}) {
    return %w : tensor<4xf32>
  }
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  // expected-error @below {{expects result #0 to be the gradient of a parameter of its type but there is no such parameter 'w'}}
  func.func @train(%w: tensor<4xf32> {piper.param = #piper.param<"w">}, %x: tensor<2xf32> {piper.input = #piper.input<"x">}) -> (tensor<2xf32> {piper.gradient = "w"}) {
    return %x : tensor<2xf32>
  }
}

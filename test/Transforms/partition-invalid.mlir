// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-partition refuses.
//
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-partition="threads=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-partition="threads=1025" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-partition="threads=1"

// NEGATIVE: error: option 'threads' expects 1 to 1024, or 0 for all cores, but got -1
// MANY: error: option 'threads' expects 1 to 1024, or 0 for all cores, but got 1025

// expected-error @below {{'piper-partition' expects level 'dag' but got 'plan'}}
module attributes {piper.level = #piper.level<plan>} {
}

// -----

module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) {
    // expected-error @below {{'piper.tanh' op cannot stand in an entry point: expects only tasks}}
    %a = piper.tanh %x : tensor<4xf32>
    return
  }
}

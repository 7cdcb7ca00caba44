// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levels: a pass on a module of another level names both. (The messages of the
// other passes stand in their own tests.)
//
// RUN: piper-opt %s --split-input-file --verify-diagnostics --piper-add-evaluation
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-outline-segments 2>&1 | FileCheck %s --check-prefix=OUTLINE
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-plan-memory 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not piper-opt %S/Inputs/empty-dag.mlir --piper-compile 2>&1 | FileCheck %s --check-prefix=COMPILE

// OUTLINE: empty-dag.mlir:{{.*}}: error: 'piper-outline-segments' expects level 'model' but got 'dag'
// PLAN: empty-dag.mlir:{{.*}}: error: 'piper-plan-memory' expects level 'programs' but got 'dag'
// COMPILE: empty-dag.mlir:{{.*}}: error: --piper-compile expects a model but got a program of level 'dag'

// expected-error @below {{'piper-add-evaluation' expects level 'model' but got 'dag'}}
module attributes {piper.level = #piper.level<dag>} {
}

// -----

// expected-error @below {{'piper-add-evaluation' expects level 'model' but got 'placed'}}
module attributes {piper.level = #piper.level<placed>} {
}

// -----

// expected-error @below {{'piper-add-evaluation' expects level 'model' but got 'programs'}}
module attributes {piper.level = #piper.level<programs>} {
}

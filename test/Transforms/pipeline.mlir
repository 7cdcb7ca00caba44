// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of the strategy become directives, keys of the command line before
// those of the module. Segments of `train` get the stages of the balanced cut,
// those of other entry points the stages of the same tags.
//
// RUN: piper-opt %s --split-input-file --piper-pipeline="costs=%S/Inputs/row-costs.json micro-batches=2 schedule=gpipe" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
//
// Without a strategy and directives nothing changes and nothing is said.
// RUN: piper-opt %S/Inputs/row-dag.mlir -o %t.before
// RUN: piper-opt %S/Inputs/row-dag.mlir --piper-pipeline -o %t.after 2>%t.err
// RUN: cmp %t.before %t.after
// RUN: not test -s %t.err

// Costs of the segments, forward and backward, and forward again where it is
// asked for: 2, 4, 4, 6, 6.
// REMARK: remark: stage costs: 10, 12 (largest 12 of 22){{$}}
// REMARK: remark: stage costs: 1, 2, 2, 6 (largest 6 of 11){{$}}
// REMARK-NOT: remark

// CHECK: module attributes {piper.directives = [
// CHECK-SAME: {dim = "batch", dim_name = "MB", filter = {}, num_microbatches = 2 : i64, op = "split"},
// CHECK-SAME: {filter = {layer = 3 : i64}, op = "recompute"},
// CHECK-SAME: {kind = "gpipe", op = "schedule"},
// CHECK-SAME: {op = "options", prefetch = 0 : i64},
// CHECK-SAME: {buffering = 2 : i64, op = "options"},
// CHECK-SAME: {costs = "{{[^"]*}}row-costs.json", op = "options"},
// CHECK-SAME: {memory_limit = [1000, 2000], op = "options"},
// CHECK-SAME: {devices = [0], filter = {SEGMENT = 0 : i64}, op = "place", stage = 0 : i64},
// CHECK-SAME: {devices = [0], filter = {SEGMENT = 1 : i64}, op = "place", stage = 0 : i64},
// CHECK-SAME: {devices = [0], filter = {SEGMENT = 2 : i64}, op = "place", stage = 0 : i64},
// CHECK-SAME: {devices = [1], filter = {SEGMENT = 3 : i64}, op = "place", stage = 1 : i64},
// CHECK-SAME: {devices = [1], filter = {SEGMENT = 4 : i64}, op = "place", stage = 1 : i64}],
// CHECK-SAME: piper.level = #piper.level<dag>}
module attributes {
    piper.level = #piper.level<dag>,
    piper.strategy = #piper.strategy<"pipeline-parallel=2 micro-batches=8 recompute=layer=3 buffering=2 prefetch=0 memory-limit=1000,2000">} {
  // CHECK-LABEL: func.func @train
  // CHECK: @first({{.*}} segment = 0 stage = 0 :
  // CHECK: @block({{.*}} segment = 1 stage = 0 :
  // CHECK: @block({{.*}} segment = 2 stage = 0 :
  // CHECK: @block({{.*}} segment = 3 stage = 1 :
  // CHECK: @last({{.*}} segment = 4 stage = 1 :
  // CHECK: @last({{.*}} pass = B {{.*}} segment = 4 stage = 1 :
  // CHECK: @block({{.*}} pass = B {{.*}} segment = 3 stage = 1 :
  // CHECK: @block({{.*}} pass = B {{.*}} segment = 2 stage = 0 :
  // CHECK: @block({{.*}} pass = B {{.*}} segment = 1 stage = 0 :
  // CHECK: @first({{.*}} pass = B {{.*}} segment = 0 stage = 0 :
  // CHECK: @last({{.*}} pass = once :
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<4xf32> {piper.output = "y"}) {
    %0 = piper.task @first(%x) pass = F tags = <layer = 0> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.task @block(%0) pass = F tags = <layer = 1> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = piper.task @block(%1) pass = F tags = <layer = 2> segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = piper.task @block(%2) pass = F tags = <layer = 3> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = piper.task @last(%3) pass = F tags = <layer = 4> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = piper.task @last(%4) pass = B tags = <layer = 4> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    %6 = piper.task @block(%5) pass = B tags = <layer = 3> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %7 = piper.task @block(%6) pass = B tags = <layer = 2> segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %8 = piper.task @block(%7) pass = B tags = <layer = 1> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %9 = piper.task @first(%8) pass = B tags = <layer = 0> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %10 = piper.task @last(%9) pass = once : (tensor<4xf32>) -> tensor<4xf32>
    return %10 : tensor<4xf32>
  }
  func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.square %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @last(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.gelu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// The n-th segment with some tags has the stage of the n-th in `train` with
// these, or of the last one; one with other tags goes with the one before it.
// Without 'stage', runs of equal devices are stages.

module attributes {
    piper.level = #piper.level<dag>,
    piper.directives = [{op = "place", filter = {SEGMENT = 0}, devices = [0]},
                        {op = "place", filter = {name = "b"}, devices = ["1"], stream = "compute"},
                        {op = "place", filter = {SEGMENT = "2", name = "a", PASS = "F"}, devices = [2]},
                        {op = "place", filter = {name = "c", PASS = "*"}, devices = [3]}]} {
  // CHECK-LABEL: func.func @train
  // CHECK-NEXT: segment = 0 stage = 0 :
  // CHECK-NEXT: segment = 1 stage = 1 :
  // CHECK-NEXT: segment = 2 stage = 2 :
  // CHECK-NEXT: segment = 3 stage = 3 :
  // CHECK-NEXT: segment = 4 stage = 3 :
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<4xf32> {piper.output = "y"}) {
    %0 = piper.task @first(%x) pass = F tags = <name = "a"> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.task @block(%0) pass = F tags = <name = "b"> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = piper.task @block(%1) pass = F tags = <name = "a"> segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = piper.task @last(%2) pass = F tags = <name = "c"> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = piper.task @last(%3) pass = F tags = <name = "c"> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }
  // CHECK-LABEL: func.func @eval
  // CHECK-NEXT: segment = 0 stage = 0 :
  // CHECK-NEXT: segment = 1 stage = 1 :
  // CHECK-NEXT: segment = 2 stage = 1 :
  // CHECK-NEXT: segment = 3 stage = 2 :
  // CHECK-NEXT: segment = 4 stage = 2 :
  // CHECK-NEXT: segment = 5 stage = 2 :
  // CHECK-NEXT: segment = 6 stage = 3 :
  func.func @eval(%x: tensor<4xf32> {piper.input = #piper.input<"x", dims = [batch]>}) -> (tensor<4xf32> {piper.output = "y"}) {
    %0 = piper.task @first(%x) pass = F tags = <name = "a"> segment = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = piper.task @block(%0) pass = F tags = <name = "b"> segment = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = piper.task @block(%1) pass = F segment = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = piper.task @block(%2) pass = F tags = <name = "a"> segment = 3 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = piper.task @block(%3) pass = F tags = <name = "d"> segment = 4 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = piper.task @block(%4) pass = F tags = <name = "a"> segment = 5 : (tensor<4xf32>) -> tensor<4xf32>
    %6 = piper.task @last(%5) pass = F tags = <name = "c"> segment = 6 : (tensor<4xf32>) -> tensor<4xf32>
    return %6 : tensor<4xf32>
  }
  func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.square %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.tanh %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @last(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = piper.gelu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

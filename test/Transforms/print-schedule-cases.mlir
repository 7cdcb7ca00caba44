// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that are no whole schedule, or one with names of its own.
//
// RUN: echo '{"unit": "us", "tasks": {"one": 3, "two": 5}}' > %t.json
// RUN: sed 's|COSTS|%t.json|' %s > %t.mlir
// RUN: piper-opt %t.mlir --split-input-file --piper-print-schedule -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's|stage = 1 : (tensor|stage = 4000001 : (tensor|' %s > %t.large.mlir
// RUN: not piper-opt %t.large.mlir --split-input-file --piper-print-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed 's|level<dag>|level<programs>|' %s > %t.level.mlir
// RUN: not piper-opt %t.level.mlir --split-input-file --piper-print-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEVEL

// LARGE: error: 'piper.task' op expects at most 2 copies and 4000000 stages times micro-batches but got 'one' (F, stage 4000001)
// LEVEL: error: 'piper-print-schedule' expects level 'dag' or 'placed' but got 'programs'

// Level 1: one device has all stages, and no need of `mb`; no schedule is
// applied yet. The times are those of the file of costs: 2 * 3 + 2 * 5.
// One half of a backward without the other is the whole of it.
// CHECK{LITERAL}:      {"kind":"order","P":1,"V":2,"M":1,"stage_rank":[0,0],"chains":[[0,1]],"cap":null,"ranks":[[["F",0,0],["F",1,0],["B",1,0],["B",0,0]]]}
// CHECK-NEXT: 0 |F0a-- F0b-- B0b------ B0a------
// CHECK-NEXT: bubble 0.0 %, length 16, peak in flight 2
module attributes {piper.level = #piper.level<dag>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0], stage = 0},
    {op = "place", filter = {SEGMENT = 1}, devices = [0], stage = 1},
    {op = "schedule", kind = "gpipe"}, {op = "options", costs = "COSTS"}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> tensor<4xf32> {
    %a = piper.task @one(%x) pass = F segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %b = piper.task @one(%a) pass = F segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %c = piper.task @two(%b) pass = BW segment = 1 stage = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %d = piper.task @two(%c) pass = B segment = 0 stage = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %d : tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @two(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.square %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Tasks that take turns are one pair where a forward meets a whole backward; a
// pair with half of one is two actions. What interrupts an action does not end
// it. Without a forward of micro-batch 2 there is no timetable.
// CHECK{LITERAL}:      {"kind":"order","P":1,"V":1,"M":3,"stage_rank":[0],"chains":[[0]],"cap":null,"ranks":[[["F",0,0],["FB",0,1,0,0],["BI",0,1],["BW",0,1],["B",0,2]]]}
// CHECK-NEXT: no timetable: F(stage 0, mb 2) is missing
module attributes {piper.level = #piper.level<dag>} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> tensor<4xf32> {
    %a = piper.task @one(%x) pass = F segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %b = piper.task @one(%x) pass = F segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %c = piper.task @one(%a) pass = R segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %d = piper.task @one(%b) pass = F segment = 1 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %e = piper.task @one(%c) pass = B segment = 0 mb = 0 : (tensor<4xf32>) -> tensor<4xf32>
    %f = piper.task @one(%d) pass = BI segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %g = piper.task @one(%f) pass = BW segment = 0 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    %h = piper.task @one(%g) pass = B segment = 0 mb = 2 : (tensor<4xf32>) -> tensor<4xf32>
    %i = piper.task @one(%f) pass = BI segment = 1 mb = 1 : (tensor<4xf32>) -> tensor<4xf32>
    return %i : tensor<4xf32>
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// The first stage has no gradient of its input: the schedule's BI stands where
// the schedule has it, and BW is what the tasks are. The stages of the file's
// kind and limit are shown as well.
// CHECK{LITERAL}:      {"kind":"zb_h1","P":2,"V":1,"M":2,"stage_rank":[0,1],"chains":[[0,1]],"cap":[2,3],"ranks":[
// CHECK-SAME{LITERAL}:   [["F",0,0],["F",0,1],["BI",0,0],["BW",0,0],["BI",0,1],["BW",0,1]],[["F",1,0],["BI",1,0],["F",1,1],["BW",1,0],["BI",1,1],["BW",1,1]]]}
// CHECK: bubble {{.*}}, peak in flight 2
!a = !piper.dist<tensor<4xf32>, on [pp = 0]>
!b = !piper.dist<tensor<4xf32>, on [pp = 1]>
module attributes {piper.level = #piper.level<placed>, piper.directives = [
    {op = "place", filter = {SEGMENT = 0}, devices = [0]},
    {op = "place", filter = {SEGMENT = 1}, devices = [1]},
    {op = "schedule", kind = "zb_h1", limit = [2, 3]}]} {
  func.func @train(%x: tensor<4xf32> {piper.input = #piper.input<"x">}) -> (!a, !b, !a, !b) {
    %a0 = piper.task @one(%x) pass = F segment = 0 mb = 0 stage = 0 : (tensor<4xf32>) -> !a
    %t0 = piper.transfer %a0 : !a -> !b
    %a1 = piper.task @one(%x) pass = F segment = 0 mb = 1 stage = 0 : (tensor<4xf32>) -> !a
    %b0 = piper.task @one(%t0) pass = F segment = 1 mb = 0 stage = 1 : (!b) -> !b
    %c0 = piper.task @one(%b0) pass = BI segment = 1 mb = 0 stage = 1 : (!b) -> !b
    %t1 = piper.transfer %a1 : !a -> !b
    %b1 = piper.task @one(%t1) pass = F segment = 1 mb = 1 stage = 1 : (!b) -> !b
    %u0 = piper.transfer %c0 : !b -> !a
    %d0 = piper.task @one(%u0) pass = BW segment = 0 mb = 0 stage = 0 : (!a) -> !a
    %w0 = piper.task @one(%c0) pass = BW segment = 1 mb = 0 stage = 1 : (!b) -> !b
    %c1 = piper.task @one(%b1) pass = BI segment = 1 mb = 1 stage = 1 : (!b) -> !b
    %u1 = piper.transfer %c1 : !b -> !a
    %d1 = piper.task @one(%u1) pass = BW segment = 0 mb = 1 stage = 0 : (!a) -> !a
    %w1 = piper.task @one(%c1) pass = BW segment = 1 mb = 1 stage = 1 : (!b) -> !b
    return %d0, %w0, %d1, %w1 : !a, !b, !a, !b
  }
  func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = piper.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The actions of `train` as the op order has them. Times are F = 1, B = 2 unless
// the directives name a file of costs.
//
// RUN: piper-opt %S/Inputs/two-stages.mlir --piper-print-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SERIAL
// RUN: piper-opt %S/Inputs/two-stages.mlir --piper-apply-schedule=schedule=1f1b --piper-print-schedule="json=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=1F1B
// RUN: piper-opt %S/Inputs/two-stages.mlir --piper-apply-schedule=schedule=gpipe --piper-print-schedule="timetable=false output=%t.txt" -o /dev/null 2>&1 | count 0
// RUN: FileCheck %s --input-file %t.txt --check-prefix=GPIPE
// RUN: not piper-opt %S/Inputs/two-stages.mlir --piper-print-schedule="output=%t.none/x" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: sed 's/mb = 2 stage = 1/mb = 2 stage = 1 copy = -4/' %S/Inputs/two-stages.mlir > %t.copy.mlir
// RUN: not piper-opt %t.copy.mlir --piper-print-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=COPY
//
// What was printed is a schedule file, for the whole step the same one.
// RUN: grep kind %t.txt > %t.json
// RUN: piper-opt %S/Inputs/two-stages.mlir --piper-apply-schedule=schedule=%t.json --piper-print-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPIPE

// One micro-batch after the other: 2 * 6 of 18 units are idle on each coordinate.
// SERIAL{LITERAL}:      {"kind":"order","P":2,"V":1,"M":3,"stage_rank":[0,1],"chains":[[0,1]],"cap":null,"ranks":[
// SERIAL-SAME{LITERAL}:   [["F",0,0],["B",0,0],["F",0,1],["B",0,1],["F",0,2],["B",0,2]],[["F",1,0],["B",1,0],["F",1,1],["B",1,1],["F",1,2],["B",1,2]]]}
// SERIAL-NEXT: 0 |F0 .  .  .  B0--- F1 .  .  .  B1--- F2 .  .  .  B2---
// SERIAL-NEXT: 1 |.  F0 B0--- .  .  .  F1 B1--- .  .  .  F2 B2--- .  .
// SERIAL-NEXT: bubble 50.0 %, length 18, peak in flight 1
// SERIAL-NOT:  {{.}}

// (M + P - 1) * 3 = 12 units, of which P - 1 = 1 times 3 idle; P = 2 activations.
// 1F1B-NOT:  kind
// 1F1B:      0 |F0 F1 .  .  B0--- F2 B1--- .  B2---
// 1F1B-NEXT: 1 |.  F0 B0--- F1 B1--- F2 B2--- .  .
// 1F1B-NEXT: bubble 25.0 %, length 12, peak in flight 2

// GPIPE{LITERAL}:      "ranks":[
// GPIPE-SAME{LITERAL}:   [["F",0,0],["F",0,1],["F",0,2],["B",0,0],["B",0,1],["B",0,2]],[["F",1,0],["F",1,1],["F",1,2],["B",1,0],["B",1,1],["B",1,2]]]}
// GPIPE:      bubble 25.0 %, length 12, peak in flight 3

// WRITE: error: {{.*}}none/x
// COPY: error: 'piper.task' op stands in no action of a schedule with P = 2, M = 3 and 2 stages: 'fw' (F, mb 2, stage 1, copy -4)

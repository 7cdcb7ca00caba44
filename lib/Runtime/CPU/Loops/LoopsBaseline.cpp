// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops for the instruction set baseline.

#define PIPER_ISA baseline
#define PIPER_VECTOR_BYTES 16
#include "LoopTable.inc"

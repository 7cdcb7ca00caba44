// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops for the instruction set avx2.

#define PIPER_ISA avx2
#define PIPER_VECTOR_BYTES 32
#include "LoopTable.inc"

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of the dialect.

#ifndef PIPER_DIALECT_OPS_TD
#define PIPER_DIALECT_OPS_TD

include "Piper/Dialect/PiperMathOps.td"
include "Piper/Dialect/PiperModelOps.td"
include "Piper/Dialect/PiperStepOps.td"
include "Piper/Dialect/PiperPlanOps.td"

#endif // PIPER_DIALECT_OPS_TD

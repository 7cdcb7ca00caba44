// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes, in the order of the pipeline.

#ifndef PIPER_TRANSFORMS_PASSES_TD
#define PIPER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // PIPER_TRANSFORMS_PASSES_TD

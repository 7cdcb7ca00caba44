// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What recomputation changes.

#ifndef PIPER_LIB_TRANSFORMS_SPLIT_RECOMPUTE_H
#define PIPER_LIB_TRANSFORMS_SPLIT_RECOMPUTE_H

#include "Piper/Dialect/PiperDialect.h"

namespace mlir::piper {

/// Whether a forward task has results that only its backward reads, and others
/// for which it stays. One that was recomputed has not.
bool canRecompute(TaskOp forward);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_SPLIT_RECOMPUTE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text that a printing pass writes. Internal to the passes.

#ifndef PIPER_LIB_TRANSFORMS_TASKS_WRITETEXT_H
#define PIPER_LIB_TRANSFORMS_TASKS_WRITETEXT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::piper {

/// Writes to a file, or to standard error for "-". Emits an error at the module
/// if that fails.
LogicalResult writeText(ModuleOp module, StringRef path, StringRef text);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TASKS_WRITETEXT_H

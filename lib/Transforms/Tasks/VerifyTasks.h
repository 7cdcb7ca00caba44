// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes rely on at levels 1 to 4. A pass calls the check of its level
// first, so that it may run alone on whatever a user wrote.

#ifndef PIPER_LIB_TRANSFORMS_TASKS_VERIFYTASKS_H
#define PIPER_LIB_TRANSFORMS_TASKS_VERIFYTASKS_H

#include "Piper/Transforms/BodyTable.h"

namespace mlir::piper {

/// Bytes of the largest tensor: sums over a program then stay within 64 bits.
constexpr int64_t kMaxTensorBytes = int64_t(1) << 46;

/// What is expected of a tensor that `type` is not, as "a static shape"; empty
/// if `type` can be stored and computed with.
StringRef findTypeProblem(Type type);

/// The structure of levels 1 to 4: bodies are straight lines of compute ops on
/// tensors that can be stored; entry points hold tasks, views of micro-batches
/// and what moves values at that level. Emits an error.
LogicalResult verifyTasks(ModuleOp module);

/// Levels 1 and 2: each state of `train` has one next value of its type, each
/// trainable parameter at most one update. Emits an error.
LogicalResult verifyState(func::FuncOp train);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TASKS_VERIFYTASKS_H

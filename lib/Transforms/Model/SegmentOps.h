// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a model before they are cut into segments: which of them are
// needed, and whether they can be told apart. Internal to
// `piper-outline-segments`.

#ifndef PIPER_LIB_TRANSFORMS_MODEL_SEGMENTOPS_H
#define PIPER_LIB_TRANSFORMS_MODEL_SEGMENTOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::piper {

/// Erases the ops that no result of `function` needs, so that nothing is
/// decided by them: no cut, no value that is kept for one. A remark names each
/// segment of `train` that is gone with them.
void dropDeadOps(func::FuncOp function);

/// Random ops of one segment are told apart by their index alone.
LogicalResult verifyRandomIndices(ArrayRef<Operation *> segment);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_MODEL_SEGMENTOPS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes rely on at level 0.

#ifndef PIPER_LIB_TRANSFORMS_MODEL_VERIFYMODEL_H
#define PIPER_LIB_TRANSFORMS_MODEL_VERIFYMODEL_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::piper {

/// Level 0, and what `piper-verify-model` promises. Emits one error per place.
LogicalResult verifyModel(ModuleOp module);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_MODEL_VERIFYMODEL_H

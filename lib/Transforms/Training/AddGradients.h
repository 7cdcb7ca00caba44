// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of two gradients of one value.

#ifndef PIPER_LIB_TRANSFORMS_TRAINING_ADDGRADIENTS_H
#define PIPER_LIB_TRANSFORMS_TRAINING_ADDGRADIENTS_H

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/IR/Builders.h"

namespace mlir::piper {

/// `first + second`, of one type. Gradients of slices that lie side by side
/// become one concatenation instead of a sum of padded tensors.
Value addGradients(OpBuilder &builder, Value first, Value second);

/// A copy of `op`, before it, with results of `types` after its own: the
/// statistics that its gradient needs.
Operation *cloneWithResults(Operation *op, TypeRange types);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TRAINING_ADDGRADIENTS_H

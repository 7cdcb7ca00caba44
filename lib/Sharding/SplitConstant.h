// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants in parts: one whose elements are equal along a dimension has equal
// parts along it.

#ifndef PIPER_LIB_SHARDING_SPLITCONSTANT_H
#define PIPER_LIB_SHARDING_SPLITCONSTANT_H

#include "Piper/Sharding/SplitLayout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace mlir::piper {

bool isConstant(Value value);

/// Whether the elements of a constant do not depend on the position along
/// `dim`.
bool isEqualAlong(Value constant, int64_t dim);

/// The elements of one part of a constant. Requires: isEqualAlong.
DenseElementsAttr partOfConstant(Value constant, const SplitLayout &layout,
                                 int64_t parts);

} // namespace mlir::piper

#endif // PIPER_LIB_SHARDING_SPLITCONSTANT_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes as ops see them: broadcasting aligned at the last dimension, element
// counts that cannot overflow, and shapes as text for messages.

#ifndef PIPER_DIALECT_SHAPES_H
#define PIPER_DIALECT_SHAPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace mlir::piper {

/// The shape of a value of the dialect, which is always a static tensor.
inline ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}
/// The element type of a value of the dialect.
inline Type elementTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// The result shape of an element-wise op: shapes are aligned at their last
/// dimension, and a dimension of 1 or absent is repeated. Nothing where two
/// dimensions differ and neither is 1.
std::optional<SmallVector<int64_t>> broadcastShape(ArrayRef<int64_t> a,
                                                   ArrayRef<int64_t> b);

/// Whether a tensor of shape `from` repeats to the shape `to`.
bool broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to);

/// The dimension of `from` that dimension `dim` of a result of rank `toRank`
/// reads, where `from` is broadcast to it: shapes are aligned at their last
/// dimension. Nothing where `from` lacks the dimension.
std::optional<int64_t> alignedDim(int64_t fromRank, int64_t toRank,
                                  int64_t dim);

/// The dimensions of `to` over which a tensor of shape `from` is repeated,
/// ascending: those that `from` lacks and those where it has 1 and `to` more.
/// The gradient of a broadcast is the sum over them.
SmallVector<int64_t> repeatedDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to);

/// `shape` without the dimensions `dims` (ascending), or with 1 there.
SmallVector<int64_t> reducedShape(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> dims, bool keepDims);

/// The product of the dimensions; nothing where it exceeds int64_t.
std::optional<int64_t> elementCount(ArrayRef<int64_t> shape);

/// "[4, 8]".
std::string shapeText(ArrayRef<int64_t> shape);

/// The element type of sums and saved statistics: f64 for f64, f32 for f32 and
/// bf16.
Type statisticsType(Type elementType);

} // namespace mlir::piper

#endif // PIPER_DIALECT_SHAPES_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks that the verifiers of compute ops share. Each reports what is
// expected, why, and what is there. A value is named as the reader knows it:
// "operand 'b'", "result 'y'".

#ifndef PIPER_LIB_DIALECT_CHECKS_H
#define PIPER_LIB_DIALECT_CHECKS_H

#include "Piper/Dialect/Numbers.h"
#include "Piper/Dialect/Shapes.h"

#include "mlir/IR/Operation.h"

namespace mlir::piper {

/// At least (or exactly) `rank` dimensions.
LogicalResult expectRankAtLeast(Operation *op, StringRef what, Value value,
                                int64_t rank);
LogicalResult expectRank(Operation *op, StringRef what, Value value,
                         int64_t rank, StringRef dims);

/// The element type of `source`.
LogicalResult expectElementTypeOf(Operation *op, StringRef what, Value value,
                                  StringRef sourceName, Value source);

/// The tensor type with this shape and element type; `why` says where they
/// come from ("one number per column of 'x'").
LogicalResult expectType(Operation *op, StringRef what, Value value,
                         ArrayRef<int64_t> shape, Type elementType,
                         StringRef why);
/// The type of `source`.
LogicalResult expectTypeOf(Operation *op, StringRef what, Value value,
                           StringRef sourceName, Value source);

/// Dimensions of `shape`, ascending and unique.
LogicalResult expectDims(Operation *op, ArrayRef<int64_t> dims,
                         ArrayRef<int64_t> shape);

/// A number in [low, high), low finite, high finite or infinite; never NaN.
LogicalResult expectInRange(Operation *op, StringRef name, double value,
                            double low, double high);
/// A finite number above 0.
LogicalResult expectPositive(Operation *op, StringRef name, double value);
LogicalResult expectNotNegative(Operation *op, StringRef name, int64_t value);

/// A number that is 0 or normal in the type that computes with `element`.
LogicalResult expectNumberOf(Operation *op, StringRef name, double value,
                             Type element);

} // namespace mlir::piper

#endif // PIPER_LIB_DIALECT_CHECKS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over a tensor whose operands are repeated (stride 0) along some
// dimensions: dimensions that all operands walk alike are merged first.

#ifndef PIPER_LIB_RUNTIME_CPU_STRIDES_H
#define PIPER_LIB_RUNTIME_CPU_STRIDES_H

#include "SpecCheck.h"

namespace piper::rt::cpu {

/// Row-major strides of `shape`.
Shape rowMajorStrides(const Shape &shape);

/// Whether `shape`, aligned with `result` at the last dimension, has each
/// dimension equal, 1 or absent.
bool broadcastsTo(const Shape &shape, const Shape &result);

/// Whether `result` is what `shapes` broadcast to together: each broadcastsTo
/// it, and each of its dimensions is that of one of them.
bool broadcastTogether(const std::vector<Shape> &shapes, const Shape &result);

/// Strides that read a dense tensor of `shape` as one of `result`.
/// Requires: broadcastsTo.
Shape broadcastStrides(const Shape &shape, const Shape &result);

/// An iteration space with one list of strides per operand.
struct StridedLoop {
  Shape dims;
  std::vector<Shape> strides;

  /// Drops dimensions of 1 and merges neighbours that every operand walks as
  /// one. At least one dimension is left.
  void simplify();
  int64_t inner() const { return dims.back(); }
  int64_t innerStride(size_t operand) const { return strides[operand].back(); }
  /// The product of all dimensions but the last.
  int64_t rows() const;
  /// Where row `row` of an operand starts, in elements.
  int64_t rowOffset(size_t operand, int64_t row) const;
};

/// A loop over `result`, whose operands have `shapes`; the result itself is the
/// last one of `strides`. Simplified.
StridedLoop broadcastLoop(const std::vector<Shape> &shapes,
                          const Shape &result);

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_STRIDES_H

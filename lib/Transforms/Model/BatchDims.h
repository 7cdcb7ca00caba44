// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a model have a batch dimension.

#ifndef PIPER_LIB_TRANSFORMS_MODEL_BATCHDIMS_H
#define PIPER_LIB_TRANSFORMS_MODEL_BATCHDIMS_H

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::piper {

/// Follows the dimension named `batch` of the inputs through the sharding
/// rules of the ops. A value loses it where it is summed away; where an op has
/// no rule for it (a slice of it, a reshape that drops a batch of 1) its
/// results still count as batched, with a place that is not known.
class BatchDims {
public:
  explicit BatchDims(func::FuncOp function);

  bool isBatched(Value value) const { return places.contains(value); }

private:
  /// The batch within dimension `dim`: its index is the dimension's divided by
  /// `minor`, modulo `end / minor`. In [seq, batch] reshaped to [seq * batch]
  /// it is {0, 1, batch}. A batch of 1 is {dim, 1, 1}.
  struct Place {
    size_t dim;
    int64_t minor, end;
  };
  using Places = SmallVector<Place, 1>;

  void follow(Operation *op);

  DenseMap<Value, Places> places;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_MODEL_BATCHDIMS_H

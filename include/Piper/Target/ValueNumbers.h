// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for the values of a block without regions, so that what is known of
// them can stand in arrays: a step has tens of values for each task, and a
// table by Value would be far larger than the caches.

#ifndef PIPER_TARGET_VALUENUMBERS_H
#define PIPER_TARGET_VALUENUMBERS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::piper {

/// The arguments of a block, then the results of its ops in order.
class ValueNumbers {
public:
  ValueNumbers() = default;
  explicit ValueNumbers(Block &block) : numValues(block.getNumArguments()) {
    firsts.reserve(block.getOperations().size());
    for (Operation &op : block) {
      firsts[&op] = numValues;
      numValues += static_cast<int32_t>(op.getNumResults());
    }
  }

  int32_t size() const { return numValues; }
  /// Requires: the value is one of the block.
  int32_t of(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return static_cast<int32_t>(argument.getArgNumber());
    auto result = cast<OpResult>(value);
    return firsts.lookup(result.getOwner()) +
           static_cast<int32_t>(result.getResultNumber());
  }

private:
  /// The number of the first result of each op.
  llvm::DenseMap<Operation *, int32_t> firsts;
  int32_t numValues = 0;
};

} // namespace mlir::piper

#endif // PIPER_TARGET_VALUENUMBERS_H

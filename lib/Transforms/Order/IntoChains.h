// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of tasks that accumulate into one value: each takes the sum of the one
// before it. A sum may be made in any order, so the chain follows the order of
// the tasks, not the reverse. Internal to the passes that order.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_INTOCHAINS_H
#define PIPER_LIB_TRANSFORMS_ORDER_INTOCHAINS_H

#include "Piper/Dialect/PiperDialect.h"

#include <vector>

namespace mlir::piper {

class IntoChains {
public:
  explicit IntoChains(Block &block);

  /// Whether an operand is the sum of another task of its chain: it says
  /// nothing about the order.
  bool isLink(OpOperand &operand) const;

  /// Links each chain in the order of `positionOf`: the first task takes what
  /// the first took before, users of the last sum take the new last.
  void relink(function_ref<int64_t(TaskOp)> positionOf) const;

private:
  std::vector<std::vector<TaskOp>> chains;
  /// Tasks that take the sum of another.
  DenseSet<Operation *> linked;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_INTOCHAINS_H

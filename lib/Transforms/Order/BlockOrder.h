// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes an order of tasks the order of a whole step. Internal to the passes
// that order.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_BLOCKORDER_H
#define PIPER_LIB_TRANSFORMS_ORDER_BLOCKORDER_H

#include "TaskOrder.h"

namespace mlir::piper {

/// Puts all ops of `entry` in order: views of step inputs; what does not depend
/// on the body; the body as `order` says (each of its tasks once), each
/// transfer where the results of its producer leave, but at most `prefetch`
/// actions of the receiver ahead of the first that reads it; what is left.
/// Relinks `into` chains. Linear but for sorting the transfers of one place.
/// Error: an order that contradicts the data flow.
LogicalResult applyOrder(func::FuncOp entry, const TaskOrder &order,
                         int64_t prefetch);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_BLOCKORDER_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stages of a step cost, for schedules. Internal to the passes that
// order.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_STAGECOSTS_H
#define PIPER_LIB_TRANSFORMS_ORDER_STAGECOSTS_H

#include "TaskOrder.h"

#include "Directives/Directive.h"
#include "Piper/Schedule/Costs.h"

namespace mlir::piper {

/// The costs of each of `stages` stages: the sums over the tasks of one
/// micro-batch, in microseconds. Recomputation counts with the backward.
/// `comm` is the median of the transfers between body tasks.
::piper::schedule::Costs getStageCosts(func::FuncOp entry,
                                       const BodyTasks &body, int64_t stages,
                                       TaskCostTable &costs);

/// What a message with this value costs.
double getMessageCost(Type type, const TaskCostTable &costs);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_STAGECOSTS_H

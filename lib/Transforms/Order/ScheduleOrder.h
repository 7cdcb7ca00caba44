// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the tasks of a step under a schedule. Internal to
// `piper-apply-schedule`.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_SCHEDULEORDER_H
#define PIPER_LIB_TRANSFORMS_ORDER_SCHEDULEORDER_H

#include "TaskOrder.h"

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Schedule.h"

namespace mlir::piper {

/// The tasks in the order in which the actions of `schedule` start under eager
/// transfers; of an entry point without a backward, the forwards alone. The
/// tasks of an action keep program order; those of a pair alternate. Errors, at
/// `entry` or a task: costs that do not fit, a task that no action runs.
FailureOr<TaskOrder> orderBySchedule(func::FuncOp entry, const BodyTasks &body,
                                     const ::piper::schedule::Schedule &given,
                                     const ::piper::schedule::Costs &costs);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_SCHEDULEORDER_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule that the op order of a step is. Internal to
// `piper-print-schedule`.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_READSCHEDULE_H
#define PIPER_LIB_TRANSFORMS_ORDER_READSCHEDULE_H

#include "TaskOrder.h"

#include "Directives/Directive.h"

namespace mlir::piper {

/// Reads the actions of a step back, in the order of their first tasks on each
/// coordinate. `given`, if not null, has the placement and says which backwards
/// have halves, of which one may have no tasks; without it, all is read from
/// the tasks. The result may be no legal schedule (more stages on one
/// coordinate than on another, forwards only). Error: a task whose stage,
/// micro-batch or copy the schedule has not, or far too many of them.
FailureOr<::piper::schedule::Schedule>
readSchedule(const BodyTasks &body, const ::piper::schedule::Schedule *given);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_READSCHEDULE_H

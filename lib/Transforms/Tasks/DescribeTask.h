// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name and the place of a task.

#ifndef PIPER_LIB_TRANSFORMS_TASKS_DESCRIBETASK_H
#define PIPER_LIB_TRANSFORMS_TASKS_DESCRIBETASK_H

#include "Piper/Dialect/PiperDialect.h"

#include <string>

namespace mlir::piper {

/// "'block.bw' (layer = 1, B, mb 1, stage 1)", the way messages name a task.
std::string describeTask(TaskOp task);

/// The coordinate that runs a task of the body; 0 in a step without places.
int64_t getCoordinate(TaskOp task);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TASKS_DESCRIBETASK_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file with one schedule. Internal to what reads `schedule` directives.

#ifndef PIPER_LIB_TRANSFORMS_STAGES_SCHEDULEFILE_H
#define PIPER_LIB_TRANSFORMS_STAGES_SCHEDULEFILE_H

#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

namespace mlir::piper {

/// Reads the one schedule of a file, whose chains visit the stages of a model
/// in order. Errors name the file: it cannot be read, is no such list, or
/// breaks a rule of schedules.
::piper::schedule::Result<::piper::schedule::Schedule>
readScheduleFile(const std::string &path);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_STAGES_SCHEDULEFILE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step as a line of JSON, and the file of these lines when a run is resumed.

#ifndef PIPER_LIB_RUNTIME_TRAIN_METRICS_H
#define PIPER_LIB_RUNTIME_TRAIN_METRICS_H

#include "Piper/Runtime/Step.h"

#include <string>

namespace piper::rt {

/// Replaces `line` by the object of a step, with a newline. Once `line` has
/// grown it allocates nothing.
void formatMetrics(const StepResult &result, std::string &line);

/// The lines of an earlier run's file that stay when a run goes on at `step`:
/// not those of steps from there on, and not a last line that was cut off.
/// Fails where another line is no JSON. Of a stream, or where there is none:
/// empty.
Result<std::string> readMetricsBefore(const std::string &path, int64_t step);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_TRAIN_METRICS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step as a line of JSON.

#ifndef PIPER_LIB_RUNTIME_METRICS_H
#define PIPER_LIB_RUNTIME_METRICS_H

#include "Piper/Runtime/Step.h"

#include <string>

namespace piper::rt {

/// Replaces `line` by the object of a step, with a newline. Once `line` has
/// grown it allocates nothing.
void formatMetrics(const StepResult &result, std::string &line);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_METRICS_H

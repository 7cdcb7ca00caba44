// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the options of a run mean together.

#ifndef PIPER_LIB_RUNTIME_RUN_RUNOPTIONS_H
#define PIPER_LIB_RUNTIME_RUN_RUNOPTIONS_H

#include "Piper/Runtime/Run.h"

#include <string>
#include <vector>

namespace piper::rt {

/// Whether there are batches to run.
bool hasData(const RunOptions &options);

/// The flags that only a training run heeds, of those that are set.
std::vector<std::string> trainingFlags(const RunOptions &options);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_RUN_RUNOPTIONS_H

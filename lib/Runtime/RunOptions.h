// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the options of a run mean together.

#ifndef PIPER_LIB_RUNTIME_RUNOPTIONS_H
#define PIPER_LIB_RUNTIME_RUNOPTIONS_H

#include "Piper/Runtime/Run.h"

#include <string>

namespace piper::rt {

/// Whether there are batches to run.
bool hasData(const RunOptions &options);

/// A flag that only a training run heeds, of those that are set; or "".
std::string trainingFlag(const RunOptions &options);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_RUNOPTIONS_H

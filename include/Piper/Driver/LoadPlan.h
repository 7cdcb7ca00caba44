// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a file, model or plan, to the runtime's Plan.

#ifndef PIPER_DRIVER_LOADPLAN_H
#define PIPER_DRIVER_LOADPLAN_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"
#include "Piper/Transforms/Pipelines.h"

namespace mlir::piper {

/// What is asked of a model before it runs. A plan has answered all of it.
struct LoadOptions {
  /// The text of --piper-compile.
  std::string compile;
  /// Values of keys given by flags of their own, as key and text.
  std::vector<std::pair<std::string, std::string>> keys;
  /// Keep the gradients, unless `compile` says otherwise.
  bool keepGradients = false;
  /// A plan ignores `compile` and `keys`, which are another model's.
  bool modelsOnly = false;
  /// A model is compiled without the keys, the strategy and the directives that
  /// distribute it: as the oracle of one that has them.
  bool oneDevice = false;
};

/// Reads `path` and compiles it if it is a model. Diagnostics with their places
/// go to standard error; the Status then has an empty message. Options that a
/// plan cannot follow are errors. `isModel`, if there is one, says which it
/// was.
::piper::rt::Result<::piper::rt::Plan> loadPlan(const std::string &path,
                                                const LoadOptions &options,
                                                bool *isModel = nullptr);

} // namespace mlir::piper

#endif // PIPER_DRIVER_LOADPLAN_H

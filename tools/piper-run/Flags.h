// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of piper-run, read into what its libraries take.

#ifndef PIPER_TOOLS_RUN_FLAGS_H
#define PIPER_TOOLS_RUN_FLAGS_H

#include "Piper/Driver/LoadPlan.h"
#include "Piper/Runtime/Run.h"

#include <string>

struct RunRequest {
  /// The model or plan.
  std::string program;
  /// --piper-compile, --lr, --threads.
  mlir::piper::LoadOptions load;
  /// --oracle: the second model or plan, or empty.
  std::string oracle;
  /// All other flags.
  piper::rt::RunOptions run;
};

/// Reads the command line. For --help, --version, and where a flag is unknown
/// or has no such value, prints that and ends the process.
RunRequest parseRunFlags(int argc, char **argv);

#endif // PIPER_TOOLS_RUN_FLAGS_H

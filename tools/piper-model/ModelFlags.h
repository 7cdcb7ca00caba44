// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of piper-model: a request that is complete and checked, or
// one line that says what is wrong.

#ifndef PIPER_TOOLS_MODELFLAGS_H
#define PIPER_TOOLS_MODELFLAGS_H

#include "Piper/Models/GPT2.h"
#include "Piper/Models/TestModels.h"

#include <variant>

namespace mlir::piper {

struct ModelRequest {
  std::variant<GPT2Config, MLPConfig, ChainConfig, LMConfig> config;
  ModelOptions options;
  bool bytecode = false;
  /// Where the model goes, "-" is stdout; empty: it is not wanted.
  std::string output;
  /// Where the test model's inputs go, of how many steps; empty: not wanted.
  std::string inputs;
  int64_t steps = 1;
  /// --config, which was read; or empty.
  std::string configFile;
  std::vector<std::string> warnings;
};

/// Ends the process for --help and --version.
llvm::Expected<ModelRequest> parseModelFlags(int argc, char **argv);

} // namespace mlir::piper

#endif // PIPER_TOOLS_MODELFLAGS_H

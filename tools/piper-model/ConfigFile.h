// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a Hugging Face config.json.

#ifndef PIPER_TOOLS_CONFIGFILE_H
#define PIPER_TOOLS_CONFIGFILE_H

#include "Piper/Models/GPT2.h"

namespace mlir::piper {

/// The config in the file; errors start with its name.
llvm::Expected<GPT2Config> readConfigFile(StringRef path,
                                          std::vector<std::string> &warnings);

} // namespace mlir::piper

#endif // PIPER_TOOLS_CONFIGFILE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of a piper-opt command.

#ifndef PIPER_TOOLS_OPT_OPTFILES_H
#define PIPER_TOOLS_OPT_OPTFILES_H

#include "Piper/Runtime/Status.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"

/// Checks, before any is opened, that no output takes the place of another or
/// of a file that is read; -o may be the input.
piper::rt::Status checkOptFiles(llvm::ArrayRef<const char *> arguments,
                                const std::string &input,
                                const std::string &output,
                                const mlir::MlirOptMainConfig &config);

/// Runs the passes on `input`. A file is written when all has gone well;
/// standard output as the text comes.
piper::rt::Status runOpt(std::unique_ptr<llvm::MemoryBuffer> input,
                         const std::string &output,
                         mlir::DialectRegistry &registry,
                         const mlir::MlirOptMainConfig &config, bool &failed);

#endif // PIPER_TOOLS_OPT_OPTFILES_H

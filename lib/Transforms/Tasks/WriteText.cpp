// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes text; a full disk is an error like any other.

#include "WriteText.h"

#include "Piper/Dialect/ProgramLocation.h"
#include "Piper/Runtime/Files.h"

using namespace mlir;

LogicalResult mlir::piper::writeText(ModuleOp module, StringRef path,
                                     StringRef text) {
  if (path == "-") {
    llvm::errs() << text;
    return success();
  }
  ::piper::rt::Status status = ::piper::rt::checkUnread(path.str());
  if (status.ok())
    status = ::piper::rt::writeFile(path.str(), text.str());
  if (!status.ok())
    return emitProgramError(module) << status.message();
  return success();
}

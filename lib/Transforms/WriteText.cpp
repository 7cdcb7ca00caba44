// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes text; a full disk is an error like any other.

#include "WriteText.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

LogicalResult mlir::piper::writeText(ModuleOp module, StringRef path,
                                     StringRef text) {
  if (path == "-") {
    llvm::errs() << text;
    return success();
  }
  std::string problem;
  auto file = openOutputFile(path, &problem);
  if (!file)
    return module.emitError() << problem;
  file->os() << text;
  file->os().flush();
  if (std::error_code code = file->os().error()) {
    file->os().clear_error();
    return module.emitError()
           << "cannot write '" << path << "': " << code.message();
  }
  file->keep();
  return success();
}

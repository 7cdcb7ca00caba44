// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of command lines that LLVM's parser leaves out.

#ifndef PIPER_DRIVER_COMMANDLINE_H
#define PIPER_DRIVER_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"

#include <string>
#include <vector>

namespace mlir::piper {

/// "flag '--steps' is given twice": the first flag by name that stands more
/// than once though it has one value, of which LLVM would take the last; or
/// empty. Requires: the command line was parsed.
std::string findRepeatedFlag(
    llvm::cl::SubCommand &sub = llvm::cl::SubCommand::getTopLevel());

/// The values of `keys` in the options of passes: "list.json" for the key
/// "file" in --piper-directives=file=list.json. Found by the text alone, before
/// any pass exists.
std::vector<std::string> findFileOptions(llvm::ArrayRef<const char *> arguments,
                                         llvm::ArrayRef<llvm::StringRef> keys);

} // namespace mlir::piper

#endif // PIPER_DRIVER_COMMANDLINE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the directives of a file to those of the module.

#include "Directive.h"
#include "DirectiveJSON.h"
#include "Piper/Transforms/BodyTable.h"
#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERDIRECTIVES
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

static LogicalResult addDirectives(ModuleOp module, StringRef pass,
                                   StringRef file) {
  Level level = getLevel(module);
  if (level != Level::Model && level != Level::DAG)
    return emitProgramError(module)
           << "'" << pass << "' expects level 'model' or 'dag' but got '"
           << stringifyLevel(level) << "'";
  if (file.empty())
    return emitProgramError(module)
           << "'" << pass << "' expects the option 'file'";
  if (failed(addDirectiveFile(module, file)))
    return failure();
  // A list may say what the other says already.
  return success(succeeded(readDirectives(module)));
}

namespace {
class PiperDirectivesPass
    : public mlir::piper::impl::PiperDirectivesBase<PiperDirectivesPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(addDirectives(getOperation(), getArgument(), file)))
      signalPassFailure();
  }
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the directives of a file to those of the module.

#include "Piper/Transforms/BodyTable.h"
#include "Piper/Transforms/Directive.h"
#include "Piper/Transforms/DirectiveJSON.h"
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
    return module.emitError()
           << "'" << pass << "' expects level 'model' or 'dag' but got '"
           << stringifyLevel(level) << "'";
  if (file.empty())
    return module.emitError() << "'" << pass << "' expects the option 'file'";
  FailureOr<SmallVector<Attribute>> added = readDirectiveFile(module, file);
  if (failed(added))
    return failure();
  StringRef name = PiperDialect::DirectivesAttrHelper::getNameStr();
  SmallVector<Attribute> list;
  if (auto present = module->getAttrOfType<ArrayAttr>(name))
    llvm::append_range(list, present);
  llvm::append_range(list, *added);
  module->setAttr(name, ArrayAttr::get(module.getContext(), list));
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

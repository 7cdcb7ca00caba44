// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the directives of a module as JSON.

#include "Tasks/WriteText.h"

#include "Directive.h"
#include "DirectiveJSON.h"
#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPRINTDIRECTIVES
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {
class PiperPrintDirectivesPass
    : public mlir::piper::impl::PiperPrintDirectivesBase<
          PiperPrintDirectivesPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(readDirectives(module)))
      return signalPassFailure();
    auto list = module->getAttrOfType<ArrayAttr>(
        PiperDialect::DirectivesAttrHelper::getNameStr());
    std::string text =
        printDirectives(list ? list.getValue() : ArrayRef<Attribute>());
    if (failed(writeText(module, output, text)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

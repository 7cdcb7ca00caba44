// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a training DAG: the wall between the passes that make it and those
// that distribute it.

#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERVERIFYDAG
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {
class PiperVerifyDagPass
    : public mlir::piper::impl::PiperVerifyDagBase<PiperVerifyDagPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    for (func::FuncOp entry : getEntryFunctions(module))
      if (entry.getSymName() == "train" && failed(verifyState(entry)))
        return signalPassFailure();
  }
};
} // namespace

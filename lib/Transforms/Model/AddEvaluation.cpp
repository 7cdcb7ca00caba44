// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the entry point `eval`: the loss of `train`, without dropout.
//
// 1. Clone `train` under the name `eval`, unless the model has one.
// 2. In `eval` and every other entry point but `train`, replace dropout by its
// operand, and
//    switch it off in attention.

#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"
#include "VerifyModel.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERADDEVALUATION
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// Attention without dropout needs no key.
static void removeAttentionDropout(AttentionOp op) {
  op.setDropout(APFloat(0.0));
  op.setIndex(0);
  op.getRandomMutable().clear();
  op.removeGlobalShapeAttr();
}

static void removeDropout(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (auto dropout = dyn_cast<DropoutOp>(op)) {
      dropout.getY().replaceAllUsesWith(dropout.getX());
      dropout.erase();
    } else if (auto attention = dyn_cast<AttentionOp>(op)) {
      removeAttentionDropout(attention);
    }
  }
  for (auto key : llvm::make_early_inc_range(function.getOps<RandomKeyOp>()))
    if (key->use_empty())
      key.erase();
}

namespace {
class PiperAddEvaluationPass
    : public mlir::piper::impl::PiperAddEvaluationBase<PiperAddEvaluationPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::Model)) ||
        failed(verifyModel(module)))
      return signalPassFailure();
    SymbolTable symbols(module);
    auto train = symbols.lookup<func::FuncOp>("train");
    if (train && !symbols.lookup("eval")) {
      func::FuncOp eval = train.clone();
      eval.setSymName("eval");
      symbols.insert(eval, std::next(train->getIterator()));
    }
    for (func::FuncOp entry : getEntryFunctions(module))
      if (entry != train)
        removeDropout(entry);
  }
};
} // namespace

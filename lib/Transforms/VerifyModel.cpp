// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that a module is a model that the passes can train.

#include "Piper/Transforms/BodyTable.h"
#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERVERIFYMODEL
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// Only ops of the dialect, without control flow.
static LogicalResult verifyOps(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expects an entry point of one block but got "
                                  << function.getBody().getBlocks().size();
  LogicalResult result = success();
  for (Operation &op : function.front().without_terminator())
    if (!isa<ShardingRuleOpInterface>(op))
      result = op.emitOpError() << "cannot stand in a model: expects compute ops "
                                   "of the piper dialect";
  return result;
}

/// Every argument is an input or a parameter, under a name of its own.
static LogicalResult verifyArguments(func::FuncOp function) {
  llvm::StringMap<unsigned> names;
  LogicalResult result = success();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto input = function.getArgAttrOfType<InputAttr>(
        i, PiperDialect::InputAttrHelper::getNameStr());
    auto param = function.getArgAttrOfType<ParamAttr>(
        i, PiperDialect::ParamAttrHelper::getNameStr());
    if (!input == !param) {
      result = function.emitOpError()
               << "expects argument #" << i
               << " to have either #piper.input or #piper.param but got "
               << (input ? "both" : "none");
      continue;
    }
    StringRef name = input ? input.getName() : param.getName();
    auto [known, isNew] = names.try_emplace(name, i);
    if (!isNew)
      result = function.emitOpError() << "expects names of arguments to be unique but '"
                                      << name << "' is both #" << known->second
                                      << " and #" << i;
    if (name.empty())
      result = function.emitOpError() << "expects argument #" << i << " to have a name";
    if (param && llvm::is_contained({"iteration", "update", "seed"}, name))
      result = function.emitOpError() << "expects parameter #" << i
                                      << " not to be named '" << name
                                      << "', the name of a counter of the step";
  }
  return result;
}

static LogicalResult verifyLoss(func::FuncOp train) {
  for (unsigned i = 0; i < train.getNumResults(); ++i) {
    auto name = train.getResultAttrOfType<StringAttr>(
        i, PiperDialect::OutputAttrHelper::getNameStr());
    if (!name)
      return train.emitOpError() << "expects result #" << i
                                 << " to have a name, as {piper.output = \"...\"}";
    if (name != "loss")
      continue;
    auto type = dyn_cast<RankedTensorType>(train.getResultTypes()[i]);
    if (!type || type.getRank() != 0 ||
        !(type.getElementType().isF32() || type.getElementType().isF64()))
      return train.emitOpError() << "expects the loss to be tensor<f32> or "
                                    "tensor<f64> but got "
                                 << train.getResultTypes()[i];
    return success();
  }
  return train.emitOpError() << "expects a result {piper.output = \"loss\"}";
}

/// A parameter is the same in all entry points.
static LogicalResult verifyParameters(ArrayRef<func::FuncOp> entries) {
  struct Known {
    func::FuncOp function;
    ParamAttr param;
    Type type;
  };
  llvm::StringMap<Known> parameters;
  for (func::FuncOp entry : entries)
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      auto param = entry.getArgAttrOfType<ParamAttr>(
          i, PiperDialect::ParamAttrHelper::getNameStr());
      if (!param)
        continue;
      Type type = entry.getArgumentTypes()[i];
      auto [found, isNew] =
          parameters.try_emplace(param.getName(), Known{entry, param, type});
      Known &known = found->second;
      if (isNew || (known.param == param && known.type == type))
        continue;
      InFlightDiagnostic diagnostic =
          entry.emitOpError() << "expects parameter '" << param.getName().getValue()
                              << "' to be " << known.type << " " << known.param
                              << " but got " << type << " " << param;
      diagnostic.attachNote(known.function.getLoc())
          << "as in '" << known.function.getSymName() << "'";
      return diagnostic;
    }
  return success();
}

namespace {
class PiperVerifyModelPass
    : public mlir::piper::impl::PiperVerifyModelBase<PiperVerifyModelPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::Model)))
      return signalPassFailure();
    SmallVector<func::FuncOp> entries = getEntryFunctions(module);
    bool good = true;
    func::FuncOp train;
    for (func::FuncOp entry : entries) {
      good &= succeeded(verifyOps(entry)) && succeeded(verifyArguments(entry));
      if (entry.getSymName() == "train")
        train = entry;
    }
    if (!train) {
      module.emitError() << "expects a function 'train' but the model has none";
      return signalPassFailure();
    }
    if (!good || failed(verifyLoss(train)) || failed(verifyParameters(entries)))
      signalPassFailure();
  }
};
} // namespace

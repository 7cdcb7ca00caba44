// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that a module is a model that the passes can train.

#include "VerifyModel.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERVERIFYMODEL
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// The module and its ops
//===----------------------------------------------------------------------===//

/// Only entry points, under the names that are run.
static LogicalResult verifyTopLevel(ModuleOp module) {
  LogicalResult result = success();
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      result = op.emitOpError()
               << "cannot stand in a model: expects only functions";
    else if (!function.isPublic())
      result = function.emitOpError()
               << "expects only entry points in a model but '"
               << function.getSymName() << "' is "
               << (function.isPrivate() ? "private" : "nested");
    else if (!llvm::is_contained({"train", "eval", "predict"},
                                 function.getSymName()))
      result =
          function.emitOpError()
          << "expects the entry points 'train', 'eval' and 'predict' but got '"
          << function.getSymName() << "'";
  }
  return result;
}

/// Only ops of the dialect, without control flow, on tensors that can be
/// stored.
static LogicalResult verifyOps(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "expects an entry point of one block but got "
           << function.getBody().getBlocks().size();
  LogicalResult result = success();
  for (Operation &op : function.front().without_terminator()) {
    if (!isa<ShardingRuleOpInterface>(op)) {
      result = op.emitOpError()
               << "cannot stand in a model: expects compute ops "
                  "of the piper dialect";
      continue;
    }
    if (isa<OriginOp>(op)) {
      result = op.emitOpError() << "cannot stand in a model: 'piper-split' "
                                   "makes it for each micro-batch";
      continue;
    }
    // The results beside the first are what autodiff asks for; they have no
    // gradient of their own.
    if (isa<DifferentiableOpInterface>(op) && op.getNumResults() > 1)
      result = op.emitOpError()
               << "expects one result in a model but got " << op.getNumResults()
               << ": the others are made for gradients";
    for (OpResult value : op.getResults())
      if (StringRef problem = findTypeProblem(value.getType());
          !problem.empty())
        result = op.emitOpError()
                 << "expects result #" << value.getResultNumber() << " to have "
                 << problem << " but got " << value.getType();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static InputAttr getInput(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<InputAttr>(
      argument, PiperDialect::InputAttrHelper::getNameStr());
}

static ParamAttr getParam(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<ParamAttr>(
      argument, PiperDialect::ParamAttrHelper::getNameStr());
}

/// A parameter must not have the name of a counter, nor of a moment of another.
static LogicalResult verifyStateName(func::FuncOp function, StringRef name,
                                     const llvm::StringSet<> &parameters) {
  if (llvm::is_contained({"iteration", "update", "seed"}, name))
    return function.emitOpError() << "expects no parameter named '" << name
                                  << "', the name of a counter of the step";
  if (name == "__metadata__" || !llvm::json::isUTF8(name))
    return function.emitOpError()
           << "expects parameters to have names that a safetensors file can "
              "hold but got '"
           << llvm::json::fixUTF8(name) << "'";
  for (StringRef suffix : {".m", ".v"}) {
    StringRef of = name;
    if (of.consume_back(suffix) && parameters.contains(of))
      return function.emitOpError()
             << "expects no parameter named '" << name
             << "', the name of a moment of parameter '" << of << "'";
  }
  return success();
}

/// Every argument is an input or a parameter, under a name of its own, that
/// can be stored; a parameter that is trained has f32 or f64 elements.
static LogicalResult verifyArguments(func::FuncOp function) {
  llvm::StringMap<unsigned> names;
  llvm::StringSet<> parameters;
  LogicalResult result = success();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    InputAttr input = getInput(function, i);
    ParamAttr param = getParam(function, i);
    Type type = function.getArgumentTypes()[i];
    if (!input == !param) {
      result = function.emitOpError()
               << "expects argument #" << i
               << " to have either #piper.input or #piper.param but got "
               << (input ? "both" : "none");
      continue;
    }
    StringRef name = input ? input.getName() : param.getName();
    if (name.empty())
      result = function.emitOpError()
               << "expects argument #" << i << " to have a name";
    auto [known, isNew] = names.try_emplace(name, i);
    if (!isNew)
      result = function.emitOpError()
               << "expects names of arguments to be unique but '" << name
               << "' is both #" << known->second << " and #" << i;
    if (StringRef problem = findTypeProblem(type); !problem.empty())
      result = function.emitOpError()
               << "expects argument '" << name << "' to have " << problem
               << " but got " << type;
    else if (param && !param.getFrozen() && getElementTypeOrSelf(type).isBF16())
      result = function.emitOpError()
               << "expects parameter '" << name
               << "' to be f32 or f64, cast where it is used, "
                  "or frozen but got "
               << type;
    if (param)
      parameters.insert(name);
  }
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (ParamAttr param = getParam(function, i))
      if (failed(verifyStateName(function, param.getName().getValue(),
                                 parameters)))
        result = failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Every result has a name of its own that the passes do not give to theirs.
static LogicalResult verifyResults(func::FuncOp function) {
  static constexpr StringRef ofStep[] = {"grad_norm", "ok", "lr", "nonfinite"};
  bool isTrain = function.getSymName() == "train";
  bool hasCount = function.getSymName() != "predict";
  llvm::StringMap<unsigned> names;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(
        i, PiperDialect::OutputAttrHelper::getNameStr());
    if (!name || name.empty())
      return function.emitOpError()
             << "expects result #" << i
             << " to have a name, as {piper.output = \"...\"}";
    if ((isTrain && llvm::is_contained(ofStep, name)) ||
        (hasCount && name == "count"))
      return function.emitOpError()
             << "expects no result named '" << name.getValue()
             << "', the name of a result of the step";
    auto [known, isNew] = names.try_emplace(name, i);
    if (!isNew)
      return function.emitOpError()
             << "expects names of results to be unique but '" << name.getValue()
             << "' is both #" << known->second << " and #" << i;
  }
  return success();
}

static LogicalResult verifyLoss(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(
        i, PiperDialect::OutputAttrHelper::getNameStr());
    if (name != "loss")
      continue;
    auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
    if (type.getRank() == 0 &&
        (type.getElementType().isF32() || type.getElementType().isF64()))
      return success();
    return function.emitOpError() << "expects the loss to be tensor<f32> or "
                                     "tensor<f64> but got "
                                  << type;
  }
  return function.emitOpError() << "expects a result {piper.output = \"loss\"}";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// All parameters that are trained have one element type: that of the step.
static LogicalResult verifyElementTypes(func::FuncOp train) {
  std::optional<unsigned> first;
  for (unsigned i = 0; i < train.getNumArguments(); ++i) {
    ParamAttr param = getParam(train, i);
    if (!param || param.getFrozen())
      continue;
    if (!first)
      first = i;
    Type expected = getElementTypeOrSelf(train.getArgumentTypes()[*first]);
    Type got = getElementTypeOrSelf(train.getArgumentTypes()[i]);
    if (expected != got)
      return train.emitOpError()
             << "expects trained parameters of one element type but '"
             << getParam(train, *first).getName().getValue() << "' has "
             << expected << " and '" << param.getName().getValue() << "' has "
             << got;
  }
  return success();
}

/// A parameter is the same in all entry points, and trained by `train`.
static LogicalResult verifyParameters(ArrayRef<func::FuncOp> entries,
                                      func::FuncOp train) {
  struct Known {
    func::FuncOp function;
    ParamAttr param;
    Type type;
  };
  llvm::StringMap<Known> parameters;
  SmallVector<func::FuncOp> ordered = {train};
  llvm::copy_if(entries, std::back_inserter(ordered),
                [&](func::FuncOp entry) { return entry != train; });
  for (func::FuncOp entry : ordered)
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      ParamAttr param = getParam(entry, i);
      if (!param)
        continue;
      Type type = entry.getArgumentTypes()[i];
      auto [found, isNew] =
          parameters.try_emplace(param.getName(), Known{entry, param, type});
      Known &known = found->second;
      if (isNew && entry != train && !param.getFrozen())
        return entry.emitOpError()
               << "expects parameter '" << param.getName().getValue()
               << "' to be one of 'train' or frozen";
      if (isNew || (known.param == param && known.type == type))
        continue;
      InFlightDiagnostic diagnostic =
          entry.emitOpError()
          << "expects parameter '" << param.getName().getValue() << "' to be "
          << known.type << " " << known.param << " but got " << type << " "
          << param;
      diagnostic.attachNote(known.function.getLoc())
          << "as in '" << known.function.getSymName() << "'";
      return diagnostic;
    }
  return success();
}

LogicalResult mlir::piper::verifyModel(ModuleOp module) {
  if (failed(verifyTopLevel(module)))
    return failure();
  SmallVector<func::FuncOp> entries = getEntryFunctions(module);
  bool good = true;
  func::FuncOp train;
  for (func::FuncOp entry : entries) {
    good &= succeeded(verifyOps(entry)) && succeeded(verifyArguments(entry)) &&
            succeeded(verifyResults(entry));
    if (entry.getSymName() == "train")
      train = entry;
  }
  if (!train)
    return emitProgramError(module)
           << "expects a function 'train' but the model has none";
  if (!good)
    return failure();
  for (func::FuncOp entry : entries)
    if (entry.getSymName() != "predict" && failed(verifyLoss(entry)))
      return failure();
  return success(succeeded(verifyElementTypes(train)) &&
                 succeeded(verifyParameters(entries, train)));
}

namespace {
class PiperVerifyModelPass
    : public mlir::piper::impl::PiperVerifyModelBase<PiperVerifyModelPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::Model)) ||
        failed(verifyModel(module)))
      signalPassFailure();
  }
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a training DAG: the wall between the passes that make it and those
// that distribute it.

#include "Piper/Transforms/Passes.h"
#include "Piper/Transforms/Verify.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERVERIFYDAG
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// A body is a straight line of compute ops on tensors that can be stored.
static LogicalResult verifyBody(func::FuncOp body) {
  if (!body.getBody().hasOneBlock())
    return body.emitOpError() << "expects a body of one block but got "
                              << body.getBody().getBlocks().size();
  for (BlockArgument argument : body.getArguments())
    if (StringRef problem = findTypeProblem(argument.getType());
        !problem.empty())
      return body.emitOpError()
             << "expects argument #" << argument.getArgNumber() << " to have "
             << problem << " but got " << argument.getType();
  for (Operation &op : body.front().without_terminator()) {
    if (!isa<ShardingRuleOpInterface>(op))
      return op.emitOpError()
             << "cannot stand in a body: expects compute ops of "
                "the piper dialect";
    for (OpResult value : op.getResults())
      if (StringRef problem = findTypeProblem(value.getType());
          !problem.empty())
        return op.emitOpError()
               << "expects result #" << value.getResultNumber() << " to have "
               << problem << " but got " << value.getType();
  }
  return success();
}

/// Entry points hold tasks and nothing else.
static LogicalResult verifyEntry(Operation *entry, Region &body,
                                 const SymbolTable &symbols) {
  if (!body.hasOneBlock())
    return entry->emitOpError()
           << "expects an entry point of one block but got "
           << body.getBlocks().size();
  for (BlockArgument argument : body.getArguments())
    if (StringRef problem = findTypeProblem(argument.getType());
        !problem.empty())
      return entry->emitOpError()
             << "expects argument #" << argument.getArgNumber() << " to have "
             << problem << " but got " << argument.getType();
  for (Operation &op : body.front().without_terminator()) {
    auto task = dyn_cast<TaskOp>(op);
    if (!task)
      return op.emitOpError()
             << "cannot stand in an entry point: expects only tasks";
    if (symbols.lookup<func::FuncOp>(task.getCallee()).isPublic())
      return task.emitOpError() << "expects a private function but '"
                                << task.getCallee() << "' is an entry point";
  }
  return success();
}

LogicalResult mlir::piper::verifyTasks(ModuleOp module) {
  SymbolTable symbols(module);
  for (Operation &op : *module.getBody()) {
    LogicalResult result = success();
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      result = function.isPublic()
                   ? verifyEntry(function, function.getBody(), symbols)
                   : verifyBody(function);
    } else if (auto program = dyn_cast<ProgramOp>(op)) {
      for (Operation &entry : program.getBody().front())
        if (!isa<EntryOp>(entry))
          return entry.emitOpError()
                 << "cannot stand in a program: expects only "
                    "entry points";
      for (auto entry : program.getBody().getOps<EntryOp>())
        if (failed(verifyEntry(entry, entry.getBody(), symbols)))
          return failure();
    } else {
      return op.emitOpError() << "cannot stand in a module of tasks: expects "
                                 "functions and programs";
    }
    if (failed(result))
      return failure();
  }
  return success();
}

/// Each moment and counter of `train` but the seed has one next value, and each
/// next value is of the state's type.
static LogicalResult verifyState(func::FuncOp train) {
  llvm::StringMap<unsigned> next;
  for (unsigned i = 0; i < train.getNumResults(); ++i)
    if (auto name = train.getResultAttrOfType<StringAttr>(
            i, PiperDialect::NextAttrHelper::getNameStr()))
      if (!next.try_emplace(name, i).second)
        return train.emitOpError() << "expects one next value of '"
                                   << name.getValue() << "' but got two";
  for (unsigned i = 0; i < train.getNumArguments(); ++i) {
    auto state = train.getArgAttrOfType<StateAttr>(
        i, PiperDialect::StateAttrHelper::getNameStr());
    auto param = train.getArgAttrOfType<ParamAttr>(
        i, PiperDialect::ParamAttrHelper::getNameStr());
    if (!state && !param)
      continue;
    StringRef name = state ? state.getName() : param.getName();
    auto found = next.find(name);
    if (found == next.end()) {
      if (state && name != "seed")
        return train.emitOpError()
               << "expects a next value of '" << name << "' but got none";
      continue;
    }
    if (param && param.getFrozen())
      return train.emitOpError()
             << "expects frozen parameter '" << name << "' to have no update";
    Type expected = train.getArgumentTypes()[i];
    Type got = train.getResultTypes()[found->second];
    if (expected != got)
      return train.emitOpError()
             << "expects the next value of '" << name << "' to be " << expected
             << " but got " << got;
    next.erase(found);
  }
  if (!next.empty())
    return train.emitOpError()
           << "has a next value of '" << next.begin()->first()
           << "' but no such state";
  return success();
}

/// A trainable parameter stands in one update and no more.
static LogicalResult verifyUpdates(func::FuncOp train) {
  for (BlockArgument argument : train.getArguments()) {
    auto param = train.getArgAttrOfType<ParamAttr>(
        argument.getArgNumber(), PiperDialect::ParamAttrHelper::getNameStr());
    if (!param)
      continue;
    unsigned updates = llvm::count_if(argument.getUsers(), [](Operation *user) {
      auto task = dyn_cast<TaskOp>(user);
      return task && task.getPass() == PassKind::U;
    });
    if (updates > 1)
      return train.emitOpError()
             << "expects parameter '" << param.getName().getValue()
             << "' in one update but got " << updates;
  }
  return success();
}

namespace {
class PiperVerifyDagPass
    : public mlir::piper::impl::PiperVerifyDagBase<PiperVerifyDagPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    for (func::FuncOp entry : getEntryFunctions(module))
      if (entry.getSymName() == "train" &&
          (failed(verifyState(entry)) || failed(verifyUpdates(entry))))
        return signalPassFailure();
  }
};
} // namespace

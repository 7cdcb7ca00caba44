// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks bodies, entry points and programs, whatever the level, and the state
// of `train`.

#include "VerifyTasks.h"

using namespace mlir;
using namespace mlir::piper;

StringRef mlir::piper::findTypeProblem(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "a ranked tensor type";
  if (tensor.getEncoding())
    return "a type without an encoding";
  Type element = tensor.getElementType();
  if (!element.isF32() && !element.isF64() && !element.isBF16() &&
      !element.isSignlessInteger(1) && !element.isSignlessInteger(32) &&
      !element.isSignlessInteger(64))
    return "elements of f32, f64, bf16, i1, i32 or i64";
  if (!tensor.hasStaticShape())
    return "a static shape";
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  for (int64_t size : tensor.getShape()) {
    if (size == 0)
      return "dimensions of 1 or more";
    if (size > kMaxTensorBytes / bytes)
      return "at most 2^46 bytes";
    bytes *= size;
  }
  return "";
}

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

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// What is expected of an op of an entry point where `op` is none; empty if it
/// may stand there.
static StringRef findOpProblem(Operation *op, bool isProgram, bool isPlaced) {
  if (isa<TaskOp, MicroBatchOp>(op))
    return "";
  if (isProgram)
    return isa<SendOp, ReceiveOp, ReduceOp>(op)
               ? ""
               : "tasks, views of micro-batches, sends, receives and reduces";
  if (isPlaced)
    return isa<TransferOp, AllReduceOp>(op)
               ? ""
               : "tasks, views of micro-batches, transfers and all-reduces";
  return "tasks and views of micro-batches";
}

static LogicalResult verifyTask(TaskOp task, const SymbolTable &symbols,
                                bool isProgram) {
  if (symbols.lookup<func::FuncOp>(task.getCallee()).isPublic())
    return task.emitOpError() << "expects a private function but '"
                              << task.getCallee() << "' is an entry point";
  if (isProgram && !task.getInto().empty())
    return task.emitOpError() << "cannot have operands of 'into' in a program";
  return success();
}

/// A view is one of a step input, which every rank holds.
static LogicalResult verifyView(MicroBatchOp view, FunctionOpInterface entry) {
  auto argument = dyn_cast<BlockArgument>(view.getInput());
  bool isState = false;
  for (StringRef key : {PiperDialect::ParamAttrHelper::getNameStr(),
                        PiperDialect::StateAttrHelper::getNameStr()})
    isState |= argument && entry.getArgAttr(argument.getArgNumber(), key);
  if (argument && !isState)
    return success();
  return view.emitOpError() << "expects a step input but got "
                            << (isState ? "state" : "a result of the step");
}

/// Values have coordinates at the level 'placed' and nowhere else.
static LogicalResult verifyEntry(FunctionOpInterface entry,
                                 const SymbolTable &symbols, bool isPlaced) {
  Region &body = entry.getFunctionBody();
  bool isProgram = isa<EntryOp>(entry.getOperation());
  if (!body.hasOneBlock())
    return entry->emitOpError()
           << "expects an entry point of one block but got "
           << body.getBlocks().size();
  for (BlockArgument argument : body.getArguments()) {
    Type type = argument.getType();
    if (isPlaced && isa<DistType>(type))
      type = getLocalTensor(type);
    if (StringRef problem = findTypeProblem(type); !problem.empty())
      return entry->emitOpError()
             << "expects argument #" << argument.getArgNumber() << " to have "
             << problem << " but got " << argument.getType();
  }
  for (Operation &op : body.front().without_terminator()) {
    StringRef expected = findOpProblem(&op, isProgram, isPlaced);
    if (!expected.empty())
      return op.emitOpError()
             << "cannot stand in an entry point: expects only " << expected;
    for (OpResult value : op.getResults())
      if (!isPlaced && isa<DistType>(value.getType()))
        return op.emitOpError()
               << "expects result #" << value.getResultNumber()
               << " to have no coordinates but got " << value.getType();
    if (auto task = dyn_cast<TaskOp>(op);
        task && failed(verifyTask(task, symbols, isProgram)))
      return failure();
    if (auto view = dyn_cast<MicroBatchOp>(op);
        view && failed(verifyView(view, entry)))
      return failure();
  }
  return success();
}

static LogicalResult verifyProgram(ProgramOp program,
                                   const SymbolTable &symbols) {
  for (Operation &entry : program.getBody().front())
    if (!isa<EntryOp>(entry))
      return entry.emitOpError() << "cannot stand in a program: expects only "
                                    "entry points";
  for (auto entry : program.getBody().getOps<EntryOp>())
    if (failed(verifyEntry(entry, symbols, /*isPlaced=*/false)))
      return failure();
  return success();
}

LogicalResult mlir::piper::verifyTasks(ModuleOp module) {
  SymbolTable symbols(module);
  Level level = getLevel(module);
  for (Operation &op : *module.getBody()) {
    LogicalResult result = success();
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      result = function.isPublic()
                   ? verifyEntry(function, symbols, level == Level::Placed)
                   : verifyBody(function);
    } else if (auto program = dyn_cast<ProgramOp>(op)) {
      result = verifyProgram(program, symbols);
    } else if (!isa<MeshOp>(op) || level < Level::Placed) {
      return op.emitOpError() << "cannot stand in a module of tasks: expects "
                                 "functions and programs";
    }
    if (failed(result))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// State and updates
//===----------------------------------------------------------------------===//

/// Each moment and counter of `train` but the seed has one next value, and each
/// next value is of the state's type.
static LogicalResult verifyNextValues(func::FuncOp train) {
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

LogicalResult mlir::piper::verifyState(func::FuncOp train) {
  if (failed(verifyNextValues(train)))
    return failure();
  return verifyUpdates(train);
}

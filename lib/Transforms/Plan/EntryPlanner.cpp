// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1. Until when each value is read. What a send or reduce reads lives until the
//    next task: it may still run then. What a receive or reduce makes begins
//    at the task before it, with which it may start.
// 2. Values that share memory (updates in place, results over dying operands)
//    form one buffer.
// 3. Buffers and task workspaces are packed behind the state by lifetime.
// 4. What each op waits for, and the figures of the entry point: PlanWaits.cpp
//    and PlanFigures.cpp.

#include "EntryPlanner.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// StateLayout
//===----------------------------------------------------------------------===//

StringAttr StateLayout::nameOf(EntryOp entry, unsigned argument) {
  if (auto param = entry.getArgAttrOfType<ParamAttr>(
          argument, PiperDialect::ParamAttrHelper::getNameStr()))
    return param.getName();
  if (auto attribute = entry.getArgAttrOfType<StateAttr>(
          argument, PiperDialect::StateAttrHelper::getNameStr()))
    return attribute.getName();
  return {};
}

void StateLayout::add(EntryOp entry) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    StringAttr name = nameOf(entry, i);
    if (!name)
      continue;
    bool isParameter =
        !!entry.getArgAttr(i, PiperDialect::ParamAttrHelper::getNameStr());
    int64_t size = llvm::alignTo(
        convertType(entry.getArgumentTypes()[i]).numBytes(), rt::kAlignment);
    bool isNew = slots
                     .insert({name,
                              {bytes, size,
                               isParameter ? "parameters" : "optimizer state"}})
                     .second;
    if (isNew)
      bytes += size;
  }
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

EntryPlanner::EntryPlanner(EntryOp entry, const PlannedBodies &bodies,
                           const StateLayout &state)
    : entry(entry), bodies(bodies), state(state),
      block(entry.getBody().front()), numbers(block), info(numbers.size()) {}

static rt::Stream streamOf(Operation *op) {
  if (isa<SendOp>(op))
    return rt::Stream::Out;
  if (isa<ReceiveOp>(op))
    return rt::Stream::In;
  return isa<ReduceOp>(op) ? rt::Stream::Reduce : rt::Stream::Compute;
}

/// The value whose memory a value lies in: a view lies in its input.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<MicroBatchOp>())
    value = view.getInput();
  return value;
}

void EntryPlanner::listOps() {
  for (Operation &op : block.without_terminator()) {
    if (isa<MicroBatchOp>(op))
      continue;
    stepOf[&op] = ops.size();
    ops.push_back(&op);
    streams.push_back(streamOf(&op));
  }
  int64_t count = ops.size(), before = 0, after = count;
  taskBefore.resize(count);
  taskAfter.resize(count);
  for (int64_t step = 0; step < count; ++step)
    taskBefore[step] = before =
        streams[step] == rt::Stream::Compute ? step : before;
  for (int64_t step = count - 1; step >= 0; --step)
    taskAfter[step] = after =
        streams[step] == rt::Stream::Compute ? step : after;
}

void EntryPlanner::findLastUses() {
  for (auto [step, op] : llvm::enumerate(ops))
    for (Value operand : op->getOperands()) {
      ValueInfo &value = infoOf(rootOf(operand));
      value.lastRead = step;
      value.end = std::max(value.end, taskAfter[step]);
    }
  for (Value operand : block.getTerminator()->getOperands()) {
    ValueInfo &value = infoOf(rootOf(operand));
    value.lastRead = value.end = ops.size();
  }
}

/// Pairs each new value of state with the argument whose memory it takes.
void EntryPlanner::findNextValues() {
  DenseMap<StringAttr, BlockArgument> arguments;
  for (BlockArgument argument : block.getArguments())
    if (StringAttr name = StateLayout::nameOf(entry, argument.getArgNumber()))
      arguments[name] = argument;
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands()))
    if (auto name = entry.getResultAttrOfType<StringAttr>(
            index, PiperDialect::NextAttrHelper::getNameStr()))
      next[value] = arguments.lookup(name);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

int EntryPlanner::addBuffer(Value value, int64_t begin) {
  ValueInfo &known = infoOf(value);
  Buffer buffer;
  buffer.lifetime = {begin, std::max(begin, known.end),
                     convertType(value.getType()).numBytes(), 0};
  buffer.category = known.category;
  buffer.lastRead = known.lastRead;
  known.buffer = buffers.size();
  buffers.push_back(buffer);
  return known.buffer;
}

void EntryPlanner::placeArguments() {
  for (BlockArgument argument : block.getArguments()) {
    infoOf(argument).category = "inputs";
    Buffer &buffer = buffers[addBuffer(argument, -1)];
    StringAttr name = StateLayout::nameOf(entry, argument.getArgNumber());
    if (!name)
      continue;
    buffer.isState = true;
    buffer.lifetime.offset = state.slots.find(name)->second.offset;
  }
  for (auto view : block.getOps<MicroBatchOp>())
    infoOf(view.getOut()).buffer = infoOf(rootOf(view.getOut())).buffer;
}

/// Whether a result may be made over an operand that the op could overwrite.
bool EntryPlanner::mayTakeOver(int64_t step, OpResult result, Value operand) {
  // A part of a buffer cannot be taken over.
  if (rootOf(operand) != operand)
    return false;
  int index = infoOf(operand).buffer;
  const Buffer &buffer = buffers[index];
  // Another result that nothing reads may have taken it.
  Operation *op = result.getOwner();
  for (Value other : op->getResults().take_front(result.getResultNumber()))
    if (infoOf(other).buffer == index)
      return false;
  // An op that reads the operand twice reads it after the result is begun.
  if (llvm::count_if(op->getOperands(), [&](Value other) {
        return infoOf(other).buffer == index;
      }) != 1)
    return false;
  if (buffer.lastRead > step)
    return false;
  Value target = next.lookup(result);
  if (buffer.isState)
    return target && infoOf(target).buffer == index;
  // A send that is under way would have to end first: rather a buffer of its
  // own than an op that waits.
  return !target && buffer.lastSent < step;
}

/// The buffer of an operand that a result takes over, or -1.
int EntryPlanner::joinOperand(int64_t step, OpResult result, Value &operand) {
  if (auto task = dyn_cast<TaskOp>(ops[step])) {
    for (InPlacePair pair : bodies.find(task.getCallee())->second.inPlace) {
      operand = task.getInputs()[pair.operand];
      if (pair.result == static_cast<int>(result.getResultNumber()) &&
          mayTakeOver(step, result, operand))
        return infoOf(operand).buffer;
    }
    return -1;
  }
  // The sum of an all-reduce is made element by element.
  if (auto reduce = dyn_cast<ReduceOp>(ops[step]))
    for (Value input : reduce.getInputs()) {
      operand = input;
      if (!bufferOf(operand).isState && operand.getType() == result.getType() &&
          mayTakeOver(step, result, operand))
        return infoOf(operand).buffer;
    }
  return -1;
}

void EntryPlanner::placeOp(int64_t step) {
  Operation *op = ops[step];
  for (OpResult value : op->getResults()) {
    infoOf(value).category = categoryOf(value);
    Value operand;
    int joined = joinOperand(step, value, operand);
    if (joined < 0) {
      addBuffer(value, taskBefore[step]);
      continue;
    }
    joins.push_back({value, operand});
    ValueInfo &known = infoOf(value);
    known.buffer = joined;
    Buffer &buffer = buffers[joined];
    buffer.lastRead = std::max(buffer.lastRead, known.lastRead);
    buffer.lifetime.end = std::max({buffer.lifetime.end, step, known.end});
  }
  workspaces.push_back(-1);
  if (auto task = dyn_cast<TaskOp>(op)) {
    int64_t bytes = bodies.find(task.getCallee())->second.workspaceBytes;
    if (bytes > 0) {
      workspaces.back() = buffers.size();
      buffers.push_back({{step, step, bytes, 0}, false, "workspace", -1, -1});
    }
  }
  if (streams[step] != rt::Stream::Compute)
    for (Value operand : op->getOperands()) {
      int64_t &sent = buffers[infoOf(operand).buffer].lastSent;
      sent = std::max(sent, taskAfter[step]);
    }
}

/// The runtime writes state in place only.
LogicalResult EntryPlanner::verifyNextValues() {
  llvm::StringMap<int> stateBuffers;
  for (BlockArgument argument : block.getArguments())
    if (StringAttr name = StateLayout::nameOf(entry, argument.getArgNumber()))
      stateBuffers[name] = infoOf(argument).buffer;
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    auto name = entry.getResultAttrOfType<StringAttr>(
        index, PiperDialect::NextAttrHelper::getNameStr());
    if (!name)
      continue;
    auto found = stateBuffers.find(name.getValue());
    if (found == stateBuffers.end())
      return entry.emitOpError() << "has a next value of '" << name.getValue()
                                 << "' but no such state";
    if (found->second != infoOf(value).buffer)
      return entry.emitOpError()
             << "expects the next value of '" << name.getValue()
             << "' to be made over the state by an update that is its last "
                "reader";
  }
  return success();
}

/// Packs all buffers but state, which are counted from the end of the state.
OffsetsSummary EntryPlanner::assign() {
  std::vector<Lifetime> lifetimes;
  for (const Buffer &buffer : buffers)
    if (!buffer.isState)
      lifetimes.push_back(buffer.lifetime);
  OffsetsSummary summary = assignOffsets(lifetimes);
  size_t packed = 0;
  for (Buffer &buffer : buffers)
    if (!buffer.isState)
      buffer.lifetime.offset = state.bytes + lifetimes[packed++].offset;
  return summary;
}

FailureOr<int64_t> EntryPlanner::run() {
  listOps();
  findLastUses();
  findNextValues();
  placeArguments();
  for (int64_t step = 0, count = ops.size(); step < count; ++step)
    placeOp(step);
  if (failed(verifyNextValues()))
    return failure();
  OffsetsSummary summary = assign();
  if (failed(setWaits()))
    return failure();
  record(summary);
  return state.bytes + summary.bytes;
}

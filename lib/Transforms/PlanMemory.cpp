// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every value its offset in the arena.
//
// 1. Bodies: places of their values, and which results may overwrite operands.
// 2. State: one offset for each name, from the start of the arena.
// 3. Each entry point: values that share memory (updates in place, results
//    over dying operands) form one buffer; buffers and task workspaces are
//    packed behind the state by lifetime.
// 4. The peak of each entry point, the task at the peak, and what its bytes
// are.

#include "Piper/Target/AssignOffsets.h"
#include "Piper/Target/PlanBody.h"
#include "Piper/Transforms/Passes.h"
#include "Piper/Transforms/Verify.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPLANMEMORY
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

/// A body as the tasks that call it see it.
struct Body {
  int64_t workspaceBytes = 0;
  SmallVector<InPlacePair> inPlace;
};

/// Memory that one or more values of an entry point share.
struct Buffer {
  Lifetime lifetime;
  /// State lies at an offset of its own and is never packed.
  bool isState = false;
  StringRef category;
};

/// The state of all entry points.
struct StateLayout {
  struct Slot {
    int64_t offset;
    int64_t bytes;
    StringRef category;
  };
  llvm::MapVector<StringAttr, Slot> slots;
  int64_t bytes = 0;

  int64_t offset(StringAttr name, Type type, bool isParameter) {
    int64_t size = llvm::alignTo(convertType(type).numBytes(), rt::kAlignment);
    auto [found, isNew] = slots.insert(
        {name, {bytes, size, isParameter ? "parameters" : "optimizer state"}});
    if (isNew)
      bytes += size;
    return found->second.offset;
  }
};

class EntryPlanner {
public:
  EntryPlanner(EntryOp entry, llvm::StringMap<Body> &bodies, StateLayout &state)
      : entry(entry), bodies(bodies), state(state),
        block(entry.getBody().front()) {}
  /// Returns the end of the last byte used.
  FailureOr<int64_t> run();

private:
  void findLastUses();
  void findNextValues();
  void placeArguments();
  void placeResults(TaskOp task, int64_t step);
  int joinOperand(TaskOp task, int64_t step, int result);
  int addBuffer(Value value, int64_t begin, StringRef category);
  StringRef categoryOf(TaskOp task, Value value);
  LogicalResult verifyNextValues();
  void record(const OffsetsSummary &summary);
  StringAttr stateName(unsigned argument);

  EntryOp entry;
  llvm::StringMap<Body> &bodies;
  StateLayout &state;
  Block &block;
  DenseMap<Value, int64_t> lastUse;
  /// The state that a returned value becomes.
  DenseMap<Value, Value> next;
  DenseMap<Value, int> bufferOf;
  std::vector<Buffer> buffers;
  int64_t numTasks = 0;
};

} // namespace

StringAttr EntryPlanner::stateName(unsigned argument) {
  if (auto param = entry.getArgAttrOfType<ParamAttr>(
          argument, PiperDialect::ParamAttrHelper::getNameStr()))
    return param.getName();
  if (auto attribute = entry.getArgAttrOfType<StateAttr>(
          argument, PiperDialect::StateAttrHelper::getNameStr()))
    return attribute.getName();
  return {};
}

/// The value whose memory a value lies in: a view lies in its input.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<MicroBatchOp>())
    value = view.getInput();
  return value;
}

void EntryPlanner::findLastUses() {
  for (auto task : block.getOps<TaskOp>()) {
    for (Value operand : task.getInputs())
      lastUse[rootOf(operand)] = numTasks;
    ++numTasks;
  }
  for (Value value : block.getTerminator()->getOperands())
    lastUse[rootOf(value)] = numTasks;
}

/// Pairs each new value of state with the argument whose memory it takes.
void EntryPlanner::findNextValues() {
  DenseMap<StringAttr, BlockArgument> arguments;
  for (BlockArgument argument : block.getArguments())
    if (StringAttr name = stateName(argument.getArgNumber()))
      arguments[name] = argument;
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands()))
    if (auto name = entry.getResultAttrOfType<StringAttr>(
            index, PiperDialect::NextAttrHelper::getNameStr()))
      next[value] = arguments.lookup(name);
}

int EntryPlanner::addBuffer(Value value, int64_t begin, StringRef category) {
  Buffer buffer;
  buffer.lifetime = {begin, std::max(begin, lastUse.lookup(value)),
                     convertType(value.getType()).numBytes(), 0};
  buffer.category = category;
  bufferOf[value] = buffers.size();
  buffers.push_back(buffer);
  return buffers.size() - 1;
}

void EntryPlanner::placeArguments() {
  for (BlockArgument argument : block.getArguments()) {
    StringAttr name = stateName(argument.getArgNumber());
    int index = addBuffer(argument, -1, "inputs");
    if (!name)
      continue;
    bool isParam = !!entry.getArgAttr(
        argument.getArgNumber(), PiperDialect::ParamAttrHelper::getNameStr());
    buffers[index].isState = true;
    buffers[index].lifetime.offset =
        state.offset(name, argument.getType(), isParam);
  }
}

StringRef EntryPlanner::categoryOf(TaskOp task, Value value) {
  bool crosses = false, updates = false;
  for (Operation *user : value.getUsers()) {
    auto reader = dyn_cast<TaskOp>(user);
    crosses |= reader && reader.getPass() == PassKind::B;
    updates |= reader && reader.getPass() == PassKind::U;
  }
  if (task.getPass() == PassKind::F && crosses)
    return "activations";
  if (task.getPass() != PassKind::F && updates && value.getType() != Type() &&
      cast<RankedTensorType>(value.getType()).getRank() > 0)
    return "gradients";
  return "temporaries";
}

/// The buffer of an operand that `result` may take over, or -1.
int EntryPlanner::joinOperand(TaskOp task, int64_t step, int result) {
  const Body &body = bodies[task.getCallee()];
  Value value = task.getResult(result);
  Value target = next.lookup(value);
  for (InPlacePair pair : body.inPlace) {
    if (pair.result != result)
      continue;
    Value operand = task.getInputs()[pair.operand];
    // A part of a buffer cannot be taken over.
    if (rootOf(operand) != operand)
      continue;
    int index = bufferOf[operand];
    Buffer &buffer = buffers[index];
    // Another result that nothing reads may have taken it.
    if (llvm::any_of(task.getResults().take_front(result),
                     [&](Value other) { return bufferOf[other] == index; }))
      continue;
    // A task that reads the operand twice reads it after the result is begun.
    if (llvm::count_if(task.getInputs(), [&](Value other) {
          return bufferOf[other] == index;
        }) != 1)
      continue;
    bool dies = buffer.lifetime.end <= step;
    if (buffer.isState ? target && bufferOf[target] == index && dies
                       : !target && dies)
      return index;
  }
  return -1;
}

void EntryPlanner::placeResults(TaskOp task, int64_t step) {
  for (OpResult value : task->getResults()) {
    int joined = joinOperand(task, step, value.getResultNumber());
    if (joined < 0) {
      addBuffer(value, step, categoryOf(task, value));
      continue;
    }
    bufferOf[value] = joined;
    Lifetime &lifetime = buffers[joined].lifetime;
    lifetime.end = std::max({lifetime.end, step, lastUse.lookup(value)});
  }
}

/// The runtime writes state in place only.
LogicalResult EntryPlanner::verifyNextValues() {
  llvm::StringMap<int> stateBuffers;
  for (BlockArgument argument : block.getArguments())
    if (StringAttr name = stateName(argument.getArgNumber()))
      stateBuffers[name] = bufferOf[argument];
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
    if (found->second != bufferOf[value])
      return entry.emitOpError()
             << "expects the next value of '" << name.getValue()
             << "' to be made over the state by an update that is its last "
                "reader";
  }
  return success();
}

/// Writes offsets and figures to the ops.
void EntryPlanner::record(const OffsetsSummary &summary) {
  Builder builder(entry.getContext());
  int64_t base = state.bytes;
  auto offsetOf = [&](Value value) {
    const Buffer &buffer = buffers[bufferOf[value]];
    return buffer.lifetime.offset + (buffer.isState ? 0 : base);
  };
  SmallVector<int64_t> offsets = llvm::map_to_vector(
      block.getArguments(), [&](Value v) { return offsetOf(v); });
  entry.setOffsets(offsets);
  for (auto task : block.getOps<TaskOp>()) {
    offsets = llvm::map_to_vector(task.getResults(),
                                  [&](Value v) { return offsetOf(v); });
    task.setOffsets(offsets);
    if (task.getWorkspace() >= 0)
      task.setWorkspace(base + buffers[task.getWorkspace()].lifetime.offset);
  }
  llvm::MapVector<StringRef, int64_t> categories;
  // All of it lies in the arena, whatever this entry point takes.
  for (auto &[name, slot] : state.slots)
    categories[slot.category] += slot.bytes;
  for (const Buffer &buffer : buffers)
    if (!buffer.isState && buffer.lifetime.begin <= summary.peakStep &&
        summary.peakStep <= buffer.lifetime.end)
      categories[buffer.category] +=
          llvm::alignTo(buffer.lifetime.bytes, rt::kAlignment);
  SmallVector<NamedAttribute> named;
  for (auto [category, bytes] : categories)
    named.push_back(
        builder.getNamedAttr(category, builder.getI64IntegerAttr(bytes)));
  entry.setCategoriesAttr(builder.getDictionaryAttr(named));
  entry.setPeak(base + summary.bytes);
  entry.setLive(base + summary.live);
  entry.setPeakOp(std::max<int64_t>(summary.peakStep, 0));
}

FailureOr<int64_t> EntryPlanner::run() {
  findLastUses();
  findNextValues();
  placeArguments();
  for (auto view : block.getOps<MicroBatchOp>())
    bufferOf[view.getOut()] = bufferOf[rootOf(view.getOut())];
  int64_t step = 0;
  for (auto task : block.getOps<TaskOp>()) {
    placeResults(task, step);
    int64_t bytes = bodies[task.getCallee()].workspaceBytes;
    task.setWorkspace(-1);
    if (bytes > 0) {
      // Until the offsets are known this is the number of the buffer.
      task.setWorkspace(buffers.size());
      buffers.push_back({{step, step, bytes, 0}, false, "workspace"});
    }
    ++step;
  }
  if (failed(verifyNextValues()))
    return failure();
  std::vector<Lifetime> lifetimes;
  for (const Buffer &buffer : buffers)
    if (!buffer.isState)
      lifetimes.push_back(buffer.lifetime);
  OffsetsSummary summary = assignOffsets(lifetimes);
  size_t packed = 0;
  for (Buffer &buffer : buffers)
    if (!buffer.isState)
      buffer.lifetime.offset = lifetimes[packed++].offset;
  record(summary);
  return state.bytes + summary.bytes;
}

namespace {
class PiperPlanMemoryPass
    : public mlir::piper::impl::PiperPlanMemoryBase<PiperPlanMemoryPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::Programs)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    for (ProgramOp program : module.getOps<ProgramOp>())
      if (failed(plan(module, program)))
        return signalPassFailure();
    setLevel(module, Level::Plan);
  }

  LogicalResult plan(ModuleOp module, ProgramOp program) {
    rt::Target target = convertTarget(program.getTarget());
    llvm::StringMap<Body> bodies;
    for (auto function : module.getOps<func::FuncOp>()) {
      Body &body = bodies[function.getSymName()];
      if (failed(planBody(function, target, &body.inPlace)))
        return failure();
      body.workspaceBytes =
          function
              ->getAttrOfType<MemoryAttr>(
                  PiperDialect::MemoryAttrHelper::getNameStr())
              .getBytes();
    }
    // All state comes first: an entry point that lacks some of it must leave
    // its bytes alone.
    StateLayout state;
    for (EntryOp entry : program.getBody().getOps<EntryOp>())
      for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
        Type type = entry.getArgumentTypes()[i];
        if (auto param = entry.getArgAttrOfType<ParamAttr>(
                i, PiperDialect::ParamAttrHelper::getNameStr()))
          state.offset(param.getName(), type, /*isParameter=*/true);
        else if (auto moment = entry.getArgAttrOfType<StateAttr>(
                     i, PiperDialect::StateAttrHelper::getNameStr()))
          state.offset(moment.getName(), type, /*isParameter=*/false);
      }
    int64_t arena = state.bytes;
    for (EntryOp entry : program.getBody().getOps<EntryOp>()) {
      FailureOr<int64_t> bytes = EntryPlanner(entry, bodies, state).run();
      if (failed(bytes))
        return failure();
      arena = std::max(arena, *bytes);
    }
    program.setArena(arena);
    return success();
  }
};
} // namespace

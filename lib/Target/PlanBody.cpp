// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places the values of a body.
//
// 1. Every op result starts as a buffer of its own; views join their source.
// 2. A buffer with a returned value lies in that result, unless the value is a
//    view of something else (then the view is copied).
// 3. A result joins the buffer of an operand that dies at its op, where the
//    kernel allows it.
// 4. What is left is packed into the workspace by lifetime, with the scratch
//    memory of the kernels.

#include "Piper/Target/PlanBody.h"

#include "Piper/Target/AssignOffsets.h"

using namespace mlir;
using namespace mlir::piper;

namespace {

/// A piece of memory that one or more values share.
struct Buffer {
  enum Base { Operand, Result, Workspace } base = Workspace;
  int index = 0;
  Lifetime lifetime;
};

/// Where a value lies.
struct Place {
  int buffer = -1;
  int64_t offset = 0;
};

class BodyPlanner {
public:
  BodyPlanner(func::FuncOp function, const rt::Target &target)
      : function(function), target(target), body(function.front()) {}

  LogicalResult run(SmallVectorImpl<InPlacePair> *inPlace);

private:
  LogicalResult describeOps();
  void placeArguments();
  bool joinView(Operation *op, int step);
  void placeResults(Operation *op, int step);
  int joinDyingOperand(Operation *op, int step, int result);
  bool mayOverwriteArgument(int step, int result, int64_t size);
  void findInPlacePairs(SmallVectorImpl<InPlacePair> &inPlace);
  void assign();

  int64_t bytes(Value value) { return convertType(value.getType()).numBytes(); }
  int returnedIndex(Value value) {
    auto found = returned.find(value);
    return found == returned.end() ? -1 : found->second;
  }

  func::FuncOp function;
  const rt::Target &target;
  Block &body;
  std::vector<Operation *> ops;
  std::vector<rt::KernelSpec> specs;
  std::vector<const rt::KernelEntry *> kernels;
  DenseMap<Operation *, int> steps;
  DenseMap<Value, int> returned;
  DenseMap<Value, int> lastUse;
  DenseMap<Value, Place> places;
  std::vector<Buffer> buffers;
};

} // namespace

LogicalResult BodyPlanner::describeOps() {
  for (Operation &op : body.without_terminator()) {
    FailureOr<const rt::KernelEntry *> kernel = lookupKernel(&op);
    FailureOr<rt::KernelSpec> spec = buildKernelSpec(&op);
    if (failed(kernel) || failed(spec))
      return failure();
    int step = specs.size();
    steps[&op] = step;
    ops.push_back(&op);
    kernels.push_back(*kernel);
    specs.push_back(std::move(*spec));
    for (Value operand : op.getOperands())
      lastUse[operand] = step;
  }
  for (auto [index, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    if (isa<BlockArgument>(value) || !returned.try_emplace(value, index).second)
      return function.emitOpError()
             << "expects each result to be a value of its own but result #"
             << index << " is an operand or another result";
    lastUse[value] = specs.size();
  }
  return success();
}

void BodyPlanner::placeArguments() {
  for (BlockArgument argument : body.getArguments()) {
    Buffer buffer;
    buffer.base = Buffer::Operand;
    buffer.index = argument.getArgNumber();
    places[argument] = {static_cast<int>(buffers.size()), 0};
    buffers.push_back(buffer);
  }
}

/// Puts the result of a view into its source. Not possible where the view is
/// returned but its source lies elsewhere.
bool BodyPlanner::joinView(Operation *op, int step) {
  const rt::KernelEntry *kernel = kernels[step];
  int64_t offset = kernel->viewOffset ? kernel->viewOffset(specs[step]) : -1;
  if (offset < 0)
    return false;
  Value view = op->getResult(0), source = op->getOperand(0);
  Place place = places[source];
  place.offset += offset;
  Buffer &buffer = buffers[place.buffer];
  int index = returnedIndex(view);
  if (index >= 0) {
    bool whole = place.offset == 0 && buffer.lifetime.bytes == bytes(view);
    if (buffer.base != Buffer::Workspace || !whole)
      return false;
    buffer.base = Buffer::Result;
    buffer.index = index;
  }
  places[view] = place;
  buffer.lifetime.end =
      std::max<int64_t>(buffer.lifetime.end, lastUse.lookup(view));
  return true;
}

/// Whether the op may write the result over an operand of the body that nothing
/// else reads later.
bool BodyPlanner::mayOverwriteArgument(int step, int result, int64_t size) {
  for (auto [index, operand] : llvm::enumerate(ops[step]->getOperands()))
    if (isa<BlockArgument>(operand) && lastUse.lookup(operand) == step &&
        bytes(operand) == size &&
        llvm::count(ops[step]->getOperands(), operand) == 1 &&
        kernels[step]->mayAlias &&
        kernels[step]->mayAlias(specs[step], index, result))
      return true;
  return false;
}

/// The buffer of an operand that `result` of `op` may take over, or -1.
int BodyPlanner::joinDyingOperand(Operation *op, int step, int result) {
  const rt::KernelEntry *kernel = kernels[step];
  if (!kernel->mayAlias)
    return -1;
  Value value = op->getResult(result);
  bool isReturned = returnedIndex(value) >= 0;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Place place = places[operand];
    Buffer &buffer = buffers[place.buffer];
    bool usable = buffer.base == Buffer::Workspace &&
                  buffer.lifetime.end == step && place.offset == 0 &&
                  buffer.lifetime.bytes == bytes(value);
    // Nor may another result, that nothing reads, have taken it.
    usable &=
        llvm::none_of(op->getResults().take_front(result), [&](Value other) {
          return places[other].buffer == place.buffer;
        });
    // Another operand in the same buffer would be overwritten too early.
    usable &= llvm::count_if(op->getOperands(), [&](Value other) {
                return places[other].buffer == place.buffer;
              }) == 1;
    if (!usable || !kernel->mayAlias(specs[step], index, result))
      continue;
    if (isReturned) {
      // An accumulator is an operand of the body: the sum is made over it,
      // which it could not be if its memory were written from the time when
      // the other operand is made.
      if (mayOverwriteArgument(step, result, bytes(value)) &&
          !mayOverwriteArgument(buffer.lifetime.begin, 0, bytes(value)))
        continue;
      buffer.base = Buffer::Result;
      buffer.index = returnedIndex(value);
    }
    return place.buffer;
  }
  return -1;
}

void BodyPlanner::placeResults(Operation *op, int step) {
  for (OpResult value : op->getResults()) {
    int end = std::max(step, lastUse.lookup(value));
    int joined = joinDyingOperand(op, step, value.getResultNumber());
    if (joined >= 0) {
      buffers[joined].lifetime.end = end;
      places[value] = {joined, 0};
      continue;
    }
    Buffer buffer;
    buffer.lifetime = {step, end, bytes(value), 0};
    if (int index = returnedIndex(value); index >= 0) {
      buffer.base = Buffer::Result;
      buffer.index = index;
    }
    places[value] = {static_cast<int>(buffers.size()), 0};
    buffers.push_back(buffer);
  }
}

/// Result r may share the memory of argument a if the buffer of r is first
/// written by an op that may overwrite a in place, and nothing reads a
/// afterwards.
void BodyPlanner::findInPlacePairs(SmallVectorImpl<InPlacePair> &inPlace) {
  for (auto [value, result] : returned) {
    int buffer = places[value].buffer;
    if (buffers[buffer].base != Buffer::Result || places[value].offset != 0)
      continue;
    int first = buffers[buffer].lifetime.begin;
    Operation *op = ops[first];
    if (!kernels[first]->mayAlias)
      continue;
    for (OpResult written : op->getResults()) {
      if (places[written].buffer != buffer)
        continue;
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        Place place = places[operand];
        const Buffer &source = buffers[place.buffer];
        if (source.base != Buffer::Operand)
          continue;
        bool dies = source.lifetime.end <= first;
        bool whole = place.offset == 0 &&
                     bytes(body.getArgument(source.index)) == bytes(value) &&
                     bytes(operand) == bytes(value);
        bool once = llvm::count_if(op->getOperands(), [&](Value other) {
                      return places[other].buffer == place.buffer;
                    }) == 1;
        if (dies && whole && once &&
            kernels[first]->mayAlias(specs[first], index,
                                     written.getResultNumber()))
          inPlace.push_back({source.index, result});
      }
    }
  }
  llvm::sort(inPlace, [](InPlacePair a, InPlacePair b) {
    return std::tie(a.result, a.operand) < std::tie(b.result, b.operand);
  });
}

/// Packs the workspace and records all places.
void BodyPlanner::assign() {
  std::vector<Lifetime> lifetimes;
  std::vector<int> slots(buffers.size(), -1), scratch(specs.size(), -1);
  for (auto [index, buffer] : llvm::enumerate(buffers))
    if (buffer.base == Buffer::Workspace) {
      slots[index] = lifetimes.size();
      lifetimes.push_back(buffer.lifetime);
    }
  for (auto [step, spec] : llvm::enumerate(specs)) {
    int64_t needed = kernels[step]->workspaceBytes
                         ? kernels[step]->workspaceBytes(spec, target)
                         : 0;
    if (needed <= 0)
      continue;
    scratch[step] = lifetimes.size();
    lifetimes.push_back(
        {static_cast<int64_t>(step), static_cast<int64_t>(step), needed, 0});
  }
  OffsetsSummary summary = assignOffsets(lifetimes);
  SmallVector<int64_t> values, workspaces;
  for (Operation &op : body.without_terminator()) {
    for (Value value : op.getResults()) {
      Place place = places[value];
      const Buffer &buffer = buffers[place.buffer];
      int64_t base =
          slots[place.buffer] < 0 ? 0 : lifetimes[slots[place.buffer]].offset;
      values.append({buffer.base, buffer.index, base + place.offset});
    }
    int slot = scratch[steps[&op]];
    workspaces.push_back(slot < 0 ? -1 : lifetimes[slot].offset);
  }
  auto *dialect = cast<PiperDialect>(
      body.getParentOp()->getContext()->getLoadedDialect("piper"));
  dialect->getMemoryAttrHelper().setAttr(
      function, MemoryAttr::get(function.getContext(), summary.bytes, values,
                                workspaces));
}

LogicalResult BodyPlanner::run(SmallVectorImpl<InPlacePair> *inPlace) {
  if (failed(describeOps()))
    return failure();
  placeArguments();
  for (Operation &op : body.without_terminator()) {
    int step = steps[&op];
    for (Value operand : op.getOperands()) {
      Lifetime &lifetime = buffers[places[operand].buffer].lifetime;
      lifetime.end = std::max<int64_t>(lifetime.end, step);
    }
    if (!joinView(&op, step))
      placeResults(&op, step);
  }
  if (inPlace)
    findInPlacePairs(*inPlace);
  assign();
  return success();
}

LogicalResult mlir::piper::planBody(func::FuncOp function,
                                    const rt::Target &target,
                                    SmallVectorImpl<InPlacePair> *inPlace) {
  return BodyPlanner(function, target).run(inPlace);
}

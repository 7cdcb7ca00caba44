// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits the batch into micro-batches.
//
// 1. Find the inputs with the dimension, and check that it can be divided.
// 2. Find the layout of every value (TaskLayouts.cpp) and the bodies in parts
//    (the engine of lib/Sharding).
// 3. Write the tasks anew: those that run once and come first; all tasks of
//    micro-batch 0, forward and backward, then all of micro-batch 1, ..: least
//    memory on one device; then what needs all of them.
// 4. What is summed over the batch becomes a chain of accumulators; what has
//    the batch and is used as a whole is put together.

#include "SplitBodies.h"

#include "Directives/Directive.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

#include <numeric>

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERSPLIT
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Writing an entry point anew
//===----------------------------------------------------------------------===//

namespace {

class EntrySplitter {
public:
  EntrySplitter(func::FuncOp entry, SplitBodies &bodies, const SplitAxis &axis,
                ArrayRef<int64_t> inputs)
      : entry(entry), bodies(bodies), axis(axis), inputs(inputs),
        layouts(entry, bodies, axis), block(entry.front()),
        builder(block.getTerminator()) {}

  LogicalResult run();

private:
  void splitInputs();
  void writeTasks();
  void writeReturn();
  TaskOp call(TaskOp like, func::FuncOp body, ValueRange operands,
              ValueRange into, int64_t microBatch);
  void writeSingle(TaskSplit &split);
  void writePart(TaskSplit &split, int64_t microBatch);
  Value partOf(Value value, int64_t microBatch);
  Value wholeOf(Value value, Location loc);
  Value viewOf(BlockArgument input, int64_t microBatch);
  int64_t splitDim(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? inputs[argument.getArgNumber()] : -1;
  }

  func::FuncOp entry;
  SplitBodies &bodies;
  const SplitAxis &axis;
  ArrayRef<int64_t> inputs;
  TaskLayouts layouts;
  Block &block;
  OpBuilder builder;
  /// What the results of the old tasks have become: one value, or one for each
  /// micro-batch so far.
  DenseMap<Value, SmallVector<Value, 1>> written;
  /// Parts put together; what each micro-batch has of an input.
  DenseMap<Value, Value> joined;
  DenseMap<Value, SmallVector<Value>> views;
};

} // namespace

/// A call with the properties of `like`.
TaskOp EntrySplitter::call(TaskOp like, func::FuncOp body, ValueRange operands,
                           ValueRange into, int64_t microBatch) {
  OperationState state(like.getLoc(), TaskOp::getOperationName());
  state.addOperands(operands);
  state.addOperands(into);
  state.addTypes(body.getResultTypes());
  state.addAttributes(like->getDiscardableAttrDictionary().getValue());
  auto &properties = state.getOrAddProperties<TaskOp::Properties>();
  properties = like.getProperties();
  properties.setCallee(FlatSymbolRefAttr::get(body.getSymNameAttr()));
  properties.setMb(microBatch);
  properties.operandSegmentSizes = {static_cast<int32_t>(operands.size()),
                                    static_cast<int32_t>(into.size())};
  return cast<TaskOp>(builder.create(state));
}

Value EntrySplitter::viewOf(BlockArgument input, int64_t microBatch) {
  SmallVector<Value> &known = views[input];
  known.resize(axis.parts);
  if (!known[microBatch]) {
    auto type = cast<RankedTensorType>(input.getType());
    known[microBatch] = MicroBatchOp::create(
        builder, input.getLoc(), type.clone(type.getShape().drop_front()),
        input, microBatch);
  }
  return known[microBatch];
}

/// What micro-batch `microBatch` has of a value.
Value EntrySplitter::partOf(Value value, int64_t microBatch) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return splitDim(value) < 0 ? value : viewOf(argument, microBatch);
  ArrayRef<Value> parts = written.find(value)->second;
  return parts.size() == 1 ? parts.front() : parts[microBatch];
}

/// A value as what runs once sees it. A split input is itself: bodies that take
/// one whole join it.
Value EntrySplitter::wholeOf(Value value, Location loc) {
  if (isa<BlockArgument>(value))
    return value;
  ArrayRef<Value> parts = written.find(value)->second;
  SplitLayout layout = layouts.layout(value);
  // The last accumulator is the sum; what is whole is equal in all.
  if (!layout.isSplit())
    return layout.isPartial() ? parts.back() : parts.front();
  Value &known = joined[value];
  if (!known) {
    func::FuncOp body = bodies.concat(
        loc, cast<RankedTensorType>(value.getType()), layout, axis.parts);
    SmallVector<Value> all(axis.parts, parts.front());
    if (parts.size() > 1)
      all.assign(parts.begin(), parts.end());
    known = createTask(builder, loc, body, all, PassKind::Once).getResult(0);
  }
  return known;
}

void EntrySplitter::writeSingle(TaskSplit &split) {
  SmallVector<Value> operands;
  SmallVector<int64_t> dims;
  for (Value operand : split.task.getInputs()) {
    operands.push_back(wholeOf(operand, split.task.getLoc()));
    dims.push_back(splitDim(operand));
  }
  func::FuncOp body =
      bodies.ofInputs(bodies.part(*split.variant, true), dims, axis.parts);
  TaskOp task = call(split.task, body, operands, {}, -1);
  for (auto [index, result] : llvm::enumerate(split.task.getOuts()))
    written[result] = {task.getResult(split.variant->position[index])};
}

void EntrySplitter::writePart(TaskSplit &split, int64_t microBatch) {
  SmallVector<Value> operands, into;
  for (Value operand : split.task.getInputs())
    operands.push_back(partOf(operand, microBatch));
  SplitVariant &variant = *split.variant;
  if (microBatch > 0) {
    into.resize(variant.numAccumulated);
    unsigned first = variant.numResults - variant.numAccumulated;
    for (auto [index, result] : llvm::enumerate(split.task.getOuts()))
      if (variant.results[index].isPartial())
        into[variant.position[index] - first] = written[result].back();
  }
  TaskOp task = call(split.task, bodies.part(variant, microBatch == 0),
                     operands, into, microBatch);
  for (auto [index, result] : llvm::enumerate(split.task.getOuts()))
    written[result].push_back(task.getResult(variant.position[index]));
}

/// Gives the split inputs their micro-batch dimension.
void EntrySplitter::splitInputs() {
  StringRef name = PiperDialect::InputAttrHelper::getNameStr();
  for (BlockArgument argument : block.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (inputs[index] < 0)
      continue;
    argument.setType(
        splitInputType(argument.getType(), inputs[index], axis.parts));
    auto input = entry.getArgAttrOfType<InputAttr>(index, name);
    entry.setArgAttr(index, name,
                     InputAttr::get(entry.getContext(), input.getName(),
                                    input.getDims(), inputs[index]));
  }
}

void EntrySplitter::writeTasks() {
  SmallVector<TaskSplit *> first, parts, last;
  bool inBody = false;
  for (TaskSplit &split : llvm::reverse(layouts.tasks)) {
    inBody |= !split.isOnce() && !split.isLate;
    if (split.perMicroBatch)
      parts.push_back(&split);
    else
      (inBody && !split.isLate ? first : last).push_back(&split);
  }
  for (TaskSplit *split : llvm::reverse(first))
    writeSingle(*split);
  for (int64_t microBatch = 0; microBatch < axis.parts; ++microBatch)
    for (TaskSplit *split : llvm::reverse(parts))
      writePart(*split, microBatch);
  for (TaskSplit *split : llvm::reverse(last))
    writeSingle(*split);
}

void EntrySplitter::writeReturn() {
  Operation *terminator = block.getTerminator();
  SmallVector<Value> results;
  for (Value value : terminator->getOperands()) {
    Value whole = wholeOf(value, terminator->getLoc());
    if (int64_t dim = splitDim(value); dim >= 0)
      whole = createTask(builder, value.getLoc(),
                         bodies.join(value.getLoc(), value.getType(), dim),
                         value, PassKind::Once)
                  .getResult(0);
    results.push_back(whole);
  }
  terminator->setOperands(results);
}

/// A step that was split has views, accumulators and numbers of micro-batches.
static LogicalResult verifyWhole(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto task = dyn_cast<TaskOp>(op);
    if (!task || !task.getInto().empty() || task.getMb() >= 0)
      return op.emitOpError()
             << "stands in a step that is split already: expects one that is "
                "not";
  }
  return success();
}

LogicalResult EntrySplitter::run() {
  if (failed(verifyWhole(block)) || failed(layouts.run(inputs)))
    return failure();
  splitInputs();
  writeTasks();
  writeReturn();
  for (TaskSplit &split : llvm::reverse(layouts.tasks))
    split.task.erase();
  entry.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// The dimension
//===----------------------------------------------------------------------===//

/// The dimension that is split of each argument, -1 where there is none.
static FailureOr<SmallVector<int64_t>> findInputs(func::FuncOp entry,
                                                  StringRef name) {
  SmallVector<int64_t> dims(entry.getNumArguments(), -1);
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto input = entry.getArgAttrOfType<InputAttr>(
        i, PiperDialect::InputAttrHelper::getNameStr());
    if (!input)
      continue;
    if (input.getSplit() >= 0)
      return entry.emitOpError() << "expects a step that is not split but "
                                    "input '"
                                 << input.getName().getValue() << "' is";
    for (auto [dim, own] : llvm::enumerate(input.getDims()))
      if (own == name)
        dims[i] = dim;
  }
  return dims;
}

/// "2 or 4": the numbers nearest to 3 that divide `size`, below and above.
static std::string nearestDivisors(int64_t size, int64_t wanted) {
  int64_t below = 1, above = std::numeric_limits<int64_t>::max();
  auto consider = [&](int64_t divisor) {
    if (divisor <= wanted)
      below = std::max(below, divisor);
    else
      above = std::min(above, divisor);
  };
  for (int64_t i = 1; i <= size / i; ++i)
    if (size % i == 0) {
      consider(i);
      consider(size / i);
    }
  std::string text = std::to_string(below);
  return above <= size ? text + " or " + std::to_string(above) : text;
}

/// The number of micro-batches of an entry point. The batch of `train` must be
/// divided as asked; evaluation and prediction, whose results do not depend on
/// it, take the largest number that divides both.
static FailureOr<int64_t> chooseParts(func::FuncOp entry,
                                      ArrayRef<int64_t> inputs,
                                      const SplitAxis &axis) {
  int64_t common = 0;
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (inputs[i] >= 0)
      common =
          std::gcd(common, cast<RankedTensorType>(entry.getArgumentTypes()[i])
                               .getDimSize(inputs[i]));
  bool isTrain = entry.getSymName() == "train";
  if (!isTrain)
    return std::gcd(common, common == 0 ? 1 : axis.parts);
  if (common == 0)
    return entry.emitOpError()
           << "expects an input with a dimension '" << axis.name
           << "' to be split into " << axis.parts << " micro-batches";
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (inputs[i] < 0)
      continue;
    int64_t size = cast<RankedTensorType>(entry.getArgumentTypes()[i])
                       .getDimSize(inputs[i]);
    if (size % axis.parts == 0)
      continue;
    auto input = entry.getArgAttrOfType<InputAttr>(
        i, PiperDialect::InputAttrHelper::getNameStr());
    return entry.emitOpError()
           << "cannot split dimension '" << axis.name << "' of input '"
           << input.getName().getValue() << "' into " << axis.parts
           << " equal micro-batches: it has " << size
           << " positions; the nearest legal number of micro-batches is "
           << nearestDivisors(common, axis.parts);
  }
  return axis.parts;
}

namespace {
class PiperSplitPass
    : public mlir::piper::impl::PiperSplitBase<PiperSplitPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)) || failed(split(module)))
      signalPassFailure();
  }

private:
  FailureOr<SplitAxis> readAxis(ModuleOp module);
  LogicalResult split(ModuleOp module);
  void numberWholeBatch(ModuleOp module);
};
} // namespace

/// From the options, else from the directive. No parts: nothing is to be split.
FailureOr<SplitAxis> PiperSplitPass::readAxis(ModuleOp module) {
  if (microBatches < 0)
    return emitProgramError(module)
           << "option 'micro-batches' expects a number of 0 "
              "or more but got "
           << microBatches.getValue();
  if (microBatches > 0)
    return SplitAxis{dim, microBatches};
  FailureOr<Directives> directives = readDirectives(module);
  if (failed(directives))
    return failure();
  if (!directives->split)
    return SplitAxis{dim, 0};
  return SplitAxis{directives->split->dim, directives->split->microBatches};
}

/// One micro-batch is the whole batch; its tasks have the number that filters
/// and schedules know.
void PiperSplitPass::numberWholeBatch(ModuleOp module) {
  for (func::FuncOp entry : getEntryFunctions(module))
    for (auto task : entry.front().getOps<TaskOp>())
      if (task.getSegment() >= 0)
        task.setMb(0);
}

LogicalResult PiperSplitPass::split(ModuleOp module) {
  FailureOr<SplitAxis> axis = readAxis(module);
  if (failed(axis))
    return failure();
  if (axis->parts == 0)
    return success();
  if (axis->parts == 1) {
    numberWholeBatch(module);
    return success();
  }
  SplitBodies bodies(module);
  for (func::FuncOp entry : getEntryFunctions(module)) {
    auto inputs = findInputs(entry, axis->name);
    if (failed(inputs))
      return failure();
    FailureOr<int64_t> parts = chooseParts(entry, *inputs, *axis);
    if (failed(parts))
      return failure();
    SplitAxis own{axis->name, *parts};
    if (*parts > 1 && failed(EntrySplitter(entry, bodies, own, *inputs).run()))
      return failure();
  }
  bodies.finish();
  return success();
}

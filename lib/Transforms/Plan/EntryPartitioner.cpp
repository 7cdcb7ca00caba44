// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1. Arguments: state goes to its coordinates, a step input to those that read
//    it.
// 2. Each op in order, under its number in the step: a task is moved to its
//    coordinate and copied to others, a transfer becomes a send and a receive,
//    an all-reduce a reduce in each member.
// 3. Results: next values where the state is, others where they are first.
// 4. Types become those of what a rank stores.

#include "EntryPartitioner.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::piper;

/// Coordinates of a step that was never placed: its one program.
static constexpr int64_t kOnlyProgram[] = {0};

LogicalResult EntryPartitioner::checkRange(Operation *op, Type type) {
  ArrayRef<int64_t> on = getCoordinates(type);
  if (on.empty() || on.back() < static_cast<int64_t>(parts.size()))
    return success();
  return op->emitOpError() << "expects coordinates below the size "
                           << parts.size() << " of the mesh but got " << type;
}

ArrayRef<int64_t> EntryPartitioner::coordinatesOf(Operation *op) {
  if (!placed)
    return kOnlyProgram;
  return op->getNumResults() == 0 ? ArrayRef<int64_t>()
                                  : getCoordinates(op->getResult(0).getType());
}

Value EntryPartitioner::getLocal(Value value, int64_t at) {
  if (value.getParentBlock() == parts[at].block)
    return value;
  auto known = copies.find(value);
  if (known != copies.end())
    for (auto [coordinate, copy] : known->second)
      if (coordinate == at)
        return copy;
  auto view = value.getDefiningOp<MicroBatchOp>();
  if (!view)
    return {};
  Value input = getLocal(view.getInput(), at);
  if (!input)
    return {};
  OpBuilder builder = atEnd(at);
  Value copy = MicroBatchOp::create(builder, view.getLoc(), view.getType(),
                                    input, view.getIndex());
  copies[value].emplace_back(at, copy);
  return copy;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// One entry point for each program, still without arguments and ops.
void EntryPartitioner::makeEntries() {
  for (ProgramOp program : programs) {
    OpBuilder builder = OpBuilder::atBlockEnd(&program.getBody().front());
    OperationState state(source.getLoc(), EntryOp::getOperationName());
    auto &properties = state.getOrAddProperties<EntryOp::Properties>();
    properties.setSymName(source.getSymNameAttr());
    properties.setFunctionType(TypeAttr::get(builder.getFunctionType({}, {})));
    Block &block = state.addRegion()->emplaceBlock();
    Part &part = parts.emplace_back();
    part.entry = cast<EntryOp>(builder.create(state));
    part.block = &block;
  }
}

/// The coordinates whose tasks read a step input, ascending.
SmallVector<int64_t> EntryPartitioner::findReaders(BlockArgument input) {
  std::vector<bool> reads(parts.size());
  auto visit = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (auto task = dyn_cast<TaskOp>(user))
        for (int64_t coordinate : coordinatesOf(task))
          reads[coordinate] = true;
  };
  visit(input);
  for (Operation *user : input.getUsers())
    if (auto view = dyn_cast<MicroBatchOp>(user))
      visit(view.getOut());
  SmallVector<int64_t> result;
  for (size_t coordinate = 0; coordinate < reads.size(); ++coordinate)
    if (reads[coordinate])
      result.push_back(coordinate);
  return result;
}

FailureOr<SmallVector<int64_t>>
EntryPartitioner::coordinatesOf(BlockArgument argument) {
  if (!placed)
    return SmallVector<int64_t>{0};
  if (failed(checkRange(source, argument.getType())))
    return failure();
  ArrayRef<int64_t> on = getCoordinates(argument.getType());
  if (!on.empty())
    return SmallVector<int64_t>(on);
  if (!source.getArgAttr(argument.getArgNumber(),
                         PiperDialect::InputAttrHelper::getNameStr()))
    return source.emitOpError()
           << "expects argument #" << argument.getArgNumber()
           << ", which is no step input, to have coordinates but got "
           << argument.getType();
  SmallVector<int64_t> readers = findReaders(argument);
  // Every input of the step is in some program.
  if (readers.empty())
    readers.push_back(0);
  return readers;
}

static StringAttr stateName(DictionaryAttr attributes) {
  if (!attributes)
    return {};
  if (auto param = attributes.getAs<ParamAttr>(
          PiperDialect::ParamAttrHelper::getNameStr()))
    return param.getName();
  if (auto state = attributes.getAs<StateAttr>(
          PiperDialect::StateAttrHelper::getNameStr()))
    return state.getName();
  return {};
}

LogicalResult EntryPartitioner::moveArguments() {
  for (BlockArgument argument : source.getArguments()) {
    FailureOr<SmallVector<int64_t>> on = coordinatesOf(argument);
    if (failed(on))
      return failure();
    DictionaryAttr attributes = function_interface_impl::getArgAttrDict(
        source, argument.getArgNumber());
    if (!attributes)
      attributes = DictionaryAttr::get(source.getContext());
    if (StringAttr name = stateName(attributes))
      stateCoordinates[name] = *on;
    Value first;
    for (int64_t coordinate : *on) {
      Part &part = parts[coordinate];
      part.argumentAttrs.push_back(attributes);
      Value local =
          part.block->addArgument(argument.getType(), argument.getLoc());
      if (!first)
        first = local;
      else
        copies[first].emplace_back(coordinate, local);
    }
    argument.replaceAllUsesWith(first);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult EntryPartitioner::moveTask(TaskOp task) {
  ArrayRef<int64_t> on = coordinatesOf(task);
  if (on.empty())
    return task.emitOpError()
           << "expects results with coordinates, which are those of the task";
  if (failed(accumulators.lower(task)))
    return failure();
  task.setId(numOps++);
  if (on.size() > 1)
    task.setOn(on);
  for (int64_t coordinate : on.drop_front()) {
    Operation *copy = task->clone();
    parts[coordinate].block->push_back(copy);
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(getLocal(operand.get(), coordinate));
    for (auto [own, other] :
         llvm::zip_equal(task->getResults(), copy->getResults()))
      copies[own].emplace_back(coordinate, other);
  }
  int64_t first = on.front();
  for (OpOperand &operand : task->getOpOperands())
    if (operand.get().getParentBlock() != parts[first].block)
      operand.set(getLocal(operand.get(), first));
  task->moveBefore(parts[first].block, parts[first].block->end());
  return success();
}

void EntryPartitioner::moveTransfer(TransferOp transfer) {
  Location loc = transfer.getLoc();
  int64_t id = numOps++;
  int64_t from = getCoordinates(transfer.getInput().getType()).front();
  int64_t to = getCoordinates(transfer.getType()).front();
  OpBuilder sender = atEnd(from), receiver = atEnd(to);
  SendOp::create(sender, loc, getLocal(transfer.getInput(), from), to, id,
                 /*waits=*/DenseI64ArrayAttr());
  auto receive = ReceiveOp::create(receiver, loc, transfer.getType(), from, id,
                                   /*waits=*/DenseI64ArrayAttr(),
                                   /*offsets=*/DenseI64ArrayAttr());
  transfer.getOut().replaceAllUsesWith(receive.getOut());
  transfer.erase();
}

void EntryPartitioner::moveAllReduce(AllReduceOp reduce) {
  int64_t id = numOps++;
  ArrayRef<int64_t> on = getCoordinates(reduce.getType());
  SmallVector<int64_t> terms =
      llvm::map_to_vector(reduce.getInputs(), [](Value input) {
        return getCoordinates(input.getType()).front();
      });
  SmallVector<int64_t> members(terms);
  llvm::append_range(members, on);
  llvm::sort(members);
  members.erase(llvm::unique(members), members.end());
  Value first;
  for (int64_t member : members) {
    SmallVector<Value> own;
    for (auto [input, term] : llvm::zip_equal(reduce.getInputs(), terms))
      if (term == member)
        own.push_back(getLocal(input, member));
    SmallVector<Type> types;
    if (llvm::is_contained(on, member))
      types.push_back(reduce.getType());
    OpBuilder builder = atEnd(member);
    auto part = ReduceOp::create(builder, reduce.getLoc(), types, own, terms,
                                 members, id, /*waits=*/DenseI64ArrayAttr(),
                                 /*offsets=*/DenseI64ArrayAttr());
    if (types.empty())
      continue;
    if (!first)
      first = part->getResult(0);
    else
      copies[first].emplace_back(member, part->getResult(0));
  }
  reduce.getOut().replaceAllUsesWith(first);
  reduce.erase();
}

LogicalResult EntryPartitioner::moveOp(Operation &op) {
  for (Type type : op.getResultTypes())
    if (failed(checkRange(&op, type)))
      return failure();
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](TaskOp task) { return moveTask(task); })
      .Case([&](TransferOp transfer) {
        moveTransfer(transfer);
        return success();
      })
      .Case([&](AllReduceOp reduce) {
        moveAllReduce(reduce);
        return success();
      })
      // A view is made anew where it is read.
      .Case([](MicroBatchOp) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError() << "cannot be part of a program";
      });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult EntryPartitioner::returnResults() {
  Operation *terminator = source.front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    DictionaryAttr attributes = function_interface_impl::getResultAttrDict(
        source, operand.getOperandNumber());
    if (!attributes)
      attributes = DictionaryAttr::get(source.getContext());
    auto next = attributes.getAs<StringAttr>(
        PiperDialect::NextAttrHelper::getNameStr());
    SmallVector<int64_t> on;
    if (next)
      on = stateCoordinates.lookup(next);
    if (on.empty() && !getCoordinates(value.getType()).empty())
      on.push_back(getCoordinates(value.getType()).front());
    // A step input that is a result: where it is first.
    for (auto [index, part] : llvm::enumerate(parts))
      if (on.empty() && getLocal(value, index))
        on.push_back(index);
    for (int64_t coordinate : on) {
      Value local = getLocal(value, coordinate);
      if (!local)
        return source.emitOpError()
               << "expects the next value of '" << next.getValue()
               << "' on pp = " << coordinate << ", where the state is, but got "
               << value.getType();
      parts[coordinate].results.push_back(local);
      parts[coordinate].resultAttrs.push_back(attributes);
    }
  }
  return success();
}

/// Types become local, and the entries get their signatures.
void EntryPartitioner::finish() {
  Builder builder(source.getContext());
  auto arrayOf = [&](ArrayRef<Attribute> attributes) -> ArrayAttr {
    bool any = llvm::any_of(attributes, [](Attribute attribute) {
      return !cast<DictionaryAttr>(attribute).empty();
    });
    return any ? builder.getArrayAttr(attributes) : ArrayAttr();
  };
  for (Part &part : parts) {
    for (BlockArgument argument : part.block->getArguments())
      argument.setType(getLocalTensor(argument.getType()));
    for (Operation &op : *part.block)
      for (OpResult result : op.getResults())
        result.setType(getLocalTensor(result.getType()));
    OpBuilder inside = OpBuilder::atBlockEnd(part.block);
    auto terminator = ReturnOp::create(
        inside, source.front().getTerminator()->getLoc(), part.results);
    part.entry.setFunctionType(builder.getFunctionType(
        part.block->getArgumentTypes(), terminator->getOperandTypes()));
    if (ArrayAttr attributes = arrayOf(part.argumentAttrs))
      part.entry.setArgAttrsAttr(attributes);
    if (ArrayAttr attributes = arrayOf(part.resultAttrs))
      part.entry.setResAttrsAttr(attributes);
    part.entry.setOps(numOps);
  }
  source.erase();
}

LogicalResult EntryPartitioner::run() {
  makeEntries();
  if (failed(moveArguments()))
    return failure();
  for (Operation &op :
       llvm::make_early_inc_range(source.front().without_terminator()))
    if (failed(moveOp(op)))
      return failure();
  if (failed(returnResults()))
    return failure();
  finish();
  return success();
}

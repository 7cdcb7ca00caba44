// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points: arguments, ops in order, results.

#include "BuildEntry.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::piper;

FailureOr<const rt::Function *>
FunctionCache::lookup(TaskOp task, const rt::Target &target) {
  std::string key =
      task.getCallee().str() + "\n" + std::to_string(target.threads);
  if (auto found = known.find(key); found != known.end())
    return &found->second;
  auto function = symbols.lookup<func::FuncOp>(task.getCallee());
  if (!function || function.isExternal())
    return task.emitOpError()
           << "expects a function '" << task.getCallee() << "' with a body";
  FailureOr<rt::Function> built = buildFunction(function, target);
  if (failed(built))
    return failure();
  return &known.try_emplace(key, std::move(*built)).first->second;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The name of a state argument, empty for an input.
static StringRef stateName(EntryOp entry, unsigned argument) {
  if (auto param = entry.getArgAttrOfType<ParamAttr>(
          argument, PiperDialect::ParamAttrHelper::getNameStr()))
    return param.getName().getValue();
  if (auto state = entry.getArgAttrOfType<StateAttr>(
          argument, PiperDialect::StateAttrHelper::getNameStr()))
    return state.getName().getValue();
  return "";
}

/// Fills in how a parameter starts.
static void setInit(rt::StateTensor &state, ParamAttr param) {
  if (auto rule = dyn_cast<InitAttr>(param.getInit())) {
    state.init = llvm::StringSwitch<rt::StateTensor::Init>(rule.getKind())
                     .Case("ones", rt::StateTensor::Init::Ones)
                     .Case("normal", rt::StateTensor::Init::Normal)
                     .Default(rt::StateTensor::Init::Zeros);
    state.scale = rule.getScale().getValueAsDouble();
    return;
  }
  state.init = rt::StateTensor::Init::Data;
  state.data = denseBytes(cast<DenseElementsAttr>(param.getInit()));
}

FailureOr<int32_t> EntryBuilder::addState(unsigned argument, int64_t offset) {
  rt::StateTensor state;
  state.name = stateName(entry, argument).str();
  state.type = convertType(entry.getArgumentTypes()[argument]);
  state.offset = offset;
  if (auto param = entry.getArgAttrOfType<ParamAttr>(
          argument, PiperDialect::ParamAttrHelper::getNameStr())) {
    state.kind = rt::StateTensor::Kind::Parameter;
    state.trainable = !param.getFrozen();
    setInit(state, param);
  } else {
    auto attribute = entry.getArgAttrOfType<StateAttr>(
        argument, PiperDialect::StateAttrHelper::getNameStr());
    state.kind = attribute.getParameter() ? rt::StateTensor::Kind::Moment
                                          : rt::StateTensor::Kind::Counter;
  }
  auto [found, isNew] = states.try_emplace(state.name, program.state.size());
  if (isNew) {
    program.state.push_back(std::move(state));
    return found->second;
  }
  const rt::StateTensor &known = program.state[found->second];
  if (known.type != state.type || known.offset != offset)
    return entry.emitOpError()
           << "expects '" << state.name << "' to be " << known.type.str()
           << " at offset " << known.offset
           << " as in the other entry points but got " << state.type.str()
           << " at offset " << offset;
  return found->second;
}

LogicalResult EntryBuilder::addArguments() {
  if (failed(checkTypes(entry, entry.getBody().getArgumentTypes(), "argument")))
    return failure();
  std::optional<ArrayRef<int64_t>> offsets = entry.getOffsets();
  if (!offsets || offsets->size() != entry.getNumArguments())
    return entry.emitOpError()
           << "expects one offset for each of its " << entry.getNumArguments()
           << " arguments but got " << (offsets ? offsets->size() : 0);
  for (BlockArgument argument : entry.getBody().getArguments()) {
    unsigned number = argument.getArgNumber();
    int32_t index = point->values.size();
    point->values.push_back(
        {convertType(argument.getType()), (*offsets)[number], -1});
    if (auto input = entry.getArgAttrOfType<InputAttr>(
            number, PiperDialect::InputAttrHelper::getNameStr())) {
      rt::Binding binding{input.getName().str(), index, {}};
      for (StringAttr dim : input.getDims())
        binding.dims.push_back(dim.str());
      binding.split = input.getSplit();
      point->inputs.push_back(std::move(binding));
      continue;
    }
    if (stateName(entry, number).empty())
      return entry.emitOpError() << "expects argument #" << number
                                 << " to be an input, a parameter or state";
    FailureOr<int32_t> state = addState(number, (*offsets)[number]);
    if (failed(state))
      return failure();
    point->state.emplace_back(index, *state);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FailureOr<int32_t> EntryBuilder::functionIndex(TaskOp task) {
  auto [found, isNew] =
      functions.try_emplace(task.getCallee(), program.functions.size());
  if (!isNew)
    return found->second;
  FailureOr<const rt::Function *> function = cache.lookup(task, program.target);
  if (failed(function))
    return failure();
  program.functions.push_back(**function);
  return found->second;
}

/// Results get the offsets of the op.
LogicalResult EntryBuilder::addValues(Operation &op,
                                      std::optional<ArrayRef<int64_t>> offsets,
                                      rt::Instruction &instruction) {
  size_t given = offsets ? offsets->size() : 0;
  if (given != op.getNumResults())
    return op.emitOpError()
           << "expects one offset for each of its " << op.getNumResults()
           << " results but got " << given;
  if (failed(checkTypes(&op, op.getResultTypes(), "result")))
    return failure();
  instruction.operands.reserve(op.getNumOperands());
  instruction.results.reserve(op.getNumResults());
  for (Value operand : op.getOperands())
    instruction.operands.push_back(values.of(operand));
  for (OpResult result : op.getResults()) {
    instruction.results.push_back(point->values.size());
    point->values.push_back({convertType(result.getType()),
                             (*offsets)[result.getResultNumber()], -1});
  }
  return success();
}

LogicalResult EntryBuilder::setId(Operation &op, int64_t id) {
  if (id < 0)
    return success();
  auto [found, isNew] =
      instructions.try_emplace(id, point->instructions.size());
  if (!isNew)
    return op.emitOpError() << "expects an id of its own but another op of the "
                               "entry point has "
                            << id;
  return success();
}

LogicalResult EntryBuilder::setWaits(Operation &op,
                                     std::optional<ArrayRef<int64_t>> waits,
                                     rt::Instruction &instruction) {
  if (!waits)
    return success();
  for (int64_t id : *waits) {
    auto found = instructions.find(id);
    if (found == instructions.end() ||
        found->second == static_cast<int32_t>(point->instructions.size()))
      return op.emitOpError() << "waits for id " << id
                              << ", which no op before it in the entry point "
                                 "has";
    instruction.waits.push_back(found->second);
  }
  return success();
}

/// A number that does not fit becomes one that the runtime refuses.
static int32_t narrow(int64_t number) {
  return llvm::isInt<32>(number) ? static_cast<int32_t>(number)
                                 : std::numeric_limits<int32_t>::max();
}

static std::vector<int32_t> convertList(ArrayRef<int64_t> list) {
  std::vector<int32_t> result;
  for (int64_t number : list)
    result.push_back(narrow(number));
  return result;
}

LogicalResult EntryBuilder::addTask(TaskOp task, rt::Instruction &instruction) {
  if (!task.getInto().empty())
    return task.emitOpError() << "expects no 'into' in a plan: "
                                 "piper-partition makes it operands of a body";
  FailureOr<int32_t> function = functionIndex(task);
  if (failed(function))
    return failure();
  instruction.function = *function;
  instruction.id = task.getId();
  if (std::optional<ArrayRef<int64_t>> on = task.getOn())
    instruction.on = convertList(*on);
  instruction.workspaceOffset = std::max<int64_t>(task.getWorkspace(), 0);
  instruction.salt = task.getSalt();
  instruction.microBatch = narrow(task.getMb());
  instruction.stage = narrow(task.getStage());
  instruction.segment = narrow(task.getSegment());
  instruction.copy = narrow(task.getCopy());
  instruction.pass = stringifyPassKind(task.getPass()).str();
  if (TagsAttr tags = task.getTagsAttr()) {
    auto [text, isNew] = tagTexts.try_emplace(tags);
    if (isNew)
      text->second = tags.text();
    instruction.tags = text->second;
  }
  return failure(failed(setId(*task, task.getId())) ||
                 failed(setWaits(*task, task.getWaits(), instruction)) ||
                 failed(addValues(*task, task.getOffsets(), instruction)));
}

LogicalResult EntryBuilder::addSend(SendOp send, rt::Instruction &instruction) {
  instruction.kind = rt::Instruction::Kind::Send;
  instruction.id = send.getId();
  instruction.peer = narrow(send.getTo());
  return failure(failed(setId(*send, send.getId())) ||
                 failed(setWaits(*send, send.getWaits(), instruction)) ||
                 failed(addValues(*send, ArrayRef<int64_t>(), instruction)));
}

LogicalResult EntryBuilder::addReceive(ReceiveOp receive,
                                       rt::Instruction &instruction) {
  instruction.kind = rt::Instruction::Kind::Receive;
  instruction.id = receive.getId();
  instruction.peer = narrow(receive.getFrom());
  return failure(
      failed(setId(*receive, receive.getId())) ||
      failed(setWaits(*receive, receive.getWaits(), instruction)) ||
      failed(addValues(*receive, receive.getOffsets(), instruction)));
}

LogicalResult EntryBuilder::addReduce(ReduceOp reduce,
                                      rt::Instruction &instruction) {
  if (reduce.getOuts().size() > 1)
    return reduce.emitOpError()
           << "expects at most one result but got " << reduce.getOuts().size();
  instruction.kind = rt::Instruction::Kind::AllReduce;
  instruction.id = reduce.getId();
  instruction.terms = convertList(reduce.getTerms());
  instruction.members = convertList(reduce.getMembers());
  return failure(failed(setId(*reduce, reduce.getId())) ||
                 failed(setWaits(*reduce, reduce.getWaits(), instruction)) ||
                 failed(addValues(*reduce, reduce.getOffsets(), instruction)));
}

/// A view is a value at its place in the input: there is nothing to run.
LogicalResult EntryBuilder::addView(MicroBatchOp view) {
  auto argument = dyn_cast<BlockArgument>(view.getInput());
  if (!argument || !stateName(entry, argument.getArgNumber()).empty())
    return view.emitOpError() << "expects a step input as its operand";
  int32_t input = values.of(argument);
  rt::EntryValue value;
  if (failed(checkTypes(view, view->getResultTypes(), "result")))
    return failure();
  value.type = convertType(view.getOut().getType());
  // An offset beyond all numbers lies outside of the arena, as the runtime
  // says.
  if (llvm::MulOverflow(view.getIndex(), value.type.numBytes(), value.offset) ||
      llvm::AddOverflow(value.offset, point->values[input].offset,
                        value.offset))
    value.offset = std::numeric_limits<int64_t>::max();
  value.viewOf = input;
  point->values.push_back(std::move(value));
  return success();
}

LogicalResult EntryBuilder::addOp(Operation &op) {
  if (auto view = dyn_cast<MicroBatchOp>(op))
    return addView(view);
  rt::Instruction instruction;
  LogicalResult added =
      TypeSwitch<Operation *, LogicalResult>(&op)
          .Case([&](TaskOp op) { return addTask(op, instruction); })
          .Case([&](SendOp op) { return addSend(op, instruction); })
          .Case([&](ReceiveOp op) { return addReceive(op, instruction); })
          .Case([&](ReduceOp op) { return addReduce(op, instruction); })
          .Default([](Operation *op) {
            return op->emitOpError()
                   << "cannot stand in an entry point of a plan: expects "
                      "tasks, micro-batch views, sends, receives and reduces";
          });
  point->instructions.push_back(std::move(instruction));
  return added;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult EntryBuilder::addResults() {
  auto terminator = cast<ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [number, result] : llvm::enumerate(terminator.getOuts())) {
    int32_t value = values.of(result);
    auto named = [&, number = number](StringRef key) {
      return entry.getResultAttrOfType<StringAttr>(number, key);
    };
    if (StringAttr name = named(PiperDialect::OutputAttrHelper::getNameStr()))
      point->outputs.push_back({name.str(), value, {}});
    if (StringAttr name = named(PiperDialect::GradientAttrHelper::getNameStr()))
      point->gradients.push_back({name.str(), value, {}});
    StringAttr next = named(PiperDialect::NextAttrHelper::getNameStr());
    if (!next)
      continue;
    auto state = states.find(next.getValue());
    if (state == states.end() ||
        program.state[state->second].offset != point->values[value].offset)
      return entry.emitOpError()
             << "expects the next value of '" << next.getValue()
             << "' to lie where the state lies";
  }
  return success();
}

LogicalResult EntryBuilder::add(EntryOp op, std::vector<Operation *> &ops) {
  entry = op;
  values = ValueNumbers(entry.getBody().front());
  instructions.clear();
  point = &program.entries.emplace_back();
  point->name = entry.getSymName().str();
  point->values.reserve(values.size());
  if (failed(addArguments()))
    return failure();
  for (Operation &op : entry.getBody().front().without_terminator()) {
    if (failed(addOp(op)))
      return failure();
    if (!isa<MicroBatchOp>(op))
      ops.push_back(&op);
  }
  if (failed(addResults()))
    return failure();
  point->numOps = entry.getOps().value_or(0);
  point->peakBytes = entry.getPeak().value_or(0);
  point->liveBytes = entry.getLive().value_or(0);
  point->peakInstruction = narrow(entry.getPeakOp().value_or(0));
  if (DictionaryAttr categories = entry.getCategoriesAttr())
    for (NamedAttribute category : categories)
      if (auto number = dyn_cast<IntegerAttr>(category.getValue()))
        point->categories.emplace_back(category.getName().str(),
                                       number.getInt());
  return success();
}

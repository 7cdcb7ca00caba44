// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan module to the runtime's Program. A plan may have been edited by
// hand: what is missing is an error here, what is inconsistent one of the
// runtime's loader.

#include "Piper/Target/BuildProgram.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Whether the first result of a step lies in the first operand by the kernel's
/// nature, so that nothing is written.
static bool isView(const rt::Function &function, const rt::Function::Step &step,
                   const rt::KernelEntry &kernel) {
  int64_t offset = kernel.viewOffset ? kernel.viewOffset(step.spec) : -1;
  if (offset < 0)
    return false;
  const rt::FunctionValue &source = function.values[step.operands[0]];
  const rt::FunctionValue &view = function.values[step.results[0]];
  return source.base == view.base && source.index == view.index &&
         source.offset + offset == view.offset;
}

/// What lies in result #i at the end of the body must be the value that is
/// returned there. `writes` has the values that steps write, in order.
static LogicalResult checkReturned(func::FuncOp function,
                                   const rt::Function &result,
                                   ArrayRef<int32_t> writes,
                                   const DenseMap<Value, int32_t> &index) {
  using Base = rt::FunctionValue::Base;
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    int32_t number = operand.getOperandNumber();
    int32_t returned = index.lookup(operand.get());
    const rt::FunctionValue &place = result.values[returned];
    if (place.base != Base::Result || place.index != number ||
        place.offset != 0)
      return function.emitOpError()
             << "expects the value returned as result #" << number
             << " to lie there but its place is another";
    const int32_t *from = llvm::find(writes, returned);
    for (int32_t later :
         llvm::make_range(from == writes.end() ? from : from + 1, writes.end()))
      if (result.values[later].base == Base::Result &&
          result.values[later].index == number)
        return function.emitOpError()
               << "overwrites result #" << number
               << " after the value that is returned there";
  }
  return success();
}

FailureOr<rt::Function> mlir::piper::buildFunction(func::FuncOp function,
                                                   const rt::Target &target) {
  auto memory = function->getAttrOfType<MemoryAttr>(
      PiperDialect::MemoryAttrHelper::getNameStr());
  if (!memory)
    return function.emitOpError()
           << "expects the attribute '"
           << PiperDialect::MemoryAttrHelper::getNameStr()
           << "' that piper-plan-memory sets";
  Block &body = function.front();
  size_t numResults = 0, numOps = 0;
  for (Operation &op : body.without_terminator()) {
    numResults += op.getNumResults();
    ++numOps;
  }
  if (memory.getValues().size() != 3 * numResults ||
      memory.getKernels().size() != numOps)
    return function.emitOpError()
           << "expects the places of " << numResults
           << " values and the scratch of " << numOps << " kernels but got "
           << memory.getValues().size() / 3 << " and "
           << memory.getKernels().size();

  rt::Function result;
  result.name = function.getSymName().str();
  result.workspaceBytes = memory.getBytes();
  DenseMap<Value, int32_t> index;
  for (BlockArgument argument : body.getArguments()) {
    index[argument] = result.values.size();
    result.operands.push_back(convertType(argument.getType()));
    result.values.push_back({result.operands.back(),
                             rt::FunctionValue::Base::Operand,
                             static_cast<int32_t>(argument.getArgNumber()), 0});
  }
  for (Type type : function.getResultTypes())
    result.results.push_back(convertType(type));

  SmallVector<int32_t> writes;
  auto places = memory.getValues().begin();
  for (auto [number, op] : llvm::enumerate(body.without_terminator())) {
    for (Value value : op.getResults()) {
      int64_t base = *places++, of = *places++, offset = *places++;
      if (base < 0 || base > 2)
        return op.emitOpError()
               << "expects a base of 0, 1 or 2 for its place but got " << base;
      index[value] = result.values.size();
      result.values.push_back({convertType(value.getType()),
                               static_cast<rt::FunctionValue::Base>(base),
                               static_cast<int32_t>(of), offset});
    }
    FailureOr<const rt::KernelEntry *> kernel = lookupKernel(&op);
    FailureOr<rt::KernelSpec> spec = buildKernelSpec(&op);
    if (failed(kernel) || failed(spec))
      return failure();
    rt::Function::Step step;
    step.spec = std::move(*spec);
    for (Value operand : op.getOperands())
      step.operands.push_back(index[operand]);
    for (Value value : op.getResults())
      step.results.push_back(index[value]);
    int64_t scratch = memory.getKernels()[number];
    step.workspaceOffset = std::max<int64_t>(scratch, 0);
    step.workspaceBytes = scratch < 0 || !(*kernel)->workspaceBytes
                              ? 0
                              : (*kernel)->workspaceBytes(step.spec, target);
    if (!isView(result, step, **kernel))
      llvm::append_range(writes, step.results);
    result.steps.push_back(std::move(step));
  }
  if (failed(checkReturned(function, result, writes, index)))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

namespace {

/// Builds a Program from one program op.
class ProgramBuilder {
public:
  ProgramBuilder(ProgramOp program, ModuleOp module)
      : program(program), module(module), symbols(module) {}
  FailureOr<rt::Program> run();

private:
  LogicalResult addEntry(EntryOp entry);
  LogicalResult addArguments(EntryOp entry, rt::EntryPoint &result);
  LogicalResult addTask(TaskOp task, rt::EntryPoint &result);
  LogicalResult addResults(EntryOp entry, rt::EntryPoint &result);
  FailureOr<int32_t> addState(EntryOp entry, unsigned argument, int64_t offset);
  FailureOr<int32_t> functionIndex(TaskOp task);

  ProgramOp program;
  ModuleOp module;
  SymbolTable symbols;
  rt::Program result;
  llvm::StringMap<int32_t> functions;
  llvm::StringMap<int32_t> states;
  /// Of the entry in hand.
  DenseMap<Value, int32_t> values;
};

} // namespace

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

FailureOr<int32_t> ProgramBuilder::addState(EntryOp entry, unsigned argument,
                                            int64_t offset) {
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
  auto [found, isNew] = states.try_emplace(state.name, result.state.size());
  if (isNew) {
    result.state.push_back(std::move(state));
    return found->second;
  }
  const rt::StateTensor &known = result.state[found->second];
  if (known.type != state.type || known.offset != offset)
    return entry.emitOpError()
           << "expects '" << state.name << "' to be " << known.type.str()
           << " at offset " << known.offset
           << " as in the other entry points but got " << state.type.str()
           << " at offset " << offset;
  return found->second;
}

LogicalResult ProgramBuilder::addArguments(EntryOp entry,
                                           rt::EntryPoint &point) {
  std::optional<ArrayRef<int64_t>> offsets = entry.getOffsets();
  if (!offsets || offsets->size() != entry.getNumArguments())
    return entry.emitOpError()
           << "expects one offset for each of its " << entry.getNumArguments()
           << " arguments but got " << (offsets ? offsets->size() : 0);
  for (BlockArgument argument : entry.getBody().getArguments()) {
    unsigned number = argument.getArgNumber();
    int32_t index = point.values.size();
    values[argument] = index;
    point.values.push_back(
        {convertType(argument.getType()), (*offsets)[number]});
    if (auto input = entry.getArgAttrOfType<InputAttr>(
            number, PiperDialect::InputAttrHelper::getNameStr())) {
      rt::Binding binding{input.getName().str(), index, {}};
      for (StringAttr dim : input.getDims())
        binding.dims.push_back(dim.str());
      point.inputs.push_back(std::move(binding));
      continue;
    }
    if (stateName(entry, number).empty())
      return entry.emitOpError() << "expects argument #" << number
                                 << " to be an input, a parameter or state";
    FailureOr<int32_t> state = addState(entry, number, (*offsets)[number]);
    if (failed(state))
      return failure();
    point.state.emplace_back(index, *state);
  }
  return success();
}

FailureOr<int32_t> ProgramBuilder::functionIndex(TaskOp task) {
  auto [found, isNew] =
      functions.try_emplace(task.getCallee(), result.functions.size());
  if (!isNew)
    return found->second;
  auto function = symbols.lookup<func::FuncOp>(task.getCallee());
  if (!function || function.isExternal())
    return task.emitOpError()
           << "expects a function '" << task.getCallee() << "' with a body";
  FailureOr<rt::Function> built = buildFunction(function, result.target);
  if (failed(built))
    return failure();
  result.functions.push_back(std::move(*built));
  return found->second;
}

LogicalResult ProgramBuilder::addTask(TaskOp task, rt::EntryPoint &point) {
  FailureOr<int32_t> function = functionIndex(task);
  if (failed(function))
    return failure();
  std::optional<ArrayRef<int64_t>> offsets = task.getOffsets();
  if (!offsets || offsets->size() != task.getNumResults())
    return task.emitOpError()
           << "expects one offset for each of its " << task.getNumResults()
           << " results but got " << (offsets ? offsets->size() : 0);
  rt::Instruction instruction;
  instruction.function = *function;
  for (Value operand : task.getInputs())
    instruction.operands.push_back(values[operand]);
  for (auto [value, offset] : llvm::zip_equal(task.getResults(), *offsets)) {
    values[value] = point.values.size();
    instruction.results.push_back(values[value]);
    point.values.push_back({convertType(value.getType()), offset});
  }
  instruction.workspaceOffset = std::max<int64_t>(task.getWorkspace(), 0);
  instruction.salt = task.getSalt();
  instruction.pass = stringifyPassKind(task.getPass()).str();
  if (TagsAttr tags = task.getTagsAttr())
    instruction.tags = tags.text();
  point.instructions.push_back(std::move(instruction));
  return success();
}

LogicalResult ProgramBuilder::addResults(EntryOp entry, rt::EntryPoint &point) {
  auto terminator = cast<ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [number, value] : llvm::enumerate(terminator.getOuts())) {
    auto named = [&](StringRef key) {
      return entry.getResultAttrOfType<StringAttr>(number, key);
    };
    if (StringAttr name = named(PiperDialect::OutputAttrHelper::getNameStr()))
      point.outputs.push_back({name.str(), values[value], {}});
    if (StringAttr name = named(PiperDialect::GradientAttrHelper::getNameStr()))
      point.gradients.push_back({name.str(), values[value], {}});
    StringAttr next = named(PiperDialect::NextAttrHelper::getNameStr());
    if (!next)
      continue;
    auto state = states.find(next.getValue());
    if (state == states.end() || result.state[state->second].offset !=
                                     point.values[values[value]].offset)
      return entry.emitOpError()
             << "expects the next value of '" << next.getValue()
             << "' to lie where the state lies";
  }
  return success();
}

LogicalResult ProgramBuilder::addEntry(EntryOp entry) {
  values.clear();
  rt::EntryPoint point;
  point.name = entry.getSymName().str();
  if (failed(addArguments(entry, point)))
    return failure();
  for (Operation &op : entry.getBody().front().without_terminator()) {
    auto task = dyn_cast<TaskOp>(op);
    if (!task)
      return op.emitOpError()
             << "expects only tasks in an entry point of a plan";
    if (failed(addTask(task, point)))
      return failure();
  }
  if (failed(addResults(entry, point)))
    return failure();
  point.peakBytes = entry.getPeak().value_or(0);
  point.liveBytes = entry.getLive().value_or(0);
  point.peakInstruction = entry.getPeakOp().value_or(0);
  if (DictionaryAttr categories = entry.getCategoriesAttr())
    for (NamedAttribute category : categories)
      if (auto number = dyn_cast<IntegerAttr>(category.getValue()))
        point.categories.emplace_back(category.getName().str(),
                                      number.getInt());
  result.entries.push_back(std::move(point));
  return success();
}

FailureOr<rt::Program> ProgramBuilder::run() {
  result.name = program.getSymName().str();
  result.target = convertTarget(program.getTarget());
  if (!program.getArena())
    return program.emitOpError() << "expects the size of the arena that "
                                    "piper-plan-memory sets";
  result.arenaBytes = *program.getArena();
  for (Operation &op : program.getBody().front()) {
    auto entry = dyn_cast<EntryOp>(op);
    if (!entry)
      return op.emitOpError() << "expects only entry points in a program";
    if (failed(addEntry(entry)))
      return failure();
  }
  return std::move(result);
}

FailureOr<rt::Program> mlir::piper::buildProgram(ModuleOp module) {
  auto level = module->getAttrOfType<LevelAttr>(
      PiperDialect::LevelAttrHelper::getNameStr());
  if (!level || level.getValue() != Level::Plan)
    return module.emitError()
           << "expects a plan but got level '"
           << stringifyLevel(level ? level.getValue() : Level::Model) << "'";
  ProgramOp program;
  for (ProgramOp candidate : module.getOps<ProgramOp>()) {
    if (program)
      return candidate.emitOpError()
             << "expects one program but this is a second one";
    program = candidate;
  }
  if (!program)
    return module.emitError() << "expects a program but the plan has none";
  return ProgramBuilder(program, module).run();
}

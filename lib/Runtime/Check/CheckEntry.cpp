// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of one entry point: values, bindings, instructions.

#include "CheckParts.h"
#include "Piper/Runtime/CheckProgram.h"

#include <algorithm>
#include <set>

using namespace piper::rt;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

namespace {
/// The checks of one entry point, in the order of run().
class EntryChecker {
  std::string where() const { return " of entry point " + quote(entry.name); }
  /// "`what` of entry point .."
  auto inEntry(const char *what) const {
    return [this, what] { return what + where(); };
  }
  auto named(const char *kind, const Binding &binding) const {
    return [this, kind, &binding] {
      return kind + (" " + quote(binding.name)) + where();
    };
  }
  auto valueText(int64_t value) const {
    return [=] { return "value " + std::to_string(value) + where(); };
  }

public:
  EntryChecker(const Program &program, const EntryPoint &entry)
      : program(program), entry(entry), available(entry.values.size()) {}

  Status run() {
    if (entry.name.empty())
      return Status::error("an entry point has no name");
    PIPER_RETURN_IF_ERROR(
        checkRange(0, entry.peakBytes, program.arenaBytes, 1, inEntry("peak")));
    for (size_t v = 0; v < entry.values.size(); ++v)
      PIPER_RETURN_IF_ERROR(checkValue(v));
    PIPER_RETURN_IF_ERROR(checkStatePairs());
    PIPER_RETURN_IF_ERROR(checkInputs());
    PIPER_RETURN_IF_ERROR(checkViews());
    for (size_t i = 0; i < entry.instructions.size(); ++i)
      PIPER_RETURN_IF_ERROR(checkInstruction(
          i, [&] { return describeInstruction(program, entry, i); }));
    PIPER_RETURN_IF_ERROR(checkBindings(entry.outputs, "output"));
    for (const Binding &output : entry.outputs)
      PIPER_RETURN_IF_ERROR(checkAvailable(output, "output"));
    PIPER_RETURN_IF_ERROR(checkGradients());
    if (entry.instructions.empty())
      return Status::success();
    return checkIndex(entry.peakInstruction, entry.instructions.size(),
                      inEntry("instruction at the peak"));
  }

private:
  Status checkValue(size_t index) {
    const EntryValue &value = entry.values[index];
    auto what = valueText(index);
    PIPER_RETURN_IF_ERROR(checkType(value.type, what));
    return checkRange(value.offset, value.type.numBytes(), entry.peakBytes,
                      elementBytes(value.type.element), what);
  }

  Status checkStatePairs() {
    for (auto [value, state] : entry.state) {
      PIPER_RETURN_IF_ERROR(checkIndex(value, entry.values.size(),
                                       inEntry("value of a state tensor")));
      PIPER_RETURN_IF_ERROR(
          checkIndex(state, program.state.size(), inEntry("state tensor")));
      const StateTensor &tensor = program.state[state];
      auto what = [&, value = value] {
        return valueText(value)() + ", which is state " + quote(tensor.name);
      };
      PIPER_RETURN_IF_ERROR(
          checkSameType(entry.values[value].type, tensor.type, what));
      if (entry.values[value].offset != tensor.offset)
        return Status::error(what() + ": expects the offset " +
                             std::to_string(tensor.offset) + " but got " +
                             std::to_string(entry.values[value].offset));
    }
    // The values that hold state at the start are those no instruction makes.
    std::set<int32_t> made;
    for (const Instruction &call : entry.instructions)
      made.insert(call.results.begin(), call.results.end());
    for (auto [value, state] : entry.state)
      if (!made.count(value))
        available[value] = true;
    return Status::success();
  }

  Status checkBindings(const std::vector<Binding> &bindings, const char *kind) {
    std::set<std::string> names;
    for (const Binding &binding : bindings) {
      auto what = named(kind, binding);
      PIPER_RETURN_IF_ERROR(
          checkIndex(binding.value, entry.values.size(), what));
      if (!names.insert(binding.name).second)
        return Status::error("two " + std::string(kind) + "s" + where() +
                             " have the name " + quote(binding.name));
    }
    return Status::success();
  }

  Status checkInputs() {
    PIPER_RETURN_IF_ERROR(checkBindings(entry.inputs, "input"));
    for (const Binding &input : entry.inputs) {
      auto what = named("input", input);
      const EntryValue &value = entry.values[input.value];
      if (available[input.value])
        return Status::error(what() + ": value " + std::to_string(input.value) +
                             " is another input or state");
      available[input.value] = true;
      PIPER_RETURN_IF_ERROR(checkRange(value.offset, value.type.numBytes(),
                                       entry.peakBytes, kAlignment, what));
      // The micro-batches are a dimension without a name.
      size_t rank = value.type.shape.size() - (input.split >= 0 ? 1 : 0);
      if (input.split >= 0)
        PIPER_RETURN_IF_ERROR(
            checkIndex(input.split, value.type.shape.empty() ? 0 : rank,
                       what + ", dimension cut into micro-batches"));
      if (!input.dims.empty())
        PIPER_RETURN_IF_ERROR(
            checkCount(input.dims.size(), rank, what + ", dimensions"));
    }
    return Status::success();
  }

  /// Parts of inputs: nothing makes them.
  Status checkViews() {
    for (size_t v = 0; v < entry.values.size(); ++v) {
      const EntryValue &view = entry.values[v];
      if (view.viewOf < 0)
        continue;
      auto what = valueText(v);
      auto isViewed = [&](const Binding &input) {
        return input.value == view.viewOf;
      };
      if (std::none_of(entry.inputs.begin(), entry.inputs.end(), isViewed))
        return Status::error(what() + " is a part of value " +
                             std::to_string(view.viewOf) +
                             ", which is no input");
      if (available[v])
        return Status::error(what() + " is a part of an input but also " +
                             "another input or state");
      const EntryValue &input = entry.values[view.viewOf];
      PIPER_RETURN_IF_ERROR(checkRange(
          view.offset - input.offset, view.type.numBytes(),
          input.type.numBytes(), elementBytes(view.type.element), [&] {
            return what() + " in input value " + std::to_string(view.viewOf);
          }));
      available[v] = true;
    }
    return Status::success();
  }

  Status checkInstruction(size_t index, What what) {
    const Instruction &instruction = entry.instructions[index];
    PIPER_RETURN_IF_ERROR(checkWaits(index, what));
    if (instruction.kind == Instruction::Kind::Task)
      return checkTask(instruction, what);
    if (instruction.id < 0 || instruction.id >= entry.numOps)
      return Status::error(what() + ": expects an id from 0 to " +
                           std::to_string(entry.numOps - 1) + " but got " +
                           std::to_string(instruction.id));
    PIPER_RETURN_IF_ERROR(instruction.kind == Instruction::Kind::AllReduce
                              ? checkReduction(instruction, what)
                              : checkMessage(instruction, what));
    PIPER_RETURN_IF_ERROR(checkMessageValues(instruction, what));
    return makeResults(instruction, what);
  }

  Status checkWaits(size_t index, What what) {
    const Instruction &instruction = entry.instructions[index];
    for (int32_t wait : instruction.waits) {
      if (wait < 0 || size_t(wait) >= index)
        return Status::error(what() +
                             ": expects to wait for an earlier instruction "
                             "but got " +
                             std::to_string(wait));
      if (entry.instructions[wait].stream() == instruction.stream())
        return Status::error(what() + " waits for instruction " +
                             std::to_string(wait) + " of its own stream");
    }
    return Status::success();
  }

  Status checkMessage(const Instruction &message, What what) {
    bool sends = message.kind == Instruction::Kind::Send;
    if (message.peer < 0 || message.peer == program.coordinate)
      return Status::error(what() +
                           ": expects another coordinate at the other end "
                           "but got " +
                           std::to_string(message.peer));
    PIPER_RETURN_IF_ERROR(
        checkCount(message.operands.size(), sends, what + ", operands"));
    return checkCount(message.results.size(), !sends, what + ", results");
  }

  Status checkReduction(const Instruction &reduction, What what) {
    const std::vector<int32_t> &members = reduction.members;
    for (size_t m = 0; m < members.size(); ++m)
      if (members[m] < 0 || (m > 0 && members[m] <= members[m - 1]))
        return Status::error(what() + ": expects ascending members");
    auto isMember = [&](int32_t coordinate) {
      return std::binary_search(members.begin(), members.end(), coordinate);
    };
    if (!isMember(program.coordinate))
      return Status::error(what() + ": coordinate " +
                           std::to_string(program.coordinate) +
                           " is no member");
    if (reduction.terms.empty())
      return Status::error(what() + " has no terms");
    for (int32_t term : reduction.terms)
      if (!isMember(term))
        return Status::error(what() + ": expects terms of members but got " +
                             std::to_string(term));
    PIPER_RETURN_IF_ERROR(
        checkCount(reduction.operands.size(),
                   std::count(reduction.terms.begin(), reduction.terms.end(),
                              program.coordinate),
                   what + ", operands"));
    if (reduction.results.size() > 1)
      return Status::error(what() + ": expects at most one result but got " +
                           std::to_string(reduction.results.size()));
    return Status::success();
  }

  /// The values of a message or reduction are there, and of one type.
  Status checkMessageValues(const Instruction &message, What what) {
    const TensorType *type = nullptr;
    for (const auto *values : {&message.operands, &message.results})
      for (int32_t value : *values) {
        PIPER_RETURN_IF_ERROR(
            checkIndex(value, entry.values.size(), what + ", value"));
        const TensorType &mine = entry.values[value].type;
        if (type)
          PIPER_RETURN_IF_ERROR(checkSameType(mine, *type, what));
        type = &mine;
      }
    for (int32_t operand : message.operands)
      PIPER_RETURN_IF_ERROR(checkMade(operand, what));
    bool isSummable = !type || type->element == ElementType::F32 ||
                      type->element == ElementType::F64 ||
                      type->element == ElementType::I32 ||
                      type->element == ElementType::I64;
    if (message.terms.size() > 1 && !isSummable)
      return Status::error(what() +
                           ": expects a sum of f32, f64, i32 or i64 but got " +
                           type->str());
    return Status::success();
  }

  Status checkMade(int32_t operand, What what) {
    if (available[operand])
      return Status::success();
    return Status::error(what() + " reads value " + std::to_string(operand) +
                         " before it is made");
  }

  Status makeResults(const Instruction &instruction, What what) {
    for (int32_t result : instruction.results) {
      if (available[result])
        return Status::error(what() + " makes value " + std::to_string(result) +
                             " a second time");
      available[result] = true;
    }
    return Status::success();
  }

  Status checkTask(const Instruction &call, What what) {
    PIPER_RETURN_IF_ERROR(checkIndex(call.function, program.functions.size(),
                                     what + ", function"));
    const Function &function = program.functions[call.function];
    PIPER_RETURN_IF_ERROR(
        checkList(call.operands, function.operands, what + ", operand"));
    PIPER_RETURN_IF_ERROR(
        checkList(call.results, function.results, what + ", result"));
    for (int32_t operand : call.operands)
      PIPER_RETURN_IF_ERROR(checkMade(operand, what));
    PIPER_RETURN_IF_ERROR(makeResults(call, what));
    static const char *const passes[] = {"F", "B", "BI",  "BW",
                                         "R", "U", "once"};
    if (std::find(std::begin(passes), std::end(passes), call.pass) ==
        std::end(passes))
      return Status::error(what() +
                           ": expects a pass out of F, B, BI, BW, R, U, "
                           "once but got " +
                           quote(call.pass));
    return checkRange(call.workspaceOffset, function.workspaceBytes,
                      entry.peakBytes, kAlignment, what + ", workspace");
  }

  Status checkList(const std::vector<int32_t> &values,
                   const std::vector<TensorType> &types, What what) {
    PIPER_RETURN_IF_ERROR(checkCount(values.size(), types.size(), what + "s"));
    for (size_t i = 0; i < values.size(); ++i) {
      auto which = [&] { return what() + " " + std::to_string(i); };
      PIPER_RETURN_IF_ERROR(checkIndex(values[i], entry.values.size(), which));
      PIPER_RETURN_IF_ERROR(
          checkSameType(entry.values[values[i]].type, types[i], which));
    }
    return Status::success();
  }

  Status checkAvailable(const Binding &binding, const char *kind) {
    if (available[binding.value])
      return Status::success();
    return Status::error(named(kind, binding)() +
                         ": no instruction makes value " +
                         std::to_string(binding.value));
  }

  Status checkGradients() {
    PIPER_RETURN_IF_ERROR(checkBindings(entry.gradients, "gradient"));
    for (const Binding &gradient : entry.gradients) {
      PIPER_RETURN_IF_ERROR(checkAvailable(gradient, "gradient"));
      auto what = named("gradient", gradient);
      const StateTensor *tensor = program.findState(gradient.name);
      if (!tensor || tensor->kind != StateTensor::Kind::Parameter)
        return Status::error(what() + ": there is no parameter of this name");
      const TensorType &type = entry.values[gradient.value].type;
      if (type.shape != tensor->type.shape)
        return Status::error(what() + ": expects the shape of the parameter, " +
                             tensor->type.str() + ", but got " + type.str());
    }
    return Status::success();
  }

  const Program &program;
  const EntryPoint &entry;
  /// Whether a value holds something at the current instruction.
  std::vector<bool> available;
};
} // namespace

Status piper::rt::checkEntry(const Program &program, const EntryPoint &entry) {
  return EntryChecker(program, entry).run();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds Programs by hand for tests. Every value gets bytes of its own, except
// where a test asks for a place; so what is built is right by construction and
// a test then breaks one thing.

#ifndef PIPER_UNITTESTS_RUNTIME_PROGRAMBUILDER_H
#define PIPER_UNITTESTS_RUNTIME_PROGRAMBUILDER_H

#include "Piper/Runtime/Kernel.h"
#include "Piper/Runtime/Program.h"

#include <map>
#include <string>
#include <vector>

namespace piper::rt::test {

inline TensorType f32(std::vector<int64_t> shape = {}) {
  return {ElementType::F32, std::move(shape)};
}
inline TensorType f64(std::vector<int64_t> shape = {}) {
  return {ElementType::F64, std::move(shape)};
}
inline TensorType i32(std::vector<int64_t> shape = {}) {
  return {ElementType::I32, std::move(shape)};
}
inline TensorType i64(std::vector<int64_t> shape = {}) {
  return {ElementType::I64, std::move(shape)};
}
inline TensorType i1() { return {ElementType::I1, {}}; }

inline int64_t alignUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

using Attribute = std::pair<std::string, Attributes::Value>;

/// A function whose values lie one after another in the workspace.
class FunctionBuilder {
public:
  FunctionBuilder(std::string name, std::vector<TensorType> operands,
                  Target target = {})
      : target(std::move(target)) {
    function.name = std::move(name);
    function.operands = std::move(operands);
    for (size_t i = 0; i < function.operands.size(); ++i)
      function.values.push_back(
          {function.operands[i], FunctionValue::Base::Operand, int32_t(i), 0});
  }

  /// Adds a step; returns its results. The operands of the function are values
  /// 0, 1, ...
  std::vector<int32_t> step(const std::string &kernel,
                            std::vector<int32_t> operands,
                            const std::vector<TensorType> &results,
                            std::vector<Attribute> attributes = {}) {
    Function::Step step;
    step.spec.name = kernel;
    for (int32_t operand : operands)
      step.spec.operands.push_back(function.values[operand].type);
    step.spec.results = results;
    step.spec.attributes.entries = std::move(attributes);
    step.operands = std::move(operands);
    for (const TensorType &type : results) {
      step.results.push_back(int32_t(function.values.size()));
      function.values.push_back(
          {type, FunctionValue::Base::Workspace, 0, allocate(type.numBytes())});
    }
    const KernelEntry *entry = findKernel(kernel);
    if (entry && entry->workspaceBytes)
      step.workspaceBytes = entry->workspaceBytes(step.spec, target);
    step.workspaceOffset = allocate(step.workspaceBytes);
    function.steps.push_back(step);
    return step.results;
  }
  int32_t op(const std::string &kernel, std::vector<int32_t> operands,
             const TensorType &result, std::vector<Attribute> attributes = {}) {
    return step(kernel, std::move(operands), {result},
                std::move(attributes))[0];
  }

  /// Returns `values` from the function.
  Function finish(const std::vector<int32_t> &values) {
    for (int32_t value : values) {
      function.values[value].base = FunctionValue::Base::Result;
      function.values[value].index = int32_t(function.results.size());
      function.values[value].offset = 0;
      function.results.push_back(function.values[value].type);
    }
    return function;
  }

  Function function;

private:
  int64_t allocate(int64_t bytes) {
    int64_t offset = function.workspaceBytes;
    function.workspaceBytes += alignUp(bytes);
    return offset;
  }
  Target target;
};

class ProgramBuilder {
public:
  int32_t addFunction(Function function) {
    program.functions.push_back(std::move(function));
    return int32_t(program.functions.size()) - 1;
  }

  int32_t addState(const std::string &name, const TensorType &type,
                   StateTensor::Kind kind = StateTensor::Kind::Parameter,
                   StateTensor::Init init = StateTensor::Init::Zeros,
                   double scale = 0) {
    StateTensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.offset = allocate(type.numBytes());
    tensor.kind = kind;
    tensor.trainable = kind == StateTensor::Kind::Parameter;
    tensor.init = init;
    tensor.scale = scale;
    program.state.push_back(std::move(tensor));
    return int32_t(program.state.size()) - 1;
  }
  int32_t addCounter(const std::string &name) {
    return addState(name, i64(), StateTensor::Kind::Counter);
  }

  void beginEntry(const std::string &name) {
    program.entries.emplace_back();
    entry().name = name;
    stateValues.clear();
  }
  /// The value that holds state tensor `index` at the start.
  int32_t stateValue(int32_t index) {
    auto [it, isNew] = stateValues.emplace(index, 0);
    if (isNew) {
      it->second =
          addValue(program.state[index].type, program.state[index].offset);
      entry().state.push_back({it->second, index});
    }
    return it->second;
  }
  int32_t input(const std::string &name, const TensorType &type,
                std::vector<std::string> dims = {}) {
    int32_t value = addValue(type, allocate(type.numBytes()));
    entry().inputs.push_back({name, value, std::move(dims)});
    return value;
  }
  /// Adds an instruction. `inPlace[r]` is the state tensor that result r
  /// overwrites.
  std::vector<int32_t> call(int32_t function, std::vector<int32_t> operands,
                            const std::string &pass = "F",
                            const std::string &tags = "",
                            const std::map<int, int32_t> &inPlace = {}) {
    Instruction instruction;
    instruction.function = function;
    instruction.operands = std::move(operands);
    instruction.pass = pass;
    instruction.tags = tags;
    const Function &body = program.functions[function];
    instruction.workspaceOffset = allocate(body.workspaceBytes);
    for (size_t r = 0; r < body.results.size(); ++r) {
      auto it = inPlace.find(int(r));
      int64_t offset = it == inPlace.end()
                           ? allocate(body.results[r].numBytes())
                           : program.state[it->second].offset;
      instruction.results.push_back(addValue(body.results[r], offset));
    }
    entry().instructions.push_back(instruction);
    return instruction.results;
  }
  void output(const std::string &name, int32_t value) {
    entry().outputs.push_back({name, value, {}});
  }
  void gradient(const std::string &name, int32_t value) {
    entry().gradients.push_back({name, value, {}});
  }

  Program finish() {
    for (EntryPoint &entry : program.entries)
      entry.peakBytes = program.arenaBytes;
    return program;
  }

  EntryPoint &entry() { return program.entries.back(); }
  int32_t addValue(const TensorType &type, int64_t offset) {
    entry().values.push_back({type, offset});
    return int32_t(entry().values.size()) - 1;
  }
  int64_t allocate(int64_t bytes) {
    int64_t offset = program.arenaBytes;
    program.arenaBytes += alignUp(bytes);
    return offset;
  }

  Program program;

private:
  std::map<int32_t, int32_t> stateValues;
};

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_PROGRAMBUILDER_H

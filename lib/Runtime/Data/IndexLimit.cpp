// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows an input to the kernels that take it as an index.

#include "IndexLimit.h"

#include "Check/MemoryWalk.h"

#include <algorithm>

using namespace piper::rt;

/// Narrows `limit` where operand `operand` of a step is an index.
static void applyUse(const KernelSpec &spec, size_t operand,
                     IndexLimit &limit) {
  if (operand != 1 || spec.operands[0].shape.empty())
    return;
  if (spec.name == "embedding") {
    limit.below = std::min(limit.below, spec.operands[0].shape.front());
    limit.negativeIsError = true;
  } else if (spec.name == "cross_entropy") {
    limit.below = std::min(limit.below, spec.operands[0].shape.back());
  }
}

/// Goes through the steps of `function` with operand `operand`; returns the
/// results of the function that are views of it.
static std::vector<int32_t> followOperand(const Function &function,
                                          int32_t operand, IndexLimit &limit) {
  std::vector<bool> same(function.values.size());
  for (size_t v = 0; v < function.values.size(); ++v)
    same[v] = function.values[v].base == FunctionValue::Base::Operand &&
              function.values[v].index == operand;
  std::vector<int32_t> results;
  for (const Function::Step &step : function.steps) {
    for (size_t o = 0; o < step.operands.size(); ++o)
      if (same[step.operands[o]])
        applyUse(step.spec, o, limit);
    const KernelEntry *kernel = findKernel(step.spec.name);
    bool isView = kernel && viewOffsetOf(step.spec, *kernel) >= 0 &&
                  same[step.operands[0]];
    for (int32_t result : step.results) {
      same[result] = isView;
      const FunctionValue &value = function.values[result];
      if (isView && value.base == FunctionValue::Base::Result)
        results.push_back(value.index);
    }
  }
  return results;
}

static void followValue(const Program &program, const EntryPoint &entry,
                        int32_t value, IndexLimit &limit) {
  std::vector<bool> same(entry.values.size());
  for (size_t v = 0; v < entry.values.size(); ++v)
    same[v] = int32_t(v) == value || entry.values[v].viewOf == value;
  for (const Instruction &call : entry.instructions)
    for (size_t o = 0; o < call.operands.size(); ++o)
      if (call.kind == Instruction::Kind::Task && same[call.operands[o]])
        for (int32_t result :
             followOperand(program.functions[call.function], int32_t(o), limit))
          same[call.results[result]] = true;
}

std::vector<IndexLimit> piper::rt::findIndexLimits(const Program &program,
                                                   const EntryPoint &entry) {
  std::vector<IndexLimit> limits(entry.inputs.size());
  for (size_t i = 0; i < limits.size(); ++i)
    followValue(program, entry, entry.inputs[i].value, limits[i]);
  return limits;
}

std::vector<IndexLimit> piper::rt::findIndexLimits(const Plan &plan,
                                                   const EntryPoint &entry) {
  std::vector<IndexLimit> limits(entry.inputs.size());
  for (const Program &program : plan.programs)
    if (const EntryPoint *mine = program.findEntry(entry.name))
      for (const Binding &input : mine->inputs)
        for (size_t i = 0; i < limits.size(); ++i)
          if (entry.inputs[i].name == input.name)
            followValue(program, *mine, input.value, limits[i]);
  return limits;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan of additions computes, by its meaning alone: its ops one after
// another in the common order, each value in memory of its own. No arena, no
// streams, no waits.

#ifndef PIPER_UNITTESTS_RUNTIME_REFERENCEPLAN_H
#define PIPER_UNITTESTS_RUNTIME_REFERENCEPLAN_H

#include "Piper/Runtime/Program.h"

#include <map>
#include <string>
#include <vector>

namespace piper::rt::test {

class ReferencePlan {
public:
  using Floats = std::vector<float>;

  explicit ReferencePlan(const Plan &plan) : plan(plan), state(numRanks()) {
    for (size_t r = 0; r < numRanks(); ++r)
      for (const StateTensor &tensor : plan.programs[r].state)
        state[r].emplace_back(tensor.type.numElements());
  }

  /// Of all ranks that hold it.
  void setState(const std::string &name, const Floats &value) {
    for (size_t r = 0; r < numRanks(); ++r)
      for (size_t s = 0; s < plan.programs[r].state.size(); ++s)
        if (plan.programs[r].state[s].name == name)
          state[r][s] = value;
  }

  void run(const std::map<std::string, Floats> &inputs) {
    values.assign(numRanks(), {});
    std::map<int64_t, std::vector<std::pair<int, const Instruction *>>> ops;
    for (size_t r = 0; r < numRanks(); ++r) {
      const EntryPoint &entry = entryOf(int(r));
      values[r].resize(entry.values.size());
      for (const Binding &input : entry.inputs)
        values[r][input.value] = inputs.at(input.name);
      for (auto [value, index] : entry.state)
        values[r][value] = state[r][index];
      for (const Instruction &op : entry.instructions)
        ops[op.id].push_back({int(r), &op});
    }
    for (auto &[id, members] : ops)
      runOp(members);
    for (size_t r = 0; r < numRanks(); ++r)
      for (auto [value, index] : entryOf(int(r)).state)
        state[r][index] = values[r][value];
  }

  /// The state of a rank after the last run.
  const Floats &stateOf(int rank, const std::string &name) const {
    for (size_t s = 0; s < plan.programs[rank].state.size(); ++s)
      if (plan.programs[rank].state[s].name == name)
        return state[rank][s];
    return none;
  }
  const Floats &output(int rank, const std::string &name) const {
    for (const Binding &output : entryOf(rank).outputs)
      if (output.name == name)
        return values[rank][output.value];
    return none;
  }

private:
  size_t numRanks() const { return plan.programs.size(); }
  const EntryPoint &entryOf(int rank) const {
    return plan.programs[rank].entries[0];
  }

  void runOp(const std::vector<std::pair<int, const Instruction *>> &members) {
    if (members[0].second->kind == Instruction::Kind::Task) {
      for (auto [rank, task] : members)
        runTask(rank, *task);
      return;
    }
    // A message is a sum of one term.
    Floats sum;
    std::map<int, size_t> next;
    std::vector<int32_t> terms = members[0].second->terms;
    if (terms.empty())
      for (auto [rank, op] : members)
        if (!op->operands.empty())
          terms.push_back(rank);
    for (int32_t term : terms)
      for (auto [rank, op] : members) {
        if (rank != term)
          continue;
        const Floats &mine = values[rank][op->operands[next[rank]++]];
        for (size_t i = 0; i < mine.size() && !sum.empty(); ++i)
          sum[i] += mine[i];
        if (sum.empty())
          sum = mine;
      }
    for (auto [rank, op] : members)
      for (int32_t made : op->results)
        values[rank][made] = sum;
  }

  void runTask(int rank, const Instruction &task) {
    const Function &body = plan.programs[rank].functions[task.function];
    std::vector<Floats> local(body.values.size());
    for (size_t o = 0; o < body.operands.size(); ++o)
      local[o] = values[rank][task.operands[o]];
    for (const Function::Step &step : body.steps) {
      const Floats &a = local[step.operands[0]], &b = local[step.operands[1]];
      Floats sum(a.size());
      for (size_t i = 0; i < a.size(); ++i)
        sum[i] = a[i] + b[i];
      local[step.results[0]] = sum;
    }
    for (size_t v = 0; v < body.values.size(); ++v)
      if (body.values[v].base == FunctionValue::Base::Result)
        values[rank][task.results[body.values[v].index]] = local[v];
  }

  const Plan &plan;
  /// By rank and state tensor, and by rank and value.
  std::vector<std::vector<Floats>> state, values;
  Floats none;
};

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_REFERENCEPLAN_H

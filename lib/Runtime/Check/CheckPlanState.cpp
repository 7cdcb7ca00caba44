// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that several coordinates hold stays equal on all of them: it starts
// equal and is written by the same ops.

#include "CheckPlanParts.h"

#include <map>

using namespace piper::rt;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

static bool startsAs(const StateTensor &a, const StateTensor &b) {
  return a.kind == b.kind && a.trainable == b.trainable && a.init == b.init &&
         a.scale == b.scale && a.data == b.data;
}

Problem piper::rt::findStateProblem(const Plan &plan) {
  std::map<std::string, std::pair<int, const StateTensor *>> firsts;
  for (int p = 0; p < int(plan.programs.size()); ++p)
    for (const StateTensor &tensor : plan.programs[p].state) {
      auto [it, isNew] = firsts.try_emplace(tensor.name, p, &tensor);
      auto [other, first] = it->second;
      if (isNew)
        continue;
      std::string what = "expects state " + quote(tensor.name) +
                         " as on coordinate " + std::to_string(other);
      if (tensor.type != first->type)
        return PlanProblem{p, -1, -1,
                           what + ", " + first->type.str() + ", but got " +
                               tensor.type.str()};
      if (!startsAs(tensor, *first))
        return PlanProblem{p, -1, -1,
                           what + " but its kind or initial values differ"};
    }
  return std::nullopt;
}

namespace {
/// The instructions of one program that write state.
struct Writers {
  /// By name of the state tensor.
  std::map<std::string, std::vector<int>> instructions;
};
} // namespace

/// Results that lie over state, by name. A parameter that is updated twice is
/// a problem.
static Problem findWriters(const Plan &plan, int p, int e, Writers &writers) {
  const Program &program = plan.programs[p];
  const EntryPoint &entry = program.entries[e];
  std::map<int64_t, const StateTensor *> byOffset;
  for (const StateTensor &tensor : program.state)
    if (tensor.type.numBytes() > 0)
      byOffset[tensor.offset] = &tensor;
  std::map<std::string, int> updates;
  for (int i = 0; i < int(entry.instructions.size()); ++i)
    for (int32_t result : entry.instructions[i].results) {
      const EntryValue &value = entry.values[result];
      auto it = byOffset.find(value.offset);
      if (it == byOffset.end() || it->second->type != value.type)
        continue;
      const StateTensor &tensor = *it->second;
      writers.instructions[tensor.name].push_back(i);
      if (entry.instructions[i].pass != "U" ||
          tensor.kind != StateTensor::Kind::Parameter)
        continue;
      auto [update, isNew] = updates.emplace(tensor.name, i);
      if (!isNew)
        return PlanProblem{p, e, i,
                           "updates parameter " + quote(tensor.name) +
                               " a second time, after instruction " +
                               std::to_string(update->second)};
    }
  return std::nullopt;
}

Problem piper::rt::findUpdateProblem(const Plan &plan, int e) {
  std::map<std::string, std::pair<int, std::vector<int64_t>>> firsts;
  for (int p = 0; p < int(plan.programs.size()); ++p) {
    Writers writers;
    if (Problem problem = findWriters(plan, p, e, writers))
      return problem;
    const EntryPoint &entry = plan.programs[p].entries[e];
    for (const StateTensor &tensor : plan.programs[p].state) {
      std::vector<int64_t> ids;
      for (int i : writers.instructions[tensor.name])
        ids.push_back(entry.instructions[i].id);
      auto [it, isNew] = firsts.try_emplace(tensor.name, p, ids);
      const auto &[other, expected] = it->second;
      if (!isNew && ids != expected)
        return PlanProblem{p, e, -1,
                           "expects state " + quote(tensor.name) +
                               " to be written by the ops " +
                               listText(expected) + ", as on coordinate " +
                               std::to_string(other) + ", but got " +
                               listText(ids)};
    }
  }
  return std::nullopt;
}

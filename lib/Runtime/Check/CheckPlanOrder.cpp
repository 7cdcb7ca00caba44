// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of instructions: between the two ends of a channel, over all
// programs, and within each. The ids are right.

#include "CheckPlanParts.h"
#include "PlanGraph.h"

#include <map>

using namespace piper::rt;

using Kind = Instruction::Kind;

/// Each receive of a channel is that of the next message sent. Requires: each
/// message has both ends.
static Problem findChannelProblem(const Plan &plan, int e) {
  std::map<std::pair<int32_t, int32_t>, std::vector<int64_t>> sent;
  std::map<std::pair<int32_t, int32_t>, size_t> received;
  for (int32_t p = 0; p < int32_t(plan.programs.size()); ++p)
    for (const Instruction &call : plan.programs[p].entries[e].instructions)
      if (call.kind == Kind::Send)
        sent[{p, call.peer}].push_back(call.id);
  for (int32_t p = 0; p < int32_t(plan.programs.size()); ++p) {
    const auto &instructions = plan.programs[p].entries[e].instructions;
    for (int i = 0; i < int(instructions.size()); ++i) {
      const Instruction &call = instructions[i];
      if (call.kind != Kind::Receive)
        continue;
      std::pair<int32_t, int32_t> channel = {call.peer, p};
      int64_t next = sent[channel][received[channel]++];
      if (next != call.id)
        return PlanProblem{p, e, i,
                           "receives message " + std::to_string(call.id) +
                               " but coordinate " + std::to_string(call.peer) +
                               " sends message " + std::to_string(next) +
                               " first"};
    }
  }
  return std::nullopt;
}

static Problem findCycle(const Plan &plan, int e) {
  std::vector<const EntryPoint *> entries;
  for (const Program &program : plan.programs)
    entries.push_back(&program.entries[e]);
  PlanGraph graph(plan, entries);
  std::vector<int32_t> stuck = graph.findStuck(graph.topologicalOrder());
  if (stuck.empty())
    return std::nullopt;
  PlanGraph::Member first = graph.all()[stuck[0]].members[0];
  return PlanProblem{first.program, e, first.instruction,
                     "can never start: " + graph.describeStuck(stuck)};
}

static Problem findDescent(const Plan &plan, int p, int e) {
  const auto &instructions = plan.programs[p].entries[e].instructions;
  for (int i = 1; i < int(instructions.size()); ++i)
    if (instructions[i].id >= 0 && instructions[i].id < instructions[i - 1].id)
      return PlanProblem{p, e, i,
                         "expects ids to ascend but got " +
                             std::to_string(instructions[i].id) + " after " +
                             std::to_string(instructions[i - 1].id)};
  return std::nullopt;
}

Problem piper::rt::findOrderProblem(const Plan &plan, int entry) {
  int count = int(plan.programs.size());
  if (Problem problem = findChannelProblem(plan, entry))
    return problem;
  // Before the ids, which rule cycles out but do not say where they are.
  if (Problem problem = findCycle(plan, entry))
    return problem;
  for (int p = 0; p < count; ++p)
    if (Problem problem = findDescent(plan, p, entry))
      return problem;
  return std::nullopt;
}

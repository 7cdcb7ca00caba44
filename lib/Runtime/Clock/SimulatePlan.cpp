// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass over the graph of a plan in topological order.

#include "Piper/Runtime/SimulatePlan.h"

#include "Check/PlanGraph.h"

#include <algorithm>

using namespace piper::rt;

static int64_t bytesOf(const EntryPoint &entry, const Instruction &call) {
  const std::vector<int32_t> &values =
      call.operands.empty() ? call.results : call.operands;
  return values.empty() ? 0 : entry.values[values[0]].type.numBytes();
}

Durations piper::rt::makeDurations(const Plan &plan, const std::string &entry,
                                   const TaskCosts &costs) {
  Durations durations;
  for (const Program &program : plan.programs) {
    const EntryPoint *point = program.findEntry(entry);
    if (!point)
      return {};
    durations.emplace_back();
    for (const Instruction &call : point->instructions) {
      if (call.kind != Instruction::Kind::Task) {
        durations.back().push_back(costs.ofMessage(bytesOf(*point, call)));
        continue;
      }
      const Function &function = program.functions[call.function];
      durations.back().push_back(costs.ofTask(function.name, call.pass,
                                              function.flops, function.bytes));
    }
  }
  return durations;
}

static Status checkDurations(const std::vector<const EntryPoint *> &entries,
                             const Durations &durations) {
  bool fits = durations.size() == entries.size();
  for (size_t p = 0; fits && p < entries.size(); ++p)
    fits = durations[p].size() == entries[p]->instructions.size();
  if (fits)
    return Status::success();
  return Status::error("expects a duration for each instruction of entry "
                       "point '" +
                       entries[0]->name + "'");
}

Result<DeviceTimes> piper::rt::simulatePlan(const Plan &plan,
                                            const std::string &entry,
                                            const Durations &durations) {
  std::vector<const EntryPoint *> entries;
  for (const Program &program : plan.programs) {
    entries.push_back(program.findEntry(entry));
    if (!entries.back())
      return Status::error("the program '" + program.name +
                           "' has no entry point '" + entry + "'");
  }
  if (entries.empty())
    return DeviceTimes();
  PIPER_RETURN_IF_ERROR(checkDurations(entries, durations));

  PlanGraph graph(plan, entries);
  std::vector<int32_t> order = graph.topologicalOrder();
  std::vector<int32_t> stuck = graph.findStuck(order);
  if (!stuck.empty())
    return Status::error("entry point '" + entry +
                         "' gets stuck: " + graph.describeStuck(stuck));
  DeviceTimes times(durations.size());
  for (size_t p = 0; p < durations.size(); ++p)
    times[p].resize(durations[p].size());
  // The earliest start and end that the nodes before have left.
  std::vector<DeviceTime> earliest(graph.all().size());
  for (int32_t number : order) {
    const PlanGraph::Node &node = graph.all()[number];
    PlanGraph::Member first = node.members[0];
    DeviceTime time = earliest[number];
    // A buffered message takes its time at the sending end.
    bool isArrival =
        plan.buffering > 0 &&
        entries[first.program]->instructions[first.instruction].kind ==
            Instruction::Kind::Receive;
    double duration =
        isArrival ? 0 : durations[first.program][first.instruction];
    time.end = std::max(time.end, time.begin + duration);
    for (PlanGraph::Member member : node.members)
      times[member.program][member.instruction] = time;
    for (const PlanGraph::Edge &edge : node.edges) {
      DeviceTime &next = earliest[edge.to];
      bool afterEnd = edge.kind == PlanGraph::EdgeKind::AfterEnd;
      next.begin = std::max(next.begin, afterEnd ? time.end : time.begin);
      if (edge.kind == PlanGraph::EdgeKind::Message)
        next.end = std::max(next.end, time.end);
    }
  }
  return times;
}

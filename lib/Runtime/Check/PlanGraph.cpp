// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph is made from the streams, the waits, and the messages and
// reductions, which are matched as the runtime does: messages by their order
// in the channel, reductions by their id.

#include "PlanGraph.h"

#include "Piper/Runtime/CheckProgram.h"

#include <algorithm>
#include <array>
#include <map>

using namespace piper::rt;

using Kind = Instruction::Kind;

PlanGraph::PlanGraph(const Plan &plan, std::vector<const EntryPoint *> points)
    : plan(plan), entries(std::move(points)), numbers(entries.size()) {
  for (size_t p = 0; p < entries.size(); ++p)
    numbers[p].assign(entries[p]->instructions.size(), -1);
  addNodes();
  for (size_t p = 0; p < entries.size(); ++p)
    addLocalEdges(int32_t(p));
  if (plan.buffering > 0)
    addBufferEdges();
}

void PlanGraph::addNode(const std::vector<Member> &members) {
  for (Member member : members)
    numbers[member.program][member.instruction] = int32_t(nodes.size());
  nodes.emplace_back();
  nodes.back().members = members;
}

void PlanGraph::addEdge(int32_t from, int32_t to, EdgeKind kind) {
  nodes[from].edges.push_back({to, kind});
  ++nodes[to].numNeeds;
}

void PlanGraph::addNodes() {
  std::map<std::pair<int32_t, int32_t>, Channel> byEnds;
  std::map<int64_t, std::vector<Member>> reductions;
  for (int32_t p = 0; p < int32_t(entries.size()); ++p)
    for (int32_t i = 0; i < int32_t(numbers[p].size()); ++i) {
      const Instruction &call = entries[p]->instructions[i];
      if (call.kind == Kind::Task)
        addNode({{p, i}});
      else if (call.kind == Kind::Send)
        byEnds[{p, call.peer}].sends.push_back({p, i});
      else if (call.kind == Kind::Receive)
        byEnds[{call.peer, p}].receives.push_back({p, i});
      else
        reductions[call.id].push_back({p, i});
    }
  for (const auto &[id, members] : reductions) {
    addNode(members);
    nodes.back().isAlone = members.size() != at(members[0]).members.size();
  }
  for (auto &[ends, channel] : byEnds) {
    const auto &[from, to] = ends;
    channel.from = from;
    channel.to = to;
    size_t paired = std::min(channel.sends.size(), channel.receives.size());
    for (size_t m = 0; m < paired && plan.buffering <= 0; ++m)
      addNode({channel.sends[m], channel.receives[m]});
    for (const auto *list : {&channel.sends, &channel.receives})
      for (size_t m = plan.buffering > 0 ? 0 : paired; m < list->size(); ++m) {
        addNode({(*list)[m]});
        // A send needs no receive but room.
        nodes.back().isAlone =
            m >= paired && (plan.buffering <= 0 || list == &channel.receives);
      }
    channels.push_back(std::move(channel));
  }
}

void PlanGraph::addLocalEdges(int32_t program) {
  std::array<int32_t, kNumStreams> last;
  last.fill(-1);
  const auto &instructions = entries[program]->instructions;
  for (int32_t i = 0; i < int32_t(instructions.size()); ++i) {
    const Instruction &call = instructions[i];
    int32_t node = nodeOf(program, i);
    int32_t &before = last[int(call.stream())];
    if (before >= 0)
      addEdge(nodeOf(program, before), node, EdgeKind::AfterEnd);
    before = i;
    for (int32_t wait : call.waits) {
      if (wait < 0 || wait >= int32_t(instructions.size()))
        nodes[node].isAlone = true;
      else
        addEdge(nodeOf(program, wait), node, EdgeKind::AfterEnd);
    }
    int32_t task = last[int(Stream::Compute)];
    if (call.kind != Kind::Task && task >= 0)
      addEdge(nodeOf(program, task), node, EdgeKind::AfterStart);
  }
}

void PlanGraph::addBufferEdges() {
  auto nodeAt = [&](Member member) {
    return nodeOf(member.program, member.instruction);
  };
  for (const Channel &channel : channels)
    for (size_t m = 0; m < channel.sends.size(); ++m) {
      int32_t send = nodeAt(channel.sends[m]);
      if (m < channel.receives.size())
        addEdge(send, nodeAt(channel.receives[m]), EdgeKind::Message);
      if (int64_t(m) < plan.buffering)
        continue;
      size_t freed = m - size_t(plan.buffering);
      if (freed < channel.receives.size())
        addEdge(nodeAt(channel.receives[freed]), send, EdgeKind::AfterEnd);
      else
        nodes[send].isAlone = true;
    }
}

//===----------------------------------------------------------------------===//
// Order and cycles
//===----------------------------------------------------------------------===//

std::vector<int32_t> PlanGraph::topologicalOrder() const {
  std::vector<int32_t> needs, order;
  order.reserve(nodes.size());
  for (const Node &node : nodes) {
    needs.push_back(node.numNeeds + (node.isAlone ? 1 : 0));
    if (needs.back() == 0)
      order.push_back(int32_t(needs.size()) - 1);
  }
  for (size_t i = 0; i < order.size(); ++i)
    for (const Edge &edge : nodes[order[i]].edges)
      if (--needs[edge.to] == 0)
        order.push_back(edge.to);
  return order;
}

std::vector<int32_t>
PlanGraph::findStuck(const std::vector<int32_t> &order) const {
  if (order.size() == nodes.size())
    return {};
  std::vector<bool> done(nodes.size());
  for (int32_t node : order)
    done[node] = true;
  // Of each node that is left, another one that it needs.
  std::vector<int32_t> need(nodes.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n)
    if (!done[n])
      for (const Edge &edge : nodes[n].edges)
        need[edge.to] = int32_t(n);
  int32_t at =
      int32_t(std::find(done.begin(), done.end(), false) - done.begin());
  std::vector<bool> seen(nodes.size());
  for (; !seen[at]; at = need[at]) {
    if (nodes[at].isAlone || need[at] < 0)
      return {at};
    seen[at] = true;
  }
  std::vector<int32_t> cycle = {at};
  for (int32_t next = need[at]; next != at; next = need[next])
    cycle.push_back(next);
  return cycle;
}

std::string PlanGraph::describe(const Node &node) const {
  Member first = node.members[0];
  const Program &program = plan.programs[first.program];
  if (node.members.size() == 1) {
    std::string text = describeInstruction(program, *entries[first.program],
                                           first.instruction);
    return text.substr(0, text.rfind(" of entry point")) + " of program '" +
           program.name + "'";
  }
  bool isMessage = at(first).kind == Kind::Send;
  std::string text = (isMessage ? "message " : "reduction ") +
                     std::to_string(at(first).id) + " (";
  for (size_t m = 0; m < node.members.size(); ++m)
    text += (m ? ", instruction " : "instruction ") +
            std::to_string(node.members[m].instruction) + " of program '" +
            plan.programs[node.members[m].program].name + "'";
  return text + ")";
}

std::string PlanGraph::describeStuck(const std::vector<int32_t> &stuck) const {
  std::string text = describe(nodes[stuck[0]]);
  if (stuck.size() == 1 && nodes[stuck[0]].isAlone)
    return text + " needs an instruction that is not there";
  // Long cycles have their start and their end.
  constexpr size_t kShown = 8;
  for (size_t i = 1; i <= stuck.size(); ++i) {
    text += i == 1 ? " needs " : ", which needs ";
    if (stuck.size() > kShown && i == kShown / 2) {
      size_t left = stuck.size() - kShown;
      text += std::to_string(left) + " more, the last of which needs ";
      i += left;
    }
    text += describe(nodes[stuck[i % stuck.size()]]);
  }
  return text;
}

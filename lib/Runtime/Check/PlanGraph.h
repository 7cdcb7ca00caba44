// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of an entry point over all programs as a graph: which start
// or end has to come before which. For the clock and for the search of cycles.

#ifndef PIPER_LIB_RUNTIME_CHECK_PLANGRAPH_H
#define PIPER_LIB_RUNTIME_CHECK_PLANGRAPH_H

#include "Piper/Runtime/Program.h"

#include <string>
#include <vector>

namespace piper::rt {

class PlanGraph {
public:
  /// An instruction: index of its program, and in the entry point.
  struct Member {
    int32_t program = 0;
    int32_t instruction = 0;
  };
  /// AfterEnd, AfterStart: `to` starts after the end, or the start, of this
  /// node. Message: `to` starts after its start and ends after its end.
  enum class EdgeKind : uint8_t { AfterEnd, AfterStart, Message };
  struct Edge {
    int32_t to = 0;
    EdgeKind kind = EdgeKind::AfterEnd;
  };
  /// Instructions that start and end together: the members of a reduction, both
  /// ends of a message without buffering, else one instruction.
  struct Node {
    std::vector<Member> members;
    std::vector<Edge> edges;
    int32_t numNeeds = 0;
    /// It needs something that is not there: the other end of a message,
    /// members of a reduction, an instruction that it waits for.
    bool isAlone = false;
  };

  /// `entries`: the same entry point of each program.
  PlanGraph(const Plan &plan, std::vector<const EntryPoint *> entries);

  int32_t nodeOf(int32_t program, int32_t instruction) const {
    return numbers[program][instruction];
  }
  const std::vector<Node> &all() const { return nodes; }
  /// Nodes after all that they need. Those missing can never start.
  std::vector<int32_t> topologicalOrder() const;
  /// Why `order` lacks nodes: a cycle, each node needing the one after it and
  /// the last one the first; or one node that is alone. Empty where none is
  /// missing.
  std::vector<int32_t> findStuck(const std::vector<int32_t> &order) const;
  /// "A needs B, which needs .., which needs A" of what findStuck() found.
  std::string describeStuck(const std::vector<int32_t> &stuck) const;
  /// "instruction 5 (...) of program 'p0'", "message 7 (instruction 3 of ..)".
  std::string describe(const Node &node) const;

private:
  const Instruction &at(Member member) const {
    return entries[member.program]->instructions[member.instruction];
  }
  void addNode(const std::vector<Member> &members);
  void addEdge(int32_t from, int32_t to, EdgeKind kind);
  void addNodes();
  void addLocalEdges(int32_t program);
  void addBufferEdges();

  /// The messages from one coordinate to another, in order.
  struct Channel {
    int32_t from = 0, to = 0;
    std::vector<Member> sends, receives;
  };

  const Plan &plan;
  std::vector<const EntryPoint *> entries;
  std::vector<Channel> channels;
  std::vector<Node> nodes;
  std::vector<std::vector<int32_t>> numbers;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_PLANGRAPH_H

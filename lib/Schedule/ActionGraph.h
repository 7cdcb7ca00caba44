// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The actions of a schedule as a graph: who produces what each action needs.
// Internal to this library; shared by verify, simulate, bounds and search.

#ifndef PIPER_LIB_SCHEDULE_ACTIONGRAPH_H
#define PIPER_LIB_SCHEDULE_ACTIONGRAPH_H

#include "Piper/Schedule/Schedule.h"

#include <array>
#include <string>
#include <vector>

namespace piper::schedule {

/// Actions numbered coordinate by coordinate in program order: action i of
/// coordinate r is `rankBegin[r] + i`.
struct ActionGraph {
  /// A need of an action: the node that produces it (-1 for none).
  struct Needs {
    int forward = -1;  ///< F of the stage before, for F
    int backward = -1; ///< B or BI of the stage after, for B and BI
    int own = -1;      ///< own F for B and BI, own BI for BW
    std::array<int, 3> all() const { return {forward, backward, own}; }
  };

  std::vector<int> rankBegin; ///< P + 1 entries
  std::vector<int> rankOf;
  std::vector<const Action *> actions; ///< into the schedule
  std::vector<Needs> needs;
  /// The stage before and after each stage in its chain, -1 at the ends.
  std::vector<int> stageBefore, stageAfter;

  int size() const { return static_cast<int>(actions.size()); }
  int indexOf(int node) const { return node - rankBegin[rankOf[node]]; }

  /// Nodes in an order that respects both program order and needs; shorter
  /// than size() where these contradict each other.
  std::vector<int> topologicalOrder() const;
};

/// Fills `graph` and returns the broken rules: sizes, placement, completeness.
/// The graph may be used only where there are none. It points into `schedule`.
std::vector<std::string> buildActionGraph(const Schedule &schedule,
                                          ActionGraph &graph);

/// Most errors reported together.
constexpr size_t kMaxErrors = 8;

} // namespace piper::schedule

#endif // PIPER_LIB_SCHEDULE_ACTIONGRAPH_H

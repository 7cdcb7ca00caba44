// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where stages live, and the registry of schedule kinds.

#ifndef PIPER_SCHEDULE_GENERATE_H
#define PIPER_SCHEDULE_GENERATE_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"
#include "Piper/Schedule/Search.h"

#include <optional>
#include <string>
#include <vector>

namespace piper::schedule {

/// Loop: stage s on coordinate s mod P. V: chunks run down and up again (stage
/// s of an odd chunk on P-1 - s mod P). Bidirectional: two chains of P stages,
/// the second one from coordinate P-1 to 0.
enum class Placement { Loop, V, Bidirectional };

/// "loop", "v" or "bidirectional".
const char *placementName(Placement placement);

/// What to generate. V is the number of stages on a coordinate; kinds with a
/// fixed V refuse another. `limit` (one value for all coordinates, or P of
/// them, in chunk activations) becomes the schedule's cap; only `search` bends
/// to it, the others are refused by `verify` where they need more. `costs`,
/// `seed` and `effort` are read by `search` alone.
struct Request {
  std::string kind;
  int P = 1;
  int V = 1;
  int M = 1;
  std::optional<Placement> placement; ///< the kind's own where not given
  std::vector<int> limit;
  Costs costs;
  uint64_t seed = 1;
  SearchEffort effort;
};

/// One row of the table of kinds.
struct KindInfo {
  const char *name;
  const char *summary;
  Placement placement; ///< the default
  int chunks;          ///< the only legal V; 0 where any V >= 1 is legal
  bool splitBackward;  ///< BI and BW apart (at least for some micro-batches)
  /// Null where every P >= 1 and M >= 1 is legal, else the broken rule of
  /// (P, M) as text, or null where they are legal.
  const char *(*brokenRule)(int P, int M);
  /// Requires: sizes legal, stageRank, chains and mbChain of the schedule set.
  /// Fills `ranks`.
  void (*fill)(Schedule &schedule);
};

/// All kinds but `search`, in the order of the documentation.
const std::vector<KindInfo> &kinds();

/// Null for a kind that is not in the table.
const KindInfo *findKind(const std::string &name);

/// V for a chain of `stages` stages on P coordinates: stages / P, or 2 for a
/// kind with two chains. Errors: unknown kind, P below 1, stages that are not
/// the kind's multiple of P, with the nearest that are.
Result<int> chunksFor(const std::string &kind, int stages, int P);

/// The empty schedule of these sizes: placement and chains set, no actions.
Schedule makePlacement(Placement placement, int P, int V, int M);

/// Refuses sizes the kind cannot run, with the rule, the values and the
/// nearest legal P or M; returns the placement to use.
Result<Placement> checkRequest(const Request &request);

/// The schedule of a request, of any kind of the table or `search`. A pure
/// function of the request. Backwards of a stage ascend in micro-batch.
Result<Schedule> generate(const Request &request);

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_GENERATE_H

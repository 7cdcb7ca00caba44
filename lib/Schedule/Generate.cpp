// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placements, the checks of a request, and the one way to a schedule.

#include "Piper/Schedule/Generate.h"

#include <algorithm>
#include <numeric>

namespace piper::schedule {

const char *placementName(Placement placement) {
  switch (placement) {
  case Placement::Loop:
    return "loop";
  case Placement::V:
    return "v";
  case Placement::Bidirectional:
    return "bidirectional";
  }
  return "?";
}

Schedule makePlacement(Placement placement, int P, int V, int M) {
  Schedule s;
  s.P = P;
  s.V = V;
  s.M = M;
  s.ranks.resize(P);
  for (int stage = 0; stage < P * V; ++stage) {
    bool upwards = placement != Placement::Loop && stage / P % 2 == 1;
    s.stageRank.push_back(upwards ? P - 1 - stage % P : stage % P);
  }
  int chains = placement == Placement::Bidirectional ? 2 : 1;
  for (int c = 0; c < chains; ++c) {
    s.chains.emplace_back(P * V / chains);
    std::iota(s.chains[c].begin(), s.chains[c].end(), c * P);
  }
  if (chains == 2)
    for (int mb = 0; mb < M; ++mb)
      s.mbChain.push_back(mb < M / 2 ? 0 : 1);
  return s;
}

const KindInfo *findKind(const std::string &name) {
  for (const KindInfo &kind : kinds())
    if (name == kind.name)
      return &kind;
  return nullptr;
}

static Error unknownKind(const std::string &name) {
  std::string text = "unknown kind '" + name + "', expected one of ";
  for (const KindInfo &kind : kinds())
    text += std::string(kind.name) + ", ";
  return Error{text + "search"};
}

Result<int> chunksFor(const std::string &name, int stages, int P) {
  const KindInfo *kind = findKind(name);
  if (!kind && name != "search")
    return unknownKind(name);
  if (P < 1 || stages < 1)
    return Error{"stages and P must be at least 1 but are " +
                 std::to_string(stages) + " and " + std::to_string(P)};
  bool twoChains = kind && kind->placement == Placement::Bidirectional;
  int chunks = kind ? kind->chunks : 0;
  int64_t perChain = int64_t(P) * (twoChains ? 1 : chunks);
  std::string got =
      " but got " + std::to_string(stages) + " for P = " + std::to_string(P);
  if (chunks && stages != perChain)
    return Error{"kind '" + name + "' needs " + std::to_string(perChain / P) +
                 " stages of a chain on each coordinate, " +
                 std::to_string(perChain) + " in all," + got};
  if (stages % P != 0) {
    int64_t below = stages / P * int64_t(P);
    std::string nearest = std::to_string(below + P);
    if (below > 0)
      nearest = std::to_string(below) + " and " + nearest;
    return Error{"kind '" + name + "' needs a multiple of P stages" + got +
                 "; the nearest legal are " + nearest};
  }
  return twoChains ? 2 : stages / P;
}

/// The legal values next to an illegal `value`, as the end of a message; empty
/// where there are none below or up to `last`.
template <typename Legal>
static std::string nearest(const char *name, int value, int last, Legal legal) {
  int below = value - 1, above = value + 1;
  while (below > 0 && !legal(below))
    --below;
  while (above <= last && !legal(above))
    ++above;
  std::string text = std::string("; the nearest legal ") + name;
  if (below > 0 && above <= last)
    return text + " are " + std::to_string(below) + " and " +
           std::to_string(above);
  if (below > 0 || above <= last)
    return text + " is " + std::to_string(below > 0 ? below : above);
  return "";
}

/// Changes only M, or only P where no M is legal for it.
static std::string nearestLegal(const KindInfo &kind, int P, int M) {
  std::string text = nearest("M", M, M + 2 * P + 2,
                             [&](int m) { return !kind.brokenRule(P, m); });
  if (text.empty())
    text =
        nearest("P", P, 2 * P, [&](int p) { return !kind.brokenRule(p, M); });
  if (text.empty()) // no P for this M: one that has a legal M
    text = nearest("P", P, 2 * P,
                   [&](int p) { return !kind.brokenRule(p, 4 * p); });
  return text;
}

static std::string sizes(const Request &r) {
  return "P = " + std::to_string(r.P) + ", V = " + std::to_string(r.V) +
         ", M = " + std::to_string(r.M);
}

/// A kind of the table runs on its own placement; `search` on loop and V.
static Result<Placement> choosePlacement(const Request &r,
                                         const KindInfo *kind) {
  if (!r.placement)
    return kind ? kind->placement : Placement::Loop;
  Placement asked = *r.placement;
  auto isOneWay = [](Placement p) { return p != Placement::Bidirectional; };
  bool same = kind && asked == kind->placement;
  bool alike =
      isOneWay(asked) && (!kind || (r.V == 1 && isOneWay(kind->placement)));
  if (same || alike)
    return asked;
  return Error{"kind '" + r.kind + "' needs placement '" +
               (kind ? placementName(kind->placement) : "loop' or 'v") +
               "' but got '" + placementName(asked) + "'"};
}

static Result<Placement> checkLimit(const Request &r, Placement placement) {
  if (!r.limit.empty() && r.limit.size() != 1 &&
      static_cast<int>(r.limit.size()) != r.P)
    return Error{"limit has " + std::to_string(r.limit.size()) +
                 " values, expected 1 or one for each of the " +
                 std::to_string(r.P) + " coordinates"};
  for (size_t i = 0; i < r.limit.size(); ++i)
    if (r.limit[i] < r.V)
      return Error{"limit of coordinate " + std::to_string(i) + " is " +
                   std::to_string(r.limit[i]) + " chunk activations but its " +
                   std::to_string(r.V) + " stages need at least " +
                   std::to_string(r.V)};
  return placement;
}

Result<Placement> checkRequest(const Request &r) {
  const KindInfo *kind = findKind(r.kind);
  if (!kind && r.kind != "search")
    return unknownKind(r.kind);
  if (r.P < 1 || r.V < 1 || r.M < 1)
    return Error{"P, V and M must be at least 1 but are " + sizes(r)};
  if (int64_t(r.P) * r.V > kMaxStageMicroBatches / r.M)
    return Error{"P * V * M is over the limit of " +
                 std::to_string(kMaxStageMicroBatches) + " for " + sizes(r)};
  if (kind && kind->chunks && r.V != kind->chunks)
    return Error{"kind '" + r.kind +
                 "' needs V = " + std::to_string(kind->chunks) +
                 " stages on each coordinate but got " + sizes(r)};
  if (kind && kind->brokenRule)
    if (const char *rule = kind->brokenRule(r.P, r.M))
      return Error{"kind '" + r.kind + "' needs " + rule + " but got " +
                   sizes(r) + nearestLegal(*kind, r.P, r.M)};
  auto placement = choosePlacement(r, kind);
  return placement ? checkLimit(r, *placement) : placement;
}

Result<Schedule> generate(const Request &request) {
  auto placement = checkRequest(request);
  if (!placement)
    return Error{placement.error()};
  Schedule schedule =
      makePlacement(*placement, request.P, request.V, request.M);
  schedule.kind = request.kind;
  schedule.cap = request.limit;
  if (schedule.cap.size() == 1)
    schedule.cap.resize(request.P, request.limit[0]);
  auto costs = stageCosts(schedule, request.costs);
  if (!costs)
    return Error{costs.error()};
  const KindInfo *kind = findKind(request.kind);
  if (!kind)
    return search(schedule, request.costs, request.seed, request.effort);
  kind->fill(schedule);
  return schedule;
}

} // namespace piper::schedule

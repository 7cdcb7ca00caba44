// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that a schedule is complete and well placed, and links each action to
// the producers of what it needs, in time linear in the number of actions.

#include "ActionGraph.h"

#include <algorithm>

namespace piper::schedule {

static std::string str(int64_t value) { return std::to_string(value); }

/// "stages, stage_rank": the numbers that everything else indexes with.
static std::vector<std::string> checkPlacement(const Schedule &s) {
  if (s.P < 1 || s.V < 1 || s.M < 1)
    return {"P, V and M must be at least 1 but are P = " + str(s.P) +
            ", V = " + str(s.V) + ", M = " + str(s.M)};
  if (int64_t(s.P) * s.V > kMaxStageMicroBatches / s.M)
    return {"P * V * M is over the limit of " + str(kMaxStageMicroBatches) +
            " for P = " + str(s.P) + ", V = " + str(s.V) + ", M = " + str(s.M)};
  if (s.numStages() != s.P * s.V)
    return {"P * V stages are needed but stage_rank has " + str(s.numStages()) +
            " for P = " + str(s.P) + ", V = " + str(s.V)};
  if (static_cast<int>(s.ranks.size()) != s.P)
    return {"one action list per coordinate is needed but there are " +
            str(s.ranks.size()) + " for P = " + str(s.P)};
  std::vector<int> held(s.P, 0);
  for (int stage = 0; stage < s.numStages(); ++stage) {
    int rank = s.stageRank[stage];
    if (rank < 0 || rank >= s.P)
      return {"stage " + str(stage) + " is placed on coordinate " + str(rank) +
              " but P = " + str(s.P)};
    ++held[rank];
  }
  for (int rank = 0; rank < s.P; ++rank)
    if (held[rank] != s.V)
      return {"coordinate " + str(rank) + " holds " + str(held[rank]) +
              " stages but V = " + str(s.V)};
  if (!s.cap.empty() && static_cast<int>(s.cap.size()) != s.P)
    return {"cap has " + str(s.cap.size()) + " values but P = " + str(s.P)};
  return {};
}

/// Each stage in one chain, each micro-batch on an existing one; links stages.
static std::vector<std::string> linkChains(const Schedule &s, ActionGraph &g) {
  std::vector<int> seen(s.numStages(), 0);
  g.stageBefore.assign(s.numStages(), -1);
  g.stageAfter.assign(s.numStages(), -1);
  for (const auto &chain : s.chains) {
    if (chain.empty())
      return {"a chain has no stages"};
    for (size_t i = 0; i < chain.size(); ++i) {
      if (chain[i] < 0 || chain[i] >= s.numStages())
        return {"a chain names stage " + str(chain[i]) + " of " +
                str(s.numStages())};
      if (seen[chain[i]]++)
        return {"stage " + str(chain[i]) + " stands twice in the chains"};
      if (i > 0) {
        g.stageBefore[chain[i]] = chain[i - 1];
        g.stageAfter[chain[i - 1]] = chain[i];
      }
    }
  }
  for (int stage = 0; stage < s.numStages(); ++stage)
    if (!seen[stage])
      return {"stage " + str(stage) + " is in no chain"};
  if (s.mbChain.empty() && s.chains.size() > 1)
    return {"mb_chain is needed where there are " + str(s.chains.size()) +
            " chains"};
  if (!s.mbChain.empty() && static_cast<int>(s.mbChain.size()) != s.M)
    return {"mb_chain has " + str(s.mbChain.size()) +
            " values but M = " + str(s.M)};
  for (int mb = 0; mb < static_cast<int>(s.mbChain.size()); ++mb)
    if (s.mbChain[mb] < 0 || s.mbChain[mb] >= static_cast<int>(s.chains.size()))
      return {"mb " + str(mb) + " runs through chain " + str(s.mbChain[mb]) +
              " of " + str(s.chains.size())};
  return {};
}

namespace {
/// Node of each F, BI (or B) and BW (or B), by stage * M + mb.
class Completeness {
public:
  Completeness(const Schedule &schedule, std::vector<std::string> &errors)
      : s(schedule), errors(errors), chainOfStage(schedule.numStages(), 0) {
    size_t n = size_t(s.numStages()) * s.M;
    forward.assign(n, -1);
    input.assign(n, -1);
    weight.assign(n, -1);
    for (size_t c = 0; c < s.chains.size(); ++c)
      for (int stage : s.chains[c])
        chainOfStage[stage] = static_cast<int>(c);
  }

  void add(const Action &a, int rank, int node) {
    switch (a.pass) {
    case Pass::F:
      put(forward, Pass::F, a.stage, a.microBatch, rank, node);
      break;
    case Pass::BI:
    case Pass::BW:
      put(a.pass == Pass::BI ? input : weight, a.pass, a.stage, a.microBatch,
          rank, node);
      break;
    case Pass::B:
      addFullBackward(a.stage, a.microBatch, rank, node);
      break;
    case Pass::FB:
      put(forward, Pass::F, a.stage, a.microBatch, rank, node);
      addFullBackward(a.stageB, a.microBatchB, rank, node);
      break;
    }
  }

  void reportMissing() {
    for (int stage = 0; stage < s.numStages(); ++stage)
      for (int mb = 0; mb < s.M; ++mb) {
        if (s.chainOf(mb) != chainOfStage[stage])
          continue;
        int i = slot(stage, mb);
        if (forward[i] < 0)
          missing("F", stage, mb);
        if (input[i] < 0 && weight[i] < 0)
          missing("B", stage, mb);
        else if (input[i] < 0)
          missing("BI", stage, mb);
        else if (weight[i] < 0)
          missing("BW", stage, mb);
      }
  }

  int slot(int stage, int mb) const { return stage * s.M + mb; }
  std::vector<int> forward, input, weight;

private:
  void addFullBackward(int stage, int mb, int rank, int node) {
    if (put(input, Pass::B, stage, mb, rank, node))
      put(weight, Pass::B, stage, mb, rank, node);
  }

  bool put(std::vector<int> &table, Pass pass, int stage, int mb, int rank,
           int node) {
    Action named{pass, stage, mb};
    if (stage < 0 || stage >= s.numStages() || mb < 0 || mb >= s.M)
      return fail(toString(named) + " does not exist: there are " +
                  str(s.numStages()) + " stages and M = " + str(s.M));
    if (s.chainOf(mb) != chainOfStage[stage])
      return fail(toString(named) + " is not on the chain of mb " + str(mb));
    if (s.stageRank[stage] != rank)
      return fail(toString(named) + " stands on coordinate " + str(rank) +
                  " but its stage is placed on " + str(s.stageRank[stage]));
    if (table[slot(stage, mb)] >= 0)
      return fail(toString(named) + " stands twice");
    table[slot(stage, mb)] = node;
    return true;
  }

  void missing(const char *pass, int stage, int mb) {
    fail(std::string(pass) + "(stage " + str(stage) + ", mb " + str(mb) +
         ") is missing");
  }

  bool fail(std::string message) {
    if (errors.size() < kMaxErrors)
      errors.push_back(std::move(message));
    return false;
  }

  const Schedule &s;
  std::vector<std::string> &errors;
  std::vector<int> chainOfStage;
};
} // namespace

static ActionGraph::Needs needsOf(const Action &a, const ActionGraph &g,
                                  const Completeness &c) {
  ActionGraph::Needs needs;
  if (a.pass == Pass::BW) {
    needs.own = c.input[c.slot(a.stage, a.microBatch)];
    return needs;
  }
  bool isPair = a.pass == Pass::FB;
  if ((a.pass == Pass::F || isPair) && g.stageBefore[a.stage] >= 0)
    needs.forward = c.forward[c.slot(g.stageBefore[a.stage], a.microBatch)];
  if (a.pass == Pass::F)
    return needs;
  int stage = isPair ? a.stageB : a.stage;
  int mb = isPair ? a.microBatchB : a.microBatch;
  if (g.stageAfter[stage] >= 0)
    needs.backward = c.input[c.slot(g.stageAfter[stage], mb)];
  needs.own = c.forward[c.slot(stage, mb)];
  return needs;
}

std::vector<std::string> buildActionGraph(const Schedule &schedule,
                                          ActionGraph &g) {
  std::vector<std::string> errors = checkPlacement(schedule);
  if (errors.empty())
    errors = linkChains(schedule, g);
  if (!errors.empty())
    return errors;

  Completeness complete(schedule, errors);
  g.rankBegin.assign(1, 0);
  for (int rank = 0; rank < schedule.P; ++rank) {
    for (const Action &action : schedule.ranks[rank]) {
      complete.add(action, rank, g.size());
      g.actions.push_back(&action);
      g.rankOf.push_back(rank);
      if (errors.size() == kMaxErrors)
        return errors;
    }
    g.rankBegin.push_back(g.size());
  }
  if (errors.empty())
    complete.reportMissing();
  if (!errors.empty())
    return errors;

  g.needs.reserve(g.actions.size());
  for (const Action *action : g.actions)
    g.needs.push_back(needsOf(*action, g, complete));
  return errors;
}

std::vector<int> ActionGraph::topologicalOrder() const {
  // Users of each node as lists threaded through one array of edges.
  std::vector<int> first(size(), -1), next(size_t(size()) * 3, -1);
  std::vector<int> open(size(), 0);
  for (int node = 0; node < size(); ++node) {
    auto all = needs[node].all();
    for (int k = 0; k < 3; ++k) {
      if (all[k] < 0)
        continue;
      next[node * 3 + k] = first[all[k]];
      first[all[k]] = node * 3 + k;
      ++open[node];
    }
    open[node] += node != rankBegin[rankOf[node]];
  }
  std::vector<int> order;
  order.reserve(size());
  for (int node = 0; node < size(); ++node)
    if (!open[node])
      order.push_back(node);
  for (size_t i = 0; i < order.size(); ++i) {
    int node = order[i];
    for (int edge = first[node]; edge >= 0; edge = next[edge])
      if (--open[edge / 3] == 0)
        order.push_back(edge / 3);
    if (node + 1 < rankBegin[rankOf[node] + 1] && --open[node + 1] == 0)
      order.push_back(node + 1);
  }
  return order;
}

} // namespace piper::schedule

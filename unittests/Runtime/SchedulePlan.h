// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan for any pipeline schedule, with the op order of lib/Schedule: one task
// for each action, gradients in accumulators, and an end of the step with
// reductions and updates.

#ifndef PIPER_UNITTESTS_RUNTIME_SCHEDULEPLAN_H
#define PIPER_UNITTESTS_RUNTIME_SCHEDULEPLAN_H

#include "Piper/Schedule/Generate.h"
#include "Piper/Schedule/OpOrder.h"
#include "PlanBuilder.h"

#include "gtest/gtest.h"

namespace piper::rt::test {

struct SchedulePlanOptions {
  int64_t buffering = 0;
  int prefetch = 1;
  /// Bytes of dead values are used again.
  bool reuse = true;
  /// Reductions and updates.
  bool epilogue = true;
  /// Elements of what goes from stage to stage.
  int64_t elements = 8;
  schedule::Costs costs;
};

class SchedulePlan {
public:
  SchedulePlan(const schedule::Schedule &schedule,
               const SchedulePlanOptions &options = {})
      : s(schedule), options(options), act(f32({options.elements})),
        b(schedule.P, options.buffering), sums(schedule.P) {
    for (size_t c = 0; c < s.chains.size(); ++c)
      for (size_t q = 0; q < s.chains[c].size(); ++q)
        position[s.chains[c][q]] = {int(q), int(c)};
  }

  Plan make() {
    for (int q = 0; q < numStages(); ++q)
      b.state(holdersOf(q), "w" + std::to_string(q), act);
    b.begin("train");
    b.input("x", act);
    auto order = schedule::makeOpOrder(s, options.costs, options.prefetch);
    EXPECT_TRUE(bool(order)) << order.error();
    for (const schedule::PlannedOp &op : *order) {
      const schedule::Action &action = s.ranks[op.rank][op.index];
      if (op.isTransfer())
        addTransfer(op, action);
      else
        addAction(op.rank, action);
    }
    if (options.epilogue)
      addEpilogue();
    b.end();
    return b.finish();
  }

private:
  using Pass = schedule::Pass;
  using Names = std::vector<std::string>;

  int numStages() const { return int(s.chains[0].size()); }
  std::vector<int> holdersOf(int q) const {
    std::vector<int> ranks;
    for (const auto &chain : s.chains)
      ranks.push_back(s.stageRank[chain[q]]);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }
  static std::string name(const char *what, int q, int mb) {
    return what + std::to_string(q) + "." + std::to_string(mb);
  }
  void release(int rank, const std::string &value) {
    if (options.reuse)
      b.release(rank, value);
  }

  void addTransfer(const schedule::PlannedOp &op,
                   const schedule::Action &action) {
    bool isPair = action.pass == Pass::FB;
    int stage = isPair && op.backward ? action.stageB : action.stage;
    int mb = isPair && op.backward ? action.microBatchB : action.microBatch;
    std::string value =
        name(op.backward ? "d" : "h", position[stage].first, mb);
    b.transfer(value, op.rank, op.toRank);
    release(op.rank, value);
  }

  void addAction(int rank, const schedule::Action &action) {
    if (action.pass == Pass::FB) {
      addForward(rank, action.stage, action.microBatch);
      addBackward(rank, action.stageB, action.microBatchB, Pass::B);
    } else if (action.pass == Pass::F) {
      addForward(rank, action.stage, action.microBatch);
    } else {
      addBackward(rank, action.stage, action.microBatch, action.pass);
    }
  }

  PlanBuilder::Facts facts(const char *pass, int stage, int mb) {
    return {pass, position[stage].first, mb, position[stage].second};
  }

  void addForward(int rank, int stage, int mb) {
    int q = position[stage].first;
    std::string in = q == 0 ? "x" : name("h", q - 1, mb);
    b.task({rank}, "f" + std::to_string(q) + ".fw", facts("F", stage, mb),
           {"w" + std::to_string(q), in},
           {{name("h", q, mb), act}, {name("s", q, mb), act}});
    if (q > 0)
      release(rank, in);
  }

  void addBackward(int rank, int stage, int mb, Pass pass) {
    int q = position[stage].first;
    bool isLast = q == numStages() - 1;
    std::string number = std::to_string(q);
    std::string in = isLast ? name("h", q, mb) : name("d", q + 1, mb);
    std::string saved = name("s", q, mb), kept = name("t", q, mb);
    Names operands = {"w" + number, saved, in};
    std::vector<PlanBuilder::Made> results;
    if (pass != Pass::BW && q > 0)
      results.push_back({name("d", q, mb), act});
    if (pass == Pass::BI)
      results.push_back({kept, act});
    if (pass == Pass::BW)
      operands = {saved, kept};
    std::string function = "f" + number +
                           (pass == Pass::B    ? ".bw"
                            : pass == Pass::BI ? ".bi"
                                               : ".dw");
    if (pass != Pass::BI) {
      std::string &sum = sums[rank][q];
      std::string next = name("g", q, mb);
      if (!sum.empty()) {
        operands.push_back(sum);
        function += ".into";
      }
      results.push_back({next, act, sum});
      sum = next;
    }
    b.task({rank}, function, facts(schedule::passName(pass), stage, mb),
           operands, results);
    if (pass != Pass::BW)
      release(rank, in);
    if (pass == Pass::BW)
      release(rank, kept);
    if (pass != Pass::BI)
      release(rank, saved);
  }

  void addEpilogue() {
    std::vector<int> all;
    std::vector<std::pair<int, std::string>> norms;
    // Gradients of copies are added; those of the first and last stage too, as
    // if their parameter were tied.
    for (int q = 0; q < numStages(); ++q)
      if (holdersOf(q).size() > 1)
        reduce({q});
    if (numStages() > 1 && holdersOf(0) != holdersOf(numStages() - 1))
      reduce({0, numStages() - 1});
    for (int rank = 0; rank < s.P; ++rank) {
      all.push_back(rank);
      Names operands;
      for (const auto &[q, sum] : sums[rank])
        operands.push_back(sum);
      b.task({rank}, "norm_" + std::to_string(rank), {"once"}, operands,
             {{"n", act}});
      norms.emplace_back(rank, "n");
    }
    b.allReduce(norms, all, "norm");
    b.task(all, "clip", {"once"}, {"norm"}, {{"scale", act}});
    for (int q = 0; q < numStages(); ++q) {
      std::string w = "w" + std::to_string(q);
      std::string gradient = sums[holdersOf(q)[0]][q];
      b.task(holdersOf(q), "adamw." + w, {"U"}, {w, gradient, "scale"},
             {{w + "'", act, w}});
    }
    for (int rank : all)
      b.output(rank, "scale");
  }

  /// Adds the gradients of these stages and gives the sum to all holders.
  void reduce(const std::vector<int> &stages) {
    std::vector<std::pair<int, std::string>> terms;
    std::vector<int> ranks;
    std::string sum = "sum";
    for (int q : stages) {
      sum += "." + std::to_string(q);
      for (int rank : holdersOf(q)) {
        bool isReduced = sums[rank][q].rfind("sum", 0) == 0;
        if (!isReduced || rank == holdersOf(q)[0])
          terms.emplace_back(rank, sums[rank][q]);
        ranks.push_back(rank);
      }
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    b.allReduce(terms, ranks, sum);
    for (int q : stages)
      for (int rank : holdersOf(q))
        sums[rank][q] = sum;
  }

  const schedule::Schedule &s;
  SchedulePlanOptions options;
  TensorType act;
  PlanBuilder b;
  /// Of each stage of the schedule: place in its chain, and the chain.
  std::map<int, std::pair<int, int>> position;
  /// By rank and stage of the model: the name of the gradient so far.
  std::vector<std::map<int, std::string>> sums;
};

/// The plan of a schedule of `kind`.
inline Plan makePlan(const std::string &kind, int P, int V, int M,
                     const SchedulePlanOptions &options = {}) {
  schedule::Request request;
  request.kind = kind;
  request.P = P;
  request.V = V;
  request.M = M;
  auto schedule = schedule::generate(request);
  if (!schedule) {
    ADD_FAILURE() << schedule.error();
    return Plan();
  }
  return SchedulePlan(*schedule, options).make();
}

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_SCHEDULEPLAN_H

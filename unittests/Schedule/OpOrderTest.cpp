// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The total order with its transfers, and rendezvous timing, by hand and as
// properties over all kinds.

#include "TestSchedules.h"

#include "Piper/Schedule/OpOrder.h"

#include <map>
#include <random>

using namespace piper::schedule;

static std::vector<PlannedOp> order(const Schedule &s, const Costs &costs,
                                    int prefetch) {
  auto ops = makeOpOrder(s, costs, prefetch);
  if (!ops) {
    ADD_FAILURE() << ops.error();
    return {};
  }
  return *ops;
}

/// "0:F0" for actions, "0>1:F0" for transfers.
static std::string text(const Schedule &s, const std::vector<PlannedOp> &ops) {
  std::string out;
  for (const PlannedOp &op : ops) {
    const Action &a = s.ranks[op.rank][op.index];
    out += (out.empty() ? "" : " ") + std::to_string(op.rank);
    if (op.isTransfer())
      out += ">" + std::to_string(op.toRank);
    out += std::string(":") + passName(a.pass) + std::to_string(a.microBatch);
  }
  return out;
}

TEST(OpOrder, TransfersFollowTheirProducers) {
  Schedule s = make("1f1b", 2, 1, 2);
  // Coordinate 0: F0 F1 B0 B1, coordinate 1: F0 B0 F1 B1. With prefetch 1, F1
  // of coordinate 1 may receive from behind its F0 on, which starts at 1; with
  // prefetch 0 only from behind its B0 on.
  EXPECT_EQ(text(s, order(s, Costs(), 1)),
            "0:F0 0>1:F0 1:F0 0:F1 0>1:F1 1:B0 1>0:B0 0:B0 1:F1 1:B1 1>0:B1 "
            "0:B1");
  EXPECT_EQ(text(s, order(s, Costs(), 0)),
            "0:F0 0>1:F0 1:F0 0:F1 1:B0 0>1:F1 1>0:B0 0:B0 1:F1 1:B1 1>0:B1 "
            "0:B1");
}

TEST(OpOrder, RendezvousByHand) {
  // GPipe, P = 2, M = 2, F = 1, B = 2, comm = 2. The transfer of F0 runs 1-3,
  // that of F1 waits for the stream: 3-5. Coordinate 1: F0 3-4, F1 5-6, B0 6-8,
  // B1 8-10. Transfers back: 8-10 and 10-12. Coordinate 0: B0 10-12, B1 12-14.
  Costs costs;
  costs.comm = 2;
  Schedule s = make("gpipe", 2, 1, 2);
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  Simulation sim = run(s, costs, options);
  EXPECT_EQ(sim.start[1], (std::vector<double>{3, 5, 6, 8}));
  EXPECT_EQ(sim.start[0], (std::vector<double>{0, 1, 10, 12}));
  EXPECT_EQ(sim.makespan, 14);
  // Eager transfers of pure latency do not queue: F1 arrives at 4.
  EXPECT_EQ(run(s, costs).makespan, 13);
}

TEST(OpOrder, PrefetchDelaysATransfer) {
  // 1F1B, P = 2, M = 3, F = 1, B = 2, comm = 0.5: with prefetch 0 the forward
  // of micro-batch 1 is received once B0 of coordinate 1 has started (2.5).
  Costs costs;
  costs.comm = 0.5;
  Schedule s = make("1f1b", 2, 1, 3);
  auto startOf = [&](int prefetch, const char *wanted) {
    auto ops = order(s, costs, prefetch);
    auto times = timeOpOrder(s, costs, ops);
    for (size_t i = 0; i < ops.size(); ++i)
      if (text(s, {ops[i]}) == wanted)
        return times->start[i];
    return -1.0;
  };
  EXPECT_EQ(startOf(2, "0>1:F1"), 2);
  EXPECT_EQ(startOf(1, "0>1:F1"), 2);
  EXPECT_EQ(startOf(0, "0>1:F1"), 2.5);
}

TEST(OpOrder, PropertiesOfAllKinds) {
  for (const KindInfo &kind : kinds())
    for (int P : {2, 4})
      for (int prefetch : {0, 1, 2}) {
        Schedule s = make(kind.name, P, kind.chunks ? kind.chunks : 2, 2 * P);
        Costs costs = Costs::uniform(1, 1, 1, 0.3);
        auto ops = order(s, costs, prefetch);
        std::vector<int> next(P, 0);
        std::map<std::pair<int, int>, int> sent;
        for (const PlannedOp &op : ops) {
          if (!op.isTransfer()) {
            EXPECT_EQ(op.index, next[op.rank]++); // program order
            continue;
          }
          EXPECT_LT(op.index, next[op.rank]);     // after its producer
          EXPECT_GE(op.toIndex, next[op.toRank]); // before its consumer
          EXPECT_LE(op.toIndex - next[op.toRank], prefetch)
              << kind.name << " runs ahead";
          ++sent[{op.toRank, op.toIndex}];
        }
        for (int r = 0; r < P; ++r)
          EXPECT_EQ(next[r], static_cast<int>(s.ranks[r].size()));
        // One forward crosses each boundary, and one gradient.
        size_t transfers = ops.size() - s.numActions();
        size_t hops = 0;
        for (int mb = 0; mb < s.M; ++mb) {
          const auto &chain = s.chains[s.chainOf(mb)];
          for (size_t i = 0; i + 1 < chain.size(); ++i)
            hops += s.stageRank[chain[i]] != s.stageRank[chain[i + 1]];
        }
        EXPECT_EQ(transfers, 2 * hops) << kind.name;
      }
}

TEST(OpOrder, TransfersGetReadyInTheirOrder) {
  // 1F1B, P = 3, M = 3. Coordinate 1 receives the gradient of B0 from
  // coordinate 2, which starts at 3 and ends at 13, and F2 from coordinate 0,
  // which starts later but ends at 4: it must not wait for that gradient.
  Costs costs;
  costs.forward = {1, 1, 1};
  costs.backward = {2, 2, 10};
  Schedule s = make("1f1b", 3, 1, 3);
  std::string ops = text(s, order(s, costs, 2));
  EXPECT_LT(ops.find("0>1:F2"), ops.find("2>1:B0")) << ops;
}

// Without transfer times rendezvous is as fast as eager sends, however uneven
// the stages are; with them it costs a little.
TEST(OpOrder, UnevenStages) {
  std::mt19937 random(1);
  auto uniform = [&](double low, double high) {
    return low + (high - low) * double(random() % 1000) / 1000;
  };
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  for (const KindInfo &kind : kinds())
    for (int i = 0; i < 20; ++i) {
      Schedule s = make(kind.name, 4, kind.chunks ? kind.chunks : 2, 8);
      Costs costs;
      costs.forward.clear();
      for (size_t q = 0; q < s.chains[0].size(); ++q)
        costs.forward.push_back(uniform(0.5, 1.5));
      costs.backwardInput = costs.backwardWeight = costs.forward;
      costs.backward = costs.forward;
      for (double &time : costs.backward)
        time *= 2;
      EXPECT_NEAR(run(s, costs, options).makespan, run(s, costs).makespan, 1e-9)
          << kind.name;
      costs.comm = 0.2;
      double eager = run(s, costs).makespan;
      double rendezvous = run(s, costs, options).makespan;
      EXPECT_LE(rendezvous, 1.03 * eager) << kind.name;
    }
}

TEST(OpOrder, FreeTransfersChangeNothing) {
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  for (const KindInfo &kind : kinds()) {
    Schedule s = make(kind.name, 4, kind.chunks ? kind.chunks : 2, 8);
    EXPECT_EQ(run(s, Costs(), options).start, run(s).start) << kind.name;
    SimulateOptions apart;
    apart.overlap = Overlap::None;
    Simulation eager = run(s, Costs(), apart);
    apart.transfers = Transfers::Rendezvous;
    EXPECT_EQ(run(s, Costs(), apart).end, eager.end) << kind.name;
  }
}

// With latency, rendezvous costs little against eager sends.
TEST(OpOrder, RendezvousStaysNearEager) {
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  for (const KindInfo &kind : kinds()) {
    Schedule s = make(kind.name, 4, kind.chunks ? kind.chunks : 2, 16);
    Costs costs = Costs::uniform(1, 1, 1, 0.1);
    double eager = run(s, costs).makespan;
    double rendezvous = run(s, costs, options).makespan;
    EXPECT_GE(rendezvous, eager - 1e-9) << kind.name;
    EXPECT_LE(rendezvous, 1.03 * eager) << kind.name;
  }
}

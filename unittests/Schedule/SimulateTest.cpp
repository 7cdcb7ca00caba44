// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator on cases worked by hand, and a large schedule from end to end.

#include "TestSchedules.h"

#include "Piper/Schedule/JSON.h"

using namespace piper::schedule;

static Schedule twoStages(std::vector<std::vector<Action>> ranks, int M) {
  Schedule s = makePlacement(Placement::Loop, 2, 1, M);
  s.kind = "custom";
  s.ranks = std::move(ranks);
  return s;
}

TEST(Simulate, UnevenStagesWithLatency) {
  // Stage 0: F 1, B 2; stage 1: F 3, B 4; transfers 0.5.
  Costs costs;
  costs.forward = {1, 3};
  costs.backward = {2, 4};
  costs.comm = 0.5;
  Schedule s = make("1f1b", 2, 1, 2);
  Simulation sim = run(s, costs);
  // Coordinate 0: F0 0-1, F1 1-2, B0 9-11, B1 16-18.
  // Coordinate 1: F0 1.5-4.5, B0 4.5-8.5, F1 8.5-11.5, B1 11.5-15.5.
  EXPECT_EQ(sim.start[0], (std::vector<double>{0, 1, 9, 16}));
  EXPECT_EQ(sim.end[1], (std::vector<double>{4.5, 8.5, 11.5, 15.5}));
  EXPECT_EQ(sim.makespan, 18);
  EXPECT_EQ(sim.busy, (std::vector<double>{6, 14}));
  EXPECT_EQ(sim.idle, (std::vector<double>{12, 4}));
  EXPECT_EQ(sim.spanIdle, (std::vector<double>{12, 0}));
  EXPECT_EQ(sim.maxIdle(), 12);
  EXPECT_EQ(sim.maxSpanIdle(), 12);
  EXPECT_DOUBLE_EQ(sim.bubbleRatio(), 16.0 / 36);
}

TEST(Simulate, UpdateFollowsTheLastAction) {
  Costs costs;
  costs.update = {5, 1};
  Simulation sim = run(make("1f1b", 2, 1, 2), costs);
  // 1F1B ends at 9 on coordinate 0 and at 7 on coordinate 1.
  EXPECT_EQ(sim.makespan, 14);
  EXPECT_EQ(sim.busy, (std::vector<double>{11, 7}));
  EXPECT_EQ(sim.idle, (std::vector<double>{3, 7}));
}

TEST(Simulate, PairsAsSumOrMaximum) {
  Schedule s = makePlacement(Placement::Loop, 1, 1, 2);
  s.ranks[0] = {Action::forward(0, 0), Action::pair(0, 1, 0, 0),
                Action::backward(0, 1)};
  SimulateOptions options;
  EXPECT_EQ(run(s, {}, options).makespan, 1 + 3 + 2);
  options.overlap = Overlap::Max;
  EXPECT_EQ(run(s, {}, options).makespan, 1 + 2 + 2);
  EXPECT_EQ(run(s).peak, (std::vector<int>{2}));
}

/// P = 2: coordinate 0 runs F0, the pair of F1 and B0, B1.
static Schedule pairOnTwoRanks() {
  Schedule s = makePlacement(Placement::Loop, 2, 1, 2);
  s.ranks[0] = {Action::forward(0, 0), Action::pair(0, 1, 0, 0),
                Action::backward(0, 1)};
  s.ranks[1] = {Action::forward(1, 0), Action::backward(1, 0),
                Action::forward(1, 1), Action::backward(1, 1)};
  return s;
}

TEST(Simulate, PairsWithoutOverlap) {
  // F = 1, B = 2. As a unit the pair waits for B0 of coordinate 1, which ends
  // at 4. Without overlap F1 runs 1-2 and B0 4-6, as in 1F1B.
  Schedule s = pairOnTwoRanks();
  SimulateOptions options;
  EXPECT_EQ(run(s, {}, options).start[0], (std::vector<double>{0, 4, 10}));
  options.overlap = Overlap::None;
  Simulation sim = run(s, {}, options);
  EXPECT_EQ(sim.start[0], (std::vector<double>{0, 1, 7}));
  EXPECT_EQ(sim.end[0], (std::vector<double>{1, 6, 9}));
  EXPECT_EQ(sim.start[1], (std::vector<double>{1, 2, 4, 5}));
  // What it waits between its halves is no work.
  EXPECT_EQ(sim.busy[0], 6);
  EXPECT_EQ(sim.idle[0], 3);
}

TEST(Simulate, TransfersOfAPairWithoutOverlap) {
  // comm = 0.5: F1 runs 1-2 and the pair's B0 5-7. The result of F1 stands
  // behind the pair and leaves when B0 starts.
  Costs costs;
  costs.comm = 0.5;
  SimulateOptions options;
  options.overlap = Overlap::None;
  options.transfers = Transfers::Rendezvous;
  Simulation sim = run(pairOnTwoRanks(), costs, options);
  EXPECT_EQ(sim.start[0], (std::vector<double>{0, 1, 9}));
  EXPECT_EQ(sim.end[0], (std::vector<double>{1, 7, 11}));
  EXPECT_EQ(sim.start[1], (std::vector<double>{1.5, 2.5, 5.5, 6.5}));
}

TEST(Simulate, ActivationsReleasedAtInputOrWeightGradient) {
  // F0 F1 I0 F2 I1 W0 I2 W1 W2: three alive until W0, two until I0.
  Schedule s = makePlacement(Placement::Loop, 1, 1, 3);
  using A = Action;
  s.ranks[0] = {
      A::forward(0, 0),       A::forward(0, 1),        A::backwardInput(0, 0),
      A::forward(0, 2),       A::backwardInput(0, 1),  A::backwardWeight(0, 0),
      A::backwardInput(0, 2), A::backwardWeight(0, 1), A::backwardWeight(0, 2)};
  EXPECT_EQ(run(s).peak, (std::vector<int>{3}));
  EXPECT_EQ(run(s).peakAtInput, (std::vector<int>{2}));
  EXPECT_EQ(run(s).maxPeak(), 3);
}

TEST(Simulate, Refusals) {
  Schedule s = make("1f1b", 2, 1, 2);
  Costs costs;
  costs.backward = {1, 2, 3};
  EXPECT_EQ(simulate(s, costs).error(), "cost 'B' has 3 values, expected 1 or "
                                        "one for each of the 2 stages");
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  options.prefetch = -1;
  EXPECT_EQ(simulate(s, {}, options).error(),
            "prefetch must be at least 0 but is -1");
  std::swap(s.ranks[0].front(), s.ranks[0].back());
  EXPECT_EQ(simulate(s, {}).error(), "the order contradicts the data flow");
  options.prefetch = 1;
  EXPECT_EQ(simulate(s, {}, options).error(),
            "the order contradicts the data flow");
  s.ranks[0].pop_back();
  EXPECT_EQ(simulate(s, {}).error(), "F(stage 0, mb 0) is missing");
}

TEST(Simulate, RunsWhatOthersOrdered) {
  // Backwards in falling order, which no generator here makes.
  Schedule s = twoStages({{Action::forward(0, 0), Action::forward(0, 1),
                           Action::backward(0, 1), Action::backward(0, 0)},
                          {Action::forward(1, 0), Action::forward(1, 1),
                           Action::backward(1, 1), Action::backward(1, 0)}},
                         2);
  EXPECT_EQ(run(s).makespan, 1 + 1 + 1 + 2 + 2 + 2);
}

// 64 coordinates, 1024 micro-batches, split backward: from generation to JSON.
TEST(Simulate, TwoHundredThousandActions) {
  Schedule s = make("zb_h1", 64, 1, 1024);
  EXPECT_EQ(s.numActions(), 3 * 64 * 1024);
  Simulation sim = run(s);
  EXPECT_DOUBLE_EQ(sim.makespan, 3 * 1024 + 63);
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  EXPECT_DOUBLE_EQ(run(s, {}, options).makespan, 3 * 1024 + 63);
  std::string text = toJSON(s);
  auto back = fromJSON(text);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ((*back)[0].ranks, s.ranks);
}

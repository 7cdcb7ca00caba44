// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lower bounds: by hand, and never above what the simulator finds.

#include "TestSchedules.h"

#include "Piper/Schedule/Bounds.h"

using namespace piper::schedule;

TEST(Bounds, ByHand) {
  // P = 4, M = 8, F = 1, B = 2, one transfer 0.5: a micro-batch alone takes
  // 4 (1 + 2) + 6 * 0.5; work 24. Coordinate 0 has no idle time it cannot fill
  // with 8 forwards before its first backward at 4 + 6 + 6 * 0.5 = 13: 13 - 8
  // + 24. On coordinate 1 the ramp: first forward at 1.5, first backward at
  // 10.5, 2.5 after its last backward: 10.5 - 8 + 24 + 2.5.
  Schedule s = make("gpipe", 4, 1, 8);
  Costs costs;
  costs.comm = 0.5;
  auto b = lowerBounds(s, costs);
  ASSERT_TRUE(b);
  EXPECT_DOUBLE_EQ(b->criticalPath, 15);
  EXPECT_DOUBLE_EQ(b->work, 24);
  // Coordinate 3: starts at 4.5, backward at once, 7.5 after: 36.
  EXPECT_DOUBLE_EQ(b->ramp, 4.5 + 24 + 7.5);
  EXPECT_EQ(b->residence, 0);
  EXPECT_DOUBLE_EQ(b->best(), 36);
}

TEST(Bounds, MemoryLimitedRampAndResidence) {
  // V placement, P = 8, M = 16, unit costs. On coordinate 7 the first backward
  // can start at 23; 8 of that are filled under a cap of 8: 15 + 96 = 111. An
  // activation of stage 0 lives 33, of stage 15 on the same coordinate 3.
  Schedule s = make("v_min", 8, 2, 16);
  s.cap.assign(8, 8);
  auto b = lowerBounds(s, Costs::uniform(1, 1, 1));
  EXPECT_DOUBLE_EQ(b->ramp, 111);
  EXPECT_DOUBLE_EQ(b->residence, 16 * 36 / 8.0);
  s.cap.assign(8, 10);
  EXPECT_DOUBLE_EQ(lowerBounds(s, Costs())->ramp, 109);
  s.cap.assign(8, 16);
  EXPECT_DOUBLE_EQ(lowerBounds(s, Costs())->ramp, 103);
  s.cap.assign(8, 2);
  EXPECT_DOUBLE_EQ(lowerBounds(s, Costs())->residence, 16 * 36 / 2.0);
}

TEST(Bounds, NeverAboveASchedule) {
  const Costs costs[] = {Costs(), Costs::uniform(1, 1.2, 1, 0.1),
                         Costs::uniform(3, 1, 2, 0.5),
                         Costs::uniform(1, 2, 0, 0)};
  for (const KindInfo &kind : kinds())
    for (int P = 1; P <= 5; ++P)
      for (int M : {1, 2, 5, 2 * P, 4 * P})
        for (Costs c : costs)
          for (Overlap overlap : {Overlap::Sum, Overlap::Max, Overlap::None}) {
            int V = kind.chunks ? kind.chunks : 2;
            auto s = generate(makeRequest(kind.name, P, V, M));
            if (!s)
              continue;
            c.update = {0.7};
            s->cap = run(*s).peak; // the tightest cap it keeps
            SimulateOptions options;
            options.overlap = overlap;
            double length = run(*s, c, options).makespan;
            EXPECT_LE(lowerBounds(*s, c, overlap)->best(), length + 1e-9)
                << kind.name << " P=" << P << " M=" << M;
          }
}

TEST(Bounds, TightWhereTheFormsAre) {
  EXPECT_DOUBLE_EQ(lowerBounds(make("1f1b", 4, 1, 8), Costs())->best(), 33);
  EXPECT_DOUBLE_EQ(lowerBounds(make("zb_h1", 4, 1, 8), Costs())->best(), 27);
}

TEST(Bounds, Refusals) {
  Schedule s = make("1f1b", 2, 1, 2);
  Costs costs;
  costs.update = {1, 2, 3};
  EXPECT_EQ(lowerBounds(s, costs).error(),
            "cost 'update' has 3 values, expected 1 or one for each of the 2 "
            "stages");
  s.ranks[1].pop_back();
  EXPECT_EQ(lowerBounds(s, Costs()).error(), "B(stage 1, mb 1) is missing");
}

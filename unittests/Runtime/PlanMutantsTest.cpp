// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Right plans with one thing changed: every one of them is refused.

#include "PlanMutants.h"
#include "Piper/Runtime/CheckPlan.h"
#include "SchedulePlan.h"

using namespace piper::rt;
using namespace piper::rt::test;

static void expectAllRefused(const std::string &what, const Plan &plan) {
  Status right = checkPlan(plan);
  ASSERT_TRUE(right.ok()) << what << ": " << right.str();
  int count = 0;
  forEachMutant(
      plan, [&](const std::string &change, const Plan &mutant, size_t program) {
        ++count;
        if (!isRefused(mutant, program))
          ADD_FAILURE() << what << ": nothing is wrong with " << change;
      });
  EXPECT_GT(count, 100) << what;
}

TEST(PlanMutants, SchedulesWithoutBuffering) {
  expectAllRefused("1f1b", makePlan("1f1b", 2, 1, 4));
  expectAllRefused("1f1b of 4", makePlan("1f1b", 4, 1, 4));
  expectAllRefused("gpipe", makePlan("gpipe", 3, 1, 3));
  expectAllRefused("interleaved", makePlan("interleaved_1f1b", 2, 2, 4));
  expectAllRefused("zb-h1", makePlan("zb_h1", 2, 1, 4));
  expectAllRefused("zb-v", makePlan("zbv", 2, 2, 4));
  expectAllRefused("dualpipe", makePlan("dualpipe", 2, 2, 4));
}

TEST(PlanMutants, SchedulesWithBuffering) {
  SchedulePlanOptions options;
  for (int64_t buffering : {1, 2}) {
    options.buffering = buffering;
    options.prefetch = int(buffering) + 1;
    expectAllRefused("1f1b", makePlan("1f1b", 3, 1, 4, options));
    expectAllRefused("zb-h2", makePlan("zb_h2", 2, 1, 4, options));
  }
}

// Without reuse of memory and with nothing but the passes.
TEST(PlanMutants, BareSchedules) {
  SchedulePlanOptions options;
  options.reuse = false;
  options.epilogue = false;
  expectAllRefused("eager", makePlan("eager_1f1b", 4, 1, 8, options));
  expectAllRefused("looped-bfs", makePlan("looped_bfs", 2, 2, 4, options));
}

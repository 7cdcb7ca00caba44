// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Balanced stages against every cut there is.

#include "Stages/BalanceStages.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace mlir::piper;

using Costs = llvm::SmallVector<double>;
using Cuts = llvm::SmallVector<int64_t>;

static double largest(llvm::ArrayRef<double> costs, llvm::ArrayRef<int64_t> c) {
  Costs stages = getCostsOfStages(costs, c);
  return *std::max_element(stages.begin(), stages.end());
}

/// The least largest stage of all cuts into `stages` from segment `first` on.
static double bestOf(llvm::ArrayRef<double> costs, int64_t stages, Cuts &cuts) {
  if (stages == 1)
    return largest(costs, cuts);
  double best = INFINITY;
  int64_t first = cuts.empty() ? 1 : cuts.back() + 1;
  for (int64_t cut = first; cut <= int64_t(costs.size()) - stages + 1; ++cut) {
    cuts.push_back(cut);
    best = std::min(best, bestOf(costs, stages - 1, cuts));
    cuts.pop_back();
  }
  return best;
}

TEST(BalanceStages, HasTheLeastLargestStage) {
  std::mt19937 random(7);
  for (int run = 0; run < 2000; ++run) {
    Costs costs;
    for (int n = random() % 9 + 1; n > 0; --n)
      // Whole numbers, zeros among them, and numbers that round.
      costs.push_back(run % 2 ? random() % 6 : random() % 1000 / 7.0);
    int64_t stages = random() % costs.size() + 1;
    Cuts none, cuts = balanceStages(costs, stages);
    ASSERT_EQ(int64_t(cuts.size()), stages - 1);
    int64_t previous = 0;
    for (int64_t cut : cuts) {
      ASSERT_GT(cut, previous);
      ASSERT_LT(cut, int64_t(costs.size()));
      previous = cut;
    }
    ASSERT_EQ(largest(costs, cuts), bestOf(costs, stages, none));
  }
}

// A heavy head: the last stage is the head and one block, and what is left over
// is missing at the front, where the most activations are.
TEST(BalanceStages, LeavesTheFirstStageLight) {
  Costs costs(12, 1.0);
  costs.back() = 3;
  Cuts cuts = balanceStages(costs, 4);
  EXPECT_EQ(cuts, (Cuts{2, 6, 10}));
  EXPECT_EQ(getCostsOfStages(costs, cuts), (Costs{2, 4, 4, 4}));
}

TEST(BalanceStages, TakesExtremes) {
  EXPECT_EQ(balanceStages({5.0}, 1), Cuts());
  EXPECT_EQ(balanceStages({0.0, 0.0, 0.0}, 3), (Cuts{1, 2}));
  EXPECT_EQ(balanceStages({0.0, 0.0, 0.0, 0.0}, 2), (Cuts{1}));
  EXPECT_EQ(balanceStages({1e-300, 1e300, 1e300, 1e-300}, 2), (Cuts{2}));
  // The sum is infinite; the parts are not.
  EXPECT_EQ(balanceStages({1.7e308, 1.7e308}, 2), (Cuts{1}));
}

TEST(BalanceStages, IsFastForManySegments) {
  Costs costs(200000, 1.0);
  Cuts cuts = balanceStages(costs, 1000);
  EXPECT_EQ(largest(costs, cuts), 200);
}

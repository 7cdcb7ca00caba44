// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading costs: defaults, per-stage lists, the halves of the backward, and
// every message.

#include "TestSchedules.h"

using namespace piper::schedule;

using List = std::vector<double>;

TEST(Costs, Defaults) {
  Costs costs = *parseCosts("F=1");
  EXPECT_EQ(costs.forward, List{1});
  EXPECT_EQ(costs.backward, List{2});
  EXPECT_EQ(costs.backwardInput, List{1});
  EXPECT_EQ(costs.backwardWeight, List{1});
  EXPECT_EQ(costs.update, List{0});
  EXPECT_EQ(costs.comm, 0);
}

TEST(Costs, HalvesOfTheBackward) {
  Costs costs = *parseCosts("BI=1:2,BW=0.5,update=3,comm=0.25");
  EXPECT_EQ(costs.backward, (List{1.5, 2.5}));
  EXPECT_EQ(costs.update, List{3});
  EXPECT_EQ(costs.comm, 0.25);
  costs = *parseCosts("F=1:1:1:3,B=4");
  EXPECT_EQ(costs.forward, (List{1, 1, 1, 3}));
  EXPECT_EQ(costs.backwardInput, List{2});
  EXPECT_EQ(costs.backwardWeight, List{2});
  EXPECT_EQ(parseCosts("B=4,BI=1")->backwardWeight, List{3});
  EXPECT_EQ(parseCosts("B=4,BW=1:3")->backwardInput, (List{3, 1}));
  costs = *parseCosts("B=1,BI=1,BW=1"); // as given, even if not the sum
  EXPECT_EQ(costs.backward, List{1});
}

TEST(Costs, StagesOfBothCopies) {
  Costs costs;
  costs.forward = {1, 2, 3, 4};
  auto per = stageCosts(make("dualpipe", 4, 2, 8), costs);
  EXPECT_EQ(per->forward, (List{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(Costs, Refusals) {
  auto error = [](const char *text) { return parseCosts(text).error(); };
  EXPECT_EQ(error(""), "costs expect KEY=VALUE but got ''");
  EXPECT_EQ(error("F=1,B"), "costs expect KEY=VALUE but got 'B'");
  EXPECT_EQ(error("G=1"),
            "unknown cost 'G', expected F, B, BI, BW, update or comm");
  EXPECT_EQ(error("F=x"), "cost 'F' expects numbers >= 0 but got 'x'");
  EXPECT_EQ(error("F=1:"), "cost 'F' expects numbers >= 0 but got ''");
  EXPECT_EQ(error("F=-1"), "cost 'F' expects numbers >= 0 but got '-1'");
  EXPECT_EQ(error("F=nan"), "cost 'F' expects numbers >= 0 but got 'nan'");
  EXPECT_EQ(error("F=1e999"), "cost 'F' expects at most 1e15 but got '1e999'");
  EXPECT_EQ(error("F=1:2e15"), "cost 'F' expects at most 1e15 but got '2e15'");
  EXPECT_EQ(error("F=1,B=2,F=1"), "cost 'F' is given twice");
  EXPECT_EQ(error("comm=1:2"), "cost 'comm' expects one value but got 2");
  EXPECT_EQ(error("BI=1:2,BW=1:2:3"),
            "costs BI, BW have lists of 2 and 3 values, expected equal lengths "
            "or one value");
  EXPECT_EQ(error("B=1,BI=3"),
            "costs B - BI leave -2.000000 for the other half of the backward, "
            "expected >= 0");
  EXPECT_EQ(error("B=1,BW=3"),
            "costs B - BW leave -2.000000 for the other half of the backward, "
            "expected >= 0");
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures of other systems as trials of this library: the parts about
// schedules. The names are those of the trials.

#include "TestSchedules.h"

using namespace piper::schedule;

static double length(const std::string &kind, int P, int V, int M,
                     double scale = 1) {
  return run(make(kind, P, V, M), Costs::uniform(scale, scale, scale)).makespan;
}

TEST(FieldCase, L01BubblesAsPromised) {
  // F = B = W = 1 per stage, chunks 1/V.
  EXPECT_DOUBLE_EQ(length("gpipe", 4, 1, 8), 33);
  EXPECT_DOUBLE_EQ(length("1f1b", 4, 1, 8), 33);
  EXPECT_DOUBLE_EQ(length("interleaved_1f1b", 4, 2, 8, 0.5), 28.5);
  EXPECT_DOUBLE_EQ(length("zb_h1", 4, 1, 8), 27);
  EXPECT_EQ(run(make("zb_h1", 4, 1, 8)).maxPeak(),
            run(make("1f1b", 4, 1, 8)).maxPeak());
  EXPECT_DOUBLE_EQ(length("1f1b", 2, 1, 4), 15);
  EXPECT_DOUBLE_EQ(length("zb_h1", 2, 1, 4), 13);
}

TEST(FieldCase, F01FewerMicroBatchesThanStages) {
  for (int M : {1, 2, 3}) {
    EXPECT_DOUBLE_EQ(length("gpipe", 4, 1, M), 3 * (M + 3));
    EXPECT_DOUBLE_EQ(length("1f1b", 4, 1, M), 3 * (M + 3));
    EXPECT_LE(length("zb_h1", 4, 1, M), 3 * (M + 3));
  }
}

TEST(FieldCase, F02InterleavedWithAnyM) {
  for (int M : {3, 6, 8, 10})
    for (std::string kind : {"interleaved_1f1b", "interleaved_zb"})
      EXPECT_EQ(make(kind, 4, 2, M).numActions(),
                8 * M * (kind == "interleaved_zb" ? 3 : 2));
  std::string error = generateError(makeRequest("interleaved_1f1b", 4, 2, 11));
  for (std::string part : {"P = 4", "V = 2", "M = 11", "10 and 12", "rounds"})
    EXPECT_NE(error.find(part), std::string::npos) << part;
}

TEST(FieldCase, F05NoDeadlockWithZeroBuffering) {
  // Every built-in schedule runs with transfers that complete only when
  // received, on one stream each way, in one common order.
  SimulateOptions options;
  options.transfers = Transfers::Rendezvous;
  for (const KindInfo &kind : kinds())
    for (int P : {2, 4})
      for (int V : {1, 2})
        for (int M = 2; M <= 9; ++M) {
          auto s = generate(makeRequest(kind.name, P, V, M));
          if (s) {
            EXPECT_GT(run(*s, Costs::uniform(1, 1, 1, 0.5), options).makespan,
                      0);
          }
        }
}

TEST(FieldCase, F07DualPipeLimits) {
  EXPECT_NE(generateError(makeRequest("dualpipe", 3, 2, 6)), "no error");
  EXPECT_NE(generateError(makeRequest("dualpipe", 4, 2, 6)), "no error");
  EXPECT_NE(generateError(makeRequest("dualpipe", 4, 2, 9)), "no error");
  EXPECT_NE(generateError(makeRequest("dualpipev", 4, 2, 7)), "no error");
  EXPECT_FALSE(chunksFor("dualpipev", 6, 4));
  make("dualpipe", 2, 2, 4);
  make("dualpipe", 4, 2, 8);
}

TEST(FieldCase, G01PeakOfSavedMicroBatches) {
  using Peaks = std::vector<int>;
  EXPECT_EQ(run(make("1f1b", 4, 1, 8)).peak, (Peaks{4, 3, 2, 1}));
  EXPECT_EQ(run(make("gpipe", 4, 1, 8)).peak, (Peaks{8, 8, 8, 8}));
  EXPECT_EQ(run(make("1f1b", 4, 1, 2)).peak, (Peaks{2, 2, 2, 1}));
  Peaks interleaved = run(make("interleaved_1f1b", 4, 2, 8)).peak;
  for (int r = 0; r < 4; ++r)
    EXPECT_LE(interleaved[r], 11 - 2 * r);
}

TEST(FieldCase, G05StagesDifferInMemory) {
  Request request = makeRequest("1f1b", 4, 1, 8);
  request.limit = {3, 3, 2, 1};
  auto errors = verify(*generate(request));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "coordinate 0 (stage 0) needs 4 chunk activations at "
                       "F(stage 0, mb 3) but its limit is 3");
  request.limit = {4, 3, 2, 1};
  EXPECT_TRUE(verify(*generate(request)).empty());
  // The search bends to such limits.
  request.kind = "search";
  request.effort.evaluations = 1'000'000;
  request.limit = {2, 3, 2, 1};
  EXPECT_TRUE(verify(*generate(request)).empty());
}

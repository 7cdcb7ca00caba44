// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests: every kind at every legal size, and every refusal with its text.

#include "TestSchedules.h"

#include <set>

using namespace piper::schedule;

TEST(Generate, EveryKindAtEveryLegalSize) {
  for (const KindInfo &kind : kinds())
    for (int P = 1; P <= 6; ++P)
      for (int V = 1; V <= 3; ++V)
        for (int M = 1; M <= 14; ++M) {
          if (kind.chunks && V != kind.chunks)
            continue;
          if (kind.brokenRule && kind.brokenRule(P, M))
            continue;
          Schedule s = make(kind.name, P, V, M); // verifies
          EXPECT_EQ(s.kind, kind.name);
          EXPECT_EQ(s.numStages(), P * V);
        }
}

TEST(Generate, OnlyTheseSizesAreRefused) {
  std::set<std::string> interleaved = {"interleaved_1f1b", "interleaved_zb"};
  for (const KindInfo &kind : kinds())
    for (int P = 1; P <= 6; ++P)
      for (int M = 1; M <= 30; ++M) {
        std::string name = kind.name;
        bool legal = true;
        if (interleaved.count(name))
          legal = M % std::max(1, M / P) == 0;
        else if (name == "dualpipe")
          legal = P % 2 == 0 && M % 2 == 0 && M >= 2 * P;
        else if (name == "dualpipev")
          legal = M >= 2 * P;
        int V = kind.chunks ? kind.chunks : 2;
        EXPECT_EQ(bool(generate(makeRequest(name, P, V, M))), legal)
            << name << " P=" << P << " M=" << M;
      }
}

TEST(Generate, DualPipeAtAllLegalSizes) {
  for (int P : {2, 4, 8, 16})
    for (int M = 1; M <= 4 * P; ++M) {
      bool legal = M >= 2 * P;
      EXPECT_EQ(bool(generate(makeRequest("dualpipev", P, 2, M))), legal);
      if (legal)
        make("dualpipev", P, 2, M);
      legal = legal && M % 2 == 0;
      EXPECT_EQ(bool(generate(makeRequest("dualpipe", P, 2, M))), legal);
      if (legal)
        make("dualpipe", P, 2, M);
    }
}

TEST(Generate, DualPipeUsesBothCopies) {
  Schedule s = make("dualpipe", 4, 2, 8);
  EXPECT_EQ(s.stageRank, (std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0}));
  EXPECT_EQ(s.chains,
            (std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(s.mbChain, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  // Published step table, coordinate 1 of 4 (in the middle), 8 micro-batches.
  using A = Action;
  std::vector<Action> expected = {
      A::forward(1, 0),       A::forward(6, 4),        A::forward(1, 1),
      A::forward(6, 5),       A::forward(1, 2),        A::backward(6, 4),
      A::pair(6, 6, 1, 0),    A::pair(1, 3, 6, 5),     A::pair(6, 7, 1, 1),
      A::backward(6, 6),      A::backward(1, 2),       A::backwardInput(6, 7),
      A::backwardInput(1, 3), A::backwardWeight(6, 7), A::backwardWeight(1, 3)};
  EXPECT_EQ(s.ranks[1], expected);
}

TEST(Generate, Placements) {
  EXPECT_EQ(makePlacement(Placement::Loop, 3, 2, 1).stageRank,
            (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(makePlacement(Placement::V, 3, 3, 1).stageRank,
            (std::vector<int>{0, 1, 2, 2, 1, 0, 0, 1, 2}));
  EXPECT_EQ(make("zbv", 2, 2, 1).stageRank, (std::vector<int>{0, 1, 1, 0}));
}

TEST(Generate, LimitBecomesTheCap) {
  Request request = makeRequest("1f1b", 2, 1, 4);
  request.limit = {3};
  EXPECT_EQ(generate(request)->cap, (std::vector<int>{3, 3}));
  request.limit = {3, 2};
  EXPECT_EQ(generate(request)->cap, (std::vector<int>{3, 2}));
}

TEST(Generate, Refusals) {
  EXPECT_EQ(generateError(makeRequest("interleaved_1f1b", 4, 2, 11)),
            "kind 'interleaved_1f1b' needs rounds = max(1, floor(M / P)) to "
            "divide M but got P = 4, V = 2, M = 11; the nearest legal M are 10 "
            "and 12");
  EXPECT_EQ(generateError(makeRequest("dualpipe", 3, 2, 12)),
            "kind 'dualpipe' needs an even P but got P = 3, V = 2, M = 12; the "
            "nearest legal P are 2 and 4");
  EXPECT_EQ(generateError(makeRequest("dualpipe", 3, 2, 4)),
            "kind 'dualpipe' needs an even P but got P = 3, V = 2, M = 4; the "
            "nearest legal P is 2");
  EXPECT_EQ(generateError(makeRequest("dualpipe", 3, 2, 9)),
            "kind 'dualpipe' needs an even P but got P = 3, V = 2, M = 9; the "
            "nearest legal P are 2 and 4");
  EXPECT_EQ(generateError(makeRequest("dualpipe", 4, 2, 6)),
            "kind 'dualpipe' needs an even M >= 2 P but got P = 4, V = 2, M = "
            "6; the nearest legal M is 8");
  EXPECT_EQ(generateError(makeRequest("dualpipe", 4, 2, 9)),
            "kind 'dualpipe' needs an even M >= 2 P but got P = 4, V = 2, M = "
            "9; the nearest legal M are 8 and 10");
  EXPECT_EQ(generateError(makeRequest("dualpipev", 4, 2, 7)),
            "kind 'dualpipev' needs M >= 2 P but got P = 4, V = 2, M = 7; the "
            "nearest legal M is 8");
  EXPECT_EQ(generateError(makeRequest("1f1b", 4, 2, 8)),
            "kind '1f1b' needs V = 1 stages on each coordinate but got P = 4, "
            "V = 2, M = 8");
  EXPECT_EQ(generateError(makeRequest("1f1b", 4, 1, 0)),
            "P, V and M must be at least 1 but are P = 4, V = 1, M = 0");
  EXPECT_EQ(generateError(makeRequest("1f1b", 1000000, 1, 1000000)),
            "P * V * M is over the limit of 4000000 for P = 1000000, V = 1, M "
            "= 1000000");
  EXPECT_EQ(generateError(makeRequest("zb_h3", 1, 1, 1)),
            "unknown kind 'zb_h3', expected one of gpipe, 1f1b, eager_1f1b, "
            "interleaved_1f1b, looped_bfs, zb_h1, zb_h2, interleaved_zb, zbv, "
            "v_half, v_min, dualpipe, dualpipev, search");
}

TEST(Generate, RefusedPlacementsAndLimits) {
  Request request = makeRequest("zbv", 2, 2, 4);
  request.placement = Placement::Loop;
  EXPECT_EQ(generateError(request),
            "kind 'zbv' needs placement 'v' but got 'loop'");
  request = makeRequest("search", 2, 2, 4);
  request.placement = Placement::Bidirectional;
  EXPECT_EQ(generateError(request), "kind 'search' needs placement 'loop' or "
                                    "'v' but got 'bidirectional'");
  request = makeRequest("1f1b", 4, 1, 8);
  request.limit = {4, 4};
  EXPECT_EQ(generateError(request),
            "limit has 2 values, expected 1 or one for each of the 4 "
            "coordinates");
  request = makeRequest("search", 2, 2, 4);
  request.limit = {4, 1};
  EXPECT_EQ(generateError(request),
            "limit of coordinate 1 is 1 chunk activations but its 2 stages "
            "need at least 2");
  request = makeRequest("1f1b", 4, 1, 8);
  request.costs.forward = {1, 2, 3};
  EXPECT_EQ(generateError(request), "cost 'F' has 3 values, expected 1 or one "
                                    "for each of the 4 stages");
}

TEST(Generate, ChunksForStages) {
  EXPECT_EQ(*chunksFor("dualpipev", 8, 4), 2);
  EXPECT_EQ(*chunksFor("dualpipe", 4, 4), 2);
  EXPECT_EQ(*chunksFor("search", 12, 4), 3);
  EXPECT_EQ(chunksFor("dualpipev", 6, 4).error(),
            "kind 'dualpipev' needs 2 stages of a chain on each coordinate, 8 "
            "in all, but got 6 for P = 4");
  EXPECT_EQ(chunksFor("looped_bfs", 6, 4).error(),
            "kind 'looped_bfs' needs a multiple of P stages but got 6 for P = "
            "4; the nearest legal are 4 and 8");
  EXPECT_EQ(chunksFor("looped_bfs", 3, 4).error(),
            "kind 'looped_bfs' needs a multiple of P stages but got 3 for P = "
            "4; the nearest legal are 4");
  EXPECT_EQ(chunksFor("looped_bfs", 0, 4).error(),
            "stages and P must be at least 1 but are 0 and 4");
  EXPECT_EQ(chunksFor("x", 4, 4).error().substr(0, 16), "unknown kind 'x'");
}

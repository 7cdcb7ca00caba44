// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulated figures against the closed forms of the papers, over sweeps of P,
// V, M and costs.

#include "TestSchedules.h"

#include <cmath>

using namespace piper::schedule;

TEST(ClosedForms, BubbleRatioOfGPipeAnd1F1B) {
  for (std::string kind : {"gpipe", "1f1b", "eager_1f1b"})
    for (int P = 1; P <= 9; ++P)
      for (int M = 1; M <= 20; ++M)
        for (double b : {1.0, 2.0, 3.5}) {
          Simulation sim =
              run(make(kind, P, 1, M), Costs::uniform(1, b / 2, b / 2));
          EXPECT_NEAR(sim.bubbleRatio(), (P - 1.0) / (M + P - 1), 1e-12)
              << kind << " P=" << P << " M=" << M << " B=" << b;
        }
}

TEST(ClosedForms, BubbleRatioOfInterleaved) {
  for (int P = 1; P <= 8; ++P)
    for (int V = 1; V <= 4; ++V)
      for (int rounds = 1; rounds <= 4; ++rounds) {
        int M = P * rounds;
        Simulation sim = run(make("interleaved_1f1b", P, V, M));
        EXPECT_NEAR(sim.bubbleRatio(), (P - 1.0) / (V * M + P - 1), 1e-12)
            << "P=" << P << " V=" << V << " M=" << M;
      }
}

TEST(ClosedForms, BubbleRatioOfLoopedBreadthFirst) {
  for (int P = 1; P <= 6; ++P)
    for (int V = 1; V <= 3; ++V)
      for (int M = P; M <= 2 * P + 1; ++M)
        EXPECT_NEAR(run(make("looped_bfs", P, V, M)).bubbleRatio(),
                    (P - 1.0) / (V * M + P - 1), 1e-12)
            << "P=" << P << " V=" << V << " M=" << M;
}

TEST(ClosedForms, IdleTimeOfZeroBubbleH1) {
  const double costs[][3] = {{1, 1, 1}, {1, 2, 1},    {2, 1, 1},
                             {1, 1, 0}, {3, 2, 0.25}, {1, 1.2, 1}};
  for (auto [f, bi, bw] : costs)
    for (int P = 1; P <= 9; ++P)
      for (int M = P; M <= 3 * P; ++M) {
        Simulation sim = run(make("zb_h1", P, 1, M), Costs::uniform(f, bi, bw));
        for (double idle : sim.idle)
          EXPECT_NEAR(idle, (P - 1) * (f + bi - bw), 1e-9)
              << "P=" << P << " M=" << M << " " << f << " " << bi << " " << bw;
      }
}

TEST(ClosedForms, ZeroBubbleH2IdlesOnlyWhileItFills) {
  for (int P = 1; P <= 9; ++P)
    for (int M = 2 * P - 1; M <= 4 * P; ++M) {
      Simulation sim = run(make("zb_h2", P, 1, M));
      EXPECT_NEAR(sim.makespan, 3 * M + P - 1, 1e-9) << "P=" << P << " M=" << M;
      EXPECT_NEAR(sim.maxSpanIdle(), 0, 1e-9) << "P=" << P << " M=" << M;
    }
}

TEST(ClosedForms, ZeroBubbleH2OfFewMicroBatches) {
  for (int P = 2; P <= 16; ++P)
    for (int M = P; M < 2 * P - 1; ++M) {
      Simulation sim = run(make("zb_h2", P, 1, M));
      EXPECT_NEAR(sim.makespan, 3 * M + P - 1, 1e-9) << "P=" << P << " M=" << M;
      for (int peak : sim.peak)
        EXPECT_EQ(peak, M) << "P=" << P << " M=" << M;
    }
}

TEST(ClosedForms, IdleTimeOfInterleavedZeroBubble) {
  for (int P = 1; P <= 8; ++P)
    for (int V = 1; V <= 3; ++V)
      for (int rounds = 1; rounds <= 3; ++rounds) {
        Simulation sim = run(make("interleaved_zb", P, V, P * rounds));
        EXPECT_NEAR(sim.maxIdle(), P - 1, 1e-9) << "P=" << P << " V=" << V;
        EXPECT_LE(sim.maxPeak(), V * P);
      }
}

TEST(ClosedForms, ZeroBubbleVIdlesOnlyWhileItFills) {
  for (int P : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16})
    for (int M : {2 * P, 2 * P + 1, 3 * P, 8 * P}) {
      Simulation sim = run(make("zbv", P, 2, M));
      EXPECT_NEAR(sim.makespan, 6 * M + P - 1, 1e-9) << "P=" << P << " M=" << M;
      EXPECT_LE(sim.maxPeak(), 2 * P);
    }
}

TEST(ClosedForms, VMinLengthAndMemory) {
  for (int P = 2; P <= 16; ++P)
    for (int M : {2 * P, 3 * P + 1, 64}) {
      Simulation sim = run(make("v_min", P, 2, M));
      int gap = P % 3 == 0 ? 2 : 0;
      EXPECT_NEAR(sim.makespan, 6 * M + 4 * P - 5 + gap, 1e-9)
          << "P=" << P << " M=" << M;
      EXPECT_LE(sim.maxPeak(), 2 * ((P + 4) / 3)) << "P=" << P;
    }
  // The figures that the search is measured against.
  EXPECT_NEAR(run(make("v_min", 8, 2, 16)).makespan, 123, 1e-9);
  EXPECT_NEAR(
      run(make("v_min", 8, 2, 16), Costs::uniform(1, 1.2, 1, 0.1)).makespan,
      154.4, 1e-9);
  EXPECT_EQ(run(make("v_min", 8, 2, 16)).maxPeak(), 8);
}

TEST(ClosedForms, VHalfLengthAndMemory) {
  for (int P = 2; P <= 16; ++P)
    for (int M : {P, P + 1, 2 * P, 3 * P + 1, 64}) {
      Simulation sim = run(make("v_half", P, 2, M));
      int ends = P == 2 ? 1 : P % 2 == 0 ? 3 * P - 7 : 3 * P - 4;
      EXPECT_NEAR(sim.makespan, 6 * M + ends, 1e-9) << "P=" << P << " M=" << M;
      EXPECT_EQ(sim.maxPeak(), std::min(2 * ((P + 2) / 2), 2 * M))
          << "P=" << P << " M=" << M;
    }
  // What the kinds of the same memory take elsewhere.
  const int known[][3] = {
      {2, 4, 25}, {4, 8, 53}, {4, 16, 101}, {8, 16, 113}, {8, 32, 209}};
  for (auto [P, M, length] : known)
    EXPECT_NEAR(run(make("v_half", P, 2, M)).makespan, length, 1e-9);
}

TEST(ClosedForms, VHalfHidesTransfersInTheMiddle) {
  // Only the ends grow with the time of a transfer, not each micro-batch.
  Costs costs = Costs::uniform(1, 1, 1, 0.5);
  for (int P : {2, 3, 4, 5, 8, 16}) {
    double shorter = run(make("v_half", P, 2, 3 * P), costs).makespan;
    double longer = run(make("v_half", P, 2, 5 * P), costs).makespan;
    EXPECT_NEAR(longer - shorter, 6 * 2 * P, 1e-9) << "P=" << P;
  }
}

TEST(ClosedForms, VHalfEndsForEverySize) {
  // The order is found on a clock: it is complete wherever that clock stops.
  for (int P = 1; P <= 40; ++P)
    for (int M = 1; M <= 3 * P; M += M < 5 ? 1 : P / 3 + 1)
      EXPECT_LE(run(make("v_half", P, 2, M)).maxPeak(), 2 * ((P + 2) / 2))
          << "P=" << P << " M=" << M;
}

TEST(ClosedForms, LargestIdleOfDualPipe) {
  const double costs[][2] = {{1, 1}, {1, 0.5}, {2, 1}, {1, 0}}; // F = BI, BW
  for (auto [f, bw] : costs)
    for (int P : {2, 4, 6, 8, 12})
      for (int M = 2 * P; M <= 4 * P; M += 2)
        for (Overlap overlap : {Overlap::Sum, Overlap::Max}) {
          SimulateOptions options;
          options.overlap = overlap;
          Simulation sim =
              run(make("dualpipe", P, 2, M), Costs::uniform(f, f, bw), options);
          double b = f + bw;
          double fb = overlap == Overlap::Sum ? f + b : b;
          EXPECT_NEAR(sim.maxIdle(), (P / 2 - 1) * (fb + b - 3 * bw), 1e-9)
              << "P=" << P << " M=" << M << " F=" << f << " BW=" << bw;
        }
}

TEST(ClosedForms, LargestIdleOfDualPipeV) {
  for (int P = 1; P <= 8; ++P)
    for (int M = 2 * P; M <= 4 * P; ++M)
      for (double bw : {1.0, 0.5}) {
        Simulation sim =
            run(make("dualpipev", P, 2, M), Costs::uniform(1, 1, bw));
        double b = 1 + bw, fb = 1 + b;
        EXPECT_NEAR(sim.maxIdle(), (P - 1) * (fb + b - 3 * bw), 1e-9)
            << "P=" << P << " M=" << M;
        EXPECT_LE(sim.maxPeak(), 2 * P + 1);
      }
}

TEST(ClosedForms, ActivationsInFlight) {
  for (int P = 1; P <= 9; ++P)
    for (int M = 1; M <= 20; ++M) {
      std::vector<int> plain = run(make("1f1b", P, 1, M)).peak;
      std::vector<int> eager = run(make("eager_1f1b", P, 1, M)).peak;
      Simulation h1 = run(make("zb_h1", P, 1, M));
      Simulation h2 = run(make("zb_h2", P, 1, M));
      for (int r = 0; r < P; ++r) {
        EXPECT_EQ(plain[r], std::min(P - r, M));
        EXPECT_EQ(eager[r], std::min(2 * (P - 1 - r) + 1, M));
        EXPECT_EQ(h1.peak[r], std::min(P, M));
        EXPECT_EQ(h1.peakAtInput[r], std::min(P - r, M));
        EXPECT_EQ(h2.peak[r], std::min(2 * P - 1, M));
      }
    }
  for (int P : {2, 4, 8, 16})
    for (int M = 2 * P; M <= 4 * P; M += 2)
      EXPECT_LE(run(make("dualpipe", P, 2, M)).maxPeak(), P + 1);
}

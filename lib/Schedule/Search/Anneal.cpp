// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The annealing loop.

#include "Anneal.h"

#include <algorithm>
#include <random>

namespace piper::schedule {

namespace {
/// Random numbers that are the same with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int below(int bound) { return static_cast<int>(engine() % bound); }
  /// Close to exponentially distributed with mean 1: the number of leading
  /// zero bits is geometric, the bits behind them interpolate.
  double exponential() {
    uint64_t bits = engine() | 1;
    int zeros = 0;
    for (; !(bits >> 63); bits <<= 1)
      ++zeros;
    double fraction = static_cast<double>(bits << 1 >> 11) * 0x1p-53;
    return 0.693147180559945 * (zeros + 1 - fraction);
  }

private:
  std::mt19937_64 engine;
};
} // namespace

static constexpr double kPathWeight = 10;
static constexpr double kSlack = 1e-9;

/// Two random actions; the first where it lies on a longest path, else the
/// second.
static int pickAction(const OrderGraph &graph, Random &random) {
  int first = random.below(graph.size()), second = random.below(graph.size());
  bool critical = graph.pathThrough(first) > graph.makespan() - kSlack;
  return critical ? first : second;
}

/// Mostly one place, sometimes up to six, either way.
static int pickDistance(Random &random) {
  int distance = random.below(3) ? 1 : 1 + random.below(6);
  return random.below(2) ? distance : -distance;
}

void anneal(OrderGraph &graph, const AnnealOptions &options) {
  Random random(options.seed);
  auto score = [&] {
    return graph.makespan() + kPathWeight * graph.meanPath();
  };
  double current = score(), best = graph.makespan();
  auto bestOrder = graph.actions();
  // A start temperature of a fraction of the mean cost; less where there is
  // too little time to come back from high temperatures.
  int64_t begin = graph.evaluated();
  double size = graph.size();
  double movesPerAction =
      static_cast<double>(options.evaluations) / (size * size);
  double hottest = 0.3 * graph.meanCost() * std::min(1.0, movesPerAction / 100);
  double coldest = 0.005 * graph.meanCost();
  // Moves that change nothing cost no evaluation but must end, too.
  int64_t attempts = options.evaluations / 100;
  while (best > options.goal + kSlack && attempts-- > 0) {
    double spent = static_cast<double>(graph.evaluated() - begin) /
                   static_cast<double>(options.evaluations);
    if (spent >= 1)
      break;
    int node = pickAction(graph, random);
    int from = graph.indexOf(node);
    if (!graph.move(graph.rankOf(node), from, from + pickDistance(random)))
      continue;
    double temperature = hottest * (1 - spent) + coldest;
    double now = score();
    if (now > current + temperature * random.exponential()) {
      graph.undo();
      continue;
    }
    current = now;
    if (graph.makespan() < best - kSlack) {
      best = graph.makespan();
      bestOrder = graph.actions();
    }
  }
  graph.assign(bestOrder);
}

} // namespace piper::schedule

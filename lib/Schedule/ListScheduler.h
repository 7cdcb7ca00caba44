// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// List scheduling: every coordinate, whenever it is free, starts the ready
// action with the smallest key. Internal; the V kinds and the search use it.

#ifndef PIPER_LIB_SCHEDULE_LISTSCHEDULER_H
#define PIPER_LIB_SCHEDULE_LISTSCHEDULER_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Schedule.h"

#include <queue>
#include <utility>
#include <vector>

namespace piper::schedule {

/// Keys of a list schedule. The action of one pass, stage s and micro-batch m
/// has the key `pass[s] + interval * m`.
struct ListKeys {
  /// Key of a weight gradient that only fills gaps.
  static constexpr double kFiller = 1e18;
  std::vector<double> forward, backward, weight;
  double interval = 0;
  /// A weight gradient that nothing else competes with still waits where
  /// another action arrives within this share of its own duration.
  double hold = 0;
};

/// Schedules one chain with split backward, in rising order of time, under the
/// cap. Forwards of a stage ascend in micro-batch, so do its backwards.
/// A forward never takes the last free activations of its coordinate that the
/// later stages there need, so the oldest micro-batch can always go on and the
/// schedule never gets stuck.
class ListScheduler {
public:
  /// Requires: one chain, cap of each coordinate (if any) >= V. Both arguments
  /// must outlive the scheduler.
  ListScheduler(const Schedule &problem, const StageCosts &costs);

  /// Runs and returns the makespan; fills `ranks()`.
  double run(const ListKeys &keys);

  const std::vector<std::vector<Action>> &ranks() const { return actions; }

private:
  struct Choice {
    Pass pass = Pass::F;
    int stage = -1;
    double key = 0;
  };
  void decide(int rank, double now);
  void consider(Choice &best, Pass pass, int stage, double key) const;
  double nextArrival(int rank, double now) const;
  void start(const Choice &choice, int rank, double now);
  void deliver(std::vector<double> &ready, int from, int to, int mb,
               double end);
  bool hasRoom(int stage) const;

  const Schedule &problem;
  const StageCosts &costs;
  std::vector<std::vector<int>> stagesOf; ///< per coordinate, in chain order
  std::vector<int> position;              ///< of a stage in its coordinate
  std::vector<int> cap;
  const ListKeys *keys = nullptr;
  std::vector<double> readyF, readyB; ///< arrival by stage * M + mb
  std::vector<int> nextF, nextB, nextW;
  std::vector<int> live;
  std::vector<double> freeAt;
  double makespan = 0;
  using Event = std::pair<double, int>; ///< time, coordinate
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  std::vector<std::vector<Action>> actions;
};

} // namespace piper::schedule

#endif // PIPER_LIB_SCHEDULE_LISTSCHEDULER_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans on the device clock with simple costs.

#ifndef PIPER_UNITTESTS_RUNTIME_SIMULATEDPLAN_H
#define PIPER_UNITTESTS_RUNTIME_SIMULATEDPLAN_H

#include "Piper/Runtime/SimulatePlan.h"
#include "SchedulePlan.h"

namespace piper::rt::test {

inline DeviceTimes simulate(const Plan &plan, const TaskCosts &costs) {
  auto times = simulatePlan(plan, "train", makeDurations(plan, "train", costs));
  EXPECT_TRUE(times.ok()) << times.takeStatus().message();
  return times.ok() ? *times : DeviceTimes();
}

/// F 1, B 2, and a link without bandwidth.
inline TaskCosts unitCosts(double latency) {
  TaskCosts costs;
  for (int stage = 0; stage < 8; ++stage) {
    std::string f = "f" + std::to_string(stage);
    costs.tasks[f + ".fw"] = 1;
    costs.tasks[f + ".bw"] = 2;
    costs.tasks[f + ".bi"] = 1.25;
    costs.tasks[f + ".dw"] = 0.75;
  }
  costs.latency = latency;
  return costs;
}

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_SIMULATEDPLAN_H

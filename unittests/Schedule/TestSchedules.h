// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short ways to schedules and figures for the tests.

#ifndef PIPER_UNITTESTS_SCHEDULE_TESTSCHEDULES_H
#define PIPER_UNITTESTS_SCHEDULE_TESTSCHEDULES_H

#include "Piper/Schedule/Generate.h"
#include "Piper/Schedule/Simulate.h"
#include "Piper/Schedule/Verify.h"

#include <gtest/gtest.h>

namespace piper::schedule {

inline Request makeRequest(const std::string &kind, int P, int V, int M) {
  Request request;
  request.kind = kind;
  request.P = P;
  request.V = V;
  request.M = M;
  return request;
}

/// A verified schedule; an empty one, and a test failure, where there is none.
inline Schedule make(const std::string &kind, int P, int V, int M) {
  auto schedule = generate(makeRequest(kind, P, V, M));
  std::string sizes = kind + " P=" + std::to_string(P) +
                      " V=" + std::to_string(V) + " M=" + std::to_string(M);
  if (!schedule) {
    ADD_FAILURE() << sizes << ": " << schedule.error();
    return Schedule();
  }
  for (const std::string &error : verify(*schedule))
    ADD_FAILURE() << sizes << ": " << error;
  return *schedule;
}

inline Simulation run(const Schedule &schedule, const Costs &costs = {},
                      const SimulateOptions &options = {}) {
  auto simulation = simulate(schedule, costs, options);
  if (!simulation) {
    ADD_FAILURE() << simulation.error();
    return Simulation();
  }
  return *simulation;
}

inline std::string generateError(const Request &request) {
  auto schedule = generate(request);
  return schedule ? "no error" : schedule.error();
}

} // namespace piper::schedule

#endif // PIPER_UNITTESTS_SCHEDULE_TESTSCHEDULES_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search driver.

#include "Piper/Schedule/Search.h"

#include "ListScheduler.h"

namespace piper::schedule {

Result<Schedule> search(const Schedule &problem, const Costs &costs,
                        uint64_t seed, const SearchEffort &effort) {
  auto sc = stageCosts(problem, costs);
  if (!sc)
    return Error{sc.error()};
  ListScheduler ls(problem, *sc);
  ListKeys keys;
  keys.forward.assign(problem.numStages(), 1);
  keys.backward.assign(problem.numStages(), 0);
  keys.weight.assign(problem.numStages(), 1e18);
  ls.run(keys);
  Schedule s = problem;
  s.ranks = ls.ranks();
  return s;
}

} // namespace piper::schedule

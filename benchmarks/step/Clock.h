// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two clocks of the step benchmark: elapsed time, and processor time, which
// other work on the machine disturbs less.

#ifndef PIPER_BENCHMARKS_STEP_CLOCK_H
#define PIPER_BENCHMARKS_STEP_CLOCK_H

#include <ctime>

namespace piper::bench {

/// Milliseconds of a clock of the system.
inline double milliseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

/// Elapsed milliseconds, and those of all processors together.
struct Time {
  double wall = 0;
  double cpu = 0;
  static Time now() {
    return {milliseconds(CLOCK_MONOTONIC),
            milliseconds(CLOCK_PROCESS_CPUTIME_ID)};
  }
  Time since(const Time &begin) const {
    return {wall - begin.wall, cpu - begin.cpu};
  }
};

} // namespace piper::bench

#endif // PIPER_BENCHMARKS_STEP_CLOCK_H

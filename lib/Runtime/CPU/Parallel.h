// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the threads of a target. The parts depend on the number of items
// and threads only, never on timing, and each item is done by one thread.

#ifndef PIPER_LIB_RUNTIME_CPU_PARALLEL_H
#define PIPER_LIB_RUNTIME_CPU_PARALLEL_H

#include <algorithm>
#include <cstdint>
#include <omp.h>

namespace piper::rt::cpu {

/// Calls body(begin, end, part) for consecutive ranges that cover 0 .. items -
/// 1, at most one per thread and none shorter than `grain` unless it is the
/// only one.
template <typename Body>
void parallelFor(int threads, int64_t items, int64_t grain, Body body) {
  int64_t parts =
      std::min<int64_t>(threads, items / std::max<int64_t>(grain, 1));
  if (parts <= 1) {
    if (items > 0)
      body(int64_t(0), items, 0);
    return;
  }
  // OpenMP may give fewer threads than asked for: each then does several parts.
#pragma omp parallel num_threads(int(parts))
  for (int64_t part = omp_get_thread_num(); part < parts;
       part += omp_get_num_threads())
    body(items * part / parts, items * (part + 1) / parts, int(part));
}

/// Sets the number of threads that oneDNN takes on this thread, and restores
/// it.
class ThreadCount {
public:
  explicit ThreadCount(int threads) : before(omp_get_max_threads()) {
    if (before != threads)
      omp_set_num_threads(threads);
    changed = before != threads;
  }
  ~ThreadCount() {
    if (changed)
      omp_set_num_threads(before);
  }
  ThreadCount(const ThreadCount &) = delete;
  ThreadCount &operator=(const ThreadCount &) = delete;

private:
  int before;
  bool changed;
};

/// Elements of work below which a second thread costs more than it brings.
constexpr int64_t kGrainElements = 8192;

/// The least number of rows of `length` elements worth a thread.
inline int64_t rowGrain(int64_t length) {
  return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(length, 1));
}

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_PARALLEL_H

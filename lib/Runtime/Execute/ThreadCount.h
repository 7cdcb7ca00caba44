// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of OpenMP threads of a host thread.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_THREADCOUNT_H
#define PIPER_LIB_RUNTIME_EXECUTE_THREADCOUNT_H

#include <omp.h>

namespace piper::rt {

/// Sets the number of OpenMP threads of this host thread for a while. With
/// OMP_DYNAMIC a team may be smaller, and then a oneDNN primitive made for the
/// number that was asked for leaves out part of its work.
class ThreadCount {
public:
  explicit ThreadCount(int threads)
      : before(omp_get_max_threads()), dynamic(omp_get_dynamic()) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
  }
  ThreadCount(const ThreadCount &) = delete;
  ~ThreadCount() {
    omp_set_num_threads(before);
    omp_set_dynamic(dynamic);
  }

private:
  int before, dynamic;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_THREADCOUNT_H

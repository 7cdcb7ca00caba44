// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts calls of operator new: AllocationCount.cpp replaces it in the program
// that it is linked into.

#ifndef PIPER_UNITTESTS_RUNTIME_ALLOCATIONCOUNT_H
#define PIPER_UNITTESTS_RUNTIME_ALLOCATIONCOUNT_H

#include <cstdint>

namespace piper::rt::test {

struct AllocationCount {
  int64_t own = 0;
  /// With oneDNN among the callers.
  int64_t libraries = 0;
};

/// Since the program started.
AllocationCount allocationCount();

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_ALLOCATIONCOUNT_H

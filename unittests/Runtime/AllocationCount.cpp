// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces operator new by one that counts, telling allocations inside oneDNN
// from all others by the stack.

#include "AllocationCount.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <new>

static std::atomic<int64_t> own{0}, libraries{0};

static bool isInsideLibrary() {
  void *frames[16];
  int count = backtrace(frames, 16);
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) && info.dli_fname &&
        std::strstr(info.dli_fname, "libdnnl"))
      return true;
  }
  return false;
}

__attribute__((noinline)) void *operator new(std::size_t size) {
  // The first backtrace loads a library, which allocates.
  static thread_local bool busy = false;
  if (!busy) {
    busy = true;
    ++(isInsideLibrary() ? libraries : own);
    busy = false;
  }
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  std::abort();
}

__attribute__((noinline)) void operator delete(void *memory) noexcept {
  std::free(memory);
}

__attribute__((noinline)) void operator delete(void *memory,
                                               std::size_t) noexcept {
  std::free(memory);
}

piper::rt::test::AllocationCount piper::rt::test::allocationCount() {
  return {own, libraries};
}

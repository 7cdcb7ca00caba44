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

static void *countedAllocation(std::size_t size) {
  // The first backtrace loads a library, which allocates.
  static thread_local bool busy = false;
  if (!busy) {
    busy = true;
    ++(isInsideLibrary() ? libraries : own);
    busy = false;
  }
  return std::malloc(size ? size : 1);
}

// Not inlined: the compiler would take a malloc for the partner of a delete.
#define PIPER_NOINLINE __attribute__((noinline))

PIPER_NOINLINE void *operator new(std::size_t size) {
  if (void *memory = countedAllocation(size))
    return memory;
  std::abort();
}
PIPER_NOINLINE void *operator new(std::size_t size,
                                  const std::nothrow_t &) noexcept {
  return countedAllocation(size);
}
PIPER_NOINLINE void *operator new[](std::size_t size) {
  return operator new(size);
}
PIPER_NOINLINE void operator delete(void *memory) noexcept {
  std::free(memory);
}
PIPER_NOINLINE void operator delete(void *memory, std::size_t) noexcept {
  std::free(memory);
}
PIPER_NOINLINE void operator delete[](void *memory) noexcept {
  std::free(memory);
}
PIPER_NOINLINE void operator delete[](void *memory, std::size_t) noexcept {
  std::free(memory);
}

piper::rt::test::AllocationCount piper::rt::test::allocationCount() {
  return {own, libraries};
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation of the arena.

#include "Arena.h"

#include "Piper/Runtime/Program.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace piper::rt;

Result<Arena> Arena::allocate(int64_t bytes) {
  constexpr int64_t kHugePage = int64_t(2) << 20;
  int64_t machine = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (bytes > machine)
    return Status::error("the program needs an arena of " +
                         std::to_string(bytes) +
                         " bytes but this machine has " +
                         std::to_string(machine) + " bytes of memory");
  int64_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  int64_t rounded =
      std::max<int64_t>((bytes + alignment - 1) / alignment, 1) * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  if (!memory)
    return Status::error("cannot allocate an arena of " +
                         std::to_string(bytes) + " bytes");
  if (alignment == kHugePage)
    madvise(memory, rounded, MADV_HUGEPAGE);
  // Also makes the pages present, so that the first step is like the others.
  std::memset(memory, 0, rounded);
  Arena arena;
  arena.memory.reset(static_cast<std::byte *>(memory));
  arena.bytes = bytes;
  return arena;
}

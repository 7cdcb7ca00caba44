// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one block of memory that a program runs in.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_ARENA_H
#define PIPER_LIB_RUNTIME_EXECUTE_ARENA_H

#include "Piper/Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace piper::rt {

class Arena {
public:
  /// `bytes` zero bytes, aligned to kAlignment; large ones to huge pages,
  /// which the kernel is asked to use. Fails where the machine has less memory.
  static Result<Arena> allocate(int64_t bytes);

  std::byte *data() const { return memory.get(); }
  int64_t size() const { return bytes; }

private:
  struct Free {
    void operator()(std::byte *data) const { std::free(data); }
  };
  std::unique_ptr<std::byte[], Free> memory;
  int64_t bytes = 0;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_ARENA_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map from the bytes of an arena to owners.

#ifndef PIPER_LIB_RUNTIME_CHECK_ARENAMAP_H
#define PIPER_LIB_RUNTIME_CHECK_ARENAMAP_H

#include "ByteMap.h"

namespace piper::rt {

class ArenaMap : public ByteMap<int32_t> {
public:
  /// The owner of bytes that nobody was given.
  static constexpr int32_t kNobody = -1;

  ArenaMap() : ByteMap(kNobody) {}
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_ARENAMAP_H

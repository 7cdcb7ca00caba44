// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random words of the elements of a row, for dropout.

#ifndef PIPER_LIB_RUNTIME_CPU_RANDOMMASK_H
#define PIPER_LIB_RUNTIME_CPU_RANDOMMASK_H

#include "Piper/Runtime/Random.h"
#include "SpecCheck.h"

namespace piper::rt::cpu {

/// Words at a time. The buffer has room for a start that is no multiple of 4.
constexpr int64_t kMaskChunk = 256;
constexpr int64_t kMaskBuffer = kMaskChunk + 64;

/// The words of elements first .. first + n - 1, n <= kMaskChunk: made in
/// `buffer` (kMaskBuffer words), where the first one is returned.
inline const uint32_t *maskWords(const RandomStream &stream, int64_t first,
                                 int64_t n, uint32_t *buffer) {
  int64_t skip = first % 4;
  int64_t made = (skip + n + kRandomBatch - 1) / kRandomBatch * kRandomBatch;
  loops().randomWords(stream.key, stream.high, uint64_t(first - skip), buffer,
                      made);
  return buffer + skip;
}

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_RANDOMMASK_H

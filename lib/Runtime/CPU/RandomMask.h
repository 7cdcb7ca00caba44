// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dropout: random words of the elements of a row, and where a piece lies in the
// whole tensor, which decides its words.

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

/// The attribute 'global_shape', or `part` where there is none.
Shape globalShape(const KernelSpec &spec, const Shape &part);

/// Checks the shape of the whole that `part` is a piece of, and the origin if
/// the spec has operand `origin`.
Status checkPiece(const KernelSpec &spec, const TensorType &part,
                  size_t origin);

/// Sets `start` to the index, in a tensor of shape `whole`, of the first
/// element of a piece of shape `part`. `origin` has elements of `type`. Fails
/// where the piece is not inside.
Status findPieceStart(const char *kernel, const void *origin, ElementType type,
                      const Shape &part, const Shape &whole, int64_t &start);

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_RANDOMMASK_H

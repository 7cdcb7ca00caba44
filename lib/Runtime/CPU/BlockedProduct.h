// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Piper's own matrix product (Loops/Gemm.inc) with the threads of a target:
// f64, and what oneDNN refuses.

#ifndef PIPER_LIB_RUNTIME_CPU_BLOCKEDPRODUCT_H
#define PIPER_LIB_RUNTIME_CPU_BLOCKEDPRODUCT_H

#include "Parallel.h"
#include "SpecCheck.h"

namespace piper::rt::cpu {

/// Elements of GemmCall::buffer.
inline int64_t gemmBufferElements(int64_t m, int64_t n, int64_t k,
                                  int64_t bytesOfElement) {
  int64_t columns = 128 / bytesOfElement;
  int64_t depth = std::min(k, kGemmBlockK);
  int64_t rows =
      (std::min(m, kGemmBlockM) + kGemmRows - 1) / kGemmRows * kGemmRows;
  int64_t width = (std::min(n, kGemmBlockN) + columns - 1) / columns * columns;
  return depth * (rows + width);
}

/// The product on several threads, each with its own rows or columns of C and
/// its own buffer of gemmBufferElements; `call.buffer` holds them all.
template <typename T> void parallelGemm(const GemmCall<T> &call, int threads) {
  int64_t stride = gemmBufferElements(call.m, call.n, call.k, sizeof(T));
  bool byRows = call.m >= call.n;
  int64_t unit = byRows ? kGemmRows : 128 / int64_t(sizeof(T));
  int64_t length = byRows ? call.m : call.n;
  int64_t work = unit * call.k * (byRows ? call.n : call.m);
  parallelFor(threads, (length + unit - 1) / unit, rowGrain(work / 8),
              [&](int64_t begin, int64_t end, int part) {
                GemmCall<T> mine = call;
                int64_t first = begin * unit;
                int64_t size = std::min(end * unit, length) - first;
                (byRows ? mine.m : mine.n) = size;
                if (byRows) {
                  mine.a += first * call.aRow;
                  mine.c += first * call.cRow;
                } else {
                  mine.b += first * call.bColumn;
                  mine.c += first;
                }
                mine.buffer += part * stride;
                typedLoops<T>().gemm(mine);
              });
}

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_BLOCKEDPRODUCT_H

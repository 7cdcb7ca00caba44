// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs buffers with known lifetimes into one block of memory.

#ifndef PIPER_TARGET_ASSIGNOFFSETS_H
#define PIPER_TARGET_ASSIGNOFFSETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::piper {

/// One buffer: alive from step `begin` to step `end`, both included.
struct Lifetime {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t bytes = 0;
  /// The result: a multiple of rt::kAlignment.
  int64_t offset = 0;
};

struct OffsetsSummary {
  /// Bytes of the block.
  int64_t bytes = 0;
  /// The largest sum of (rounded up) bytes alive at one step, and that step:
  /// no packing needs less.
  int64_t live = 0;
  int64_t peakStep = 0;
};

/// Sets the offset of each buffer so that buffers alive at the same step do not
/// overlap. Best fit in the order of time, forward and backward, each with and
/// without the longest-lived buffers placed first; where none comes within 1/64
/// of the largest sum, also with the largest buffers first, unless too many are
/// alive together for that. The smallest block wins. O(n log n), and linear in
/// the number of steps.
OffsetsSummary assignOffsets(llvm::MutableArrayRef<Lifetime> buffers);

} // namespace mlir::piper

#endif // PIPER_TARGET_ASSIGNOFFSETS_H

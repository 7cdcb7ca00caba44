// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reduce_sum and reduce_max share: the loop over kept and reduced
// dimensions.

#ifndef PIPER_LIB_RUNTIME_CPU_KERNELS_REDUCE_H
#define PIPER_LIB_RUNTIME_CPU_KERNELS_REDUCE_H

#include "CPU/Strides.h"

namespace piper::rt::cpu {

/// The loop of a reduction, split three ways. With `alongRow` the last
/// dimension of the operand is reduced: output i is the reduction over r <
/// reducedRows of the contiguous row of `inner` elements at outputs(i) +
/// reduced(r). Without, output row i has `inner` elements, each reduced over r.
struct ReduceLoop {
  /// Requires: checkReduce succeeded.
  explicit ReduceLoop(const KernelSpec &spec);

  bool alongRow = false;
  int64_t inner = 1;
  /// Numbers of outputs (or output rows) and of reduced rows of each.
  int64_t outputs = 1, reducedRows = 1;
  int64_t outputOffset(int64_t i) const { return kept.rowOffset(0, i); }
  int64_t reducedOffset(int64_t r) const { return reduced.rowOffset(0, r); }

private:
  /// Loops whose rows are outputs, and reduced rows.
  StridedLoop kept, reduced;
};

/// `dims` ascending and in range, element types, the shape of `y`, which is `x`
/// without them, or with 1 there.
Status checkReduce(const KernelSpec &spec, const TensorType &x,
                   const TensorType &y, const std::string &whichX,
                   const std::string &whichY);

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_KERNELS_REDUCE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which integers an input of the program may hold.

#ifndef PIPER_LIB_RUNTIME_DATA_INDEXLIMIT_H
#define PIPER_LIB_RUNTIME_DATA_INDEXLIMIT_H

#include "Piper/Runtime/Program.h"

#include <limits>

namespace piper::rt {

struct IndexLimit {
  /// Elements are below this (the rows of a table, the number of classes).
  int64_t below = std::numeric_limits<int64_t>::max();
  /// Whether a negative element is an error: so for ids, not for labels.
  bool negativeIsError = false;

  bool accepts(int64_t value) const {
    return value < below && (value >= 0 || !negativeIsError);
  }
};

/// By input of the entry point: what its uses as ids of an embedding or labels
/// of a cross entropy allow, looked for through views and micro-batches.
std::vector<IndexLimit> findIndexLimits(const Program &program,
                                        const EntryPoint &entry);

/// The same over all programs of a plan. `entry` is that of what one device
/// would have (Executor::program).
std::vector<IndexLimit> findIndexLimits(const Plan &plan,
                                        const EntryPoint &entry);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_DATA_INDEXLIMIT_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small checks that the loader is made of. `what` says which part of the
// program is checked; it starts the message.

#ifndef PIPER_LIB_RUNTIME_CHECKPARTS_H
#define PIPER_LIB_RUNTIME_CHECKPARTS_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

namespace piper::rt {

/// No negative dimension, and a size that fits into 63 bits.
Status checkType(const TensorType &type, const std::string &what);

/// `offset` is a multiple of `alignment` and `bytes` from there end at `limit`
/// or before.
Status checkRange(int64_t offset, int64_t bytes, int64_t limit,
                  int64_t alignment, const std::string &what);

Status checkIndex(int64_t index, size_t count, const std::string &what);
Status checkCount(size_t got, size_t expected, const std::string &what);
Status checkSameType(const TensorType &got, const TensorType &expected,
                     const std::string &what);

/// Everything of an entry point except who overwrites what (MemoryWalk).
/// Requires: state and functions are checked.
Status checkEntry(const Program &program, const EntryPoint &entry);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECKPARTS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a kernel and the table of those of the CPU. A kernel is made
// once, when a program is loaded, and then run every step: making may be slow
// and allocate, running may not allocate.

#ifndef PIPER_RUNTIME_KERNEL_H
#define PIPER_RUNTIME_KERNEL_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <cstddef>
#include <memory>

namespace piper::rt {

/// What one call gives to a kernel.
struct KernelCall {
  /// One address per operand and result, aligned to kAlignment unless the value
  /// is a view into the middle of another one.
  const void *const *operands = nullptr;
  void *const *results = nullptr;
  /// As many bytes as KernelEntry::workspaceBytes said, aligned to kAlignment.
  std::byte *workspace = nullptr;
  /// Key of this task's random numbers.
  int64_t salt = 0;
  /// The micro-batch of the task, 0 where it has none.
  int64_t microBatch = 0;
};

class Kernel {
public:
  virtual ~Kernel() = default;
  /// Runs the kernel on the threads of the target it was made for. Fails only
  /// for data that no compiler can see (a token id out of range).
  virtual Status run(const KernelCall &call) const = 0;
};

/// One row of the table of kernels.
struct KernelEntry {
  /// The name of the op without the dialect: "matmul".
  const char *name;
  /// Checks what the kernel needs beyond the op's verifier (element types) and
  /// makes it.
  Result<std::unique_ptr<Kernel>> (*create)(const KernelSpec &, const Target &);
  /// Bytes of scratch memory that one run needs: a function of shapes and
  /// target only, never of the machine, so that compiler and runtime agree.
  /// Null: none.
  int64_t (*workspaceBytes)(const KernelSpec &, const Target &) = nullptr;
  /// Whether `result` may be written over `operand` (same number of bytes
  /// assured by the caller). Null: never.
  bool (*mayAlias)(const KernelSpec &, int operand, int result) = nullptr;
  /// The result has the bytes of operand 0, at the byte offset returned: no
  /// kernel runs. -1 where this call is not a view. Null: never a view.
  int64_t (*viewOffset)(const KernelSpec &) = nullptr;
};

/// The row of the CPU kernel `name`, or null.
const KernelEntry *findKernel(const std::string &name);

} // namespace piper::rt

#endif // PIPER_RUNTIME_KERNEL_H

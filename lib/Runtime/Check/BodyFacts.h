// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of a body say about it. A plan calls few bodies many times,
// so they are asked once for each body.

#ifndef PIPER_LIB_RUNTIME_CHECK_BODYFACTS_H
#define PIPER_LIB_RUNTIME_CHECK_BODYFACTS_H

#include "Piper/Runtime/Kernel.h"

#include <vector>

namespace piper::rt {

/// KernelEntry::viewOffset, -1 where the kernel has none.
int64_t viewOffsetOf(const KernelSpec &spec, const KernelEntry &kernel);

class BodyFacts {
public:
  /// Requires: checkProgram accepts the function.
  explicit BodyFacts(const Function &function);

  /// Bytes of value `value`.
  int64_t bytesOf(int32_t value) const { return bytes[value]; }
  /// Where the view that step `step` is lies in its operand, -1 if it is none.
  int64_t viewOffset(size_t step) const { return steps[step].viewOffset; }
  /// Whether a result of a step may be written over an operand.
  bool mayAlias(size_t step, size_t operand, size_t result) const {
    const Step &facts = steps[step];
    return facts.aliases[operand * facts.numResults + result];
  }

private:
  struct Step {
    int64_t viewOffset = -1;
    size_t numResults = 0;
    /// By operand, then result.
    std::vector<bool> aliases;
  };
  std::vector<int64_t> bytes;
  std::vector<Step> steps;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_BODYFACTS_H

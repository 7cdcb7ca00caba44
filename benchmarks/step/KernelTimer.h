// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times every kernel of a running program. The linker puts this file's
// findKernel between the executor and the table of kernels
// (-Wl,--wrap), so the program runs as it always does.

#ifndef PIPER_BENCHMARKS_STEP_KERNELTIMER_H
#define PIPER_BENCHMARKS_STEP_KERNELTIMER_H

#include <cstdint>
#include <string>
#include <vector>

namespace piper::bench {

/// What one kind of kernel (name, types, transposes) costs a step: every call
/// counts with its fastest run over all steps since startTiming().
struct KernelCost {
  std::string name;
  int64_t calls = 0;
  /// Processor milliseconds of all threads together.
  double milliseconds = 0;
  /// Floating-point operations of a product; 0 for all else.
  double flops = 0;
};

/// Kernels note their times from now on.
void startTiming();
/// Requires: one step ran since startTiming() or the last nextStep().
void nextStep();
/// The most expensive first.
std::vector<KernelCost> kernelCosts();

} // namespace piper::bench

#endif // PIPER_BENCHMARKS_STEP_KERNELTIMER_H

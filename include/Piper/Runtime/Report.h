// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program described in text: what it is, and what its memory holds.

#ifndef PIPER_RUNTIME_REPORT_H
#define PIPER_RUNTIME_REPORT_H

#include "Piper/Runtime/Program.h"

#include <string>

namespace piper::rt {

/// Target, parameters, state, and of each entry point inputs, outputs, number
/// of tasks, messages and reductions, and stages.
std::string infoReport(const Program &program);

/// The arena, and for each entry point its peak, by category and at which
/// instruction, and how much of it no packing could avoid.
std::string memoryReport(const Program &program);

/// The same of each rank; of a plan of one program just that.
std::string infoReport(const Plan &plan);
std::string memoryReport(const Plan &plan);

/// The end of the last byte of the arena that the entry point gives to a kernel
/// or that is state: what the stated peak must be (rounded up to kAlignment).
int64_t usedBytes(const Program &program, const EntryPoint &entry);

/// By a printf format of one double; NaN has no sign: "nan".
std::string formatNumber(const char *format, double value);
/// "1.5 MiB", "812 bytes".
std::string formatBytes(int64_t bytes);
/// "1,234,567".
std::string formatCount(int64_t count);

} // namespace piper::rt

#endif // PIPER_RUNTIME_REPORT_H

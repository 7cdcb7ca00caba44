// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace of all instructions in Chrome's trace event format (the array form,
// whose closing bracket may be absent, so that a killed run leaves a readable
// file); Perfetto and chrome://tracing show it.

#ifndef PIPER_LIB_RUNTIME_TRACE_H
#define PIPER_LIB_RUNTIME_TRACE_H

#include "OutputFile.h"
#include "Piper/Runtime/Executor.h"

namespace piper::rt {

class TraceFile {
public:
  static Result<TraceFile> open(const std::string &path, const Program &program,
                                const EntryPoint &entry);

  /// Adds a step: one event per instruction. Times are shown from the start of
  /// the first step on, in microseconds.
  Status addStep(int64_t step, const std::vector<TaskTime> &times);
  /// Closes the array.
  Status finish();

private:
  explicit TraceFile(OutputFile file) : file(std::move(file)) {}

  OutputFile file;
  /// The constant parts of the event of each instruction.
  std::vector<std::string> heads;
  std::vector<std::string> tails;
  std::string text;
  int64_t origin = 0;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_TRACE_H

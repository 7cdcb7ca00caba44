// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace of all instructions in Chrome's trace event format (the array form,
// whose closing bracket may be absent, so that a killed run leaves a readable
// file); Perfetto and chrome://tracing show it. A process of the viewer is a
// rank, a thread one of its streams. Each event is a line of its own:
//
//   {"name":"block.fw (layer = 1)","cat":"F","ph":"X","pid":0,"tid":0,"ts":1.0,
//    "dur":2.5,"args":{"step":0,"instruction":3,"id":5,"mb":0,"stage":0}},
//   {"name":"send to 1","cat":"transfer",..,"args":{"step":0,"instruction":4,
//    "id":6,"peer":1,"bytes":4096}},

#ifndef PIPER_LIB_RUNTIME_REPORT_TRACE_H
#define PIPER_LIB_RUNTIME_REPORT_TRACE_H

#include "Files/GrowingFile.h"
#include "Piper/Runtime/Executor.h"

namespace piper::rt {

/// The name of the event of an instruction.
std::string traceName(const Program &program, const Instruction &call);

class TraceFile {
public:
  /// Of an entry point of all programs. Requires: each program has it.
  static Result<TraceFile> open(const std::string &path, const Plan &plan,
                                const std::string &entry);

  /// Adds a step: one event per instruction of each rank. Times are shown from
  /// the first start of the first step on, in microseconds.
  Status addStep(int64_t step, const TaskTimes &times);
  /// Adds a step by the device clock; it begins where the one before ended.
  /// Times have 12 digits, so that a replay is as exact as the clock.
  Status addStep(int64_t step, const DeviceTimes &times);
  /// Closes the array.
  Status finish();

private:
  /// The constant parts of the event of an instruction.
  struct Event {
    std::string head;
    std::string tail;
  };

  explicit TraceFile(GrowingFile file) : file(std::move(file)) {}
  void addRank(int rank, const Program &program, const EntryPoint &entry);
  /// Adds the line of an event; `times` are "ts" and "dur".
  void addEvent(const Event &event, const char *times, int64_t step);

  GrowingFile file;
  /// By rank and instruction.
  std::vector<std::vector<Event>> events;
  std::string text;
  int64_t origin = -1;
  /// Where the next step by the device clock begins, in microseconds.
  double deviceNow = 0;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_REPORT_TRACE_H

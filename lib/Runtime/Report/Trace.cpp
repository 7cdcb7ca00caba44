// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing of traces.

#include "Trace.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

using namespace piper::rt;
using Json = nlohmann::json;

using Kind = Instruction::Kind;

/// A JSON string; what is not UTF-8 is replaced.
static std::string jsonString(const std::string &text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

static std::string placeOf(int rank, Stream stream) {
  return "\"pid\":" + std::to_string(rank) +
         ",\"tid\":" + std::to_string(int(stream));
}

/// An event that names a process or a thread for the viewer.
static std::string nameEvent(const char *kind, int rank, Stream stream,
                             const std::string &name) {
  return std::string("{\"name\":\"") + kind + "\",\"ph\":\"M\"," +
         placeOf(rank, stream) + ",\"args\":{\"name\":" + jsonString(name) +
         "}}";
}

std::string piper::rt::traceName(const Program &program,
                                 const Instruction &call) {
  switch (call.kind) {
  case Kind::Send:
    return "send to " + std::to_string(call.peer);
  case Kind::Receive:
    return "receive from " + std::to_string(call.peer);
  case Kind::AllReduce:
    return "reduce";
  case Kind::Task:
    break;
  }
  const std::string &name = program.functions[call.function].name;
  return call.tags.empty() ? name : name + " (" + call.tags + ")";
}

static std::string categoryOf(const Instruction &call) {
  if (call.kind == Kind::Task)
    return call.pass;
  return call.kind == Kind::AllReduce ? "reduce" : "transfer";
}

/// What is the same in each step, after the number of the step.
static std::string argumentsOf(const EntryPoint &entry, int64_t index) {
  const Instruction &call = entry.instructions[index];
  std::string text = ",\"instruction\":" + std::to_string(index);
  auto add = [&](const char *name, int64_t value) {
    text += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  if (call.id >= 0)
    add("id", call.id);
  if (call.kind == Kind::Task) {
    if (call.microBatch >= 0)
      add("mb", call.microBatch);
    if (call.stage >= 0)
      add("stage", call.stage);
    return text;
  }
  if (call.kind != Kind::AllReduce)
    add("peer", call.peer);
  int32_t value = call.operands.empty() ? call.results[0] : call.operands[0];
  add("bytes", entry.values[value].type.numBytes());
  return text;
}

void TraceFile::addRank(int rank, const Program &program,
                        const EntryPoint &entry) {
  text += (rank > 0 ? ",\n" : "") +
          nameEvent("process_name", rank, Stream::Compute, program.name);
  bool isUsed[kNumStreams] = {true};
  events.emplace_back();
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &call = entry.instructions[i];
    isUsed[int(call.stream())] = true;
    events.back().push_back(
        {",\n{\"name\":" + jsonString(traceName(program, call)) +
             ",\"cat\":" + jsonString(categoryOf(call)) + ",\"ph\":\"X\"," +
             placeOf(rank, call.stream()) + ",\"ts\":",
         argumentsOf(entry, int64_t(i)) + "}}"});
  }
  for (int s = 0; s < kNumStreams; ++s)
    if (isUsed[s])
      text += ",\n" +
              nameEvent("thread_name", rank, Stream(s), streamName(Stream(s)));
}

Result<TraceFile> TraceFile::open(const std::string &path, const Plan &plan,
                                  const std::string &entry) {
  Result<GrowingFile> file = GrowingFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  TraceFile trace(std::move(*file));
  trace.text = "[\n";
  for (size_t r = 0; r < plan.programs.size(); ++r)
    trace.addRank(int(r), plan.programs[r], *plan.programs[r].findEntry(entry));
  // An old file stays until the first step is there.
  trace.file.write(trace.text);
  return trace;
}

void TraceFile::addEvent(const Event &event, const char *times, int64_t step) {
  text += event.head;
  text += times;
  text += ",\"args\":{\"step\":" + std::to_string(step) + event.tail;
}

Status TraceFile::addStep(int64_t step, const TaskTimes &times) {
  if (origin < 0) {
    origin = std::numeric_limits<int64_t>::max();
    for (const auto &rank : times)
      for (const TaskTime &time : rank)
        origin = std::min(origin, time.begin);
  }
  text.clear();
  for (size_t r = 0; r < times.size() && r < events.size(); ++r)
    for (size_t i = 0; i < times[r].size() && i < events[r].size(); ++i) {
      char numbers[96];
      std::snprintf(numbers, sizeof(numbers), "%.3f,\"dur\":%.3f",
                    double(times[r][i].begin - origin) / 1000,
                    double(times[r][i].end - times[r][i].begin) / 1000);
      addEvent(events[r][i], numbers, step);
    }
  file.write(text);
  return file.flush();
}

Status TraceFile::addStep(int64_t step, const DeviceTimes &times) {
  text.clear();
  double end = 0;
  for (size_t r = 0; r < times.size() && r < events.size(); ++r)
    for (size_t i = 0; i < times[r].size() && i < events[r].size(); ++i) {
      const DeviceTime &time = times[r][i];
      char numbers[96];
      std::snprintf(numbers, sizeof(numbers), "%.12g,\"dur\":%.12g",
                    deviceNow + time.begin, time.end - time.begin);
      addEvent(events[r][i], numbers, step);
      end = std::max(end, time.end);
    }
  deviceNow += end;
  file.write(text);
  return file.flush();
}

Status TraceFile::finish() {
  file.write("\n]\n");
  return file.flush();
}

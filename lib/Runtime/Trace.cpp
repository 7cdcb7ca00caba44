// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing of traces.

#include "Trace.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace piper::rt;
using Json = nlohmann::json;

/// A JSON string; what is not UTF-8 is replaced.
static std::string jsonString(const std::string &text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// An event that names a process or a thread for the viewer.
static std::string nameEvent(const char *kind, const std::string &name) {
  return std::string("{\"name\":\"") + kind +
         "\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{\"name\":" +
         jsonString(name) + "}}";
}

Result<TraceFile> TraceFile::open(const std::string &path,
                                  const Program &program,
                                  const EntryPoint &entry) {
  Result<OutputFile> file = OutputFile::open(path, /*append=*/false);
  if (!file.ok())
    return file.takeStatus();
  TraceFile trace(std::move(*file));
  trace.file.write("[\n" + nameEvent("process_name", program.name) + ",\n" +
                   nameEvent("thread_name", "compute"));
  for (const Instruction &call : entry.instructions) {
    std::string name = program.functions[call.function].name;
    if (!call.tags.empty())
      name += " (" + call.tags + ")";
    trace.heads.push_back(",\n{\"name\":" + jsonString(name) +
                          ",\"cat\":" + jsonString(call.pass) +
                          ",\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":");
    trace.tails.push_back(call.microBatch < 0
                              ? "}}"
                              : ",\"mb\":" + std::to_string(call.microBatch) +
                                    "}}");
  }
  PIPER_RETURN_IF_ERROR(trace.file.flush());
  return trace;
}

Status TraceFile::addStep(int64_t step, const std::vector<TaskTime> &times) {
  if (origin == 0 && !times.empty())
    origin = times.front().begin;
  text.clear();
  for (size_t i = 0; i < times.size() && i < heads.size(); ++i) {
    char numbers[160];
    std::snprintf(numbers, sizeof(numbers),
                  "%.3f,\"dur\":%.3f,\"args\":{\"step\":%lld",
                  double(times[i].begin - origin) / 1000,
                  double(times[i].end - times[i].begin) / 1000,
                  static_cast<long long>(step));
    text += heads[i];
    text += numbers;
    text += tails[i];
  }
  file.write(text);
  return file.flush();
}

Status TraceFile::finish() {
  file.write("\n]\n");
  return file.flush();
}

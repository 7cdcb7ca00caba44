// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads how long instructions took from a trace (Trace.h), line by line: a
// killed run leaves a file without an end, and its last step incomplete.

#include "Check/PlanGraph.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Runtime/SimulatePlan.h"
#include "Piper/Schedule/JSON.h"
#include "Trace.h"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace piper::rt;
using Json = nlohmann::json;

namespace {
class TraceReader {
public:
  TraceReader(const std::string &path, const Plan &plan,
              std::vector<const EntryPoint *> entries)
      : path(path), plan(plan), entries(std::move(entries)) {}

  Result<Durations> read();

private:
  Status fail(const std::string &message) const {
    return Status::error("trace '" + path + "': " + message);
  }
  int64_t findLastStep(std::istream &file, int64_t count) const;
  Status readEvent(const Json &event);
  Status checkAll() const;
  void levelEnds();

  std::string path;
  const Plan &plan;
  std::vector<const EntryPoint *> entries;
  /// -1 where no event has said anything.
  Durations durations;
};
} // namespace

/// The number of the step in the line of an event, -1 where there is none.
static int64_t stepOf(const std::string &line) {
  static const std::string key = "\"args\":{\"step\":";
  size_t at = line.rfind(key);
  if (line.empty() || line[0] != '{' || at == std::string::npos)
    return -1;
  return std::strtoll(line.c_str() + at + key.size(), nullptr, 10);
}

/// The last step with `count` whole lines, or -1.
int64_t TraceReader::findLastStep(std::istream &file, int64_t count) const {
  std::map<int64_t, int64_t> lines;
  int64_t last = -1;
  for (std::string line; std::getline(file, line);) {
    int64_t step = stepOf(line);
    bool isWhole = line.find("}}") != std::string::npos;
    if (step >= 0 && isWhole && ++lines[step] == count)
      last = step;
  }
  return last;
}

Status TraceReader::readEvent(const Json &event) {
  size_t rank = event.at("pid").get<size_t>();
  size_t index = event.at("args").at("instruction").get<size_t>();
  double duration = event.at("dur").get<double>();
  if (rank >= entries.size() || index >= entries[rank]->instructions.size())
    return fail("rank " + std::to_string(rank) +
                " of the plan has no "
                "instruction " +
                std::to_string(index));
  std::string expected =
      traceName(plan.programs[rank], entries[rank]->instructions[index]);
  std::string got = event.at("name").get<std::string>();
  std::string what = "instruction " + std::to_string(index) + " of rank " +
                     std::to_string(rank);
  if (got != expected)
    return fail(what + " is '" + expected + "' in the plan but '" + got +
                "' in the trace");
  if (!(duration >= 0) || !std::isfinite(duration))
    return fail(what + ": expects a duration of 0 or more");
  durations[rank][index] = duration;
  return Status::success();
}

Status TraceReader::checkAll() const {
  for (size_t r = 0; r < durations.size(); ++r)
    for (size_t i = 0; i < durations[r].size(); ++i)
      if (durations[r][i] < 0)
        return fail("has no event for instruction " + std::to_string(i) +
                    " of rank " + std::to_string(r));
  return Status::success();
}

/// What starts and ends together takes the shortest of the times.
void TraceReader::levelEnds() {
  PlanGraph graph(plan, entries);
  for (const PlanGraph::Node &node : graph.all()) {
    double shortest = INFINITY;
    for (PlanGraph::Member member : node.members)
      shortest =
          std::min(shortest, durations[member.program][member.instruction]);
    for (PlanGraph::Member member : node.members)
      durations[member.program][member.instruction] = shortest;
  }
}

Result<Durations> TraceReader::read() {
  int64_t count = 0;
  for (const EntryPoint *entry : entries) {
    durations.emplace_back(entry->instructions.size(), -1);
    count += int64_t(entry->instructions.size());
  }
  std::ifstream file(path);
  int64_t last = findLastStep(file, count);
  if (last < 0)
    return fail("has no step with an event for each of the " +
                std::to_string(count) + " instructions of the plan");
  file.clear();
  file.seekg(0);
  for (std::string line; std::getline(file, line);) {
    if (stepOf(line) != last)
      continue;
    line.erase(line.find_last_of('}') + 1);
    try {
      PIPER_RETURN_IF_ERROR(readEvent(Json::parse(line)));
    } catch (const Json::exception &problem) {
      return fail(piper::schedule::parserMessage(problem.what()));
    }
  }
  PIPER_RETURN_IF_ERROR(checkAll());
  levelEnds();
  return std::move(durations);
}

Result<Durations> piper::rt::readTraceDurations(const std::string &path,
                                                const Plan &plan,
                                                const std::string &entry) {
  // Says why a file cannot be read.
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  std::vector<const EntryPoint *> entries;
  for (const Program &program : plan.programs) {
    entries.push_back(program.findEntry(entry));
    if (!entries.back())
      return Status::error("the program '" + program.name +
                           "' has no entry point '" + entry + "'");
  }
  return TraceReader(path, plan, entries).read();
}

Result<Durations> piper::rt::readDurations(const std::string &path,
                                           const Plan &plan,
                                           const std::string &entry) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  char first = 0;
  std::ifstream stream(path);
  stream >> first;
  if (first == '[')
    return readTraceDurations(path, plan, entry);
  Result<TaskCosts> costs = readTaskCosts(path);
  if (!costs.ok())
    return costs.takeStatus();
  return makeDurations(plan, entry, *costs);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the schedule of each rank off its tasks.

#include "Piper/Runtime/PlanTimetable.h"

#include "Piper/Runtime/Report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>

using namespace piper::rt;

namespace schedule = piper::schedule;
using schedule::Action;
using schedule::Pass;

namespace {
/// An action and the tasks it stands for.
struct TimedAction {
  Action action;
  int first = 0, last = 0; ///< of its tasks among those of the rank
  double begin = 0, end = 0;
};

/// The actions of one rank.
class ActionReader {
public:
  ActionReader(const EntryPoint &entry, const std::vector<DeviceTime> &times,
               int numStages)
      : entry(entry), times(times), numStages(numStages) {
    for (const Instruction &call : entry.instructions)
      if (call.pass == "BI")
        split.insert(keyOf(call));
  }

  std::vector<TimedAction> read();

private:
  using Key = std::tuple<int, int, int>;
  static Key keyOf(const Instruction &call) {
    return {call.stage, call.copy, call.microBatch};
  }
  std::optional<Pass> passOf(const Instruction &call) const;
  static std::vector<TimedAction> joinPairs(std::vector<TimedAction> actions);

  const EntryPoint &entry;
  const std::vector<DeviceTime> &times;
  int numStages;
  /// Whose backward is cut into BI and BW.
  std::set<Key> split;
};
} // namespace

std::optional<Pass> ActionReader::passOf(const Instruction &call) const {
  if (call.kind != Instruction::Kind::Task || call.stage < 0 || numStages == 0)
    return std::nullopt;
  if (call.pass == "F")
    return Pass::F;
  if (call.pass == "BI")
    return Pass::BI;
  if (call.pass == "BW")
    return Pass::BW;
  if (call.pass == "B" || call.pass == "R")
    return split.count(keyOf(call)) ? Pass::BI : Pass::B;
  return std::nullopt;
}

/// Two actions that alternate become one pair.
std::vector<TimedAction>
ActionReader::joinPairs(std::vector<TimedAction> actions) {
  std::vector<TimedAction> joined;
  for (const TimedAction &next : actions) {
    TimedAction *last = joined.empty() ? nullptr : &joined.back();
    bool alternate = last && next.first < last->last;
    bool isPair =
        alternate && last->action.pass != next.action.pass &&
        (last->action.pass == Pass::F || last->action.pass == Pass::B) &&
        (next.action.pass == Pass::F || next.action.pass == Pass::B);
    if (!isPair) {
      joined.push_back(next);
      continue;
    }
    bool forwardFirst = last->action.pass == Pass::F;
    const Action f = forwardFirst ? last->action : next.action;
    const Action b = forwardFirst ? next.action : last->action;
    last->action = Action::pair(f.stage, f.microBatch, b.stage, b.microBatch);
    last->last = std::max(last->last, next.last);
    last->end = std::max(last->end, next.end);
  }
  return joined;
}

std::vector<TimedAction> ActionReader::read() {
  std::vector<TimedAction> actions;
  std::map<std::tuple<Pass, int, int>, size_t> numbers;
  int position = 0;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &call = entry.instructions[i];
    std::optional<Pass> pass = passOf(call);
    if (!pass)
      continue;
    ++position;
    int stage = call.stage + call.copy * numStages;
    int mb = std::max(call.microBatch, 0);
    auto [it, isNew] =
        numbers.emplace(std::make_tuple(*pass, stage, mb), actions.size());
    if (isNew)
      actions.push_back(
          {{*pass, stage, mb}, position, position, times[i].begin, 0});
    TimedAction &action = actions[it->second];
    action.last = position;
    action.end = times[i].end;
  }
  return joinPairs(std::move(actions));
}

/// Most micro-batches alive when B or `release` frees them.
static int peakOf(const std::vector<Action> &actions, Pass release) {
  int live = 0, peak = 0;
  for (const Action &a : actions) {
    live += a.pass == Pass::F || a.pass == Pass::FB;
    peak = std::max(peak, live);
    live -= a.pass == Pass::B || a.pass == Pass::FB || a.pass == release;
  }
  return peak;
}

/// Stages of one copy, and chains of visit of all copies. None where a plan has
/// numbers that no compiler gives.
static int setStages(const std::vector<const EntryPoint *> &entries,
                     schedule::Schedule &schedule) {
  size_t instructions = 0;
  for (const EntryPoint *entry : entries)
    instructions += entry->instructions.size();
  int numStages = 0, copies = 1;
  for (const EntryPoint *entry : entries)
    for (const Instruction &call : entry->instructions) {
      if (call.stage >= int64_t(instructions) ||
          call.microBatch >= int64_t(instructions) || call.copy < 0 ||
          call.copy > 1)
        return 0;
      numStages = std::max(numStages, call.stage + 1);
      copies = std::max(copies, call.copy + 1);
      schedule.M = std::max(schedule.M, call.microBatch + 1);
    }
  schedule.stageRank.assign(size_t(numStages * copies), 0);
  std::vector<std::set<int>> held(entries.size());
  for (size_t r = 0; r < entries.size(); ++r)
    for (const Instruction &call : entries[r]->instructions)
      if (call.stage >= 0) {
        int stage = call.stage + call.copy * numStages;
        schedule.stageRank[stage] = int(r);
        held[r].insert(stage);
      }
  for (const auto &stages : held)
    schedule.V = std::max(schedule.V, int(stages.size()));
  for (int c = 0; c < copies; ++c) {
    schedule.chains.emplace_back();
    for (int s = 0; s < numStages; ++s)
      schedule.chains.back().push_back(s + c * numStages);
  }
  return numStages;
}

PlanTimetable piper::rt::makeTimetable(const Plan &plan,
                                       const std::string &entry,
                                       const DeviceTimes &times) {
  PlanTimetable table;
  schedule::Schedule &schedule = table.schedule;
  schedule::Simulation &simulation = table.simulation;
  std::vector<const EntryPoint *> entries;
  for (const Program &program : plan.programs)
    entries.push_back(program.findEntry(entry));
  schedule.kind = "plan";
  schedule.P = int(entries.size());
  int numStages = setStages(entries, schedule);
  for (size_t r = 0; r < entries.size(); ++r) {
    schedule.ranks.emplace_back();
    simulation.start.emplace_back();
    simulation.end.emplace_back();
    for (const TimedAction &timed :
         ActionReader(*entries[r], times[r], numStages).read()) {
      schedule.ranks[r].push_back(timed.action);
      simulation.start[r].push_back(timed.begin);
      simulation.end[r].push_back(timed.end);
    }
    double busy = 0, first = -1, last = 0;
    for (size_t i = 0; i < times[r].size(); ++i) {
      simulation.makespan = std::max(simulation.makespan, times[r][i].end);
      if (entries[r]->instructions[i].kind != Instruction::Kind::Task)
        continue;
      busy += times[r][i].end - times[r][i].begin;
      first = first < 0 ? times[r][i].begin : first;
      last = times[r][i].end;
    }
    simulation.busy.push_back(busy);
    simulation.spanIdle.push_back(last - std::max(first, 0.0) - busy);
    simulation.peak.push_back(peakOf(schedule.ranks[r], Pass::BW));
    simulation.peakAtInput.push_back(peakOf(schedule.ranks[r], Pass::BI));
  }
  for (double busy : simulation.busy)
    simulation.idle.push_back(simulation.makespan - busy);
  return table;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// "12.5 us", "3.2 ms".
static std::string formatTime(double microseconds) {
  static const char *const units[] = {"us", "ms", "s"};
  size_t unit = 0;
  for (; microseconds >= 1000 && unit + 1 < std::size(units); ++unit)
    microseconds /= 1000;
  char text[48];
  std::snprintf(text, sizeof(text), "%.4g %s", microseconds, units[unit]);
  return text;
}

static std::string formatShare(double share) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * share);
  return text;
}

std::string piper::rt::timetableReport(const Plan &plan,
                                       const std::string &entry,
                                       const DeviceTimes &times,
                                       const schedule::TextOptions &options) {
  PlanTimetable table = makeTimetable(plan, entry, times);
  const schedule::Simulation &simulation = table.simulation;
  std::string text = "step of " + entry + ": " +
                     formatTime(simulation.makespan) + ", bubble " +
                     formatShare(simulation.bubbleRatio()) + "\n";
  if (!table.schedule.stageRank.empty())
    text += schedule::printTimetable(table.schedule, simulation, options);
  for (size_t r = 0; r < plan.programs.size(); ++r) {
    double share =
        simulation.makespan > 0 ? simulation.idle[r] / simulation.makespan : 0;
    int64_t bytes = plan.programs[r].findEntry(entry)->peakBytes;
    text += "rank " + std::to_string(r) + ": bubble " + formatShare(share) +
            ", in flight " + std::to_string(simulation.peak[r]) + ", peak " +
            formatBytes(bytes) + " (" + formatCount(bytes) + " bytes)\n";
  }
  return text;
}

Result<std::string>
piper::rt::simulationReport(const Plan &plan, const std::string &entry,
                            const std::string &path,
                            const schedule::TextOptions &options) {
  Result<Durations> durations = path.empty()
                                    ? makeDurations(plan, entry, TaskCosts())
                                    : readDurations(path, plan, entry);
  if (!durations.ok())
    return durations.takeStatus();
  Result<DeviceTimes> times = simulatePlan(plan, entry, *durations);
  if (!times.ok())
    return times.takeStatus();
  return timetableReport(plan, entry, *times, options);
}

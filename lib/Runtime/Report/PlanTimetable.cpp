// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the schedule of each rank off its tasks.

#include "Piper/Runtime/PlanTimetable.h"

#include "Piper/Runtime/Report.h"
#include "Piper/Schedule/Print.h"

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
struct ActionTasks {
  Action action;
  /// Of its tasks among the instructions of the rank.
  size_t first = 0, last = 0;
};

/// The actions of one rank.
class ActionReader {
public:
  ActionReader(const EntryPoint &entry, int numStages)
      : entry(entry), numStages(numStages) {
    for (const Instruction &call : entry.instructions) {
      if (call.pass == "BI")
        hasInput.insert(keyOf(call));
      if (call.pass == "BW")
        hasWeight.insert(keyOf(call));
    }
  }

  std::vector<ActionTasks> read();

private:
  using Key = std::tuple<int, int, int>;
  static Key keyOf(const Instruction &call) {
    return {call.stage, call.copy, call.microBatch};
  }
  std::optional<Pass> passOf(const Instruction &call) const;

  const EntryPoint &entry;
  int numStages;
  /// A backward is cut if it has both; one of them alone is the whole (a first
  /// stage may have no input that needs a gradient).
  std::set<Key> hasInput, hasWeight;
};
} // namespace

std::optional<Pass> ActionReader::passOf(const Instruction &call) const {
  if (call.kind != Instruction::Kind::Task || call.stage < 0 || numStages == 0)
    return std::nullopt;
  if (call.pass == "F")
    return Pass::F;
  if (call.pass != "B" && call.pass != "R" && call.pass != "BI" &&
      call.pass != "BW")
    return std::nullopt;
  if (!hasInput.count(keyOf(call)) || !hasWeight.count(keyOf(call)))
    return Pass::B;
  return call.pass == "BW" ? Pass::BW : Pass::BI;
}

std::vector<ActionTasks> ActionReader::read() {
  std::vector<ActionTasks> actions;
  std::map<std::tuple<Pass, int, int>, size_t> numbers;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &call = entry.instructions[i];
    std::optional<Pass> pass = passOf(call);
    if (!pass)
      continue;
    int stage = call.stage + call.copy * numStages;
    int mb = std::max(call.microBatch, 0);
    auto [it, isNew] =
        numbers.emplace(std::make_tuple(*pass, stage, mb), actions.size());
    if (isNew)
      actions.push_back({{*pass, stage, mb}, i, i});
    actions[it->second].last = i;
  }
  return actions;
}

/// Two actions that alternate become one pair.
static std::vector<ActionTasks>
joinPairs(const std::vector<ActionTasks> &actions) {
  std::vector<ActionTasks> joined;
  for (const ActionTasks &next : actions) {
    ActionTasks *last = joined.empty() ? nullptr : &joined.back();
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
  }
  return joined;
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
  if (copies > 1)
    schedule.mbChain.assign(size_t(schedule.M), 0);
  std::vector<std::set<int>> held(entries.size());
  for (size_t r = 0; r < entries.size(); ++r)
    for (const Instruction &call : entries[r]->instructions)
      if (call.stage >= 0) {
        int stage = call.stage + call.copy * numStages;
        schedule.stageRank[stage] = int(r);
        held[r].insert(stage);
        if (copies > 1 && call.microBatch >= 0)
          schedule.mbChain[call.microBatch] = call.copy;
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
    for (const ActionTasks &tasks :
         joinPairs(ActionReader(*entries[r], numStages).read())) {
      schedule.ranks[r].push_back(tasks.action);
      simulation.start[r].push_back(times[r][tasks.first].begin);
      simulation.end[r].push_back(times[r][tasks.last].end);
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

/// The timetable, or where it is wide that of its order alone: F = 1, B = 2,
/// BI = BW = 1.
static std::string drawTimetable(const PlanTimetable &table) {
  schedule::TextOptions screen;
  screen.maxColumns = 160;
  std::string text =
      schedule::printTimetable(table.schedule, table.simulation, screen);
  if (!text.empty())
    return text;
  auto inUnits = schedule::simulate(table.schedule, schedule::Costs());
  if (!inUnits)
    return "";
  text = schedule::printTimetable(table.schedule, *inUnits);
  return text.empty() ? "" : "(timetable in unit costs)\n" + text;
}

std::string piper::rt::timetableReport(const Plan &plan,
                                       const std::string &entry,
                                       const DeviceTimes &times) {
  PlanTimetable table = makeTimetable(plan, entry, times);
  const schedule::Simulation &simulation = table.simulation;
  std::string text = "step of " + entry + ": " +
                     formatTime(simulation.makespan) + ", bubble " +
                     formatShare(simulation.bubbleRatio()) + "\n";
  if (!table.schedule.stageRank.empty())
    text += drawTimetable(table);
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

Result<DeviceTimes> piper::rt::simulateStep(const Plan &plan,
                                            const std::string &entry,
                                            const std::string &path) {
  Result<Durations> durations = path.empty()
                                    ? makeDurations(plan, entry, TaskCosts())
                                    : readDurations(path, plan, entry);
  if (!durations.ok())
    return durations.takeStatus();
  return simulatePlan(plan, entry, *durations);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device clock against its rules as they are written: applied to every
// instruction until nothing changes.

#include "SimulatedPlan.h"

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
/// Applies the rules to all instructions until nothing changes.
class NaiveClock {
public:
  NaiveClock(const Plan &plan, const Durations &durations)
      : plan(plan), durations(durations) {
    for (const auto &rank : durations)
      times.emplace_back(rank.size());
  }

  DeviceTimes run() {
    for (bool changed = true; changed;) {
      DeviceTimes old = times;
      for (size_t r = 0; r < times.size(); ++r)
        for (size_t i = 0; i < times[r].size(); ++i)
          update(int(r), int(i));
      changed = false;
      for (size_t r = 0; r < times.size(); ++r)
        for (size_t i = 0; i < times[r].size(); ++i)
          changed |= old[r][i].begin != times[r][i].begin ||
                     old[r][i].end != times[r][i].end;
    }
    return times;
  }

private:
  using Kind = Instruction::Kind;
  const std::vector<Instruction> &calls(int rank) const {
    return plan.programs[rank].entries[0].instructions;
  }
  double readyAt(int r, int i) const {
    double ready = 0;
    for (int32_t wait : calls(r)[i].waits)
      ready = std::max(ready, times[r][wait].end);
    int task = -1;
    for (int j = 0; j < i; ++j) {
      if (calls(r)[j].stream() == calls(r)[i].stream())
        ready = std::max(ready, times[r][j].end);
      if (calls(r)[j].kind == Kind::Task)
        task = j;
    }
    if (calls(r)[i].kind != Kind::Task && task >= 0)
      ready = std::max(ready, times[r][task].begin);
    return ready;
  }
  int findId(int rank, int64_t id) const {
    for (size_t i = 0; i < calls(rank).size(); ++i)
      if (calls(rank)[i].id == id)
        return int(i);
    return -1;
  }
  void update(int r, int i) {
    const Instruction &call = calls(r)[i];
    double ready = readyAt(r, i), d = durations[r][i];
    bool isMessage = call.kind == Kind::Send || call.kind == Kind::Receive;
    if (call.kind == Kind::AllReduce)
      for (int32_t member : call.members)
        ready = std::max(ready, readyAt(member, findId(member, call.id)));
    int other = isMessage ? findId(call.peer, call.id) : -1;
    if (isMessage && plan.buffering == 0)
      ready = std::max(ready, readyAt(call.peer, other));
    if (isMessage && plan.buffering > 0) {
      if (call.kind == Kind::Receive) {
        const DeviceTime &send = times[call.peer][other];
        times[r][i] = {std::max(ready, send.begin), std::max(ready, send.end)};
        return;
      }
      std::vector<int64_t> sent;
      for (int j = 0; j < i; ++j)
        if (calls(r)[j].kind == Kind::Send && calls(r)[j].peer == call.peer)
          sent.push_back(calls(r)[j].id);
      int64_t freed = int64_t(sent.size()) - plan.buffering;
      if (freed >= 0)
        ready = std::max(ready,
                         times[call.peer][findId(call.peer, sent[freed])].end);
    }
    times[r][i] = {ready, ready + d};
  }

  const Plan &plan;
  const Durations &durations;
  DeviceTimes times;
};
} // namespace

static void expectTimesOfRules(const std::string &kind, int P, int V,
                               int64_t buffering) {
  SchedulePlanOptions options;
  options.buffering = buffering;
  options.prefetch = 1 + int(buffering);
  Plan plan = makePlan(kind, P, V, 6, options);
  TaskCosts costs = unitCosts(0.7);
  costs.tasks["norm_1"] = 0.4;
  costs.tasks["clip"] = 0.1;
  costs.update = 0.2;
  Durations durations = makeDurations(plan, "train", costs);
  DeviceTimes expected = NaiveClock(plan, durations).run();
  DeviceTimes times = simulate(plan, costs);
  for (size_t r = 0; r < times.size(); ++r)
    for (size_t i = 0; i < times[r].size(); ++i) {
      EXPECT_NEAR(times[r][i].begin, expected[r][i].begin, 1e-9) << kind;
      EXPECT_NEAR(times[r][i].end, expected[r][i].end, 1e-9) << kind;
    }
}

TEST(SimulatePlan, TimesOfRules) {
  for (int64_t buffering : {0, 1, 2}) {
    expectTimesOfRules("1f1b", 3, 1, buffering);
    expectTimesOfRules("interleaved_1f1b", 2, 2, buffering);
    expectTimesOfRules("zbv", 2, 2, buffering);
    expectTimesOfRules("dualpipe", 2, 2, buffering);
  }
}

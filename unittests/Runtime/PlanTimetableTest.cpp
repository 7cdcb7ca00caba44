// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timetable of a plan is that of the schedule it was made from.

#include "Piper/Runtime/PlanTimetable.h"

#include "Piper/Schedule/Print.h"
#include "Piper/Schedule/Simulate.h"
#include "SchedulePlan.h"
#include "TempFolder.h"

using namespace piper::rt;
using namespace piper::rt::test;

namespace schedule = piper::schedule;

/// Forward 1, backward 2 (or 1 and 1), all else nothing.
static TaskCosts unitCosts() {
  TaskCosts costs;
  for (int stage = 0; stage < 16; ++stage) {
    std::string f = "f" + std::to_string(stage);
    costs.tasks[f + ".fw"] = costs.tasks[f + ".bi"] = costs.tasks[f + ".dw"] =
        1;
    costs.tasks[f + ".bw"] = 2;
  }
  costs.update = 0;
  return costs;
}

static DeviceTimes simulate(const Plan &plan) {
  auto times =
      simulatePlan(plan, "train", makeDurations(plan, "train", unitCosts()));
  EXPECT_TRUE(times.ok());
  return *times;
}

static schedule::Schedule makeSchedule(const std::string &kind, int P, int V,
                                       int M) {
  schedule::Request request;
  request.kind = kind;
  request.P = P;
  request.V = V;
  request.M = M;
  auto made = schedule::generate(request);
  EXPECT_TRUE(bool(made)) << made.error();
  return *made;
}

/// Without transfer times the plan takes the times of the schedule.
static void expectTimetableOf(const std::string &kind, int P, int V, int M) {
  schedule::Schedule expected = makeSchedule(kind, P, V, M);
  SchedulePlanOptions options;
  options.reuse = false;
  Plan plan = SchedulePlan(expected, options).make();
  PlanTimetable table = makeTimetable(plan, "train", simulate(plan));
  auto simulation =
      schedule::simulate(expected, schedule::Costs::uniform(1, 1, 1));
  ASSERT_TRUE(bool(simulation));
  EXPECT_EQ(table.schedule.ranks, expected.ranks) << kind;
  EXPECT_EQ(table.simulation.peak, simulation->peak) << kind;
  EXPECT_EQ(table.simulation.peakAtInput, simulation->peakAtInput) << kind;
  EXPECT_NEAR(table.simulation.makespan, simulation->makespan, 1e-9) << kind;
  for (int r = 0; r < P; ++r) {
    EXPECT_NEAR(table.simulation.busy[r], simulation->busy[r], 1e-9) << kind;
    EXPECT_NEAR(table.simulation.idle[r], simulation->idle[r], 1e-9) << kind;
  }
  EXPECT_EQ(schedule::printTimetable(table.schedule, table.simulation),
            schedule::printTimetable(expected, *simulation))
      << kind;
}

TEST(PlanTimetable, IsThatOfTheSchedule) {
  expectTimetableOf("gpipe", 4, 1, 6);
  expectTimetableOf("1f1b", 4, 1, 8);
  expectTimetableOf("interleaved_1f1b", 2, 2, 4);
  expectTimetableOf("zb_h1", 4, 1, 8);
}

TEST(PlanTimetable, Report) {
  SchedulePlanOptions options;
  options.reuse = false;
  Plan plan = makePlan("1f1b", 2, 1, 2, options);
  plan.programs[0].entries[0].peakBytes = 3 << 20;
  plan.programs[1].entries[0].peakBytes = 1000;
  // (P - 1) / (M + P - 1) = 1/3.
  EXPECT_EQ(timetableReport(plan, "train", simulate(plan)),
            "step of train: 9 us, bubble 33.3 %\n"
            "0 |F0 F1 .  .  B0--- .  B1---\n"
            "1 |.  F0 B0--- F1 B1--- .  .\n"
            "rank 0: bubble 33.3 %, in flight 2, peak 3.0 MiB (3,145,728 "
            "bytes)\n"
            "rank 1: bubble 33.3 %, in flight 1, peak 1000 bytes (1,000 "
            "bytes)\n");
}

// Two tasks of an action are one; a task of pass R belongs to the backward; two
// actions that alternate are a pair.
TEST(PlanTimetable, Actions) {
  using Facts = PlanBuilder::Facts;
  PlanBuilder b(1);
  b.begin("train");
  b.input("x", f32({4}));
  auto add = [&](const char *pass, int stage, int mb, int copy = 0) {
    b.task({0}, "f", Facts{pass, stage, mb, copy}, {"x"}, {{"y", f32({4})}});
  };
  b.task({0}, "f", Facts{"once"}, {"x"}, {{"y", f32({4})}});
  add("F", 0, 0);
  add("F", 0, 0);
  add("R", 0, 0);
  add("B", 0, 0);
  add("R", 0, 1);
  add("BI", 0, 1);
  add("B", 0, 1); // adds gradients of inputs
  add("BW", 0, 1);
  add("F", 1, 2, 1);
  add("B", 0, 3);
  add("F", 1, 2, 1);
  add("B", 0, 3);
  b.end();
  Plan plan = b.finish();
  TaskCosts costs;
  costs.tasks = {{"f", 1}};
  auto times = simulatePlan(plan, "train", makeDurations(plan, "train", costs));
  ASSERT_TRUE(times.ok());
  PlanTimetable table = makeTimetable(plan, "train", *times);
  using schedule::Action;
  std::vector<Action> expected = {Action::forward(0, 0), Action::backward(0, 0),
                                  Action::backwardInput(0, 1),
                                  Action::backwardWeight(0, 1),
                                  Action::pair(3, 2, 0, 3)};
  EXPECT_EQ(table.schedule.ranks[0], expected);
  EXPECT_EQ(table.simulation.start[0], (std::vector<double>{1, 3, 5, 8, 9}));
  EXPECT_EQ(table.simulation.end[0], (std::vector<double>{3, 5, 8, 9, 13}));
  EXPECT_EQ(table.simulation.busy[0], 13);
  EXPECT_EQ(table.schedule.stageRank.size(), 4u);
}

// Half a backward alone is the whole: a first stage may have no BI.
TEST(PlanTimetable, HalvesAlone) {
  using Facts = PlanBuilder::Facts;
  PlanBuilder b(1);
  b.begin("train");
  b.input("x", f32({4}));
  for (Facts facts : {Facts{"F", 0, 0}, Facts{"BW", 0, 0}, Facts{"F", 0, 1},
                      Facts{"BI", 0, 1}})
    b.task({0}, "f", facts, {"x"}, {{"y", f32({4})}});
  b.end();
  Plan plan = b.finish();
  PlanTimetable table = makeTimetable(plan, "train", simulate(plan));
  using schedule::Action;
  EXPECT_EQ(
      table.schedule.ranks[0],
      (std::vector<Action>{Action::forward(0, 0), Action::backward(0, 0),
                           Action::forward(0, 1), Action::backward(0, 1)}));
}

// Numbers that no compiler gives make no timetable, and nothing worse.
TEST(PlanTimetable, WildNumbers) {
  for (int change = 0; change < 3; ++change) {
    Plan plan = makePlan("1f1b", 2, 1, 2);
    DeviceTimes times = simulate(plan);
    Instruction &call = plan.programs[0].entries[0].instructions[0];
    (change == 0   ? call.stage
     : change == 1 ? call.copy
                   : call.microBatch) = std::numeric_limits<int32_t>::max();
    EXPECT_TRUE(makeTimetable(plan, "train", times).schedule.ranks[0].empty());
    std::string report = timetableReport(plan, "train", times);
    EXPECT_EQ(report.substr(0, 14), "step of train:");
    EXPECT_EQ(report.find('|'), std::string::npos);
  }
}

TEST(PlanTimetable, SimulateStep) {
  TempFolder folder;
  SchedulePlanOptions options;
  options.reuse = false;
  Plan plan = makePlan("1f1b", 2, 1, 2, options);
  std::string costs = folder.write(
      "c.json", R"({"tasks": {"f0.fw": 1, "f1.fw": 1, "f0.bw": 2, "f1.bw": 2},
                    "update": 1})");
  auto times = simulateStep(plan, "train", costs);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(makeTimetable(plan, "train", *times).simulation.makespan, 10);
  EXPECT_TRUE(simulateStep(plan, "train", "").ok());
  auto error = simulateStep(plan, "eval", costs);
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.takeStatus().message(),
            "the program 'p0' has no entry point 'eval'");
  EXPECT_FALSE(simulateStep(plan, "train", folder.file("none")).ok());
}

// Costs without a common measure make a timetable too wide for a screen: it is
// drawn in unit costs.
TEST(PlanTimetable, UnitCosts) {
  SchedulePlanOptions options;
  options.reuse = false;
  Plan plan = makePlan("zb_h1", 2, 1, 4, options);
  TaskCosts costs = unitCosts();
  costs.tasks["f0.fw"] = 0.01;
  auto times = simulatePlan(plan, "train", makeDurations(plan, "train", costs));
  ASSERT_TRUE(times.ok());
  std::string report = timetableReport(plan, "train", *times);
  auto simulation = schedule::simulate(makeSchedule("zb_h1", 2, 1, 4),
                                       schedule::Costs::uniform(1, 1, 1));
  std::string table =
      schedule::printTimetable(makeSchedule("zb_h1", 2, 1, 4), *simulation);
  ASSERT_NE(report.find("\n(timetable in unit costs)\n" + table),
            std::string::npos)
      << report;
  // The numbers are those of the costs.
  EXPECT_EQ(report.find("step of train: 12."), 0u) << report;
}

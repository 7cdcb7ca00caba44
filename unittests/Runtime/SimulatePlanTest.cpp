// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device clock: by hand, and against the times that lib/Schedule gives to
// the same op order.

#include "SimulatedPlan.h"

using namespace piper::rt;
using namespace piper::rt::test;

/// Start and end of each instruction of a rank: "0-1 1-2".
static std::string timesOf(const Plan &plan, const DeviceTimes &times, int rank,
                           Stream stream) {
  std::string text;
  const auto &calls = plan.programs[rank].entries[0].instructions;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].stream() != stream)
      continue;
    char one[64];
    std::snprintf(one, sizeof(one), "%s%g-%g", text.empty() ? "" : " ",
                  times[rank][i].begin, times[rank][i].end);
    text += one;
  }
  return text;
}

static SchedulePlanOptions bareOptions(double comm) {
  SchedulePlanOptions options;
  options.reuse = options.epilogue = false;
  options.costs = piper::schedule::Costs::uniform(1, 1.25, 0.75, comm);
  return options;
}

// P = 2, M = 2, 1F1B, a message takes 0.5. Activations go right, gradients
// left:
//
//   0 |F0 F1 .  .  .  B0--- .  B1---      h0 1-1.5   h1 2-2.5
//   1 |.  F0 B0--- F1 B1---               d0 4.5-5   d1 7.5-8
TEST(SimulatePlan, TwoRanksByHand) {
  Plan plan = makePlan("1f1b", 2, 1, 2, bareOptions(0.5));
  DeviceTimes times = simulate(plan, unitCosts(0.5));
  EXPECT_EQ(timesOf(plan, times, 0, Stream::Compute), "0-1 1-2 5-7 8-10");
  EXPECT_EQ(timesOf(plan, times, 0, Stream::Out), "1-1.5 2-2.5");
  EXPECT_EQ(timesOf(plan, times, 0, Stream::In), "4.5-5 7.5-8");
  EXPECT_EQ(timesOf(plan, times, 1, Stream::Compute),
            "1.5-2.5 2.5-4.5 4.5-5.5 5.5-7.5");
  EXPECT_EQ(timesOf(plan, times, 1, Stream::In), "1-1.5 2-2.5");
  EXPECT_EQ(timesOf(plan, times, 1, Stream::Out), "4.5-5 7.5-8");
}

/// Rank 0 makes a, b, c (1 each) and sends them; rank 1 works for `work` before
/// it takes each.
static Plan makeStream(int64_t buffering) {
  PlanBuilder b(2, buffering);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({1}, "work", {}, {"x"}, {{"y", f32({4})}});
  for (const char *name : {"a", "b", "c"}) {
    b.task({0}, "make", {}, {"x"}, {{name, f32({4})}});
    b.transfer(name, 0, 1);
    b.task({1}, "work", {}, {name}, {{"y", f32({4})}});
  }
  b.end();
  return b.finish();
}

// Each receive may start with the task before it on rank 1, and each send when
// its value is made. Without buffering a message needs both; with room for one
// a send needs the receive before it to have ended, with room for two no send
// here needs any.
TEST(SimulatePlan, BufferingByHand) {
  TaskCosts costs;
  costs.tasks = {{"make", 1}, {"work", 5}};
  costs.latency = 0.25;
  auto times = [&](int64_t buffering, int rank, Stream stream) {
    Plan plan = makeStream(buffering);
    return timesOf(plan, simulate(plan, costs), rank, stream);
  };
  EXPECT_EQ(times(0, 0, Stream::Out), "1-1.25 5-5.25 10-10.25");
  EXPECT_EQ(times(0, 1, Stream::In), "1-1.25 5-5.25 10-10.25");
  EXPECT_EQ(times(1, 0, Stream::Out), "1-1.25 2-2.25 5-5.25");
  EXPECT_EQ(times(1, 1, Stream::In), "1-1.25 5-5 10-10");
  EXPECT_EQ(times(2, 0, Stream::Out), "1-1.25 2-2.25 3-3.25");
  EXPECT_EQ(times(2, 1, Stream::In), "1-1.25 5-5 10-10");
  for (int64_t buffering : {0, 1, 2}) {
    EXPECT_EQ(times(buffering, 0, Stream::Compute), "0-1 1-2 2-3");
    EXPECT_EQ(times(buffering, 1, Stream::Compute), "0-5 5-10 10-15 15-20");
  }
}

// A sum starts with its last member and ends everywhere at once.
TEST(SimulatePlan, ReductionByHand) {
  PlanBuilder b(3);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "short", {}, {"x"}, {{"a", f32({4})}});
  b.task({2}, "long", {}, {"x"}, {{"b", f32({4})}});
  b.allReduce({{0, "a"}, {2, "b"}}, {0, 1}, "sum");
  b.task({0, 1}, "short", {}, {"sum"}, {{"y", f32({4})}});
  b.end();
  Plan plan = b.finish();
  TaskCosts costs;
  costs.tasks = {{"short", 1}, {"long", 4}};
  costs.latency = 0.5;
  costs.bytesPerMicrosecond = 32; // 16 bytes
  DeviceTimes times = simulate(plan, costs);
  for (int rank : {0, 1, 2})
    EXPECT_EQ(timesOf(plan, times, rank, Stream::Reduce), "4-5");
  EXPECT_EQ(timesOf(plan, times, 0, Stream::Compute), "0-1 5-6");
  EXPECT_EQ(timesOf(plan, times, 1, Stream::Compute), "5-6");
}

/// Every op of the plan takes place when lib/Schedule says.
static void expectTimesOfSchedule(const std::string &kind, int P, int V, int M,
                                  double comm, int prefetch) {
  SchedulePlanOptions options = bareOptions(comm);
  options.prefetch = prefetch;
  piper::schedule::Request request;
  request.kind = kind;
  request.P = P;
  request.V = V;
  request.M = M;
  auto schedule = piper::schedule::generate(request);
  ASSERT_TRUE(bool(schedule)) << schedule.error();
  auto order = makeOpOrder(*schedule, options.costs, prefetch);
  auto expected = timeOpOrder(*schedule, options.costs, *order);
  ASSERT_TRUE(bool(expected)) << expected.error();
  Plan plan = SchedulePlan(*schedule, options).make();
  DeviceTimes times = simulate(plan, unitCosts(comm));
  size_t compared = 0;
  for (size_t r = 0; r < times.size(); ++r)
    for (size_t i = 0; i < times[r].size(); ++i, ++compared) {
      size_t id = size_t(plan.programs[r].entries[0].instructions[i].id);
      EXPECT_NEAR(times[r][i].begin, expected->start[id], 1e-9)
          << kind << ", op " << id;
      EXPECT_NEAR(times[r][i].end, expected->end[id], 1e-9)
          << kind << ", op " << id;
    }
  EXPECT_GE(compared, order->size());
}

TEST(SimulatePlan, TimesOfSchedules) {
  for (double comm : {0.0, 0.3, 2.5})
    for (int prefetch : {0, 1, 3}) {
      expectTimesOfSchedule("gpipe", 4, 1, 4, comm, prefetch);
      expectTimesOfSchedule("1f1b", 4, 1, 8, comm, prefetch);
      expectTimesOfSchedule("eager_1f1b", 3, 1, 6, comm, prefetch);
      expectTimesOfSchedule("interleaved_1f1b", 2, 2, 8, comm, prefetch);
      expectTimesOfSchedule("zb_h1", 4, 1, 8, comm, prefetch);
      expectTimesOfSchedule("interleaved_zb", 2, 2, 4, comm, prefetch);
      expectTimesOfSchedule("zbv", 3, 2, 6, comm, prefetch);
    }
}

// Each task starts when the task before it and its own inputs are done: no
// receive of another task holds it up.
TEST(SimulatePlan, NoReceiveDelaysAnIndependentTask) {
  Plan plan = makePlan("interleaved_1f1b", 2, 2, 8, bareOptions(0.3));
  DeviceTimes times = simulate(plan, unitCosts(0.3));
  int tasks = 0;
  for (size_t r = 0; r < times.size(); ++r) {
    const EntryPoint &entry = plan.programs[r].entries[0];
    std::vector<double> madeAt(entry.values.size());
    double before = 0;
    for (size_t i = 0; i < entry.instructions.size(); ++i) {
      const Instruction &call = entry.instructions[i];
      if (call.kind == Instruction::Kind::Task) {
        double inputs = 0;
        for (int32_t operand : call.operands)
          inputs = std::max(inputs, madeAt[operand]);
        EXPECT_DOUBLE_EQ(times[r][i].begin, std::max(before, inputs));
        before = times[r][i].end;
        ++tasks;
      }
      for (int32_t result : call.results)
        madeAt[result] = times[r][i].end;
    }
  }
  EXPECT_EQ(tasks, 2 * 2 * 2 * 8);
}

//===----------------------------------------------------------------------===//
// Durations and errors
//===----------------------------------------------------------------------===//

TEST(SimulatePlan, DurationsOfCosts) {
  SchedulePlanOptions options;
  options.elements = 1000;
  Plan plan = makePlan("1f1b", 2, 1, 2, options);
  for (Program &program : plan.programs)
    for (Function &function : program.functions)
      function.bytes = 20000;
  TaskCosts costs;
  costs.tasks = {{"f0.fw", 3}, {"f0.bw", 5}};
  costs.latency = 1;
  costs.bytesPerMicrosecond = 2000; // 4000 bytes
  costs.update = 0.5;
  Durations durations = makeDurations(plan, "train", costs);
  ASSERT_EQ(durations.size(), 2u);
  for (size_t r = 0; r < 2; ++r) {
    const Program &program = plan.programs[r];
    for (size_t i = 0; i < durations[r].size(); ++i) {
      const Instruction &call = program.entries[0].instructions[i];
      bool isTask = call.kind == Instruction::Kind::Task;
      std::string name = isTask ? program.functions[call.function].name : "";
      double expected = !isTask                                   ? 3
                        : call.pass == "U"                        ? 0.5
                        : call.pass == "once"                     ? 0
                        : name == "f0.fw"                         ? 3
                        : name == "f0.bw" || name == "f0.bw.into" ? 5
                                                                  : 2;
      EXPECT_EQ(durations[r][i], expected) << name;
    }
  }
  EXPECT_TRUE(makeDurations(plan, "eval", costs).empty());
}

static std::string simulateError(const Plan &plan,
                                 const std::string &entry = "train") {
  auto times = simulatePlan(plan, entry, makeDurations(plan, "train", {}));
  return times.ok() ? "no error" : times.takeStatus().message();
}

TEST(SimulatePlan, Errors) {
  Plan plan = makePlan("1f1b", 2, 1, 2);
  EXPECT_EQ(simulateError(plan), "no error");
  EXPECT_EQ(simulateError(plan, "eval"),
            "the program 'p0' has no entry point 'eval'");
  EXPECT_EQ(simulatePlan(plan, "train", {{1}}).takeStatus().message(),
            "expects a duration for each instruction of entry point 'train'");
  EXPECT_TRUE(simulatePlan({}, "train", {}).ok());
}

/// The instruction of a kind, the `skip`-th one.
static int findKind(const Plan &plan, int rank, Instruction::Kind kind,
                    int skip = 0) {
  const auto &calls = plan.programs[rank].entries[0].instructions;
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls[i].kind == kind && skip-- == 0)
      return int(i);
  return -1;
}

TEST(SimulatePlan, StuckPlans) {
  using Kind = Instruction::Kind;
  // A message that nobody receives.
  Plan plan = makePlan("1f1b", 2, 1, 2);
  plan.programs[0].entries[0].instructions[findKind(plan, 0, Kind::Send)].peer =
      5;
  EXPECT_EQ(simulateError(plan),
            "entry point 'train' gets stuck: instruction 1 (send 1 to 5) of "
            "program 'p0' needs an instruction that is not there");
  // A reduction without one of its members.
  plan = makePlan("1f1b", 2, 1, 2);
  plan.programs[1]
      .entries[0]
      .instructions[findKind(plan, 1, Kind::AllReduce)]
      .kind = Kind::Task;
  EXPECT_EQ(simulateError(plan),
            "entry point 'train' gets stuck: instruction 8 (reduce 12) of "
            "program 'p0' needs an instruction that is not there");
  // The first send waits for what the other rank makes of it.
  plan = makePlan("1f1b", 2, 1, 2);
  int send = findKind(plan, 0, Kind::Send);
  int back = findKind(plan, 0, Kind::Receive);
  plan.programs[0].entries[0].instructions[send].waits = {back};
  EXPECT_EQ(simulateError(plan),
            "entry point 'train' gets stuck: message 1 (instruction 1 of "
            "program 'p0', instruction 0 of program 'p1') needs message 6 "
            "(instruction 4 of program 'p1', instruction 4 of program 'p0'), "
            "which needs message 4 (instruction 3 of program 'p0', instruction "
            "2 of program 'p1'), which needs message 1 (instruction 1 of "
            "program 'p0', instruction 0 of program 'p1')");
}

// Of a long cycle the beginning and the end are named.
TEST(SimulatePlan, LongCycles) {
  PlanBuilder b(6);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"y", f32({4})}});
  for (int rank = 0; rank < 6; ++rank) {
    b.transfer("y", rank, (rank + 1) % 6);
    b.task({(rank + 1) % 6}, "f", {}, {"y"}, {{"y", f32({4})}});
  }
  b.end();
  Plan plan = b.finish();
  plan.programs[0].entries[0].instructions[0].waits = {2};
  const std::string start = "instruction 0 ('f', F) of program 'p0'";
  EXPECT_EQ(simulateError(plan),
            "entry point 'train' gets stuck: " + start +
                " needs message 11 (instruction 2 of program 'p5', instruction "
                "2 of program 'p0'), which needs instruction 1 ('f', F) of "
                "program 'p5', which needs message 9 (instruction 2 of program "
                "'p4', instruction 0 of program 'p5'), which needs 4 more, the "
                "last of which needs instruction 1 ('f', F) of program 'p2', "
                "which needs message 3 (instruction 2 of program 'p1', "
                "instruction 0 of program 'p2'), which needs instruction 1 "
                "('f', F) of program 'p1', which needs message 1 (instruction "
                "1 of program 'p0', instruction 0 of program 'p1'), which "
                "needs " +
                start);
}

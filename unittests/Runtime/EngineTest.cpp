// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of several ranks: values, delays, poison, tokens and the device clock
// of pipeline schedules, against what their ops mean.

#include "Piper/Runtime/Executor.h"

#include "ReferencePlan.h"
#include "SchedulePlan.h"

#include <cmath>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::test;
using Floats = ReferencePlan::Floats;

static std::unique_ptr<Executor> load(const Plan &plan,
                                      const ExecutorOptions &options = {}) {
  auto executor = Executor::create(plan, options);
  if (executor.ok())
    return std::move(*executor);
  ADD_FAILURE() << executor.takeStatus().str();
  return nullptr;
}

static Floats floatsAt(const std::byte *data, int64_t count) {
  Floats values(count);
  std::memcpy(values.data(), data, count * sizeof(float));
  return values;
}

/// Different for each tensor and element; sums of them are rounded.
static Floats someFloats(int64_t count, int seed) {
  Floats values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(0.001f + float((seed * 7 + i * 3) % 11) / 7);
  return values;
}

static void expectEqualBits(const Floats &a, const Floats &b,
                            const std::string &what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0)
      << what << ": " << a[0] << " and " << b[0];
}

/// Runs some steps of a plan and expects bits of the reference.
static void expectReference(const Plan &plan, const ExecutorOptions &options,
                            const std::string &what, int steps = 2) {
  auto executor = load(plan, options);
  ASSERT_TRUE(executor) << what;
  ReferencePlan reference(plan);
  const Program &view = executor->program();
  for (size_t s = 0; s < view.state.size(); ++s) {
    Floats value = someFloats(view.state[s].type.numElements(), int(s) + 1);
    std::memcpy(executor->stateData(int(s)), value.data(), value.size() * 4);
    executor->shareState(int(s));
    reference.setState(view.state[s].name, value);
  }
  const EntryPoint &entry = executor->entry(0);
  int64_t elements = entry.values[entry.inputs[0].value].type.numElements();
  for (int step = 0; step < steps; ++step) {
    Floats x = someFloats(elements, 100 + step);
    Floats scale(elements);
    reference.run({{"x", x}});
    Status status = executor->run(0, {{x.data(), elements * 4}},
                                  {MutableBytes{scale.data(), elements * 4}});
    ASSERT_TRUE(status.ok()) << what << ": " << status.str();
    for (size_t r = 0; r < plan.programs.size(); ++r)
      expectEqualBits(scale, reference.output(int(r), "scale"), what);
    for (size_t s = 0; s < view.state.size(); ++s)
      for (int rank : executor->stateHolders(int(s)))
        expectEqualBits(floatsAt(executor->stateData(int(s), rank), elements),
                        reference.stateOf(rank, view.state[s].name),
                        what + ", " + view.state[s].name + " of rank " +
                            std::to_string(rank));
  }
}

namespace {
struct Case {
  const char *kind;
  int P, V, M;
};
} // namespace

static const Case cases[] = {
    {"gpipe", 1, 1, 4},
    {"gpipe", 2, 1, 4},
    {"1f1b", 2, 1, 4},
    {"1f1b", 4, 1, 8},
    {"eager_1f1b", 4, 1, 8},
    {"looped_bfs", 2, 2, 4},
    {"interleaved_1f1b", 2, 2, 4},
    {"zb_h1", 2, 1, 4},
    {"zb_h2", 4, 1, 8},
    {"zbv", 2, 2, 4},
    {"dualpipe", 2, 2, 4},
    {"dualpipe", 4, 2, 8},
};

static std::string nameOf(const Case &c) {
  return std::string(c.kind) + " of " + std::to_string(c.P);
}

TEST(Engine, SchedulesComputeWhatTheirOpsMean) {
  for (const Case &c : cases)
    for (int64_t buffering : {0, 1, 3}) {
      SchedulePlanOptions options;
      options.buffering = buffering;
      Plan plan = makePlan(c.kind, c.P, c.V, c.M, options);
      expectReference(plan, {},
                      nameOf(c) + ", buffering " + std::to_string(buffering));
    }
}

// Messages larger than caches and blocks, and one token for all ranks.
TEST(Engine, LargeMessagesAndOneToken) {
  SchedulePlanOptions options;
  options.elements = 5000;
  ExecutorOptions one;
  one.cores = 1;
  for (int64_t buffering : {0, 2}) {
    options.buffering = buffering;
    expectReference(makePlan("1f1b", 4, 1, 8, options), one, "1f1b");
    expectReference(makePlan("dualpipe", 2, 2, 4, options), one, "dualpipe");
  }
}

TEST(Engine, DelaysAndPoisonChangeNothing) {
  for (const Case &c : cases)
    for (int64_t buffering : {0, 2}) {
      SchedulePlanOptions options;
      options.buffering = buffering;
      Plan plan = makePlan(c.kind, c.P, c.V, c.M, options);
      ExecutorOptions poison;
      poison.poison = true;
      expectReference(plan, poison, nameOf(c) + ", poison");
      for (int seed = 0; seed < 3; ++seed) {
        poison.delaySeed = seed;
        poison.delayMilliseconds = 0.2;
        expectReference(plan, poison, nameOf(c) + ", poison and delays");
      }
    }
}

//===----------------------------------------------------------------------===//
// The device clock
//===----------------------------------------------------------------------===//

static void runOnce(Executor &executor) {
  const EntryPoint &entry = executor.entry(0);
  Floats x(entry.values[entry.inputs[0].value].type.numElements());
  Status status = executor.run(0, {{x.data(), int64_t(x.size() * 4)}});
  ASSERT_TRUE(status.ok()) << status.str();
}

/// Durations that differ from task to task and are no round numbers.
static TaskCosts unevenCosts(double latency) {
  TaskCosts costs;
  for (int stage = 0; stage < 8; ++stage) {
    std::string f = "f" + std::to_string(stage);
    costs.tasks[f + ".fw"] = 1 + 0.13 * stage;
    costs.tasks[f + ".bw"] = 2 + 0.17 * stage;
    costs.tasks[f + ".bi"] = 1.21;
    costs.tasks[f + ".dw"] = 0.77 + 0.01 * stage;
  }
  costs.update = 0.3;
  costs.latency = latency;
  costs.bytesPerMicrosecond = 1000;
  return costs;
}

static void expectSimulated(const Plan &plan, const Durations &durations,
                            const DeviceTimes &times, const std::string &what) {
  auto simulated = simulatePlan(plan, "train", durations);
  ASSERT_TRUE(simulated.ok()) << simulated.takeStatus().str();
  for (size_t r = 0; r < times.size(); ++r)
    for (size_t i = 0; i < times[r].size(); ++i) {
      std::string where = what + ", rank " + std::to_string(r) +
                          ", instruction " + std::to_string(i);
      EXPECT_EQ(times[r][i].begin, (*simulated)[r][i].begin) << where;
      EXPECT_EQ(times[r][i].end, (*simulated)[r][i].end) << where;
    }
}

// The clock that goes along with real waits and messages is the one that walks
// the graph of the plan, whatever the threads did meanwhile.
TEST(Engine, ClockOfCostsIsTheSimulation) {
  for (const Case &c : cases)
    for (int64_t buffering : {0, 1, 2}) {
      SchedulePlanOptions planOptions;
      planOptions.buffering = buffering;
      Plan plan = makePlan(c.kind, c.P, c.V, c.M, planOptions);
      ExecutorOptions options;
      options.clock = DeviceClock::Costs;
      options.costs = unevenCosts(0.4);
      options.delayMilliseconds = 0.1;
      auto executor = load(plan, options);
      ASSERT_TRUE(executor);
      for (int step = 0; step < 2; ++step) {
        runOnce(*executor);
        expectSimulated(plan, makeDurations(plan, "train", options.costs),
                        executor->deviceTimes(0), nameOf(c));
        double end = 0;
        for (const auto &rank : executor->deviceTimes(0))
          for (const DeviceTime &time : rank)
            end = std::max(end, time.end);
        EXPECT_EQ(executor->deviceStepTime(0), end);
        EXPECT_GT(end, 0);
      }
    }
}

// Kernels by their own time, messages by the link: still the rules of the
// simulation.
TEST(Engine, MeasuredClock) {
  SchedulePlanOptions planOptions;
  planOptions.elements = 4096;
  Plan plan = makePlan("1f1b", 4, 1, 8, planOptions);
  ExecutorOptions options;
  options.clock = DeviceClock::Measured;
  options.costs.latency = 5;
  options.cores = 1;
  auto executor = load(plan, options);
  ASSERT_TRUE(executor);
  runOnce(*executor);
  const DeviceTimes &times = executor->deviceTimes(0);
  for (int r = 0; r < executor->numRanks(); ++r)
    for (size_t i = 0; i < times[r].size(); ++i) {
      const DeviceTime &time = times[r][i];
      const Instruction &op = plan.programs[r].entries[0].instructions[i];
      if (op.kind == Instruction::Kind::Task) {
        EXPECT_GT(time.end, time.begin);
      } else {
        EXPECT_NEAR(time.end - time.begin, 5, 1e-6);
      }
    }
  EXPECT_TRUE(load(plan)->deviceTimes(0).empty());
}

// Without messages the tasks run on the thread of the caller.
TEST(Engine, ClockOfOneRank) {
  SchedulePlanOptions planOptions;
  planOptions.epilogue = false;
  Plan plan = makePlan("gpipe", 1, 1, 4, planOptions);
  ExecutorOptions options;
  options.clock = DeviceClock::Costs;
  options.costs = unevenCosts(0);
  Durations durations = makeDurations(plan, "train", options.costs);
  double sum = 0;
  for (double duration : durations[0])
    sum += duration;
  auto executor = load(plan, options);
  ASSERT_TRUE(executor);
  runOnce(*executor);
  EXPECT_EQ(executor->deviceStepTime(0), sum);
  options.clock = DeviceClock::Measured;
  auto measured = load(plan, options);
  runOnce(*measured);
  EXPECT_GT(measured->deviceStepTime(0), 0);
}

TEST(Engine, TimesOfAllRanks) {
  ExecutorOptions options;
  options.timing = true;
  Plan plan = makePlan("1f1b", 4, 1, 4);
  auto executor = load(plan, options);
  ASSERT_TRUE(executor);
  runOnce(*executor);
  const TaskTimes &times = executor->times(0);
  ASSERT_EQ(times.size(), 4u);
  for (size_t r = 0; r < times.size(); ++r) {
    const auto &list = plan.programs[r].entries[0].instructions;
    ASSERT_EQ(times[r].size(), list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      EXPECT_GT(times[r][i].begin, 0);
      EXPECT_LE(times[r][i].begin, times[r][i].end);
      for (int32_t wait : list[i].waits)
        EXPECT_LE(times[r][wait].end, times[r][i].begin);
    }
  }
  EXPECT_TRUE(load(plan)->times(0).empty());
}

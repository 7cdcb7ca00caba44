// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces: what is written, and what is read back as durations.

#include "Report/Trace.h"

#include "Piper/Runtime/SimulatePlan.h"
#include "SchedulePlan.h"
#include "TempFolder.h"

using namespace piper::rt;
using namespace piper::rt::test;

/// A task on rank 0, a message, a task on rank 1, a sum on both.
static Plan makeSmallPlan() {
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {"F", 0, 1, 0, "layer = 0"}, {"x"}, {{"y", f32({4})}});
  b.transfer("y", 0, 1);
  b.task({1}, "g", {"once"}, {"y"}, {{"z", f32({4})}});
  b.allReduce({{0, "y"}, {1, "z"}}, {0, 1}, "sum");
  b.end();
  return b.finish();
}

/// Times that no two instructions share: those of rank 0 are 1000 (i + 1) ns
/// long, those of rank 1 1500 (i + 1).
static TaskTimes makeTimes(const Plan &plan, int64_t begin) {
  TaskTimes times;
  for (size_t r = 0; r < plan.programs.size(); ++r) {
    times.emplace_back();
    int64_t at = begin + int64_t(r) * 500;
    size_t count = plan.programs[r].entries[0].instructions.size();
    for (size_t i = 0; i < count; ++i) {
      int64_t length = int64_t(1000 + 500 * r) * int64_t(i + 1);
      times.back().push_back({at, at + length});
      at += length;
    }
  }
  return times;
}

static void writeTrace(const std::string &path, const Plan &plan,
                       int64_t steps) {
  auto trace = TraceFile::open(path, plan, "train");
  ASSERT_TRUE(trace.ok());
  for (int64_t step = 0; step < steps; ++step)
    ASSERT_TRUE(
        trace->addStep(step + 7, makeTimes(plan, 1000000 * (step + 1))).ok());
  ASSERT_TRUE(trace->finish().ok());
}

TEST(Trace, Events) {
  TempFolder folder;
  Plan plan = makeSmallPlan();
  writeTrace(folder.file("t"), plan, 1);
  EXPECT_EQ(folder.read("t"),
            R"TRACE([
{"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"p0"}},
{"name":"thread_name","ph":"M","pid":0,"tid":0,"args":{"name":"compute"}},
{"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"pp.out"}},
{"name":"thread_name","ph":"M","pid":0,"tid":3,"args":{"name":"reduce"}},
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"p1"}},
{"name":"thread_name","ph":"M","pid":1,"tid":0,"args":{"name":"compute"}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"pp.in"}},
{"name":"thread_name","ph":"M","pid":1,"tid":3,"args":{"name":"reduce"}},
{"name":"f (layer = 0)","cat":"F","ph":"X","pid":0,"tid":0,"ts":0.000,"dur":1.000,"args":{"step":7,"instruction":0,"id":0,"mb":1,"stage":0}},
{"name":"send to 1","cat":"transfer","ph":"X","pid":0,"tid":1,"ts":1.000,"dur":2.000,"args":{"step":7,"instruction":1,"id":1,"peer":1,"bytes":16}},
{"name":"reduce","cat":"reduce","ph":"X","pid":0,"tid":3,"ts":3.000,"dur":3.000,"args":{"step":7,"instruction":2,"id":3,"bytes":16}},
{"name":"receive from 0","cat":"transfer","ph":"X","pid":1,"tid":2,"ts":0.500,"dur":1.500,"args":{"step":7,"instruction":0,"id":1,"peer":0,"bytes":16}},
{"name":"g","cat":"once","ph":"X","pid":1,"tid":0,"ts":2.000,"dur":3.000,"args":{"step":7,"instruction":1,"id":2}},
{"name":"reduce","cat":"reduce","ph":"X","pid":1,"tid":3,"ts":5.000,"dur":4.500,"args":{"step":7,"instruction":2,"id":3,"bytes":16}}
]
)TRACE");
}

// By the device clock a step begins where the one before it ended.
TEST(Trace, DeviceClock) {
  TempFolder folder;
  Plan plan = makeSmallPlan();
  TaskCosts costs;
  costs.tasks = {{"f", 2.25}, {"g", 1}};
  costs.latency = 0.5;
  Durations durations = makeDurations(plan, "train", costs);
  auto times = simulatePlan(plan, "train", durations);
  ASSERT_TRUE(times.ok());
  auto trace = TraceFile::open(folder.file("t"), plan, "train");
  ASSERT_TRUE(trace.ok());
  for (int64_t step : {0, 1})
    ASSERT_TRUE(trace->addStep(step, *times).ok());
  ASSERT_TRUE(trace->finish().ok());
  std::string text = folder.read("t");
  for (const char *expected : {"\"ts\":2.75,\"dur\":1,\"args\":{\"step\":0",
                               "\"ts\":3.75,\"dur\":0.5,\"args\":{\"step\":0",
                               "\"ts\":4.25,\"dur\":2.25,\"args\":{\"step\":1",
                               "\"ts\":7,\"dur\":1,\"args\":{\"step\":1"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected;
  auto read = readTraceDurations(folder.file("t"), plan, "train");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, durations);
}

// Both ends of a message take the shorter time, as members of a sum do.
TEST(Trace, Durations) {
  TempFolder folder;
  Plan plan = makeSmallPlan();
  writeTrace(folder.file("t"), plan, 3);
  auto durations = readTraceDurations(folder.file("t"), plan, "train");
  ASSERT_TRUE(durations.ok()) << durations.takeStatus().message();
  EXPECT_EQ(*durations, (Durations{{1, 1.5, 3}, {1.5, 3, 3}}));
  auto either = readDurations(folder.file("t"), plan, "train");
  ASSERT_TRUE(either.ok());
  EXPECT_EQ(*either, *durations);
  std::string costs = folder.write("c", R"({"tasks": {"f": 2}})");
  either = readDurations(costs, plan, "train");
  ASSERT_TRUE(either.ok());
  EXPECT_EQ((*either)[0], (std::vector<double>{2, 0, 0}));
}

// A run that was killed leaves a part of a step: the step before it counts.
TEST(Trace, DurationsOfAKilledRun) {
  TempFolder folder;
  Plan plan = makeSmallPlan();
  writeTrace(folder.file("t"), plan, 2);
  std::string text = folder.read("t");
  // The second step takes as long, so make the first one recognizable.
  size_t first = text.find("\"dur\":1.000");
  text.replace(first, 11, "\"dur\":9.000");
  size_t last = text.rfind("}}");
  for (size_t cut : {last + 1, last - 20, text.rfind("\n{") + 1}) {
    folder.write("cut", text.substr(0, cut));
    auto durations = readTraceDurations(folder.file("cut"), plan, "train");
    ASSERT_TRUE(durations.ok());
    EXPECT_EQ((*durations)[0][0], 9);
  }
  folder.write("cut", text.substr(0, last + 2));
  auto durations = readTraceDurations(folder.file("cut"), plan, "train");
  ASSERT_TRUE(durations.ok());
  EXPECT_EQ((*durations)[0][0], 1);
}

TEST(Trace, Errors) {
  TempFolder folder;
  Plan plan = makeSmallPlan();
  std::string path = folder.file("t");
  auto errorOf = [&](const std::string &entry = "train") {
    auto durations = readTraceDurations(path, plan, entry);
    return durations.ok() ? "none" : durations.takeStatus().message();
  };
  EXPECT_EQ(errorOf(), "cannot open '" + path + "': No such file or directory");
  writeTrace(path, plan, 0);
  const std::string none = "trace '" + path +
                           "': has no step with an event for each of the 6 "
                           "instructions of the plan";
  EXPECT_EQ(errorOf(), none);
  writeTrace(path, plan, 1);
  EXPECT_EQ(errorOf("eval"), "the program 'p0' has no entry point 'eval'");
  const std::string text = folder.read("t");
  auto change = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    folder.write("t", changed);
    std::string error = errorOf();
    std::string prefix = "trace '" + path + "': ";
    return error.rfind(prefix, 0) == 0 ? error.substr(prefix.size()) : error;
  };
  EXPECT_EQ(change("\"name\":\"g\"", "\"name\":\"h\""),
            "instruction 1 of rank 1 is 'g' in the plan but 'h' in the trace");
  EXPECT_EQ(change("\"instruction\":2", "\"instruction\":3"),
            "rank 0 of the plan has no instruction 3");
  EXPECT_EQ(change("\"pid\":1,\"tid\":2,\"ts\"", "\"pid\":2,\"tid\":2,\"ts\""),
            "rank 2 of the plan has no instruction 0");
  EXPECT_EQ(change("\"dur\":1.000", "\"dur\":-1.000"),
            "instruction 0 of rank 0: expects a duration of 0 or more");
  EXPECT_EQ(change("\"dur\":1.000", "\"due\":1.000"), "key 'dur' not found");
  // An event twice and another one missing.
  size_t send = text.find("{\"name\":\"send"), end = text.find('\n', send);
  size_t task = text.find("{\"name\":\"f (");
  std::string doubled = text;
  doubled.replace(send, end - send, text.substr(task, send - task - 1));
  folder.write("t", doubled);
  EXPECT_EQ(errorOf(),
            "trace '" + path + "': has no event for instruction 1 of rank 0");
}

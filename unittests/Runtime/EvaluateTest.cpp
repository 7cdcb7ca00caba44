// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation, and what a person sees of a run: progress and traces.

#include "Piper/Runtime/Train.h"

#include "TrainingTest.h"

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace piper::rt;
using namespace piper::rt::test;
using Json = nlohmann::json;

namespace {
class EvaluateTest : public TrainingTest {};
} // namespace

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

TEST_F(EvaluateTest, EvaluationIsTheLossBeforeTraining) {
  RegressionData data = makeData(4);
  std::string inputs = writeInputs("f", data);
  auto executor = make(makeRegression());
  std::string before = stateOf(*executor);
  auto source = open(executor->program(), inputs, "eval");
  auto summary = evaluate(*executor, *source, 4);
  ASSERT_TRUE(summary.ok()) << summary.takeStatus().str();
  double expected = 0;
  for (int64_t step = 0; step < 4; ++step)
    expected += reference(data, step, weightsOf(*executor)).loss / 4;
  EXPECT_NEAR(summary->loss, expected, 1e-6);
  EXPECT_EQ(summary->batches, 4);
  EXPECT_EQ(stateOf(*executor), before);
  auto too = evaluate(*executor, *source, 5);
  ASSERT_FALSE(too.ok());
  EXPECT_EQ(too.takeStatus().message(),
            "'" + inputs + "' has 4 steps but 5 from step 0 on are asked for");
}

// Batches weigh by their valid labels: 1 and 7 of them. The logits are those
// of a table of zeros, but for one that makes the loss of token 0 larger.
TEST_F(EvaluateTest, EvaluationWeighsByLabels) {
  std::vector<int32_t> tokens(16, 1), labels(16, 0);
  for (int i = 0; i < 8; ++i) {
    tokens[i] = 0;
    labels[i] = i == 0 ? 0 : -1;
  }
  labels[15] = -1;
  ASSERT_TRUE(
      writeSafetensors(folder.file("f"),
                       {{"tokens", FileType::I32, {2, 2, 4}, tokens.data()},
                        {"labels", FileType::I32, {2, 2, 4}, labels.data()}},
                       {})
          .ok());
  auto executor = make(makeBigram(2, 4, /*vocabulary=*/2));
  const float table[4] = {0, 3, 0, 0};
  std::memcpy(executor->stateData(0), table, sizeof(table));
  auto source = open(executor->program(), folder.file("f"), "eval");
  auto summary = evaluate(*executor, *source, 2);
  ASSERT_TRUE(summary.ok()) << summary.takeStatus().str();
  EXPECT_EQ(summary->tokens, 8);
  double first = std::log(1 + std::exp(3.0)), second = std::log(2.0);
  EXPECT_NEAR(summary->loss, (first + 7 * second) / 8, 1e-6);
}

TEST_F(EvaluateTest, EvaluationThatChangesStateIsRefused) {
  Program program = makeRegression();
  program.entries.pop_back();
  program.entries[0].name = "eval";
  auto executor = make(program);
  auto source = open(program, writeInputs("f", makeData(1)), "eval");
  auto summary = evaluate(*executor, *source, 1);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.takeStatus().message(),
            "entry point 'eval' changes state 'w'");
}

//===----------------------------------------------------------------------===//
// Progress and traces
//===----------------------------------------------------------------------===//

TEST_F(EvaluateTest, ProgressLines) {
  std::string inputs = writeInputs("f", makeData(100));
  auto executor = make(makeRegression());
  std::ostringstream log;
  TrainOptions options;
  options.log = &log;
  ASSERT_TRUE(run(*executor, inputs, 10, options).ok());
  EXPECT_EQ(log.str().compare(0, 17, "step 1/10  loss 1"), 0) << log.str();
  EXPECT_NE(log.str().find("\nstep 10/10  loss "), std::string::npos);
  EXPECT_NE(log.str().find("  grad norm "), std::string::npos);
  EXPECT_NE(log.str().find(" steps/s  0:00 left\n"), std::string::npos);
  log.str("");
  ASSERT_TRUE(run(*executor, inputs, 90, options).ok());
  // Every fourth step, the first and the last.
  EXPECT_EQ(countOf(log.str(), "\n"), 24);
  EXPECT_EQ(log.str().compare(0, 13, "step 11/100  "), 0) << log.str();

  auto again = make(makeRegression());
  log.str("");
  options.terminal = true;
  ASSERT_TRUE(run(*again, inputs, 3, options).ok());
  EXPECT_EQ(log.str().compare(0, 12, "\r\x1b[Kstep 1/3"), 0) << log.str();
  EXPECT_EQ(countOf(log.str(), "\n"), 1);
  EXPECT_EQ(log.str().back(), '\n');
}

TEST_F(EvaluateTest, Trace) {
  std::string inputs = writeInputs("f", makeData(2));
  ExecutorOptions timing;
  timing.timing = true;
  Program program = makeRegression();
  program.entries[0].instructions[0].microBatch = 3;
  auto executor = make(program, 1, timing);
  TrainOptions options;
  options.tracePath = folder.file("t.json");
  ASSERT_TRUE(run(*executor, inputs, 2, options).ok());
  Json events = Json::parse(folder.read("t.json"), nullptr, false);
  ASSERT_TRUE(events.is_array());
  size_t tasks = program.entries[0].instructions.size();
  ASSERT_EQ(events.size(), 2 + 2 * tasks);
  EXPECT_EQ(events[0]["args"]["name"], "regression");
  EXPECT_EQ(events[2]["name"], "forward (layer = 0)");
  EXPECT_EQ(events[2]["cat"], "F");
  EXPECT_EQ(events[2]["ts"], 0);
  EXPECT_EQ(events[2]["args"]["mb"], 3);
  EXPECT_FALSE(events[3]["args"].contains("mb"));
  double end = 0;
  for (size_t i = 2; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["ph"], "X");
    EXPECT_EQ(events[i]["args"]["step"], i - 2 < tasks ? 0 : 1);
    EXPECT_GE(events[i]["ts"].get<double>(), end - 0.002);
    end = events[i]["ts"].get<double>() + events[i]["dur"].get<double>();
  }
  auto untimed = make(program);
  auto summary = run(*untimed, inputs, 1, options);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.takeStatus().message(),
            "a trace needs an executor that takes times");
}

// A run that is killed leaves an array without its end, as the format allows.
TEST_F(EvaluateTest, TraceOfAKilledRun) {
  RegressionData data = makeData(4);
  data.x[3 * data.rows * data.in] = std::nanf("");
  std::string inputs = writeInputs("f", data);
  TrainOptions options;
  options.tracePath = folder.file("t.json");
  options.stopOnNonfinite = true;
  pid_t child = fork();
  if (child == 0) {
    ExecutorOptions timing;
    timing.timing = true;
    auto executor = make(makeRegression(), 1, timing);
    bool stopped = !run(*executor, inputs, 4, options).ok();
    kill(getpid(), stopped ? SIGKILL : SIGTERM);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  Json events = Json::parse(folder.read("t.json") + "]", nullptr, false);
  ASSERT_TRUE(events.is_array());
  EXPECT_EQ(events.back()["args"]["step"], 3);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training and evaluation: numbers against a loop in double precision, metrics,
// resuming, skipped steps, traces.

#include "Piper/Runtime/Train.h"

#include "Piper/Runtime/Checkpoint.h"
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
class TrainTest : public TrainingTest {
protected:
  std::vector<Json> metrics(const std::string &name) {
    std::vector<Json> lines;
    std::istringstream text(folder.read(name));
    for (std::string line; std::getline(text, line);)
      lines.push_back(Json::parse(line, nullptr, false));
    return lines;
  }
};
} // namespace

TEST_F(TrainTest, FollowsTheReference) {
  RegressionData data = makeData(30);
  auto executor = make(makeRegression());
  std::vector<double> w = weightsOf(*executor), v(6);
  TrainOptions options;
  options.metricsPath = folder.file("m.jsonl");
  auto summary = run(*executor, writeInputs("f", data), 30, options);
  ASSERT_TRUE(summary.ok()) << summary.takeStatus().str();
  std::vector<Json> lines = metrics("m.jsonl");
  ASSERT_EQ(lines.size(), 30u);
  double recent = 0;
  for (int64_t step = 0; step < 30; ++step) {
    Reference expected = reference(data, step, w);
    double norm = 0;
    for (int i = 0; i < 6; ++i) {
      norm += expected.gradient[i] * expected.gradient[i];
      v[i] = 0.9 * v[i] + expected.gradient[i];
      w[i] -= 0.05 * v[i];
    }
    const Json &line = lines[step];
    EXPECT_EQ(line["step"], step);
    EXPECT_NEAR(line["loss"], expected.loss, 1e-5 * (1 + expected.loss));
    EXPECT_NEAR(line["grad_norm"], std::sqrt(norm),
                1e-5 * (1 + std::sqrt(norm)));
    EXPECT_EQ(line["lr"], 0.0500000007) << "nine digits of 0.05f";
    EXPECT_EQ(line["ok"], true);
    EXPECT_TRUE(line["tokens"].is_null()) << "the program counts none";
    EXPECT_TRUE(line["tokens_per_second"].is_null());
    EXPECT_GT(line["step_ms"], 0);
    if (step >= 10)
      recent += expected.loss / 20;
  }
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(weightsOf(*executor)[i], w[i], 1e-5);
  EXPECT_EQ(summary->steps, 30);
  EXPECT_EQ(summary->skipped, 0);
  EXPECT_NEAR(summary->recentLoss, recent, 1e-5);
  EXPECT_NEAR(summary->lastLoss, lines.back()["loss"], 1e-6);
  EXPECT_EQ(executor->counter("iteration", 0), 30);
  EXPECT_EQ(executor->counter("update", 0), 30);
}

TEST_F(TrainTest, CutInTwoGivesTheSameBits) {
  std::string inputs = writeInputs("f", makeData(10));
  auto whole = make(makeRegression()), first = make(makeRegression());
  ASSERT_TRUE(run(*whole, inputs, 10).ok());
  TrainOptions options;
  options.metricsPath = folder.file("m.jsonl");
  ASSERT_TRUE(run(*first, inputs, 4, options).ok());
  ASSERT_TRUE(saveState(*first, folder.file("s")).ok());
  auto second = make(makeRegression(), /*seed=*/77);
  ASSERT_TRUE(loadCheckpoint(*second, folder.file("s")).ok());
  ASSERT_TRUE(run(*second, inputs, 6, options).ok());
  EXPECT_EQ(stateOf(*whole), stateOf(*second));
  std::vector<Json> lines = metrics("m.jsonl");
  ASSERT_EQ(lines.size(), 10u) << "the second part is appended";
  for (int64_t step = 0; step < 10; ++step)
    EXPECT_EQ(lines[step]["step"], step);
}

TEST_F(TrainTest, PoisonChangesNoBit) {
  std::string inputs = writeInputs("f", makeData(5));
  ExecutorOptions poison;
  poison.poison = true;
  auto plain = make(makeRegression()),
       other = make(makeRegression(), 1, poison);
  ASSERT_TRUE(run(*plain, inputs, 5).ok());
  ASSERT_TRUE(run(*other, inputs, 5).ok());
  EXPECT_EQ(stateOf(*plain), stateOf(*other));

  std::string text = folder.write("t", "the quick brown fox jumps over it");
  std::string states[2];
  for (bool isPoisoned : {false, true}) {
    ExecutorOptions options;
    options.poison = isPoisoned;
    auto executor = make(makeBigram(), 1, options);
    auto source =
        openTokens(executor->program(), *executor->program().findEntry("train"),
                   text, TokenType::U8);
    ASSERT_TRUE(source.ok());
    TrainOptions trainOptions;
    trainOptions.steps = 5;
    ASSERT_TRUE(train(*executor, **source, trainOptions).ok());
    states[isPoisoned] = stateOf(*executor);
  }
  EXPECT_EQ(states[0], states[1]);
}

//===----------------------------------------------------------------------===//
// Steps that are skipped
//===----------------------------------------------------------------------===//

// Batch 2 overflows. Afterwards all state but `iteration` is what it is in a
// run in which that batch never was.
TEST_F(TrainTest, ASkippedStepNeverWas) {
  RegressionData good = makeData(5), bad;
  int64_t x = good.rows * good.in, t = good.rows * good.out;
  bad.steps = 6;
  bad.x.assign(good.x.begin(), good.x.begin() + 2 * x);
  bad.x.insert(bad.x.end(), x, 3e38f);
  bad.x.insert(bad.x.end(), good.x.begin() + 2 * x, good.x.end());
  bad.t.assign(good.t.begin(), good.t.begin() + 2 * t);
  bad.t.insert(bad.t.end(), t, 0.0f);
  bad.t.insert(bad.t.end(), good.t.begin() + 2 * t, good.t.end());

  auto without = make(makeRegression()), with = make(makeRegression());
  ASSERT_TRUE(run(*without, writeInputs("good", good), 5).ok());
  std::string inputs = writeInputs("bad", bad);
  ASSERT_TRUE(run(*with, inputs, 2).ok());
  std::string before = stateOf(*with);
  std::ostringstream log;
  TrainOptions options;
  options.log = &log;
  options.metricsPath = folder.file("m.jsonl");
  auto summary = run(*with, inputs, 1, options);
  ASSERT_TRUE(summary.ok()) << summary.takeStatus().str();
  EXPECT_EQ(summary->skipped, 1);
  EXPECT_TRUE(std::isnan(summary->recentLoss));
  EXPECT_NE(log.str().find("warning: step 2 is skipped: the gradient of 'w' is "
                           "not finite\n"),
            std::string::npos)
      << log.str();
  Json line = metrics("m.jsonl").at(0);
  EXPECT_EQ(line["ok"], false);
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["grad_norm"].is_null());

  // Only `iteration` has moved.
  EXPECT_EQ(with->counter("iteration", 0), 3);
  int64_t two = 2;
  std::memcpy(with->stateData(2), &two, 8);
  EXPECT_EQ(stateOf(*with), before);
  int64_t three = 3;
  std::memcpy(with->stateData(2), &three, 8);
  ASSERT_TRUE(run(*with, inputs, 3).ok());
  int64_t five = 5;
  std::memcpy(with->stateData(2), &five, 8);
  EXPECT_EQ(stateOf(*with), stateOf(*without));
}

TEST_F(TrainTest, StopNamesStepAndTensor) {
  RegressionData data = makeData(3);
  data.x[2 * data.rows * data.in] = std::nanf("");
  auto executor = make(makeRegression());
  TrainOptions options;
  options.stopOnNonfinite = true;
  auto summary = run(*executor, writeInputs("f", data), 3, options);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.takeStatus().message(),
            "stopped at step 2: the gradient of 'w' is not finite");
}

TEST_F(TrainTest, ManySkippedStepsAreNotAllNamed) {
  RegressionData data = makeData(9);
  for (float &x : data.x)
    x = std::nanf("");
  auto executor = make(makeRegression());
  std::ostringstream log;
  TrainOptions options;
  options.log = &log;
  auto summary = run(*executor, writeInputs("f", data), 9, options);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->skipped, 9);
  EXPECT_EQ(countOf(log.str(), "is skipped"), 5);
  EXPECT_NE(log.str().find("warning: further skipped steps are only counted"),
            std::string::npos);
}

// All labels ignored: the count is 0.
TEST_F(TrainTest, ABatchWithoutLabelsIsSkipped) {
  std::vector<int32_t> tokens(8), labels(8, -1);
  ASSERT_TRUE(
      writeSafetensors(folder.file("f"),
                       {{"tokens", FileType::I32, {1, 2, 4}, tokens.data()},
                        {"labels", FileType::I32, {1, 2, 4}, labels.data()}},
                       {})
          .ok());
  auto executor = make(makeBigram());
  TrainOptions options;
  options.stopOnNonfinite = true;
  auto summary = run(*executor, folder.file("f"), 1, options);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.takeStatus().message(),
            "stopped at step 0: no label of the batch is valid");
  auto source = open(executor->program(), folder.file("f"), /*entry=*/"eval");
  auto evaluated = evaluate(*executor, *source, 1);
  ASSERT_FALSE(evaluated.ok());
  EXPECT_EQ(evaluated.takeStatus().message(),
            "no label of the 1 batches of '" + folder.file("f") + "' is valid");
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(TrainTest, MoreStepsThanInputs) {
  auto executor = make(makeRegression());
  std::string inputs = writeInputs("f", makeData(3));
  auto message = [&](int64_t steps) {
    auto summary = run(*executor, inputs, steps);
    return summary.ok() ? "success" : summary.takeStatus().message();
  };
  EXPECT_EQ(message(4), "'" + inputs +
                            "' has 3 steps but 4 from step 0 on are "
                            "asked for");
  EXPECT_EQ(message(-1), "expects 0 or more steps but got -1");
  EXPECT_EQ(message(2), "success");
  EXPECT_EQ(message(2), "'" + inputs +
                            "' has 3 steps but 2 from step 2 on are "
                            "asked for");
  EXPECT_EQ(message(1), "success");
  EXPECT_EQ(message(0), "success");
}

TEST_F(TrainTest, EntryPointsThatDoNotFit) {
  std::string inputs = writeInputs("f", makeData(3));
  auto message = [&](void (*change)(Program &)) {
    Program program = makeRegression();
    auto source = open(program, inputs);
    change(program);
    auto executor = make(program);
    TrainOptions options;
    options.steps = 1;
    auto summary = train(*executor, *source, options);
    return summary.ok() ? "success" : summary.takeStatus().message();
  };
  EXPECT_EQ(message([](Program &p) { p.entries.erase(p.entries.begin()); }),
            "the program 'regression' has no entry point 'train'");
  EXPECT_EQ(message([](Program &p) { p.entries[0].outputs[0].name = "x"; }),
            "entry point 'train' has no output 'loss'");
  EXPECT_EQ(message([](Program &p) {
              std::swap(p.entries[0].outputs[0].name,
                        p.entries[0].outputs[2].name);
            }),
            "output 'loss' of entry point 'train': expects a scalar of f32 but "
            "got tensor<i1>");
  EXPECT_EQ(message([](Program &p) {
              p.entries[0].outputs.pop_back();
              p.entries[0].outputs.back().name = "nonfinite";
            }),
            "output 'nonfinite' of entry point 'train': expects one number per "
            "tensor of i64 but got tensor<f32>");
}

TEST_F(TrainTest, FilesThatCannotBeWritten) {
  std::string inputs = writeInputs("f", makeData(1));
  auto executor = make(makeRegression());
  TrainOptions options;
  options.metricsPath = folder.file("absent/m");
  auto summary = run(*executor, inputs, 1, options);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.takeStatus().message(), "cannot write '" +
                                                options.metricsPath +
                                                "': No such file or directory");
  options.metricsPath = "/dev/full";
  summary = run(*executor, inputs, 1, options);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.takeStatus().message(),
            "cannot write '/dev/full': No space left on device");
}

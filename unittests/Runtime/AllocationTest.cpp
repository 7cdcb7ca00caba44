// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts allocations: the loop makes none after its first step. A program of
// its own, because it replaces operator new.

#include "AllocationCount.h"
#include "Piper/Runtime/Step.h"
#include "SchedulePlan.h"
#include "Train/Metrics.h"
#include "TrainingTest.h"

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
class AllocationTest : public TrainingTest {
protected:
  /// Allocations of steps 1 .. 20, step 0 being done before.
  int64_t countSteps(Executor &executor, BatchSource &source) {
    auto runner = StepRunner::create(executor, "train", source);
    EXPECT_TRUE(runner.ok()) << runner.takeStatus().str();
    std::string line;
    AllocationCount before;
    for (int64_t step = 0; step <= 20; ++step) {
      Status status = runner->run(executor.counter("iteration", step));
      EXPECT_TRUE(status.ok());
      formatMetrics(runner->result(), line);
      if (step == 0)
        before = allocationCount();
    }
    AllocationCount after = allocationCount();
    if (after.libraries > before.libraries)
      std::cout << "inside libraries, in 20 steps: "
                << after.libraries - before.libraries << "\n";
    return after.own - before.own;
  }
};
} // namespace

TEST_F(AllocationTest, TheCounterCounts) {
  int64_t before = allocationCount().own;
  // Too long to be stored inside of the string.
  std::string text(std::string(100, 'x'));
  EXPECT_EQ(text.size(), 100u);
  EXPECT_EQ(allocationCount().own - before, 1);
}

TEST_F(AllocationTest, NoneInARegression) {
  std::string inputs = writeInputs("f", makeData(21));
  for (bool poison : {false, true}) {
    ExecutorOptions options;
    options.poison = poison;
    options.timing = true;
    auto executor = make(makeRegression(), 1, options);
    auto source = open(executor->program(), inputs);
    EXPECT_EQ(countSteps(*executor, *source), 0);
  }
}

// Threads, messages, delays, poison and clocks of several ranks.
TEST_F(AllocationTest, NoneInAPipeline) {
  for (int64_t buffering : {0, 2})
    for (bool poison : {false, true}) {
      SchedulePlanOptions planOptions;
      planOptions.buffering = buffering;
      ExecutorOptions options;
      options.timing = true;
      options.poison = poison;
      options.delayMilliseconds = poison ? 0.05 : 0;
      options.clock = DeviceClock::Measured;
      auto executor =
          Executor::create(makePlan("1f1b", 4, 1, 8, planOptions), options);
      ASSERT_TRUE(executor.ok()) << executor.takeStatus().str();
      std::vector<float> x(planOptions.elements, 1);
      std::vector<ConstBytes> inputs = {
          {x.data(), int64_t(x.size() * sizeof(float))}};
      ASSERT_TRUE((*executor)->run(0, inputs).ok());
      int64_t before = allocationCount().own;
      for (int step = 0; step < 20; ++step)
        ASSERT_TRUE((*executor)->run(0, inputs).ok());
      EXPECT_EQ(allocationCount().own - before, 0);
    }
}

TEST_F(AllocationTest, NoneWithTokens) {
  auto executor = make(makeBigram());
  const Program &program = executor->program();
  auto source =
      openTokens(program, *program.findEntry("train"),
                 folder.write("t", "all work and no play"), TokenType::U8);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(countSteps(*executor, **source), 0);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running: addresses, views, in-place results, state, poison, errors of
// kernels, times.

#include "Piper/Runtime/Executor.h"

#include "Piper/Runtime/Random.h"
#include "ProgramBuilder.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace piper::rt;
using namespace piper::rt::test;

static std::unique_ptr<Executor> load(const Program &program,
                                      const ExecutorOptions &options = {}) {
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(program, options);
  if (executor.ok())
    return std::move(*executor);
  ADD_FAILURE() << executor.takeStatus().str();
  return nullptr;
}

template <typename T> static ConstBytes in(const std::vector<T> &data) {
  return {data.data(), int64_t(data.size() * sizeof(T))};
}
template <typename T> static MutableBytes out(std::vector<T> &data) {
  return {data.data(), int64_t(data.size() * sizeof(T))};
}

/// y = reverse(x + w); w' = w + x, in place; z = the last two elements of y.
static Program makeProgram() {
  ProgramBuilder b;
  FunctionBuilder f("forward", {f32({4}), f32({4})});
  int32_t sum = f.op("add", {0, 1}, f32({4}));
  int32_t y = f.op("reverse", {sum}, f32({4}));
  int32_t z = f.op("slice", {y}, f32({2}), {{"offset", int64_t(2)}});
  int32_t forward = b.addFunction(f.finish({y, z}));
  FunctionBuilder u("update", {f32({4}), f32({4})});
  int32_t update = b.addFunction(u.finish({u.op("add", {0, 1}, f32({4}))}));

  int32_t w = b.addState("w", f32({4}), StateTensor::Kind::Parameter,
                         StateTensor::Init::Ones);
  b.beginEntry("train");
  int32_t x = b.input("x", f32({4}));
  auto results = b.call(forward, {x, b.stateValue(w)}, "F", "layer = 0");
  b.entry().instructions.back().salt = 100;
  b.call(update, {b.stateValue(w), x}, "U", "", {{0, w}});
  b.output("y", results[0]);
  b.output("z", results[1]);
  b.output("x", x);
  return b.finish();
}

TEST(Executor, RunsStepsViewsAndInPlaceUpdates) {
  auto executor = load(makeProgram());
  ASSERT_TRUE(executor);
  executor->initializeState(0);
  std::vector<float> x = {1, 2, 3, 4}, y(4), z(2), same(4);
  for (int step = 0; step < 2; ++step) {
    Status status = executor->run(0, {in(x)}, {out(y), out(z), out(same)});
    ASSERT_TRUE(status.ok()) << status.str();
    // w = 1 + step x; y = reverse(x + w) + salt.
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(y[i], x[3 - i] * (1 + step) + 1 + 100);
    EXPECT_EQ(z, std::vector<float>(y.begin() + 2, y.end()));
    EXPECT_EQ(same, x) << "an input returned unchanged";
  }
  auto *w = reinterpret_cast<const float *>(executor->stateData(0));
  EXPECT_EQ(std::vector<float>(w, w + 4), (std::vector<float>{3, 5, 7, 9}));
}

// The last two elements of y in the place of y: nothing is copied.
TEST(Executor, ViewInPlaceIsNotCopied) {
  Program program = makeProgram();
  EntryPoint &entry = program.entries[0];
  Instruction &call = entry.instructions[0];
  entry.values[call.results[1]].offset =
      entry.values[call.results[0]].offset + 8;
  auto executor = load(program);
  ASSERT_TRUE(executor);
  executor->initializeState(0);
  std::vector<float> x = {1, 2, 3, 4}, z(2);
  ASSERT_TRUE(executor->run(0, {in(x)}, {{}, out(z), {}}).ok());
  EXPECT_EQ(z, (std::vector<float>{103, 102}));
}

TEST(Executor, PoisonChangesNothing) {
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<std::vector<float>> results;
  for (bool poison : {false, true}) {
    ExecutorOptions options;
    options.poison = poison;
    auto executor = load(makeProgram(), options);
    ASSERT_TRUE(executor);
    executor->initializeState(0);
    std::vector<float> y(4), z(2);
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(executor->run(0, {in(x)}, {out(y), out(z), {}}).ok());
      results.push_back(y);
      results.back().insert(results.back().end(), z.begin(), z.end());
    }
  }
  for (int step = 0; step < 3; ++step)
    EXPECT_EQ(results[step], results[step + 3]);
}

// After a run in poison mode only state and outputs hold anything.
TEST(Executor, PoisonFillsWhatIsReleased) {
  ExecutorOptions options;
  options.poison = true;
  Program program = makeProgram();
  auto executor = load(program, options);
  ASSERT_TRUE(executor);
  executor->initializeState(0);
  std::vector<float> x = {1, 2, 3, 4};
  ASSERT_TRUE(executor->run(0, {in(x)}).ok());
  // The sum inside of the task, its copy in the workspace of `reverse`.
  const std::byte *arena = executor->stateData(0) - program.state[0].offset;
  const Instruction &call = program.entries[0].instructions[0];
  for (int64_t i = 0; i < program.functions[0].workspaceBytes; ++i)
    EXPECT_EQ(arena[call.workspaceOffset + i], std::byte(0xFF)) << i;
  float y;
  std::memcpy(&y, executor->valueData(0, call.results[0]), 4);
  EXPECT_EQ(y, 4 + 1 + 100);
}

// A value whose bytes are reused later, an error if anybody still needed them.
TEST(Executor, PoisonFillsAValueAfterItsLastUse) {
  ProgramBuilder b;
  FunctionBuilder f("twice", {f32({4})});
  int32_t twice = b.addFunction(f.finish({f.op("add", {0, 0}, f32({4}))}));
  b.beginEntry("train");
  int32_t x = b.input("x", f32({4}));
  int32_t x2 = b.call(twice, {x})[0];
  int32_t x4 = b.call(twice, {x2})[0];
  b.output("x4", x4);
  ExecutorOptions options;
  options.poison = true;
  auto executor = load(b.finish(), options);
  ASSERT_TRUE(executor);
  std::vector<float> data = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE(executor->run(0, {in(data)}, {out(y)}).ok());
  EXPECT_EQ(y, (std::vector<float>{4, 8, 12, 16}));
  for (int32_t value : {x, x2}) {
    float first;
    std::memcpy(&first, executor->valueData(0, value), 4);
    EXPECT_TRUE(std::isnan(first)) << value;
  }
}

TEST(Executor, HighestTouchedByte) {
  Program program = makeProgram();
  auto executor = load(program);
  ASSERT_TRUE(executor);
  executor->initializeState(0);
  std::vector<float> x = {1, 2, 3, 4};
  // The last buffer is the second result of the first call: state was first.
  const EntryPoint &entry = program.entries[0];
  const EntryValue &last = entry.values[entry.instructions[0].results[1]];
  int64_t end = last.offset + last.type.numBytes();
  for (std::byte mark : {std::byte(0xFF), std::byte(0x5A)}) {
    executor->markArena(mark);
    EXPECT_EQ(executor->highestTouchedByte(mark), 16) << "state alone";
    ASSERT_TRUE(executor->run(0, {in(x)}).ok());
    EXPECT_EQ(executor->highestTouchedByte(mark), end);
  }
}

TEST(Executor, KernelErrorNamesTheInstruction) {
  ProgramBuilder b;
  FunctionBuilder f("checked", {f32({2})});
  int32_t y = f.op("add", {0, 0}, f32({2}));
  int32_t checked = b.addFunction(f.finish({f.op("fail", {y}, f32({2}))}));
  b.beginEntry("eval");
  int32_t x = b.input("x", f32({2}));
  b.output("y", b.call(checked, {x}, "B", "layer = 3")[0]);
  auto executor = load(b.finish());
  ASSERT_TRUE(executor);
  std::vector<float> data = {-1, 0};
  Status status = executor->run(0, {in(data)});
  EXPECT_EQ(status.str(),
            "expects 0 or more but got -2.000000\n"
            "  note: in kernel 1 ('fail') of instruction 0 ('checked', "
            "layer = 3, B) of entry point 'eval'");
}

TEST(Executor, KernelThatCannotBeMade) {
  ProgramBuilder b;
  FunctionBuilder f("sum", {f64({2})});
  b.addFunction(f.finish({f.op("add", {0, 0}, f64({2}))}));
  b.allocate(b.program.functions[0].workspaceBytes);
  Result<std::unique_ptr<Executor>> executor = Executor::create(b.finish());
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.takeStatus().str(),
            "'add' expects f32 but got tensor<2xf64>\n"
            "  note: while making step 0 ('add') of function 'sum'");
}

TEST(Executor, BuffersOfTheWrongSize) {
  auto executor = load(makeProgram());
  ASSERT_TRUE(executor);
  std::vector<float> three(3), four(4);
  EXPECT_EQ(executor->run(1, {}).message(), "there is no entry point number 1");
  EXPECT_EQ(executor->run(0, {}).message(),
            "entry point 'train' expects 1 inputs but got 0");
  EXPECT_EQ(executor->run(0, {in(three)}).message(),
            "input 'x' of entry point 'train' expects 16 bytes but got 12");
  EXPECT_EQ(executor->run(0, {in(four)}, {out(four)}).message(),
            "entry point 'train' expects 3 outputs but got 1");
  EXPECT_EQ(executor->run(0, {in(four)}, {out(three), out(four), out(four)})
                .message(),
            "output 'y' of entry point 'train' expects 16 bytes but got 12");
}

TEST(Executor, ArenaLargerThanTheMachine) {
  Program program;
  program.arenaBytes = int64_t(1) << 60;
  Result<std::unique_ptr<Executor>> executor = Executor::create(program);
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.takeStatus().message().rfind(
                "the program needs an arena of 1152921504606846976 bytes but "
                "this machine has ",
                0),
            0u);
}

TEST(Executor, TimesOfInstructions) {
  ExecutorOptions options;
  options.timing = true;
  auto executor = load(makeProgram(), options);
  ASSERT_TRUE(executor);
  std::vector<float> x(4);
  ASSERT_TRUE(executor->run(0, {in(x)}).ok());
  ASSERT_EQ(executor->times(0).size(), 1u);
  const std::vector<TaskTime> &times = executor->times(0)[0];
  ASSERT_EQ(times.size(), 2u);
  EXPECT_GT(times[0].begin, 0);
  EXPECT_LE(times[0].begin, times[0].end);
  EXPECT_LE(times[0].end, times[1].begin);
  EXPECT_TRUE(load(makeProgram())->times(0).empty());
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

TEST(Executor, InitialValues) {
  ProgramBuilder b;
  using Kind = StateTensor::Kind;
  using Init = StateTensor::Init;
  b.addState("n32", f32({5}), Kind::Parameter, Init::Normal, 0.5);
  b.addState("n64", f64({5}), Kind::Parameter, Init::Normal, 0.5);
  b.addState("n16", {ElementType::BF16, {5}}, Kind::Parameter, Init::Normal, 2);
  b.addState("ones", i32({3}), Kind::Parameter, Init::Ones);
  b.addState("data", {ElementType::I1, {3}}, Kind::Parameter, Init::Data);
  b.program.state.back().data = {1, 0, 1};
  b.addCounter("seed");
  b.addCounter("update");
  Program program = b.finish();
  auto executor = load(program);
  ASSERT_TRUE(executor);
  executor->initializeState(-9);
  EXPECT_EQ(executor->counter("seed", 0), -9);
  EXPECT_EQ(executor->counter("update", 7), 0);
  EXPECT_EQ(executor->counter("iteration", 7), 7) << "there is none";
  EXPECT_EQ(executor->counter("ones", 7), 7) << "no counter";

  for (int64_t i = 0; i < 5; ++i) {
    double pair[2];
    normalPair(initStream(-9, "n32"), i / 2, pair);
    EXPECT_EQ(reinterpret_cast<const float *>(executor->stateData(0))[i],
              float(0.5 * pair[i % 2]));
    normalPair(initStream(-9, "n64"), i / 2, pair);
    EXPECT_EQ(reinterpret_cast<const double *>(executor->stateData(1))[i],
              double(float(0.5 * pair[i % 2])));
    normalPair(initStream(-9, "n16"), i / 2, pair);
    uint32_t bits =
        uint32_t(reinterpret_cast<const uint16_t *>(executor->stateData(2))[i])
        << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    // Nearest of bf16's 8 bits.
    EXPECT_LE(std::abs(value - 2 * pair[i % 2]),
              std::abs(2 * pair[i % 2]) / 256);
  }
  auto *ones = reinterpret_cast<const int32_t *>(executor->stateData(3));
  EXPECT_EQ(std::vector<int32_t>(ones, ones + 3), std::vector<int32_t>(3, 1));
  EXPECT_EQ(executor->stateData(4)[0], std::byte(1));
  EXPECT_EQ(executor->stateData(4)[1], std::byte(0));
}

// Another name or seed gives other numbers, other tensors around it do not.
TEST(Executor, InitialValuesDependOnNameAndSeedOnly) {
  auto values = [](const std::string &name, int64_t seed, bool first) {
    ProgramBuilder b;
    if (first)
      b.addState("other", f32({100}));
    b.addState(name, f32({2}), StateTensor::Kind::Parameter,
               StateTensor::Init::Normal, 1);
    auto executor = load(b.finish());
    executor->initializeState(seed);
    auto *data =
        reinterpret_cast<const float *>(executor->stateData(first ? 1 : 0));
    return std::vector<float>(data, data + 2);
  };
  EXPECT_EQ(values("w", 1, false), values("w", 1, true));
  EXPECT_NE(values("w", 1, false), values("v", 1, false));
  EXPECT_NE(values("w", 1, false), values("w", 2, false));
}

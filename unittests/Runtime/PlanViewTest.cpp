// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan of several programs looks like from outside: state under one
// name, inputs of the whole batch, outputs of whoever has them.

#include "Piper/Runtime/Executor.h"

#include "Piper/Runtime/CheckProgram.h"
#include "PlanBuilder.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::test;

static std::unique_ptr<Executor> load(const Plan &plan,
                                      const ExecutorOptions &options = {}) {
  auto executor = Executor::create(plan, options);
  if (executor.ok())
    return std::move(*executor);
  ADD_FAILURE() << executor.takeStatus().str();
  return nullptr;
}

/// Without findPlanProblem: the errors of the view itself.
static std::string errorOf(const Plan &plan) {
  ExecutorOptions options;
  options.checkPlan = false;
  auto executor = Executor::create(plan, options);
  return executor.ok() ? "success" : executor.takeStatus().str();
}

/// Rank 0 holds "a", rank 1 "b", both "tied", of which rank 0 has the gradient.
/// Outputs: "y" of both ranks, "z" of rank 1.
static Plan makePlan() {
  PlanBuilder b(2);
  b.state({0}, "a", f32({4}));
  b.state({0, 1}, "tied", f32({4}));
  b.state({1}, "b", f32({2}));
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0, 1}, "f", {}, {"x"}, {{"y", f32({4})}});
  b.task({1}, "g", {}, {"y"}, {{"z", f32({4})}});
  b.output(0, "y");
  b.output(1, "z");
  b.output(1, "y");
  b.end();
  Plan plan = b.finish();
  EntryPoint &entry = plan.programs[0].entries[0];
  entry.gradients.push_back({"tied", entry.outputs[0].value, {}});
  plan.name = "file.mlir";
  return plan;
}

TEST(PlanView, UnionOfStateInputsAndOutputs) {
  Plan plan = makePlan();
  auto executor = load(plan);
  ASSERT_TRUE(executor);
  const Program &view = executor->program();
  EXPECT_EQ(view.name, "file.mlir");
  ASSERT_EQ(view.state.size(), 3u);
  EXPECT_EQ(view.state[0].name, "a");
  EXPECT_EQ(view.state[1].name, "tied");
  EXPECT_EQ(view.state[2].name, "b");
  EXPECT_EQ(executor->stateHolders(1), (std::vector<int>{0, 1}));
  EXPECT_EQ(executor->stateHolders(2), std::vector<int>{1});
  EXPECT_EQ(executor->stateData(0, 1), nullptr);
  ASSERT_EQ(view.entries.size(), 1u);
  const EntryPoint &entry = view.entries[0];
  EXPECT_TRUE(entry.instructions.empty());
  ASSERT_EQ(entry.inputs.size(), 1u);
  ASSERT_EQ(entry.outputs.size(), 2u);
  EXPECT_EQ(entry.outputs[0].name, "y");
  EXPECT_EQ(entry.outputs[1].name, "z");
  ASSERT_EQ(entry.gradients.size(), 1u);

  std::vector<float> x = {1, 2, 3, 4}, y(4), z(4);
  ASSERT_TRUE(
      executor->run(0, {{x.data(), 16}}, {{y.data(), 16}, {z.data(), 16}})
          .ok());
  EXPECT_EQ(y, (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(z, (std::vector<float>{4, 8, 12, 16}));
  for (const Binding &gradient : entry.gradients)
    EXPECT_EQ(std::memcmp(executor->valueData(0, gradient.value), y.data(), 16),
              0);
}

// Interleaved stages: rank 0 holds and updates the first and third parameter.
TEST(PlanView, StateInTheOrderOfItsUpdates) {
  PlanBuilder b(2);
  b.state({0}, "p0", f32({4}));
  b.state({0}, "frozen", f32({4}));
  b.state({0}, "p2", f32({4}));
  b.state({1}, "p1", f32({4}));
  b.state({1}, "p3", f32({4}));
  b.begin("train");
  b.input("x", f32({4}));
  for (int i = 0; i < 4; ++i) {
    std::string name = "p" + std::to_string(i);
    b.task({i % 2}, "update", {"U"}, {name, "x"},
           {{name + "'", f32({4}), name}});
  }
  b.output(0, "x");
  b.end();
  Plan plan = b.finish();
  for (int i = 0; i < 4; ++i) {
    EntryPoint &entry = plan.programs[i % 2].entries[0];
    entry.gradients.push_back(
        {"p" + std::to_string(i), entry.instructions[i / 2].results[0], {}});
  }
  auto executor = load(plan);
  ASSERT_TRUE(executor);
  std::string names;
  for (const StateTensor &tensor : executor->program().state)
    names += tensor.name + " ";
  EXPECT_EQ(names, "p0 p1 p2 p3 frozen ");
  names = "";
  for (const Binding &gradient : executor->entry(0).gradients)
    names += gradient.name + " ";
  EXPECT_EQ(names, "p0 p1 p2 p3 ");
}

// Tensors of one name start and stay equal, whoever holds them.
TEST(PlanView, StateIsSharedByName) {
  Plan plan = makePlan();
  for (Program &program : plan.programs)
    for (StateTensor &tensor : program.state) {
      tensor.init = StateTensor::Init::Normal;
      tensor.scale = 1;
    }
  auto executor = load(plan);
  ASSERT_TRUE(executor);
  executor->initializeState(5);
  auto bits = [&](int state, int rank) {
    std::vector<float> values(
        executor->program().state[state].type.numElements());
    std::memcpy(values.data(), executor->stateData(state, rank),
                values.size() * 4);
    return values;
  };
  EXPECT_EQ(bits(1, 0), bits(1, 1));
  EXPECT_NE(bits(1, 0), std::vector<float>(4));
  EXPECT_NE(bits(1, 0), bits(0, 0));
  // As in a program that holds it alone.
  ProgramBuilder b;
  b.addState("tied", f32({4}), StateTensor::Kind::Parameter,
             StateTensor::Init::Normal, 1);
  Plan one;
  one.programs = {b.finish()};
  auto alone = load(one);
  ASSERT_TRUE(alone);
  alone->initializeState(5);
  EXPECT_EQ(std::memcmp(alone->stateData(0), executor->stateData(1, 1), 16), 0);

  std::vector<float> written = {1, 2, 3, 4};
  std::memcpy(executor->stateData(1), written.data(), 16);
  executor->shareState(1);
  EXPECT_EQ(bits(1, 1), written);
}

TEST(PlanView, ProgramsThatDisagree) {
  Plan plan = makePlan();
  plan.programs[1].state[0].trainable = false;
  EXPECT_EQ(errorOf(plan),
            "state 'tied' of rank 1 (tensor<4xf32>) differs from that of rank "
            "0 (tensor<4xf32>)");
  plan = makePlan();
  plan.programs[1].entries[0].name = "eval";
  EXPECT_EQ(errorOf(plan), "rank 1 does not have the entry points of rank 0");
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({4}));
  b.end();
  plan = b.finish();
  plan.programs[1].entries[0].values[0].type = f32({2, 2});
  EXPECT_EQ(errorOf(plan),
            "input 'x' of entry point 'train' is tensor<2x2xf32> on rank 1 but "
            "tensor<4xf32> on an earlier one");
}

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

/// y = 2 x + the first micro-batch of x, for x [3, 4] of two micro-batches
/// along `split`.
static Program makeSplit(int32_t split) {
  TensorType part = split == 0 ? f32({1, 4}) : f32({3, 2});
  std::vector<int64_t> shape = {split == 0 ? 3 : 2};
  shape.insert(shape.end(), part.shape.begin(), part.shape.end());
  ProgramBuilder b;
  FunctionBuilder f("add", {part, part});
  int32_t add = b.addFunction(f.finish({f.op("add", {0, 1}, part)}));
  b.beginEntry("train");
  int32_t x = b.input("x", f32(shape), {"rows", "columns"});
  b.entry().inputs[0].split = split;
  for (int64_t m = 0; m < shape[0]; ++m) {
    int32_t view =
        b.addValue(part, b.entry().values[x].offset + m * part.numBytes());
    b.entry().values[view].viewOf = x;
    int32_t first = m == 0 ? view : view - 2 * int32_t(m);
    b.output("y" + std::to_string(m), b.call(add, {view, first})[0]);
  }
  return b.finish();
}

TEST(PlanView, WholeBatchesAreCutIntoMicroBatches) {
  std::vector<float> x;
  for (int i = 0; i < 12; ++i)
    x.push_back(float(i * i));
  for (int32_t split : {0, 1}) {
    Plan plan;
    plan.programs = {makeSplit(split)};
    ExecutorOptions options;
    options.poison = true;
    auto executor = load(plan, options);
    ASSERT_TRUE(executor);
    const EntryPoint &entry = executor->entry(0);
    EXPECT_EQ(entry.values[entry.inputs[0].value].type, f32({3, 4}));
    EXPECT_EQ(entry.inputs[0].dims.size(), 2u);
    ASSERT_TRUE(executor->run(0, {{x.data(), 48}}).ok());
    for (size_t m = 0; m < entry.outputs.size(); ++m) {
      int64_t value = entry.outputs[m].value;
      const TensorType &type = entry.values[value].type;
      std::vector<float> y(type.numElements());
      std::memcpy(y.data(), executor->valueData(0, int(value)), y.size() * 4);
      for (int64_t i = 0; i < type.shape[0]; ++i)
        for (int64_t j = 0; j < type.shape[1]; ++j) {
          // The element of x in micro-batch m, and in the first one.
          float mine = split == 0 ? x[m * 4 + j] : x[i * 4 + 2 * m + j];
          float first = split == 0 ? x[j] : x[i * 4 + j];
          EXPECT_EQ(y[i * type.shape[1] + j], mine + first)
              << split << ", " << m << ", " << i << ", " << j;
        }
    }
  }
}

/// Expects the error `message` once `change` has been made.
static void expectSplitError(void (*change)(EntryPoint &),
                             const std::string &message) {
  Program program = makeSplit(1);
  ASSERT_TRUE(checkProgram(program).ok());
  change(program.entries[0]);
  Status status = checkProgram(program);
  EXPECT_EQ(status.ok() ? "success" : status.message(), message);
}

TEST(PlanView, MicroBatchesThatAreWrong) {
  expectSplitError([](EntryPoint &e) { e.inputs[0].split = 2; },
                   "input 'x' of entry point 'train', dimension cut into "
                   "micro-batches: expects an index from 0 to 1 but got 2");
  expectSplitError([](EntryPoint &e) { e.inputs[0].dims.pop_back(); },
                   "input 'x' of entry point 'train', dimensions: expects 2 "
                   "but got 1");
  expectSplitError([](EntryPoint &e) { e.values[1].viewOf = 2; },
                   "value 1 of entry point 'train' is a part of value 2, which "
                   "is no input");
  expectSplitError([](EntryPoint &e) { e.values[3].offset += 4; },
                   "value 3 of entry point 'train' in input value 0: 24 bytes "
                   "at offset 28 do not fit into 48");
  expectSplitError([](EntryPoint &e) { e.values[0].viewOf = 0; },
                   "value 0 of entry point 'train' is a part of an input but "
                   "also another input or state");
  expectSplitError(
      [](EntryPoint &e) {
        e.values[2].viewOf = 0;
        e.values[2].offset = 0;
      },
      "instruction 0 ('add', F) of entry point 'train' makes value 2 a second "
      "time");
}

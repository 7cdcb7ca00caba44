// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and reductions of small plans by hand: sums, what happens without
// waits, failure of one rank, ranks that wait for each other for ever.

#include "Piper/Runtime/Executor.h"

#include "PlanBuilder.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <pthread.h>

using namespace piper::rt;
using namespace piper::rt::test;
using Kind = Instruction::Kind;

static std::unique_ptr<Executor> load(const Plan &plan,
                                      const ExecutorOptions &options = {}) {
  auto executor = Executor::create(plan, options);
  if (executor.ok())
    return std::move(*executor);
  ADD_FAILURE() << executor.takeStatus().str();
  return nullptr;
}

static std::string errorOf(const Plan &plan,
                           const ExecutorOptions &options = {}) {
  auto executor = Executor::create(plan, options);
  return executor.ok() ? "success" : executor.takeStatus().str();
}

static Status run(Executor &executor, const std::vector<float> &x,
                  std::vector<float> &y) {
  return executor.run(0, {{x.data(), int64_t(x.size() * 4)}},
                      {MutableBytes{y.data(), int64_t(y.size() * 4)}});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Three ranks with state "a" of `type`; "y" is the sum of these terms on all
/// ranks, or in the place of "a" on rank 2.
static Plan makeReduction(const TensorType &type, std::vector<int32_t> terms,
                          bool inPlace = false) {
  Plan plan;
  for (int32_t rank = 0; rank < 3; ++rank) {
    ProgramBuilder b;
    int32_t state = b.addState("a", type);
    b.beginEntry("train");
    Instruction reduce;
    reduce.kind = Kind::AllReduce;
    reduce.id = 0;
    reduce.terms = terms;
    reduce.members = {0, 1, 2};
    for (int32_t term : terms)
      if (term == rank)
        reduce.operands.push_back(b.stateValue(state));
    bool over = inPlace && rank == 2;
    int64_t offset =
        over ? b.program.state[0].offset : b.allocate(type.numBytes());
    int32_t y = b.addValue(type, offset);
    if (over)
      b.entry().state.push_back({y, state});
    reduce.results = {y};
    b.entry().instructions.push_back(reduce);
    b.entry().numOps = 1;
    b.output("y", y);
    plan.programs.push_back(b.finish());
    plan.programs.back().name = "p" + std::to_string(rank);
    plan.programs.back().coordinate = rank;
  }
  return plan;
}

/// Runs a reduction of `parts`, the state of each rank; the sum is the same on
/// all ranks.
template <typename T>
static std::vector<T> reduce(const Plan &plan,
                             const std::vector<std::vector<T>> &parts,
                             const ExecutorOptions &options = {}) {
  ExecutorOptions unequal = options;
  // The ranks hold different values of one state tensor: not for checkPlan.
  unequal.checkPlan = false;
  auto executor = load(plan, unequal);
  std::vector<T> sum(parts[0].size());
  if (!executor)
    return sum;
  int64_t bytes = int64_t(sum.size() * sizeof(T));
  for (int rank = 0; rank < 3; ++rank)
    std::memcpy(const_cast<std::byte *>(executor->stateData(0, rank)),
                parts[rank].data(), bytes);
  Status status = executor->run(0, {}, {MutableBytes{sum.data(), bytes}});
  EXPECT_TRUE(status.ok()) << status.str();
  for (int rank = 0; rank < 3; ++rank) {
    const Program &program = plan.programs[rank];
    const EntryValue &y =
        program.entries[0].values[program.entries[0].outputs[0].value];
    const std::byte *arena =
        executor->stateData(0, rank) - program.state[0].offset;
    EXPECT_EQ(std::memcmp(arena + y.offset, sum.data(), bytes), 0) << rank;
  }
  return sum;
}

// In f32, 1e8 + 1 is 1e8: the order of the terms is seen.
TEST(Transport, TermsAreAddedFromLeftToRight) {
  std::vector<std::vector<float>> parts = {{1}, {-1e8f}, {1e8f}};
  EXPECT_EQ(reduce(makeReduction(f32({1}), {0, 1, 2}), parts)[0], 0);
  EXPECT_EQ(reduce(makeReduction(f32({1}), {2, 0, 1}), parts)[0], 0);
  EXPECT_EQ(reduce(makeReduction(f32({1}), {1, 2, 0}), parts)[0], 1);
  EXPECT_EQ(reduce(makeReduction(f32({1}), {2, 1, 0, 0}), parts)[0], 2);
}

TEST(Transport, ElementTypesAndSizes) {
  // More elements than a block, and no multiple of one.
  constexpr int64_t kCount = 2500;
  std::vector<std::vector<double>> doubles(3);
  std::vector<std::vector<int32_t>> ints(3);
  std::vector<std::vector<int64_t>> longs(3);
  for (int64_t i = 0; i < kCount; ++i)
    for (int rank = 0; rank < 3; ++rank) {
      doubles[rank].push_back(1e-9 * double(i) + rank);
      ints[rank].push_back(int32_t(i) + 1000000000 * rank);
      longs[rank].push_back((int64_t(1) << 40) * rank + i);
    }
  for (bool inPlace : {false, true})
    for (bool poison : {false, true}) {
      ExecutorOptions options;
      options.poison = poison;
      auto sum64 = reduce(makeReduction(f64({kCount}), {0, 1, 2}, inPlace),
                          doubles, options);
      auto sumInt = reduce(makeReduction(i32({kCount}), {0, 1, 2}, inPlace),
                           ints, options);
      auto sumLong = reduce(makeReduction(i64({50, 50}), {0, 1, 2}, inPlace),
                            longs, options);
      for (int64_t i = 0; i < kCount; ++i) {
        EXPECT_EQ(sum64[i], doubles[0][i] + doubles[1][i] + doubles[2][i]);
        // 3 * i + 3e9, wrapped around.
        EXPECT_EQ(sumInt[i], int32_t(uint32_t(3 * i) + 3000000000u));
        EXPECT_EQ(sumLong[i], 3 * i + 3 * (int64_t(1) << 40));
      }
    }
}

// Of one term the bytes, whatever they are.
TEST(Transport, Broadcast) {
  std::vector<std::vector<uint16_t>> halves = {{1, 2}, {0x7FC1, 0xFF}, {3, 4}};
  TensorType brain{ElementType::BF16, {2}};
  EXPECT_EQ(reduce(makeReduction(brain, {1}), halves), halves[1]);
  EXPECT_EQ(reduce(makeReduction(brain, {2}, true), halves), halves[2]);
  std::vector<std::vector<uint8_t>> flags = {{1}, {0}, {0}};
  EXPECT_EQ(reduce(makeReduction(i1(), {0}), flags), flags[0]);
}

//===----------------------------------------------------------------------===//
// Failure
//===----------------------------------------------------------------------===//

/// Rank 0 doubles x, rank 1 doubles that, rank 2 that; y is 8 x on rank 2.
static Plan makeChain(int64_t buffering = 0) {
  PlanBuilder b(3, buffering);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "first", {}, {"x"}, {{"a", f32({4})}});
  b.transfer("a", 0, 1);
  b.task({1}, "middle", {"B", 1, 0, 0, "layer = 7"}, {"a"}, {{"b", f32({4})}});
  b.transfer("b", 1, 2);
  b.task({2}, "last", {}, {"b"}, {{"y", f32({4})}});
  b.output(2, "y");
  b.end();
  return b.finish();
}

TEST(Transport, AFailedRankEndsAllOthers) {
  for (int64_t buffering : {0, 1}) {
    Plan plan = makeChain(buffering);
    plan.programs[1].functions[0].steps[0].spec.name = "fail";
    plan.programs[1].functions[0].steps[0].spec.operands.pop_back();
    plan.programs[1].functions[0].steps[0].operands.pop_back();
    auto executor = load(plan);
    ASSERT_TRUE(executor);
    std::vector<float> y(4);
    for (int i = 0; i < 3; ++i) {
      Status status = run(*executor, {-1, 0, 0, 0}, y);
      EXPECT_EQ(
          status.str(),
          "expects 0 or more but got -2.000000\n"
          "  note: in kernel 0 ('fail') of instruction 1 ('middle', layer "
          "= 7, B) of entry point 'train', micro-batch 0\n"
          "  note: on rank 1");
      // The next step begins anew.
      status = run(*executor, {1, 2, 3, float(i)}, y);
      ASSERT_TRUE(status.ok()) << status.str();
      EXPECT_EQ(y, (std::vector<float>{4, 8, 12, 4 * float(i)}));
    }
  }
}

/// Each of two ranks computes what it sends from what it receives. For ever.
static Plan makeCycle() {
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"a", f32({4})}});
  b.task({1}, "g", {}, {"x"}, {{"c", f32({4})}});
  b.transfer("a", 0, 1);
  b.transfer("c", 1, 0);
  b.output(0, "a");
  b.end();
  Plan plan = b.finish();
  // [task, send, receive] of rank 0, [task, receive, send] of rank 1.
  for (Program &program : plan.programs) {
    auto &list = program.entries[0].instructions;
    if (list[1].kind == Kind::Send)
      std::swap(list[1], list[2]);
    std::swap(list[0], list[1]);
    list[0].waits.clear();
    list[1].waits = {0};
    list[2].waits = {1};
  }
  return plan;
}

TEST(Transport, RanksThatWaitForEachOther) {
  Plan plan = makeCycle();
  EXPECT_NE(errorOf(plan), "success");
  ExecutorOptions options;
  options.checkPlan = false;
  options.deadlineSeconds = 0.25;
  auto executor = load(plan, options);
  ASSERT_TRUE(executor);
  std::vector<float> y(4);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(run(*executor, {1, 2, 3, 4}, y).str(),
              "entry point 'train' is stuck: no instruction of any rank has "
              "ended for 0.25 seconds\n"
              "  note: rank 0: instruction 1 ('f', F) waits for instruction 0 "
              "(receive 3 from 1)\n"
              "  note: rank 0: instruction 0 (receive 3 from 1) waits for rank "
              "1\n"
              "  note: rank 1: instruction 1 ('g', F) waits for instruction 0 "
              "(receive 2 from 0)\n"
              "  note: rank 1: instruction 0 (receive 2 from 0) waits for rank "
              "0");
}

// A deadline that is shorter than any message takes. Every rank waits often.
TEST(Transport, DeadlinesAreOfRanksThatAreStuckOnly) {
  for (int64_t buffering : {0, 1})
    for (double delay : {0.0, 0.5}) {
      ExecutorOptions options;
      options.deadlineSeconds = 1e-9;
      options.delayMilliseconds = delay;
      auto executor = load(makeChain(buffering), options);
      ASSERT_TRUE(executor);
      std::vector<float> y(4);
      for (int step = 0; step < 50; ++step) {
        Status status = run(*executor, {1, 2, 3, float(step)}, y);
        ASSERT_TRUE(status.ok()) << status.str();
        EXPECT_EQ(y[3], 8 * float(step)) << step;
      }
    }
}

// Stacks that no machine has the addresses for.
TEST(Transport, ThreadsThatCannotBeStarted) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t(1) << 56), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  std::string error = errorOf(makeChain());
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&before);
  EXPECT_EQ(error.rfind("cannot start a thread for rank 0: ", 0), 0u) << error;
}

// A send that waits for room, and members of a reduction for the one that comes
// after that send.
TEST(Transport, WaitsForRoomAndMembers) {
  PlanBuilder b(3, 1);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"a", f32({4})}, {"c", f32({4})}});
  b.transfer("a", 0, 1);
  b.transfer("c", 0, 1);
  b.allReduce({{0, "x"}, {1, "x"}, {2, "x"}}, {0, 1, 2}, "sum");
  b.task({1}, "g", {}, {"sum"}, {{"y", f32({4})}});
  b.output(1, "y");
  b.end();
  Plan plan = b.finish();
  // Rank 0: f, send, send, reduce.
  plan.programs[0].entries[0].instructions[3].waits = {2};
  // Rank 1: reduce, g, receive, receive.
  auto &list = plan.programs[1].entries[0].instructions;
  std::rotate(list.begin(), list.begin() + 2, list.end());
  ASSERT_EQ(list[1].kind, Kind::Task);
  list[1].waits = {0};
  ExecutorOptions options;
  options.checkPlan = false;
  options.deadlineSeconds = 0.25;
  auto executor = load(plan, options);
  ASSERT_TRUE(executor);
  std::vector<float> y(4);
  EXPECT_EQ(run(*executor, {1, 2, 3, 4}, y).str(),
            "entry point 'train' is stuck: no instruction of any rank has "
            "ended for 0.25 seconds\n"
            "  note: rank 0: instruction 2 (send 2 to 1) waits for room to "
            "rank 1\n"
            "  note: rank 1: instruction 1 ('g', F) waits for instruction 0 "
            "(reduce 3)\n"
            "  note: rank 1: instruction 0 (reduce 3) waits for rank 0\n"
            "  note: rank 2: instruction 0 (reduce 3) waits for rank 0");
}

//===----------------------------------------------------------------------===//
// Missing waits
//===----------------------------------------------------------------------===//

// Rank 1 reads what rank 0 sends only after it has heard of the result.
TEST(Transport, AReaderThatDoesNotWaitFindsPoison) {
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"a", f32({4})}});
  b.transfer("a", 0, 1);
  b.task({1}, "g", {}, {"a"}, {{"c", f32({4})}});
  b.transfer("c", 1, 0);
  b.task({0}, "h", {}, {"c"}, {{"y", f32({4})}});
  b.output(0, "y");
  b.end();
  Plan plan = b.finish();
  auto right = load(plan);
  ASSERT_TRUE(right);
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE(run(*right, x, y).ok());
  EXPECT_EQ(y, (std::vector<float>{8, 16, 24, 32}));

  // Rank 0: f, send, receive, h; the send comes after the receive.
  auto &sender = plan.programs[0].entries[0].instructions;
  ASSERT_EQ(sender[2].kind, Kind::Receive);
  std::swap(sender[1], sender[2]);
  sender[2].waits = {1};
  sender[3].waits = {1};
  // Rank 1: receive, g, send.
  plan.programs[1].entries[0].instructions[1].waits.clear();
  EXPECT_NE(errorOf(plan), "success");
  ExecutorOptions options;
  options.checkPlan = false;
  options.poison = true;
  auto wrong = load(plan, options);
  ASSERT_TRUE(wrong);
  ASSERT_TRUE(run(*wrong, x, y).ok());
  for (float value : y)
    EXPECT_TRUE(std::isnan(value)) << value;
}

// What was sent, received or summed holds nothing once its last user has ended.
TEST(Transport, PoisonFillsWhatMessagesUsed) {
  PlanBuilder b(2);
  b.state({0, 1}, "w", f32({4}));
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"a", f32({4})}});
  b.transfer("a", 0, 1);
  b.task({0}, "g", {}, {"a"}, {{"c", f32({4})}});
  b.task({1}, "h", {}, {"a"}, {{"c", f32({4})}});
  b.allReduce({{0, "c"}, {1, "c"}}, {0, 1}, "y");
  b.output(1, "y");
  b.end();
  Plan plan = b.finish();
  ExecutorOptions options;
  options.poison = true;
  auto executor = load(plan, options);
  ASSERT_TRUE(executor);
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  for (int step = 0; step < 2; ++step) {
    ASSERT_TRUE(run(*executor, x, y).ok());
    EXPECT_EQ(y, (std::vector<float>{8, 16, 24, 32}));
    for (int rank = 0; rank < 2; ++rank) {
      const Program &program = plan.programs[rank];
      const EntryPoint &entry = program.entries[0];
      const std::byte *arena =
          executor->stateData(0, rank) - program.state[0].offset;
      for (size_t v = 0; v < entry.values.size(); ++v) {
        bool isState = int32_t(v) == entry.state[0].first;
        bool isOutput = rank == 1 && int32_t(v) == entry.outputs[0].value;
        // x of rank 1.
        bool isUnused = rank == 1 && int32_t(v) == entry.inputs[0].value;
        if (isState || isOutput || isUnused)
          continue;
        float first;
        std::memcpy(&first, arena + entry.values[v].offset, 4);
        EXPECT_TRUE(std::isnan(first)) << rank << ", " << v;
      }
    }
  }
}

// Rank 0 overwrites what it sends; rank 1 takes it only after the reduction
// that the overwriting task leads to.
TEST(Transport, AWriterThatDoesNotWaitIsSeen) {
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"a", f32({4})}});
  b.transfer("a", 0, 1);
  b.task({0}, "g", {}, {"a"}, {{"c", f32({4}), "a"}});
  b.allReduce({{0, "c"}}, {0, 1}, "sum");
  b.task({1}, "h", {}, {"a"}, {{"y", f32({4})}});
  b.output(1, "y");
  b.end();
  Plan plan = b.finish();
  auto right = load(plan);
  ASSERT_TRUE(right);
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE(run(*right, x, y).ok());
  EXPECT_EQ(y, (std::vector<float>{4, 8, 12, 16}));

  auto &sender = plan.programs[0].entries[0].instructions;
  ASSERT_EQ(sender[2].waits, std::vector<int32_t>{1});
  sender[2].waits.clear();
  // Rank 1: the reduction, then the receive.
  auto &receiver = plan.programs[1].entries[0].instructions;
  ASSERT_EQ(receiver[1].kind, Kind::AllReduce);
  std::swap(receiver[0], receiver[1]);
  receiver[1].waits = {0};
  receiver[2].waits = {1};
  EXPECT_NE(errorOf(plan), "success");
  ExecutorOptions options;
  options.checkPlan = false;
  auto wrong = load(plan, options);
  ASSERT_TRUE(wrong);
  ASSERT_TRUE(run(*wrong, x, y).ok());
  EXPECT_EQ(y, (std::vector<float>{8, 16, 24, 32}));
}

//===----------------------------------------------------------------------===//
// Plans that do not fit together
//===----------------------------------------------------------------------===//

TEST(Transport, EndsThatDoNotMatch) {
  ExecutorOptions options;
  options.checkPlan = false;
  Plan plan = makeChain();
  plan.programs[1].entries[0].instructions[0].id = 3;
  EXPECT_EQ(errorOf(plan, options),
            "instruction 1 (send 1 to 1) of entry point 'train' of rank 0 does "
            "not fit instruction 0 (receive 3 from 0) of entry point 'train' "
            "of rank 1");
  plan = makeChain();
  plan.programs[1].entries[0].instructions[0].peer = 2;
  EXPECT_EQ(errorOf(plan, options),
            "instruction 0 (receive 1 from 2) of entry point 'train' of rank 1 "
            "has no other end");
  plan = makeChain();
  plan.programs[0].entries[0].instructions[1].peer = 7;
  EXPECT_EQ(errorOf(plan, options),
            "instruction 0 (receive 1 from 0) of entry point 'train' of rank 1 "
            "has no other end");
  plan = makeReduction(f32({2}), {0, 1});
  plan.programs[2].entries[0].instructions[0].terms = {1, 0};
  EXPECT_EQ(errorOf(plan, options),
            "instruction 0 (reduce 0) of entry point 'train' of rank 0 does "
            "not fit the other members");
  plan = makeChain(-1);
  EXPECT_EQ(errorOf(plan, options),
            "expects a buffering of 0 or more messages but got -1");
  plan = makeChain(int64_t(1) << 62);
  EXPECT_EQ(errorOf(plan, options), "success") << "one slot per message";
  plan = makeChain();
  std::swap(plan.programs[0], plan.programs[1]);
  EXPECT_EQ(errorOf(plan, options),
            "expects the program of coordinate 0 but got that of 1");
  EXPECT_EQ(errorOf(Plan(), options), "the plan has no program");
}

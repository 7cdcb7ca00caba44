// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans with wrong numbers: each is refused with a message, or runs to its end.
// None makes the ranks wait for each other for ever.

#include "Piper/Runtime/Executor.h"

#include "SchedulePlan.h"

#include <functional>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
/// The numbers of a plan that concern more than one rank or stream.
class Numbers {
public:
  explicit Numbers(Plan &plan) {
    for (Program &program : plan.programs) {
      add(program.coordinate);
      for (EntryPoint &entry : program.entries) {
        add(entry.numOps);
        for (EntryValue &value : entry.values)
          add(value.viewOf);
        for (Binding &input : entry.inputs)
          add(input.split);
        for (Instruction &op : entry.instructions)
          addInstruction(op, entry);
      }
    }
    add(plan.buffering);
  }
  void change(std::mt19937 &random) {
    changes[random() % changes.size()](random);
  }

private:
  template <typename T> void add(T &number) {
    changes.push_back([&number](std::mt19937 &random) {
      const int64_t values[] = {-1, 0, 1, 2, 1 << 30, number + 1, number - 1};
      number = T(values[random() % std::size(values)]);
    });
  }
  void add(std::vector<int32_t> &list) {
    for (int32_t &number : list)
      add(number);
    changes.push_back([&list](std::mt19937 &random) {
      if (list.empty() || random() % 2)
        list.push_back(int32_t(random() % 16));
      else
        list.erase(list.begin() + int64_t(random() % list.size()));
    });
  }
  void addInstruction(Instruction &op, EntryPoint &entry) {
    add(op.id);
    add(op.peer);
    for (auto *list :
         {&op.waits, &op.terms, &op.members, &op.on, &op.operands, &op.results})
      add(*list);
    changes.push_back([&op](std::mt19937 &random) {
      op.kind = Instruction::Kind(random() % 4);
    });
    changes.push_back([&op, &entry](std::mt19937 &random) {
      std::swap(op, entry.instructions[random() % entry.instructions.size()]);
    });
  }

  std::vector<std::function<void(std::mt19937 &)>> changes;
};
} // namespace

TEST(PlanFuzz, ChangedNumbers) {
  SchedulePlanOptions buffered;
  buffered.buffering = 1;
  const Plan originals[] = {makePlan("1f1b", 2, 1, 3),
                            makePlan("dualpipe", 2, 2, 4, buffered)};
  std::mt19937 random(11);
  int accepted = 0, refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Plan plan = originals[trial % 2];
    // Anew for each change, since a change may move a list.
    for (int change = 0; change <= trial % 3; ++change)
      Numbers(plan).change(random);
    ExecutorOptions options;
    options.poison = trial % 4 == 0;
    options.deadlineSeconds = 30;
    // A plan that is not checked as a whole is safe to load, but may be stuck.
    options.checkPlan = trial % 8 != 7;
    auto executor = Executor::create(plan, options);
    if (!executor.ok()) {
      EXPECT_NE(executor.takeStatus().message(), "");
      ++refused;
      continue;
    }
    ++accepted;
    if (!options.checkPlan)
      continue;
    std::vector<std::vector<std::byte>> storage;
    std::vector<ConstBytes> inputs;
    const EntryPoint &entry = (*executor)->entry(0);
    for (const Binding &input : entry.inputs) {
      storage.emplace_back(entry.values[input.value].type.numBytes());
      inputs.push_back({storage.back().data(), int64_t(storage.back().size())});
    }
    Status status = (*executor)->run(0, inputs);
    EXPECT_TRUE(status.ok()) << trial << ": " << status.str();
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 50);
}

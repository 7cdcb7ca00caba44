// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs with random numbers changed: each is refused with a message, or
// runs. The sanitizers see what a bound that nobody checked would do.

#include "Piper/Runtime/CheckProgram.h"
#include "TrainingTest.h"

#include <functional>
#include <limits>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
/// Every number of a program, to be changed.
class Numbers {
public:
  explicit Numbers(Program &program) {
    add(program.arenaBytes);
    add(program.target.threads);
    for (StateTensor &tensor : program.state) {
      add(tensor.type);
      add(tensor.offset);
    }
    for (Function &function : program.functions)
      add(function);
    for (EntryPoint &entry : program.entries)
      add(entry);
  }

  void change(std::mt19937 &random) {
    changes[random() % changes.size()](random);
  }

private:
  template <typename T> void add(T &number) {
    changes.push_back([&number](std::mt19937 &random) {
      const int64_t special[] = {0,
                                 1,
                                 -1,
                                 int64_t(number) + 1,
                                 int64_t(number) - 1,
                                 int64_t(number) + 64,
                                 int64_t(number) - 64,
                                 int64_t(random() % 16),
                                 64 * int64_t(random() % 64),
                                 std::numeric_limits<T>::max(),
                                 std::numeric_limits<T>::min()};
      number = T(special[random() % std::size(special)]);
    });
  }
  void add(TensorType &type) {
    for (int64_t &size : type.shape)
      add(size);
    changes.push_back([&type](std::mt19937 &random) {
      type.element = ElementType(random() % 6);
    });
  }
  void add(std::vector<int32_t> &list) {
    for (int32_t &index : list)
      add(index);
    changes.push_back(
        [&list](std::mt19937 &random) { list.resize(random() % 4); });
  }
  void add(Function &function) {
    add(function.workspaceBytes);
    for (auto *types : {&function.operands, &function.results})
      for (TensorType &type : *types)
        add(type);
    for (FunctionValue &value : function.values) {
      add(value.type);
      add(value.index);
      add(value.offset);
      changes.push_back([&value](std::mt19937 &random) {
        value.base = FunctionValue::Base(random() % 3);
      });
    }
    for (Function::Step &step : function.steps) {
      add(step.operands);
      add(step.results);
      add(step.workspaceOffset);
      add(step.workspaceBytes);
      for (auto *types : {&step.spec.operands, &step.spec.results})
        for (TensorType &type : *types)
          add(type);
    }
  }
  void add(EntryPoint &entry) {
    add(entry.peakBytes);
    add(entry.peakInstruction);
    for (EntryValue &value : entry.values) {
      add(value.type);
      add(value.offset);
    }
    for (auto *bindings : {&entry.inputs, &entry.outputs, &entry.gradients})
      for (Binding &binding : *bindings)
        add(binding.value);
    for (auto &[value, state] : entry.state) {
      add(value);
      add(state);
    }
    for (Instruction &call : entry.instructions) {
      add(call.function);
      add(call.operands);
      add(call.results);
      add(call.workspaceOffset);
    }
  }

  std::vector<std::function<void(std::mt19937 &)>> changes;
};
} // namespace

/// Runs every entry point on zeros. A kernel may refuse them.
static void runAll(Executor &executor) {
  for (size_t e = 0; e < executor.program().entries.size(); ++e) {
    const EntryPoint &entry = executor.entry(int(e));
    std::vector<std::vector<std::byte>> storage;
    std::vector<ConstBytes> inputs;
    for (const Binding &input : entry.inputs) {
      storage.emplace_back(entry.values[input.value].type.numBytes());
      inputs.push_back({storage.back().data(), int64_t(storage.back().size())});
    }
    (void)executor.run(int(e), inputs).ok();
  }
}

TEST(ProgramFuzz, ChangedNumbers) {
  const Program originals[] = {makeRegression(2, 3, 2), makeBigram(1, 2, 4)};
  std::mt19937 random(7);
  int accepted = 0, refused = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    Program program = originals[trial % 2];
    // Anew for each change, since a change may move a list.
    for (int change = 0; change <= trial % 3; ++change)
      Numbers(program).change(random);
    // Not to spend the time on large arenas or many threads.
    program.arenaBytes = std::min<int64_t>(program.arenaBytes, 1 << 20);
    program.target.threads = std::min(program.target.threads, 2);
    ExecutorOptions options;
    options.poison = trial % 4 == 0;
    auto executor = Executor::create(program, options);
    if (!executor.ok()) {
      EXPECT_NE(executor.takeStatus().message(), "");
      ++refused;
      continue;
    }
    (*executor)->initializeState(trial);
    runAll(**executor);
    ++accepted;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 100);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a Program on this machine's CPU: one arena, all addresses and kernels
// made when it is created, and then a loop that allocates nothing and looks
// nothing up.

#ifndef PIPER_RUNTIME_EXECUTOR_H
#define PIPER_RUNTIME_EXECUTOR_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace piper::rt {

struct ConstBytes {
  const void *data = nullptr;
  int64_t bytes = 0;
};
struct MutableBytes {
  void *data = nullptr;
  int64_t bytes = 0;
};

struct ExecutorOptions {
  /// Fills memory that holds nothing with NaN bytes (0xFF): before a step all
  /// that is not state, and every value after its last use. Results must not
  /// change.
  bool poison = false;
  /// Notes start and end of every instruction: see times().
  bool timing = false;
};

/// When an instruction ran, in nanoseconds of the steady clock.
struct TaskTime {
  int64_t begin = 0;
  int64_t end = 0;
};

class Executor {
public:
  /// Checks the program (checkProgram), makes its kernels and the arena. State
  /// is all zeros until initializeState() or a checkpoint is loaded.
  static Result<std::unique_ptr<Executor>>
  create(Program program, const ExecutorOptions &options = {});
  ~Executor();

  const Program &program() const;
  /// Index of the entry point `name`, or -1.
  int findEntry(const std::string &name) const;
  const EntryPoint &entry(int index) const { return program().entries[index]; }

  /// Gives every state tensor its initial values. Normal values are keyed by
  /// (seed, name, element) and rounded to f32 for every float type, so that an
  /// f64 program starts where the f32 program does. The counter "seed"
  /// becomes `seed`.
  void initializeState(int64_t seed);
  /// The bytes of state tensor `index` of the program.
  std::byte *stateData(int index);
  const std::byte *stateData(int index) const;
  /// The value of the counter `name`, or `otherwise` where there is none.
  int64_t counter(const std::string &name, int64_t otherwise) const;

  /// Runs an entry point once. `inputs` has the bytes of each input, in order;
  /// `outputs` is empty or has a place for each output (null: not wanted).
  /// An error of a kernel names the instruction. After an error the values of
  /// this run are undefined.
  Status run(int entry, const std::vector<ConstBytes> &inputs,
             const std::vector<MutableBytes> &outputs = {});

  /// The bytes of a value of the entry point that ran last. Valid for outputs
  /// and gradients, until the next run.
  const std::byte *valueData(int entry, int value) const;
  /// The instructions of the last run of the entry point. Empty without
  /// ExecutorOptions::timing.
  const std::vector<TaskTime> &times(int entry) const;

  /// Marks every byte of the arena that is not state, so that after a run
  /// highestTouchedByte() finds the end of the last byte that differs from
  /// the mark (0: none); state counts as touched. For tests of the peak.
  void markArena(std::byte mark);
  int64_t highestTouchedByte(std::byte mark) const;

private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace piper::rt

#endif // PIPER_RUNTIME_EXECUTOR_H

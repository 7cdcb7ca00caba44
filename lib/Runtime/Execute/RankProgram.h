// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of one rank with all that it needs to run: its arena, kernels of
// its own (a kernel is run by one thread at a time), and each entry point as a
// flat list of kernel calls with addresses.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_RANKPROGRAM_H
#define PIPER_LIB_RUNTIME_EXECUTE_RANKPROGRAM_H

#include "Arena.h"
#include "Check/MemoryWalk.h"
#include "Piper/Runtime/Executor.h"
#include "Piper/Runtime/Kernel.h"

namespace piper::rt {

/// What memory is filled with that holds nothing: NaN as any float type.
constexpr int kPoison = 0xFF;

/// Nanoseconds of the steady clock.
int64_t steadyNow();

/// How long this thread, with the OpenMP threads it leads, has worked, in
/// microseconds: its CPU time, or where there are several the wall time.
double workedMicroseconds(int threads);

class RankProgram {
public:
  /// Requires: checkProgram accepts the program, which outlives this.
  static Result<std::unique_ptr<RankProgram>>
  create(const Program &program, const ExecutorOptions &options);

  const Program &program() const { return source; }
  std::byte *arenaData() const { return arena.data(); }
  std::byte *valueData(int entry, int value) const {
    return arena.data() + source.entries[entry].values[value].offset;
  }
  std::byte *stateData(int state) const {
    return arena.data() + source.state[state].offset;
  }

  /// Runs the kernels of a task and, in poison mode, fills what nobody but
  /// tasks used. Requires: the calling thread has the threads of the target.
  Status runTask(int entry, int instruction);

  /// What messages and reductions use: poison mode only.
  const std::vector<SharedRelease> &sharedReleases(int entry) const {
    return entries[entry].releases.shared;
  }
  void poison(ArenaRange range);

  void markArena(std::byte mark);
  int64_t highestTouchedByte(std::byte mark) const;

private:
  /// One kernel call with its addresses, or (kernel == null) a copy of
  /// `copyBytes` bytes; a view in its place copies none.
  struct Call {
    const Kernel *kernel = nullptr;
    KernelCall arguments;
    int64_t copyBytes = 0;
    int32_t step = 0;
  };

  /// What one instruction runs: calls begin .. end - 1.
  struct Task {
    int64_t begin = 0;
    int64_t end = 0;
  };

  /// An entry point with everything resolved.
  struct CompiledEntry {
    std::vector<Call> calls;
    std::vector<Task> tasks;
    /// Addresses of all calls, one after another.
    std::vector<void *> addresses;
    /// Poison mode.
    Releases releases;
  };

  RankProgram(const Program &program, const ExecutorOptions &options)
      : source(program), options(options) {}
  Status makeKernels();
  void compile(const EntryPoint &entry, CompiledEntry &compiled);
  void compileTask(const EntryPoint &entry, const Instruction &call,
                   CompiledEntry &compiled);
  void findGaps();
  Status fail(Status status, int entry, int instruction,
              const Call &call) const;

  const Program &source;
  ExecutorOptions options;
  Arena arena;
  /// By function and step; null for views.
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels;
  std::vector<CompiledEntry> entries;
  /// The parts of the arena that are not state, in order.
  std::vector<ArenaRange> gaps;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_RANKPROGRAM_H

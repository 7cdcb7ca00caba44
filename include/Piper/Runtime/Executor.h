// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a Plan on this machine's CPU: one arena per rank, all addresses and
// kernels made when it is created, and then a loop that allocates nothing and
// looks nothing up. Every rank has a thread of this process; a plan of one rank
// runs on the thread of the caller.

#ifndef PIPER_RUNTIME_EXECUTOR_H
#define PIPER_RUNTIME_EXECUTOR_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/SimulatePlan.h"
#include "Piper/Runtime/Status.h"
#include "Piper/Runtime/TaskCosts.h"

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

/// The device clock: what a step would take on one device per rank.
enum class DeviceClock : uint8_t {
  Off,
  /// A task takes the CPU time of its kernels (wall time where a rank has
  /// several threads), a message that of the link of `costs`.
  Measured,
  /// All takes what `costs` says.
  Costs,
};

struct ExecutorOptions {
  /// Fills memory that holds nothing with NaN bytes (0xFF): before a step all
  /// that is not state, every value once its last access has ended, and the
  /// place of a message before it comes. Results must not change.
  bool poison = false;
  /// Notes start and end of every instruction: see times().
  bool timing = false;
  DeviceClock clock = DeviceClock::Off;
  TaskCosts costs;
  /// A run in which all ranks wait for each other for so long fails and says
  /// who waits for whom. A slow kernel or a busy machine is no reason.
  double deadlineSeconds = 600;
  /// Cores of the machine; 0: those that this process may use. At most
  /// cores / threads ranks, and at least one, compute at a time.
  int cores = 0;
  /// Test: every send, receive and reduction starts late by a random time below
  /// this, which follows from the seed, the run and the instruction.
  double delayMilliseconds = 0;
  int64_t delaySeed = 0;
  /// Whether the programs must fit together (findPlanProblem). Off in tests of
  /// what happens otherwise.
  bool checkPlan = true;
};

/// When an instruction ran, in nanoseconds of the steady clock.
struct TaskTime {
  int64_t begin = 0;
  int64_t end = 0;
};

/// By rank and instruction.
using TaskTimes = std::vector<std::vector<TaskTime>>;

class Executor {
public:
  /// Checks the plan (checkProgram of each program, findPlanProblem), makes
  /// kernels and arenas. State is all zeros until initializeState() or a
  /// checkpoint is loaded.
  static Result<std::unique_ptr<Executor>>
  create(Plan plan, const ExecutorOptions &options = {});
  /// A plan of one program.
  static Result<std::unique_ptr<Executor>>
  create(Program program, const ExecutorOptions &options = {});
  ~Executor();

  const Plan &plan() const;
  int numRanks() const { return int(plan().programs.size()); }

  /// What one device would have: the program itself if it is one with uncut
  /// inputs. Else the union of all state by name, and entry points without
  /// instructions: inputs of the whole batch, outputs and gradients.
  const Program &program() const;
  /// Index of the entry point `name`, or -1.
  int findEntry(const std::string &name) const;
  const EntryPoint &entry(int index) const { return program().entries[index]; }

  /// Gives every state tensor its initial values, equal on all ranks that hold
  /// it. Normal values are keyed by (seed, name, element) and rounded to f32
  /// for every float type, so that an f64 program starts where the f32 program
  /// does. The counter "seed" becomes `seed`.
  void initializeState(int64_t seed);
  /// The bytes of state tensor `index` of program(), on the first rank that
  /// holds it.
  std::byte *stateData(int index);
  const std::byte *stateData(int index) const;
  /// Copies them to all other ranks that hold it. Requires: called after
  /// stateData(index) was written to.
  void shareState(int index);
  /// The ranks that hold state tensor `index`, ascending.
  std::vector<int> stateHolders(int index) const;
  /// Its bytes on one of them.
  const std::byte *stateData(int index, int rank) const;
  /// The value of the counter `name`, or `otherwise` where there is none.
  int64_t counter(const std::string &name, int64_t otherwise) const;

  /// Runs an entry point once, on all ranks. `inputs` has the bytes of each
  /// input of program(), in order; `outputs` is empty or has a place for each
  /// output (null: not wanted). The first error of any rank ends all of them;
  /// an error of a kernel names the instruction. After an error the values of
  /// this run are undefined.
  Status run(int entry, const std::vector<ConstBytes> &inputs,
             const std::vector<MutableBytes> &outputs = {});

  /// The bytes of a value of the entry point of program() that ran last. Valid
  /// for outputs and gradients, until the next run.
  const std::byte *valueData(int entry, int value) const;
  /// The last run of the entry point. Empty without ExecutorOptions::timing.
  const TaskTimes &times(int entry) const;
  /// The same on the device clock. Empty without ExecutorOptions::clock.
  const DeviceTimes &deviceTimes(int entry) const;
  /// The latest end of these: the device time of the step.
  double deviceStepTime(int entry) const;

  /// Marks every byte of all arenas that is not state, so that after a run
  /// highestTouchedByte() finds the end of the last byte of a rank that
  /// differs from the mark (0: none); state counts as touched. For tests of the
  /// peak.
  void markArena(std::byte mark);
  int64_t highestTouchedByte(std::byte mark, int rank = 0) const;

private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace piper::rt

#endif // PIPER_RUNTIME_EXECUTOR_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through the kernel calls and messages of an entry point in the order of
// the program and keeps, for each byte of the arena, whose it is. Finds reads
// of overwritten values, and where memory is released (for the NaN-poison
// mode).

#ifndef PIPER_LIB_RUNTIME_CHECK_MEMORYWALK_H
#define PIPER_LIB_RUNTIME_CHECK_MEMORYWALK_H

#include "ArenaMap.h"
#include "BodyFacts.h"
#include "CheckParts.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace piper::rt {

/// Bytes begin .. end - 1 of the arena.
struct ArenaRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Where value `value` of the function lies in the arena during `call`.
int64_t addressOf(const Function &function, const EntryPoint &entry,
                  const Instruction &call, int32_t value);

/// Bytes that hold nothing once several instructions, on streams of their own,
/// have ended.
struct SharedRelease {
  std::vector<ArenaRange> ranges;
  /// The last instruction of each stream that makes or reads them; -1: none.
  std::array<int32_t, kNumStreams> last = {-1, -1, -1, -1};
};

/// Where the memory of an entry point is released.
struct Releases {
  /// For each kernel call (the steps of all tasks, in order): what only tasks
  /// make and read, after the last call that does.
  std::vector<std::vector<ArenaRange>> afterCall;
  /// What messages and reductions make or read.
  std::vector<SharedRelease> shared;
};

class MemoryWalk {
public:
  /// Requires: checkEntry accepts the entry point.
  MemoryWalk(const Program &program, const EntryPoint &entry)
      : program(program), entry(entry), bodies(program.functions.size()) {}

  /// The checks of one pass over the entry point.
  Status check();

  /// Requires: check() succeeded.
  Releases releases();

  /// Index of the first state tensor that the entry point overwrites, or -1.
  /// Requires: check() succeeded.
  int64_t findChangedState() const;

private:
  /// What a kernel wrote or a caller put in: views of it share it.
  struct Content {
    ArenaRange range;
    /// Who made it; -1 before the first instruction.
    int32_t instruction = -1;
    int32_t step = -1;
    /// The last kernel call that makes or reads it, and the last instruction of
    /// each stream that does.
    int64_t lastUse = -1;
    std::array<int32_t, kNumStreams> last = {-1, -1, -1, -1};
    /// Read after the last instruction, or not ours to release.
    bool kept = false;
  };

  Status walk();
  Status start();
  Status runInstruction(int32_t index);
  Status runTask(const Instruction &call);
  Status runMessage(const Instruction &message);
  Status readValue(int32_t operand, int32_t value);
  Status runStep(const Instruction &call, const Function::Step &step);
  Status runKernel(const Function &function, const Instruction &call,
                   const Function::Step &step);
  Status runView(const Function &function, const Instruction &call,
                 const Function::Step &step, int64_t offset);
  Status finish();
  /// `valuesAt`: the values of the entry point that lie where state does, by
  /// offset.
  Status finishState(size_t state,
                     const std::multimap<int64_t, int32_t> &valuesAt);
  void release();
  void releaseShared();
  void addOwned(int32_t content, std::vector<ArenaRange> &ranges) const;
  bool isShared(const Content &content) const;
  void use(Content &content);

  int32_t newContent(ArenaRange range);
  /// Gives the bytes of value `value` of the function to new content.
  void write(const Function &function, const Instruction &call, int32_t value);
  ArenaRange rangeOf(const Function &function, const Instruction &call,
                     int32_t value) const;
  const BodyFacts &factsOf(const Instruction &call) const {
    return *bodies[call.function];
  }
  /// Who has some of the bytes that should belong to `content`, and which.
  std::optional<std::pair<int32_t, ArenaRange>>
  findOther(ArenaRange range, int32_t content) const;
  Status checkRead(ArenaRange range, int32_t content, What what) const;
  std::string describePosition() const;
  std::string describeContent(int32_t content) const;

  const Program &program;
  const EntryPoint &entry;
  /// By function, from its first call.
  std::vector<std::unique_ptr<BodyFacts>> bodies;
  ArenaMap map;
  std::vector<Content> contents;
  /// Content of each value of the entry point, and of the current function.
  std::vector<int32_t> valueContent;
  std::vector<int32_t> localContent;
  std::vector<int32_t> stateContent;
  int32_t instruction = -1;
  int32_t step = -1;
  int64_t position = -1;
  /// Set in the second pass: contents by last kernel call, and shared ones by
  /// last instruction.
  std::vector<std::vector<int32_t>> releasedAt;
  std::vector<std::vector<int32_t>> sharedAt;
  Releases released;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_MEMORYWALK_H

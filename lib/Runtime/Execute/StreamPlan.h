// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry point of all ranks as the engine runs it: instructions by stream,
// waits as counts, messages and reductions matched, with addresses.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_STREAMPLAN_H
#define PIPER_LIB_RUNTIME_EXECUTE_STREAMPLAN_H

#include "RankProgram.h"

#include <array>

namespace piper::rt {

/// So many instructions of each stream.
using StreamCounts = std::array<int32_t, kNumStreams>;

struct StreamPlan {
  /// An instruction of a rank.
  struct Op {
    int32_t rank = 0;
    int32_t instruction = 0;
  };

  /// When an instruction may start. As streams are in order, counts say all.
  struct Needs {
    Stream stream = Stream::Compute;
    /// Its place among the instructions of its stream.
    int32_t place = 0;
    /// The tasks before it in the list: started, if it is no task.
    int32_t tasksBefore = 0;
    /// The waits: so many have ended.
    StreamCounts ended = {};
    /// Index of the message or reduction.
    int32_t match = -1;
  };

  struct Message {
    Op send, receive;
    int32_t channel = 0;
    /// Its number in the channel.
    int32_t number = 0;
    const std::byte *from = nullptr;
    std::byte *to = nullptr;
    int64_t bytes = 0;
  };

  struct Reduction {
    std::vector<Op> members;
    TensorType type;
    std::vector<const std::byte *> terms;
    std::vector<std::byte *> results;
  };

  struct Rank {
    /// Index of the entry point in the program of the rank.
    int entry = 0;
    const EntryPoint *point = nullptr;
    std::vector<Needs> needs;
    /// The instructions of each stream, in order.
    std::array<std::vector<int32_t>, kNumStreams> streams;
  };

  std::vector<Rank> ranks;
  /// Those of a channel stand one after another, in order.
  std::vector<Message> messages;
  std::vector<Reduction> reductions;

  const Needs &needs(Op op) const {
    return ranks[op.rank].needs[op.instruction];
  }
};

/// The channel from one rank to another.
inline int32_t channelOf(int32_t from, int32_t to, size_t numRanks) {
  return from * int32_t(numRanks) + to;
}

/// `entries`: the index of the entry point on each rank. Fails where an end of
/// a message or a member of a reduction is missing, or they do not fit: what
/// findPlanProblem has refused before.
Result<StreamPlan>
buildStreamPlan(const std::vector<std::unique_ptr<RankProgram>> &ranks,
                const std::vector<int> &entries);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_STREAMPLAN_H

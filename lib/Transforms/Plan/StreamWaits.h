// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op of a program must wait for on other streams: the producers of its
// operands and the last users of the memory that it overwrites, without what
// follows from the rules of the streams (Runtime/Program.h) anyway.

#ifndef PIPER_LIB_TRANSFORMS_PLAN_STREAMWAITS_H
#define PIPER_LIB_TRANSFORMS_PLAN_STREAMWAITS_H

#include "Piper/Runtime/Program.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <map>
#include <vector>

namespace mlir::piper {

namespace rt = ::piper::rt;

/// For each stream the index of an op: that op and all before it on the stream.
/// -1: none.
using StreamTimes = std::array<int32_t, rt::kNumStreams>;
constexpr StreamTimes kNone = {-1, -1, -1, -1};

/// Knows for each op which others have ended when it starts. Ops are added in
/// program order.
class StreamClocks {
public:
  explicit StreamClocks(size_t numOps) : ended(numOps) {}

  /// Adds the next op, which needs that the ops of `needs` have ended. Returns
  /// the ops to wait for, ascending: no fewer would do.
  llvm::SmallVector<int32_t, 4> add(rt::Stream stream,
                                    const StreamTimes &needs);

private:
  /// What is known to have ended once the op has.
  std::vector<StreamTimes> ended;
  int32_t next = 0;
  StreamTimes lastOf = kNone;
  /// What was known when the last task started.
  StreamTimes atTaskStart = kNone;
};

/// Knows who used the bytes of an arena last. A buffer is used as a whole.
class MemoryUses {
public:
  explicit MemoryUses(size_t numBuffers) : buffers(numBuffers, kNone) {}

  /// The buffer begins in bytes `begin` .. `end` - 1: raises `needs` to the
  /// last users of all buffers that had some of these bytes.
  void take(int32_t buffer, int64_t begin, int64_t end, StreamTimes &needs);
  /// Op `op` overwrites the buffer: raises `needs` to its last users.
  void write(int32_t buffer, rt::Stream stream, int32_t op, StreamTimes &needs);
  void read(int32_t buffer, rt::Stream stream, int32_t op) {
    buffers[buffer][static_cast<int>(stream)] = op;
  }

private:
  struct Range {
    int64_t end;
    int32_t buffer;
  };
  /// The last users since the last write, which is one of them.
  std::vector<StreamTimes> buffers;
  /// Whose the bytes are, by their begin.
  std::map<int64_t, Range> owners;
};

/// Raises `times` to `other`, stream by stream.
inline void join(StreamTimes &times, const StreamTimes &other) {
  for (int stream = 0; stream < rt::kNumStreams; ++stream)
    times[stream] = std::max(times[stream], other[stream]);
}

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_PLAN_STREAMWAITS_H

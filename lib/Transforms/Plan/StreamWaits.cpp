// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks over the four streams of a program, and the users of its
// memory.

#include "StreamWaits.h"

using namespace mlir::piper;

llvm::SmallVector<int32_t, 4> StreamClocks::add(rt::Stream stream,
                                                const StreamTimes &needs) {
  int32_t op = next++;
  int own = static_cast<int>(stream);
  // (a) The ops before it on its stream have ended.
  StreamTimes known = lastOf[own] < 0 ? kNone : ended[lastOf[own]];
  // (c) The last task before it has started, so that what that one waited for
  // has ended.
  if (stream != rt::Stream::Compute)
    join(known, atTaskStart);
  // (b) From the last one to the first: an op can only know of ops before it,
  // so that none of those taken follows from one taken later.
  StreamTimes missing = needs;
  llvm::SmallVector<int32_t, 4> waits;
  while (true) {
    int latest = 0;
    for (int other = 0; other < rt::kNumStreams; ++other) {
      if (missing[other] <= known[other])
        missing[other] = -1;
      if (missing[other] > missing[latest])
        latest = other;
    }
    if (missing[latest] < 0)
      break;
    waits.insert(waits.begin(), missing[latest]);
    join(known, ended[missing[latest]]);
  }
  if (stream == rt::Stream::Compute)
    atTaskStart = known;
  known[own] = op;
  ended[op] = known;
  lastOf[own] = op;
  return waits;
}

void MemoryUses::take(int32_t buffer, int64_t begin, int64_t end,
                      StreamTimes &needs) {
  if (begin >= end)
    return;
  auto range = owners.upper_bound(begin);
  if (range != owners.begin() && std::prev(range)->second.end > begin)
    --range;
  while (range != owners.end() && range->first < end) {
    auto [first, owner] = *range;
    join(needs, buffers[owner.buffer]);
    range = owners.erase(range);
    // What lies before and behind stays.
    if (first < begin)
      owners.emplace(first, Range{begin, owner.buffer});
    if (owner.end > end)
      owners.emplace(end, owner);
  }
  owners.insert_or_assign(begin, Range{end, buffer});
}

void MemoryUses::write(int32_t buffer, rt::Stream stream, int32_t op,
                       StreamTimes &needs) {
  join(needs, buffers[buffer]);
  buffers[buffer] = kNone;
  buffers[buffer][static_cast<int>(stream)] = op;
}

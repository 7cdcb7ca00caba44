// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed buffers never overlap, and the figures are those of a count step by
// step; a pipeline is packed as well with many micro-batches as with few.

#include "Piper/Target/AssignOffsets.h"

#include "Piper/Runtime/Program.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace mlir::piper;

static int64_t roundUp(int64_t bytes) {
  constexpr int64_t kUnit = ::piper::rt::kAlignment;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

/// Checks the offsets of `buffers` pair by pair and `summary` step by step.
static void check(const std::vector<Lifetime> &buffers,
                  const OffsetsSummary &summary) {
  int64_t bytes = 0, live = 0, peakStep = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Lifetime &a = buffers[i];
    EXPECT_EQ(a.offset % ::piper::rt::kAlignment, 0);
    EXPECT_GE(a.offset, 0);
    bytes = std::max(bytes, a.offset + roundUp(a.bytes));
    for (size_t j = 0; j < i; ++j) {
      const Lifetime &b = buffers[j];
      bool together = a.begin <= b.end && b.begin <= a.end;
      bool overlap =
          a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      ASSERT_FALSE(together && overlap && a.bytes > 0 && b.bytes > 0)
          << "buffers " << j << " and " << i;
    }
  }
  for (int64_t step = -1; step < 200; ++step) {
    int64_t sum = 0;
    for (const Lifetime &buffer : buffers)
      if (buffer.begin <= step && step <= buffer.end)
        sum += roundUp(buffer.bytes);
    if (sum > live) {
      live = sum;
      peakStep = step;
    }
  }
  EXPECT_EQ(summary.bytes, bytes);
  EXPECT_EQ(summary.live, live);
  EXPECT_EQ(summary.peakStep, peakStep);
}

TEST(AssignOffsets, NothingOverlaps) {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    std::vector<Lifetime> buffers(random() % 60);
    for (Lifetime &buffer : buffers) {
      buffer.begin = int64_t(random() % 150) - 1;
      bool isLong = random() % 8 == 0;
      buffer.end = std::min<int64_t>(
          buffer.begin + int64_t(random() % (isLong ? 150 : 6)), 199);
      buffer.bytes = random() % 5 * (1 + random() % 300);
    }
    OffsetsSummary summary = assignOffsets(buffers);
    check(buffers, summary);
  }
}

TEST(AssignOffsets, EqualBuffersNeedNoMoreThanAreAlive) {
  // In flight: one more for each of 8 steps, then one out, one in.
  std::vector<Lifetime> buffers;
  for (int64_t step = 0; step < 100; ++step)
    buffers.push_back({step, step + 7, 100, 0});
  OffsetsSummary summary = assignOffsets(buffers);
  check(buffers, summary);
  EXPECT_EQ(summary.live, 8 * 128);
  EXPECT_EQ(summary.bytes, summary.live);
}

/// What a stage of 8 keeps for each of `count` micro-batches: an activation and
/// smaller things that live as long or for a step, and messages.
static std::vector<Lifetime> makeStage(int64_t count) {
  std::vector<Lifetime> buffers;
  for (int64_t mb = 0; mb < count; ++mb) {
    int64_t at = 3 * mb;
    buffers.push_back({at, at + 24, 4000, 0});
    buffers.push_back({at, at + 23, 600 + mb % 3 * 64, 0});
    buffers.push_back({at + 1, at + 1, 2000, 0});
    buffers.push_back({at + 1, at + 4, 900, 0});
    buffers.push_back({at + 20, at + 26, 1500, 0});
  }
  return buffers;
}

TEST(AssignOffsets, LongStepsArePackedLikeShortOnes) {
  std::vector<Lifetime> small = makeStage(30), large = makeStage(1500);
  OffsetsSummary few = assignOffsets(small), many = assignOffsets(large);
  check(small, few);
  EXPECT_EQ(many.live, few.live);
  EXPECT_LE(few.bytes, few.live + few.live / 8);
  EXPECT_EQ(many.bytes, few.bytes);
}

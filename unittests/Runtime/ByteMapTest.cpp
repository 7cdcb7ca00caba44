// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map of an arena against an array with one value for each byte.

#include "Check/ByteMap.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace piper::rt;

namespace {
constexpr int64_t kBytes = 40;

/// What the map says of each byte, from visits of the whole arena.
std::vector<int> listBytes(const ByteMap<int> &map) {
  std::vector<int> values(kBytes);
  int64_t reached = 0;
  map.visit(0, kBytes, [&](int64_t begin, int64_t end, int value) {
    EXPECT_EQ(begin, reached);
    EXPECT_LT(begin, end);
    for (int64_t byte = begin; byte < end; ++byte)
      values[byte] = value;
    reached = end;
  });
  EXPECT_EQ(reached, kBytes);
  return values;
}
} // namespace

TEST(ByteMap, LikeAnArrayOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    ByteMap<int> map(-1);
    std::vector<int> expected(kBytes, -1);
    for (int change = 1; change <= 40; ++change) {
      int64_t begin = random() % kBytes, end = random() % (kBytes + 1);
      bool assigns = random() % 2;
      if (assigns)
        map.assign(begin, end, change);
      else
        map.update(begin, end, [&](int &value) { value += 100; });
      for (int64_t byte = begin; byte < end; ++byte)
        expected[byte] = assigns ? change : expected[byte] + 100;
      ASSERT_EQ(listBytes(map), expected) << "change " << change;
    }
    map.clear();
    EXPECT_EQ(listBytes(map), std::vector<int>(kBytes, -1));
  }
}

TEST(ByteMap, VisitsNothingButTheRange) {
  ByteMap<int> map;
  map.assign(10, 20, 1);
  map.assign(15, 30, 2);
  std::vector<std::vector<int64_t>> pieces;
  auto list = [&](int64_t begin, int64_t end, int value) {
    pieces.push_back({begin, end, value});
  };
  map.visit(12, 32, list);
  EXPECT_EQ(pieces, (std::vector<std::vector<int64_t>>{
                        {12, 15, 1}, {15, 30, 2}, {30, 32, 0}}));
  pieces.clear();
  map.visit(12, 12, list);
  map.visit(13, 12, list);
  EXPECT_TRUE(pieces.empty());
}

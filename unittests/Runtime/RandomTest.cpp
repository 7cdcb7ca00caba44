// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers: known answers of Philox4x32-10, independence of how they are
// asked for, and moments.

#include "Piper/Runtime/Random.h"

#include "gtest/gtest.h"

#include <set>
#include <vector>

using namespace piper::rt;

static std::vector<uint32_t> words(RandomBlock block) {
  return {block.word, block.word + 4};
}

// The three vectors published with the generator (Random123, kat_vectors).
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(
      words(philox({{0, 0, 0, 0}}, 0, 0)),
      (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(
      words(philox({{ones, ones, ones, ones}}, ones, ones)),
      (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      words(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                   0xa4093822, 0x299f31d0)),
      (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, WordsAreThoseOfSingleElements) {
  RandomStream stream = dropoutStream(7, 3, 11, 2);
  // Across the 32-bit boundary of the block number.
  uint64_t first = (uint64_t(1) << 34) - 32;
  uint32_t batch[kRandomBatch];
  randomWords(stream, first, batch);
  for (int i = 0; i < kRandomBatch; ++i)
    EXPECT_EQ(batch[i], randomWord(stream, first + i)) << i;
}

TEST(Random, EveryPartOfTheKeyMatters) {
  std::set<uint32_t> first;
  for (int64_t seed : {0, 1})
    for (int64_t update : {0, 1})
      for (int64_t salt : {0, 1})
        for (int64_t index : {0, 1})
          first.insert(randomWord(dropoutStream(seed, update, salt, index), 0));
  first.insert(randomWord(initStream(0, "wte"), 0));
  first.insert(randomWord(initStream(0, "wpe"), 0));
  first.insert(randomWord(initStream(1, "wte"), 0));
  EXPECT_EQ(first.size(), 19u);
}

TEST(Random, DropoutThreshold) {
  EXPECT_EQ(dropoutThreshold(0), 0u);
  EXPECT_EQ(dropoutThreshold(0.5), 0x80000000u);
  EXPECT_EQ(dropoutThreshold(0.25), 0x40000000u);
  EXPECT_EQ(dropoutThreshold(1 - 1e-12), 0xFFFFFFFFu);
  RandomStream stream = dropoutStream(1, 0, 0, 0);
  int dropped = 0, count = 100000;
  for (int i = 0; i < count; ++i)
    dropped += randomWord(stream, i) < dropoutThreshold(0.1);
  // Standard deviation of the binomial: sqrt(n p (1 - p)) = 95.
  EXPECT_NEAR(dropped, 10000, 5 * 95);
}

// FNV-1a of "" and "a" as published with the function.
TEST(Random, NameHash) {
  EXPECT_EQ(nameHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(nameHash("a"), 0xaf63dc4c8601ec8cu);
}

TEST(Random, NormalMoments) {
  RandomStream stream = initStream(42, "w");
  int pairs = 100000;
  double moments[5] = {};
  for (int i = 0; i < pairs; ++i) {
    double x[2];
    normalPair(stream, i, x);
    for (double value : x)
      for (int k = 1; k <= 4; ++k)
        moments[k] += std::pow(value, k) / (2 * pairs);
  }
  // Exact: 0, 1, 0, 3; standard errors sqrt({1, 2, 15, 96} / 200000).
  EXPECT_NEAR(moments[1], 0, 5 * 0.0023);
  EXPECT_NEAR(moments[2], 1, 5 * 0.0032);
  EXPECT_NEAR(moments[3], 0, 5 * 0.0087);
  EXPECT_NEAR(moments[4], 3, 5 * 0.0220);
}

// The definition, written out from the words of the block.
TEST(Random, NormalIsBoxMuller) {
  RandomStream stream = initStream(5, "layer.weight");
  RandomBlock b = randomBlock(stream, 9);
  double u = double((uint64_t(b.word[0]) << 21) | (b.word[1] >> 11)) /
             9007199254740992.0;
  double v = double((uint64_t(b.word[2]) << 21) | (b.word[3] >> 11)) /
             9007199254740992.0;
  double x[2];
  normalPair(stream, 9, x);
  EXPECT_DOUBLE_EQ(x[0] * x[0] + x[1] * x[1], -2 * std::log(1 - u));
  EXPECT_NEAR(std::atan2(x[1], x[0]), 2 * M_PI * v - (v > 0.5 ? 2 * M_PI : 0),
              1e-12);
}

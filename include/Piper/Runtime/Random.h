// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). A number is a pure
// function of what it is for, so it does not depend on threads, ranks or order.

#ifndef PIPER_RUNTIME_RANDOM_H
#define PIPER_RUNTIME_RANDOM_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace piper::rt {

// Everything here is `static inline`: kernel files are compiled for several
// instruction sets, and a shared copy would be one of them, chosen by chance.

/// 128 bits: the output of one Philox call.
struct RandomBlock {
  uint32_t word[4];
};

namespace detail {
constexpr uint32_t kPhiloxM0 = 0xD2511F53, kPhiloxM1 = 0xCD9E8D57;
constexpr uint32_t kPhiloxW0 = 0x9E3779B9, kPhiloxW1 = 0xBB67AE85;
constexpr int kPhiloxRounds = 10;
} // namespace detail

/// Philox4x32-10 of `counter` under `key`.
static inline RandomBlock philox(RandomBlock counter, uint32_t key0,
                                 uint32_t key1) {
  for (int round = 0; round < detail::kPhiloxRounds; ++round) {
    uint64_t a = uint64_t(detail::kPhiloxM0) * counter.word[0];
    uint64_t b = uint64_t(detail::kPhiloxM1) * counter.word[2];
    counter = {{uint32_t(b >> 32) ^ counter.word[1] ^ key0, uint32_t(b),
                uint32_t(a >> 32) ^ counter.word[3] ^ key1, uint32_t(a)}};
    key0 += detail::kPhiloxW0;
    key1 += detail::kPhiloxW1;
  }
  return counter;
}

/// A sequence of 2^66 random words: a key and the upper half of the counter.
struct RandomStream {
  uint32_t key[2];
  uint32_t high[2];
};

namespace detail {
/// Two Philox calls under `seed` turn (a, b, c) into a stream. `domain`
/// keeps the streams of different purposes apart.
static inline RandomStream makeStream(uint64_t seed, uint64_t a, uint64_t b,
                                      uint64_t c, uint32_t domain) {
  uint32_t seedLow = uint32_t(seed), seedHigh = uint32_t(seed >> 32);
  RandomBlock x =
      philox({{uint32_t(a), uint32_t(a >> 32), uint32_t(b), uint32_t(b >> 32)}},
             seedLow, seedHigh);
  x.word[0] ^= uint32_t(c);
  x.word[1] ^= uint32_t(c >> 32);
  x.word[2] ^= domain;
  x = philox(x, seedLow, seedHigh);
  return {{x.word[0], x.word[1]}, {x.word[2], x.word[3]}};
}
} // namespace detail

/// The stream of one dropout: `salt` is that of the task (KernelCall::salt),
/// `index` tells several ops of a task apart.
static inline RandomStream dropoutStream(int64_t seed, int64_t update,
                                         int64_t salt, int64_t index) {
  return detail::makeStream(uint64_t(seed), uint64_t(update), uint64_t(salt),
                            uint64_t(index), 0x64726F70);
}

/// Words 4 * block .. 4 * block + 3 of a stream.
static inline RandomBlock randomBlock(const RandomStream &stream,
                                      uint64_t block) {
  return philox({{uint32_t(block), uint32_t(block >> 32), stream.high[0],
                  stream.high[1]}},
                stream.key[0], stream.key[1]);
}

/// The word of the element with global row-major index `element`.
static inline uint32_t randomWord(const RandomStream &stream,
                                  uint64_t element) {
  return randomBlock(stream, element / 4).word[element % 4];
}

/// Elements of one call of randomWords.
constexpr int kRandomBatch = 64;

/// The words of elements `first` .. `first` + 63; `first` must be a multiple of
/// 4. Written so that compilers vectorise it: 16 Philox calls side by side.
static inline void randomWords(const RandomStream &stream, uint64_t first,
                               uint32_t *words) {
  constexpr int kLanes = kRandomBatch / 4;
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    uint64_t block = first / 4 + uint64_t(i);
    c0[i] = uint32_t(block);
    c1[i] = uint32_t(block >> 32);
    c2[i] = stream.high[0];
    c3[i] = stream.high[1];
  }
  uint32_t key0 = stream.key[0], key1 = stream.key[1];
  for (int round = 0; round < detail::kPhiloxRounds; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      uint64_t a = uint64_t(detail::kPhiloxM0) * c0[i];
      uint64_t b = uint64_t(detail::kPhiloxM1) * c2[i];
      c0[i] = uint32_t(b >> 32) ^ c1[i] ^ key0;
      c1[i] = uint32_t(b);
      c2[i] = uint32_t(a >> 32) ^ c3[i] ^ key1;
      c3[i] = uint32_t(a);
    }
    key0 += detail::kPhiloxW0;
    key1 += detail::kPhiloxW1;
  }
  for (int i = 0; i < kLanes; ++i) {
    words[4 * i] = c0[i];
    words[4 * i + 1] = c1[i];
    words[4 * i + 2] = c2[i];
    words[4 * i + 3] = c3[i];
  }
}

/// An element is dropped where its word is below this: p in units of 2^-32,
/// rounded to nearest, so that p = 0 drops nothing. Requires: 0 <= p < 1.
static inline uint32_t dropoutThreshold(double p) {
  double scaled = std::nearbyint(p * 4294967296.0);
  return scaled >= 4294967295.0 ? 0xFFFFFFFFu : uint32_t(scaled);
}

/// FNV-1a, 64 bits (RFC 9923): the key of a parameter's name.
static inline uint64_t nameHash(const std::string &name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 0x100000001B3;
  return hash;
}

/// The stream of the initial values of the parameter `name`.
static inline RandomStream initStream(int64_t seed, const std::string &name) {
  return detail::makeStream(uint64_t(seed), nameHash(name), 0, 0, 0x696E6974);
}

/// The stream that generated text is drawn from: block i is for its token i.
static inline RandomStream sampleStream(int64_t seed) {
  return detail::makeStream(uint64_t(seed), 0, 0, 0, 0x73616D70);
}

/// The uniform number in [0, 1) of the upper 53 of 64 bits.
static inline double uniformDouble(uint32_t high, uint32_t low) {
  return double(((uint64_t(high) << 32) | low) >> 11) * 0x1p-53;
}

/// The standard normal values of elements 2 * pair and 2 * pair + 1 (Box and
/// Muller, Annals of Mathematical Statistics 29, 1958). Guaranteed: the
/// uniform numbers have the same bits on every machine, and the values with
/// one build of the C library on one kind of processor; elsewhere log, sin
/// and cos may differ in their last bit, which rounding to f32 nearly
/// always hides.
static inline void normalPair(const RandomStream &stream, uint64_t pair,
                              double *values) {
  RandomBlock block = randomBlock(stream, pair);
  // 1 - u is in (0, 1]: the logarithm is finite.
  double radius =
      std::sqrt(-2 * std::log(1 - uniformDouble(block.word[0], block.word[1])));
  double angle =
      6.283185307179586476925 * uniformDouble(block.word[2], block.word[3]);
  values[0] = radius * std::cos(angle);
  values[1] = radius * std::sin(angle);
}

} // namespace piper::rt

#endif // PIPER_RUNTIME_RANDOM_H

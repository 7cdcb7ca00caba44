// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in memory for tests.

#include "HostTensor.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>

using namespace piper::rt;
using namespace piper::test;

HostTensor::HostTensor(TensorType type) : tensorType(std::move(type)) {
  // One line at least, so that a tensor without elements has an address.
  lines.resize(tensorType.numBytes() / kAlignment + 1);
  std::memset(lines.data(), 0xFF, lines.size() * sizeof(Line));
}

bool HostTensor::isFloat() const {
  return tensorType.element == ElementType::F32 ||
         tensorType.element == ElementType::F64 ||
         tensorType.element == ElementType::BF16;
}

template <typename T> static T load(const void *data, int64_t element) {
  T value;
  std::memcpy(&value, static_cast<const T *>(data) + element, sizeof(T));
  return value;
}
template <typename T> static void store(void *data, int64_t element, T value) {
  std::memcpy(static_cast<T *>(data) + element, &value, sizeof(T));
}

static double fromBF16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  return load<float>(&wide, 0);
}
/// To nearest, ties to even.
static uint16_t toBF16(double value) {
  uint32_t bits;
  store(&bits, 0, float(value));
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

double HostTensor::get(int64_t element) const {
  switch (tensorType.element) {
  case ElementType::F32:
    return load<float>(data(), element);
  case ElementType::F64:
    return load<double>(data(), element);
  case ElementType::BF16:
    return fromBF16(load<uint16_t>(data(), element));
  case ElementType::I1:
    return load<int8_t>(data(), element);
  case ElementType::I32:
    return load<int32_t>(data(), element);
  case ElementType::I64:
    return double(load<int64_t>(data(), element));
  }
  return 0;
}

void HostTensor::set(int64_t element, double value) {
  switch (tensorType.element) {
  case ElementType::F32:
    return store(data(), element, float(value));
  case ElementType::F64:
    return store(data(), element, value);
  case ElementType::BF16:
    return store(data(), element, toBF16(value));
  case ElementType::I1:
    return store(data(), element, int8_t(value));
  case ElementType::I32:
    return store(data(), element, int32_t(value));
  case ElementType::I64:
    return store(data(), element, int64_t(value));
  }
}

bool HostTensor::sameBits(const HostTensor &other) const {
  return tensorType == other.tensorType &&
         std::memcmp(data(), other.data(), tensorType.numBytes()) == 0;
}

double HostTensor::largest() const {
  double result = 0;
  for (int64_t i = 0; i < size(); ++i)
    result = std::max(result, std::fabs(get(i)));
  return result;
}

static void fillApart(HostTensor &tensor, std::mt19937 &random) {
  std::vector<int64_t> order(tensor.size());
  std::iota(order.begin(), order.end(), -tensor.size() / 2);
  std::shuffle(order.begin(), order.end(), random);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, 0.1 * double(order[i]) + 0.05);
}

static void fillIntegers(HostTensor &tensor, int64_t limit, bool ignored,
                         std::mt19937 &random) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t value = int64_t(random() % uint64_t(limit));
    if (i < 2)
      value = i == 0 ? limit - 1 : 0;
    tensor.set(i, ignored && i % 3 == 2 ? -1 : double(value));
  }
}

void piper::test::fill(HostTensor &tensor, const std::string &rule,
                       unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::istringstream words(rule);
  std::string kind;
  words >> kind;
  auto each = [&](auto value) {
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set(i, value());
  };
  auto number = [&] {
    double value = 0;
    EXPECT_TRUE(words >> value) << "too few numbers in '" << rule << "'";
    return value;
  };
  if (kind.empty())
    each([&] { return uniform(random); });
  else if (kind == "positive")
    each([&] { return 1 + uniform(random) / 2; });
  else if (kind == "grid")
    each([&] { return std::nearbyint(8 * uniform(random)) / 8; });
  else if (kind == "bool")
    each([&] { return uniform(random) < 0; });
  else if (kind == "row")
    each(number);
  else if (kind == "apart")
    fillApart(tensor, random);
  else if (kind == "index" || kind == "label")
    fillIntegers(tensor, int64_t(number()), kind == "label", random);
  else
    ADD_FAILURE() << "unknown rule '" << rule << "'";
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initial values of state: zeros, ones, data, or normal numbers that depend on
// nothing but the seed, the name and the element.

#include "StateInit.h"

#include "Piper/Runtime/Random.h"
#include "Program/FloatConversion.h"

#include <cstring>

using namespace piper::rt;

/// Writes `value` as element `index` of an array of the element type.
static void storeElement(ElementType element, std::byte *data, int64_t index,
                         float value) {
  auto store = [&](auto typed) {
    std::memcpy(data + index * int64_t(sizeof(typed)), &typed, sizeof(typed));
  };
  switch (element) {
  case ElementType::F32:
    return store(value);
  case ElementType::F64:
    return store(double(value));
  case ElementType::BF16:
    return store(bf16FromFloat(value));
  case ElementType::I1:
    return store(uint8_t(value != 0));
  case ElementType::I32:
    return store(int32_t(value));
  case ElementType::I64:
    return store(int64_t(value));
  }
}

static void fillNormal(const StateTensor &tensor, int64_t seed,
                       std::byte *data) {
  RandomStream stream = initStream(seed, tensor.name);
  int64_t count = tensor.type.numElements();
#pragma omp parallel for schedule(static)
  for (int64_t pair = 0; pair < (count + 1) / 2; ++pair) {
    double values[2];
    normalPair(stream, uint64_t(pair), values);
    for (int64_t i = 2 * pair; i < std::min(2 * pair + 2, count); ++i)
      storeElement(tensor.type.element, data, i,
                   float(tensor.scale * values[i - 2 * pair]));
  }
}

void piper::rt::initializeTensor(const StateTensor &tensor, int64_t seed,
                                 std::byte *data) {
  switch (tensor.init) {
  case StateTensor::Init::Zeros:
    std::memset(data, 0, tensor.type.numBytes());
    break;
  case StateTensor::Init::Ones:
    for (int64_t i = 0; i < tensor.type.numElements(); ++i)
      storeElement(tensor.type.element, data, i, 1.0f);
    break;
  case StateTensor::Init::Normal:
    fillNormal(tensor, seed, data);
    break;
  case StateTensor::Init::Data:
    std::memcpy(data, tensor.data.data(), tensor.data.size());
    break;
  }
  if (tensor.kind == StateTensor::Kind::Counter && tensor.name == "seed")
    std::memcpy(data, &seed, sizeof(seed));
}

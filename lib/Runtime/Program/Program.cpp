// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, names and look-ups of a Program. Sizes saturate rather than
// overflow, because a plan may come from a file that a person has edited.

#include "Piper/Runtime/Program.h"

#include <limits>

using namespace piper::rt;

namespace {
struct ElementInfo {
  const char *name;
  int64_t bytes;
};
} // namespace

static ElementInfo elementInfo(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return {"f32", 4};
  case ElementType::F64:
    return {"f64", 8};
  case ElementType::BF16:
    return {"bf16", 2};
  case ElementType::I1:
    return {"i1", 1};
  case ElementType::I32:
    return {"i32", 4};
  case ElementType::I64:
    return {"i64", 8};
  }
  return {"unknown", 1};
}

const char *piper::rt::streamName(Stream stream) {
  static const char *const names[] = {"compute", "pp.out", "pp.in", "reduce"};
  return names[static_cast<int>(stream)];
}

int64_t piper::rt::elementBytes(ElementType type) {
  return elementInfo(type).bytes;
}

const char *piper::rt::elementName(ElementType type) {
  return elementInfo(type).name;
}

static int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::numeric_limits<int64_t>::max();
  return product;
}

int64_t TensorType::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0)
      return 0;
    count = saturatingMul(count, size);
  }
  return count;
}

int64_t TensorType::numBytes() const {
  return saturatingMul(numElements(), elementBytes(element));
}

std::string TensorType::str() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + elementName(element) + ">";
}

const Attributes::Value *Attributes::find(const std::string &name) const {
  for (const auto &[key, value] : entries)
    if (key == name)
      return &value;
  return nullptr;
}

/// The value of attribute `name` if it has the kind T, else null.
template <typename T>
static const T *findAs(const Attributes &attributes, const std::string &name) {
  const Attributes::Value *value = attributes.find(name);
  return value ? std::get_if<T>(value) : nullptr;
}

int64_t Attributes::getInt(const std::string &name, int64_t otherwise) const {
  const auto *value = findAs<int64_t>(*this, name);
  return value ? *value : otherwise;
}

double Attributes::getFloat(const std::string &name, double otherwise) const {
  const auto *value = findAs<double>(*this, name);
  return value ? *value : otherwise;
}

std::string Attributes::getString(const std::string &name,
                                  const std::string &otherwise) const {
  const auto *value = findAs<std::string>(*this, name);
  return value ? *value : otherwise;
}

std::vector<int64_t> Attributes::getInts(const std::string &name) const {
  const auto *value = findAs<std::vector<int64_t>>(*this, name);
  return value ? *value : std::vector<int64_t>();
}

const EntryPoint *Program::findEntry(const std::string &name) const {
  for (const EntryPoint &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

const StateTensor *Program::findState(const std::string &name) const {
  for (const StateTensor &tensor : state)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

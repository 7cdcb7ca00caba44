// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over tensors with repeated dimensions.

#include "Strides.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

Shape cpu::rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

bool cpu::broadcastsTo(const Shape &shape, const Shape &result) {
  if (shape.size() > result.size())
    return false;
  size_t lead = result.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && shape[i] != result[lead + i])
      return false;
  return true;
}

bool cpu::broadcastTogether(const std::vector<Shape> &shapes,
                            const Shape &result) {
  Shape joined(result.size(), 1);
  for (const Shape &shape : shapes) {
    if (!broadcastsTo(shape, result))
      return false;
    size_t lead = result.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != 1)
        joined[lead + i] = shape[i];
  }
  return joined == result;
}

Shape cpu::broadcastStrides(const Shape &shape, const Shape &result) {
  size_t lead = result.size() - shape.size();
  Shape dense = rowMajorStrides(shape), strides(result.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      strides[lead + i] = dense[i];
  return strides;
}

void StridedLoop::simplify() {
  StridedLoop merged;
  merged.strides.resize(strides.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1)
      continue;
    bool joins = !merged.dims.empty();
    for (size_t k = 0; joins && k < strides.size(); ++k)
      joins = merged.strides[k].back() == strides[k][i] * dims[i];
    if (!joins)
      merged.dims.push_back(1);
    merged.dims.back() *= dims[i];
    for (size_t k = 0; k < strides.size(); ++k) {
      if (!joins)
        merged.strides[k].push_back(0);
      merged.strides[k].back() = strides[k][i];
    }
  }
  if (merged.dims.empty()) {
    merged.dims.push_back(1);
    for (Shape &list : merged.strides)
      list.push_back(0);
  }
  *this = std::move(merged);
}

int64_t StridedLoop::rows() const {
  return product(dims, 0, int64_t(dims.size()) - 1);
}

int64_t StridedLoop::rowOffset(size_t operand, int64_t row) const {
  int64_t offset = 0;
  for (size_t i = dims.size() - 1; i-- > 0;) {
    offset += row % dims[i] * strides[operand][i];
    row /= dims[i];
  }
  return offset;
}

StridedLoop cpu::broadcastLoop(const std::vector<Shape> &shapes,
                               const Shape &result) {
  StridedLoop loop;
  loop.dims = result;
  for (const Shape &shape : shapes)
    loop.strides.push_back(broadcastStrides(shape, result));
  loop.strides.push_back(rowMajorStrides(result));
  loop.simplify();
  return loop;
}

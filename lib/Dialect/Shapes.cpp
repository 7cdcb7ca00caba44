// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Broadcasting, element counts and shapes as text.

#include "Piper/Dialect/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::piper;

std::optional<int64_t> piper::alignedDim(int64_t fromRank, int64_t toRank,
                                         int64_t dim) {
  int64_t aligned = dim - (toRank - fromRank);
  if (aligned < 0)
    return std::nullopt;
  return aligned;
}

std::optional<SmallVector<int64_t>> piper::broadcastShape(ArrayRef<int64_t> a,
                                                          ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> shape(a);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    std::optional<int64_t> other = alignedDim(b.size(), a.size(), dim);
    if (!other || b[*other] == 1 || b[*other] == size)
      continue;
    if (size != 1)
      return std::nullopt;
    size = b[*other];
  }
  return shape;
}

bool piper::broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  std::optional<SmallVector<int64_t>> shape = broadcastShape(from, to);
  return shape && ArrayRef<int64_t>(*shape) == to;
}

SmallVector<int64_t> piper::repeatedDims(ArrayRef<int64_t> from,
                                         ArrayRef<int64_t> to) {
  SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(to)) {
    std::optional<int64_t> aligned = alignedDim(from.size(), to.size(), dim);
    if (!aligned || from[*aligned] != size)
      dims.push_back(dim);
  }
  return dims;
}

SmallVector<int64_t> piper::reducedShape(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> dims,
                                         bool keepDims) {
  SmallVector<int64_t> reduced;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      reduced.push_back(size);
    else if (keepDims)
      reduced.push_back(1);
  }
  return reduced;
}

std::optional<int64_t> piper::elementCount(ArrayRef<int64_t> shape) {
  // A dimension of 0 empties the tensor, however large the others are.
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

std::string piper::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(shape, stream);
  stream << "]";
  return text;
}

Type piper::statisticsType(Type elementType) {
  if (elementType.isF64())
    return elementType;
  return Float32Type::get(elementType.getContext());
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a constant, by position along one dimension.

#include "SplitConstant.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace mlir::piper;

bool mlir::piper::isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

static DenseElementsAttr elementsOf(Value constant) {
  DenseElementsAttr elements;
  return matchPattern(constant, m_Constant(&elements)) ? elements
                                                       : DenseElementsAttr();
}

namespace {
/// A tensor seen as [before, size, after] around one of its dimensions.
struct Around {
  Around(RankedTensorType type, int64_t dim) : size(type.getDimSize(dim)) {
    ArrayRef<int64_t> shape = type.getShape();
    auto product = [](ArrayRef<int64_t> sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                             std::multiplies<int64_t>());
    };
    before = product(shape.take_front(dim));
    after = product(shape.drop_front(dim + 1));
  }
  int64_t at(int64_t i, int64_t position, int64_t j) const {
    return (i * size + position) * after + j;
  }
  int64_t before, size, after;
};
} // namespace

/// The elements as bit patterns, so that NaN equals itself and 0 is not -0.
static SmallVector<APInt> bitsOf(DenseElementsAttr elements) {
  SmallVector<APInt> bits;
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt());
  else
    llvm::append_range(bits, elements.getValues<APInt>());
  return bits;
}

bool mlir::piper::isEqualAlong(Value constant, int64_t dim) {
  DenseElementsAttr elements = elementsOf(constant);
  if (!elements)
    return false;
  if (elements.isSplat())
    return true;
  SmallVector<APInt> bits = bitsOf(elements);
  Around around(cast<RankedTensorType>(constant.getType()), dim);
  for (int64_t i = 0; i < around.before; ++i)
    for (int64_t position = 1; position < around.size; ++position)
      for (int64_t j = 0; j < around.after; ++j)
        if (bits[around.at(i, position, j)] != bits[around.at(i, 0, j)])
          return false;
  return true;
}

DenseElementsAttr mlir::piper::partOfConstant(Value constant,
                                              const SplitLayout &layout,
                                              int64_t parts) {
  DenseElementsAttr elements = elementsOf(constant);
  auto type = cast<RankedTensorType>(constant.getType());
  RankedTensorType local = layout.localType(type, parts);
  if (elements.isSplat())
    return elements.resizeSplat(local);
  SmallVector<APInt> bits = bitsOf(elements), kept;
  Around around(type, layout.dim);
  for (int64_t i = 0; i < around.before; ++i)
    for (int64_t position = 0; position < around.size / parts; ++position)
      for (int64_t j = 0; j < around.after; ++j)
        kept.push_back(bits[around.at(i, position, j)]);
  auto element = dyn_cast<FloatType>(local.getElementType());
  if (!element)
    return DenseElementsAttr::get(local, kept);
  return DenseElementsAttr::get(
      local, llvm::map_to_vector(kept, [&](const APInt &value) {
        return APFloat(element.getFloatSemantics(), value);
      }));
}

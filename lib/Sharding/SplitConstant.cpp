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
  /// The first element at a position.
  int64_t at(int64_t i, int64_t position) const {
    return (i * size + position) * after;
  }
  int64_t before, size, after;
};

/// The elements one after another, `width` bytes each.
struct Bytes {
  explicit Bytes(DenseElementsAttr elements) {
    if (elements.getElementType().isInteger(1)) {
      for (bool value : elements.getValues<bool>())
        owned.push_back(value);
      data = owned;
      return;
    }
    data = elements.getRawData();
    width = elements.getElementType().getIntOrFloatBitWidth() / 8;
  }
  ArrayRef<char> slice(int64_t first, int64_t count) const {
    return data.slice(first * width, count * width);
  }

  ArrayRef<char> data;
  int64_t width = 1;

private:
  SmallVector<char> owned;
};
} // namespace

bool mlir::piper::isEqualAlong(Value constant, int64_t dim) {
  DenseElementsAttr elements = elementsOf(constant);
  if (!elements)
    return false;
  if (elements.isSplat())
    return true;
  Bytes bytes(elements);
  Around around(cast<RankedTensorType>(constant.getType()), dim);
  for (int64_t i = 0; i < around.before; ++i)
    for (int64_t position = 1; position < around.size; ++position)
      if (bytes.slice(around.at(i, position), around.after) !=
          bytes.slice(around.at(i, 0), around.after))
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
  Bytes bytes(elements);
  Around around(type, layout.dim);
  SmallVector<char> kept;
  for (int64_t i = 0; i < around.before; ++i)
    llvm::append_range(
        kept, bytes.slice(around.at(i, 0), around.size / parts * around.after));
  if (!local.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(local, kept);
  SmallVector<bool> flags(kept.begin(), kept.end());
  return DenseElementsAttr::get(local, flags);
}

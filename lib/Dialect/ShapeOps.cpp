// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and folds of the ops that move elements without computing with
// them: reshape, transpose, slice, pad, concat, broadcast, cast.

#include "Checks.h"

#include "Piper/Dialect/PiperDialect.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::piper;

/// Constants that are not one repeated element are folded only up to this many
/// elements, so that no fold makes a module much larger.
static constexpr int64_t kMaxFoldedElements = 64;

/// The constant of type `type` whose element at a multi-index is the element of
/// `from` at the row-major position `source(index)`. Null where it is too
/// large.
static DenseElementsAttr
gather(DenseElementsAttr from, RankedTensorType type,
       function_ref<int64_t(ArrayRef<int64_t>)> source) {
  if (from.isSplat())
    return from.resizeSplat(type);
  std::optional<int64_t> count = elementCount(type.getShape());
  if (!count || *count > kMaxFoldedElements ||
      from.getNumElements() > kMaxFoldedElements)
    return {};
  SmallVector<Attribute> all(from.getValues<Attribute>()), picked;
  SmallVector<int64_t> index(type.getRank(), 0);
  for (int64_t done = 0; done < *count; ++done) {
    picked.push_back(all[source(index)]);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      if (++index[dim] < type.getDimSize(dim))
        break;
      index[dim] = 0;
    }
  }
  return DenseElementsAttr::get(type, picked);
}

/// The row-major position of a multi-index.
static int64_t positionOf(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [at, size] : llvm::zip_equal(index, shape))
    position = position * size + at;
  return position;
}

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (failed(expectElementTypeOf(*this, "result 'y'", getY(), "operand 'x'",
                                 getX())))
    return failure();
  std::optional<int64_t> from = elementCount(shapeOf(getX()));
  std::optional<int64_t> to = elementCount(shapeOf(getY()));
  if (!from)
    return emitOpError() << "expects operand 'x' to have fewer than 2^63 "
                            "elements but got "
                         << getX().getType();
  if (from == to)
    return success();
  return emitOpError() << "expects result 'y' to have the " << *from
                       << " elements of operand 'x' but got "
                       << getY().getType();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto from = dyn_cast_if_present<DenseElementsAttr>(adaptor.getX()))
    if (from.isSplat() || from.getNumElements() <= kMaxFoldedElements)
      return from.reshape(tensorType(getY()));
  auto inner = getX().getDefiningOp<ReshapeOp>();
  if (!inner)
    return {};
  getXMutable().assign(inner.getX());
  return getResult();
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getX()), permutation = getPermutation();
  llvm::SmallBitVector seen(from.size());
  bool good = permutation.size() == from.size();
  for (int64_t dim : permutation) {
    good = good && dim >= 0 && dim < static_cast<int64_t>(from.size()) &&
           !seen.test(dim);
    if (good)
      seen.set(dim);
  }
  if (!good)
    return emitOpError() << "expects 'permutation' to have each dimension of "
                            "operand 'x' ("
                         << from.size() << " in all) once but got "
                         << shapeText(permutation);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(from[dim]);
  return expectType(*this, "result 'y'", getY(), shape, elementTypeOf(getX()),
                    "the dimensions of 'x' in the order of 'permutation'");
}

static bool isIdentity(ArrayRef<int64_t> permutation) {
  for (auto [dim, from] : llvm::enumerate(permutation))
    if (from != static_cast<int64_t>(dim))
      return false;
  return true;
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (isIdentity(permutation))
    return getX();
  if (auto from = dyn_cast_if_present<DenseElementsAttr>(adaptor.getX())) {
    SmallVector<int64_t> there(permutation.size());
    auto source = [&](ArrayRef<int64_t> index) {
      for (auto [dim, fromDim] : llvm::enumerate(permutation))
        there[fromDim] = index[dim];
      return positionOf(there, shapeOf(getX()));
    };
    if (DenseElementsAttr folded = gather(from, tensorType(getY()), source))
      return folded;
  }
  auto inner = getX().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> composed;
  for (int64_t dim : permutation)
    composed.push_back(inner.getPermutation()[dim]);
  if (isIdentity(composed))
    return inner.getX();
  getXMutable().assign(inner.getX());
  setPermutation(composed);
  return getResult();
}

//===----------------------------------------------------------------------===//
// slice, pad
//===----------------------------------------------------------------------===//

/// Checks that `small` lies inside `large` at `offsets`.
static LogicalResult verifyInside(Operation *op, StringRef smallName,
                                  Value small, StringRef largeName, Value large,
                                  ArrayRef<int64_t> offsets) {
  ArrayRef<int64_t> inner = shapeOf(small), outer = shapeOf(large);
  if (inner.size() != outer.size())
    return op->emitOpError()
           << "expects " << smallName << " to have the " << outer.size()
           << " dimensions of " << largeName << " but got " << small.getType();
  if (offsets.size() != outer.size())
    return op->emitOpError()
           << "expects 'offsets' to have one number per "
              "dimension ("
           << outer.size() << ") but got " << shapeText(offsets);
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    // Without a sum, which could overflow.
    if (offset >= 0 && inner[dim] <= outer[dim] &&
        offset <= outer[dim] - inner[dim])
      continue;
    return op->emitOpError()
           << "expects " << smallName << " to lie inside the " << outer[dim]
           << " elements of dimension " << dim << " of " << largeName
           << " but got offset " << offset << " and size " << inner[dim];
  }
  return success();
}

LogicalResult SliceOp::verify() {
  if (failed(expectElementTypeOf(*this, "result 'y'", getY(), "operand 'x'",
                                 getX())))
    return failure();
  return verifyInside(*this, "result 'y'", getY(), "operand 'x'", getX(),
                      getOffsets());
}

LogicalResult PadOp::verify() {
  if (failed(expectElementTypeOf(*this, "result 'y'", getY(), "operand 'x'",
                                 getX())))
    return failure();
  return verifyInside(*this, "operand 'x'", getX(), "result 'y'", getY(),
                      getOffsets());
}

static SmallVector<int64_t> sumOf(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> sum;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum.push_back(x + y);
  return sum;
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto from = dyn_cast_if_present<DenseElementsAttr>(adaptor.getX())) {
    auto source = [&](ArrayRef<int64_t> index) {
      return positionOf(sumOf(index, getOffsets()), shapeOf(getX()));
    };
    if (DenseElementsAttr folded = gather(from, tensorType(getY()), source))
      return folded;
  }
  auto inner = getX().getDefiningOp<SliceOp>();
  if (!inner)
    return {};
  setOffsets(sumOf(getOffsets(), inner.getOffsets()));
  getXMutable().assign(inner.getX());
  return getResult();
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  auto inner = getX().getDefiningOp<PadOp>();
  if (!inner)
    return {};
  setOffsets(sumOf(getOffsets(), inner.getOffsets()));
  getXMutable().assign(inner.getX());
  return getResult();
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getParts().empty())
    return emitOpError() << "expects at least one operand but got none";
  Value first = getParts().front();
  SmallVector<int64_t> shape(shapeOf(first));
  int64_t dim = getDimAttr().getInt();
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return emitOpError() << "expects 'dim' to be one of the " << shape.size()
                         << " dimensions of operand #0 but got " << dim;
  for (auto [number, part] : llvm::enumerate(getParts().drop_front())) {
    std::string name = "operand #" + std::to_string(number + 1);
    if (failed(expectElementTypeOf(*this, name, part, "operand #0", first)))
      return failure();
    SmallVector<int64_t> other(shapeOf(part));
    bool sameRank = other.size() == shape.size();
    int64_t size = sameRank ? std::exchange(other[dim], shape[dim]) : 0;
    if (!sameRank || other != shape)
      return emitOpError() << "expects " << name
                           << " to have the dimensions of operand #0 "
                           << first.getType() << " except dimension " << dim
                           << " but got " << part.getType();
    if (llvm::AddOverflow(shape[dim], size, shape[dim]))
      return emitOpError() << "expects dimension " << dim
                           << " of the result to be less than 2^63";
  }
  return expectType(*this, "result 'y'", getY(), shape, elementTypeOf(first),
                    "the operands one after another");
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  return getParts().size() == 1 ? getParts().front() : Value();
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  if (failed(expectElementTypeOf(*this, "result 'y'", getY(), "operand 'x'",
                                 getX())))
    return failure();
  if (broadcastsTo(shapeOf(getX()), shapeOf(getY())))
    return success();
  return emitOpError() << "expects the dimensions of operand 'x', aligned at "
                          "the last, to be those of result 'y', 1 or absent "
                          "but got "
                       << shapeText(shapeOf(getX())) << " and "
                       << shapeText(shapeOf(getY()));
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto from = dyn_cast_if_present<DenseElementsAttr>(adaptor.getX())) {
    ArrayRef<int64_t> shape = shapeOf(getX());
    auto source = [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> there(index.take_back(shape.size()));
      for (auto [at, size] : llvm::zip_equal(there, shape))
        at = size == 1 ? 0 : at;
      return positionOf(there, shape);
    };
    if (DenseElementsAttr folded = gather(from, tensorType(getY()), source))
      return folded;
  }
  auto inner = getX().getDefiningOp<BroadcastOp>();
  if (!inner)
    return {};
  getXMutable().assign(inner.getX());
  return getResult();
}

//===----------------------------------------------------------------------===//
// cast
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  return expectType(*this, "result 'y'", getY(), shapeOf(getX()),
                    elementTypeOf(getY()), "the shape of 'x'");
}

/// Whether every number of type `from` is one of type `to`.
static bool holdsEvery(Type to, Type from) {
  unsigned toBits = to.getIntOrFloatBitWidth();
  unsigned fromBits = from.getIntOrFloatBitWidth();
  // bf16, f32 and f64 contain one another in this order, as i1, i32 and i64 do.
  if (isa<FloatType>(to) == isa<FloatType>(from))
    return fromBits <= toBits;
  // An integer is exact in a float type with as many digits.
  return isa<FloatType>(to) &&
         (fromBits == 1 || (fromBits == 32 && to.isF64()));
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  auto inner = getX().getDefiningOp<CastOp>();
  if (!inner ||
      !holdsEvery(elementTypeOf(inner.getY()), elementTypeOf(inner.getX())))
    return {};
  if (inner.getX().getType() == getY().getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  return getResult();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and folds of the constant, the matrix product, arithmetic and
// reductions. A fold replaces a result only by one with the same bits.

#include "Checks.h"

#include "Piper/Dialect/PiperDialect.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (isa<DenseElementsAttr>(getValue()))
    return success();
  return emitOpError()
         << "expects a constant written as dense<..> but got another kind of "
            "elements attribute";
}

OpFoldResult ConstantOp::fold(FoldAdaptor adaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// Which of the last two dimensions of an operand is summed over, in words.
static StringRef sideName(bool isColumns) {
  return isColumns ? "columns" : "rows";
}

LogicalResult MatmulOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  if (failed(expectRankAtLeast(*this, "operand 'a'", getA(), 2)) ||
      failed(expectRankAtLeast(*this, "operand 'b'", getB(), 2)) ||
      failed(expectElementTypeOf(*this, "operand 'b'", getB(), "operand 'a'",
                                 getA())))
    return failure();

  bool aSumsColumns = !getTransposeA(), bSumsColumns = getTransposeB();
  ArrayRef<int64_t> aMatrix = a.take_back(2), bMatrix = b.take_back(2);
  if (bMatrix[bSumsColumns] != aMatrix[aSumsColumns])
    return emitOpError() << "expects operand 'b' to have K = "
                         << aMatrix[aSumsColumns] << " "
                         << sideName(bSumsColumns) << ", the "
                         << sideName(aSumsColumns)
                         << " of operand 'a', but got "
                         << bMatrix[bSumsColumns];

  std::optional<SmallVector<int64_t>> shape =
      broadcastShape(a.drop_back(2), b.drop_back(2));
  if (!shape)
    return emitOpError() << "expects batch dimensions that are equal, 1 or "
                            "absent but got "
                         << shapeText(a.drop_back(2)) << " of operand 'a' and "
                         << shapeText(b.drop_back(2)) << " of operand 'b'";
  shape->push_back(aMatrix[!aSumsColumns]);
  shape->push_back(bMatrix[!bSumsColumns]);
  return expectType(*this, "result 'y'", getY(), *shape, elementTypeOf(getA()),
                    "batch dimensions, rows of 'a', columns of 'b'");
}

//===----------------------------------------------------------------------===//
// Arithmetic with broadcasting
//===----------------------------------------------------------------------===//

/// Checks that 'y' has the broadcast shape of 'a', 'b' and `more`.
static LogicalResult verifyBroadcast(Operation *op, Value a, Value b, Value y,
                                     ArrayRef<int64_t> more = {}) {
  if (failed(expectElementTypeOf(op, "operand 'b'", b, "operand 'a'", a)))
    return failure();
  std::optional<SmallVector<int64_t>> shape =
      broadcastShape(shapeOf(a), shapeOf(b));
  if (!shape)
    return op->emitOpError()
           << "expects the dimensions of operands 'a' and 'b', aligned at the "
              "last, to be equal, 1 or absent but got "
           << shapeText(shapeOf(a)) << " and " << shapeText(shapeOf(b));
  std::optional<SmallVector<int64_t>> all = broadcastShape(*shape, more);
  if (!all)
    return op->emitOpError()
           << "expects the dimensions of operand 'mask', aligned at the last, "
              "to be equal to those of 'a' and 'b', 1 or absent but got "
           << shapeText(more) << " and " << shapeText(*shape);
  return expectType(op, "result 'y'", y, *all, elementTypeOf(a),
                    "the operands repeated to one shape");
}

LogicalResult AddOp::verify() {
  return verifyBroadcast(*this, getA(), getB(), getY());
}
LogicalResult SubOp::verify() {
  return verifyBroadcast(*this, getA(), getB(), getY());
}
LogicalResult MulOp::verify() {
  return verifyBroadcast(*this, getA(), getB(), getY());
}
LogicalResult DivOp::verify() {
  return verifyBroadcast(*this, getA(), getB(), getY());
}
LogicalResult SelectOp::verify() {
  return verifyBroadcast(*this, getA(), getB(), getY(), shapeOf(getMask()));
}

/// Whether every element of a constant is exactly `value`: the sign of a zero
/// counts.
static bool isAll(Attribute constant, double value) {
  auto elements = dyn_cast_if_present<DenseFPElementsAttr>(constant);
  return elements && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isExactlyValue(value);
}

/// `kept` where the op leaves it as it is: `neutral` holds, and the other
/// operand does not make the result larger.
static Value keepIf(bool neutral, Value kept, Value result) {
  return neutral && kept.getType() == result.getType() ? kept : Value();
}

// x + 0.0 is not x for x = -0.0 (the sum is 0.0), but x + -0.0 is, as is
// x - 0.0 (IEEE 754-2019, 6.3).
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (Value kept = keepIf(isAll(adaptor.getB(), -0.0), getA(), getY()))
    return kept;
  return keepIf(isAll(adaptor.getA(), -0.0), getB(), getY());
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return keepIf(isAll(adaptor.getB(), 0.0), getA(), getY());
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (Value kept = keepIf(isAll(adaptor.getB(), 1.0), getA(), getY()))
    return kept;
  return keepIf(isAll(adaptor.getA(), 1.0), getB(), getY());
}
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return keepIf(isAll(adaptor.getB(), 1.0), getA(), getY());
}

LogicalResult ScaleOp::verify() {
  return expectNumberOf(*this, "factor", getFactor().convertToDouble(),
                        elementTypeOf(getX()));
}

/// Whether scaling by `inner` and then by `outer` rounds as scaling by their
/// product does, for every x: the product must be exact, and the first scaling
/// must neither round nor overflow where the whole would not.
static bool composesExactly(double inner, double outer) {
  if (std::fabs(inner) == 1 || std::fabs(outer) == 1)
    return true;
  int exponent = 0;
  bool isPowerOfTwo = std::fabs(std::frexp(inner, &exponent)) == 0.5;
  // Below 2^100 times 2^27, so that the product is finite in f32.
  return isPowerOfTwo && std::fabs(inner) >= 1 && std::fabs(inner) < 0x1p100 &&
         std::fabs(outer) >= 1 && std::fabs(outer) < 0x1p27;
}

OpFoldResult ScaleOp::fold(FoldAdaptor adaptor) {
  double factor = getFactor().convertToDouble();
  if (factor == 1)
    return getX();
  auto inner = getX().getDefiningOp<ScaleOp>();
  if (!inner)
    return {};
  double innerFactor = inner.getFactor().convertToDouble();
  if (!composesExactly(innerFactor, factor))
    return {};
  getXMutable().assign(inner.getX());
  setFactor(APFloat(innerFactor * factor));
  return getResult();
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    return inner.getX();
  return {};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static LogicalResult verifyReduction(Operation *op, Value x, StringRef yName,
                                     Value y, ArrayRef<int64_t> dims,
                                     bool keepDims) {
  if (failed(expectDims(op, dims, shapeOf(x))))
    return failure();
  return expectType(op, yName, y, reducedShape(shapeOf(x), dims, keepDims),
                    elementTypeOf(x),
                    keepDims ? "1 where 'x' is reduced"
                             : "the dimensions of 'x' that are not reduced");
}

LogicalResult ReduceSumOp::verify() {
  return verifyReduction(*this, getX(), "result 'y'", getY(), getDims(),
                         getKeepDims());
}

/// A maximum over nothing has no value.
static LogicalResult verifyNotEmpty(Operation *op, Value x,
                                    ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    if (shapeOf(x)[dim] == 0)
      return op->emitOpError() << "expects at least one element along "
                                  "dimension "
                               << dim << " but got " << x.getType();
  return success();
}

LogicalResult ReduceMaxOp::verify() {
  if (failed(verifyReduction(*this, getX(), "result 'y'", getY(), getDims(),
                             getKeepDims())))
    return failure();
  return verifyNotEmpty(*this, getX(), getDims());
}

LogicalResult ReduceMaxGradOp::verify() {
  if (failed(verifyReduction(*this, getX(), "operand 'y'", getY(), getDims(),
                             getKeepDims())) ||
      failed(verifyNotEmpty(*this, getX(), getDims())) ||
      failed(
          expectTypeOf(*this, "operand 'dy'", getDy(), "operand 'y'", getY())))
    return failure();
  return expectTypeOf(*this, "result 'dx'", getDx(), "operand 'x'", getX());
}

OpFoldResult ReduceSumOp::fold(FoldAdaptor adaptor) {
  return getDims().empty() ? getX() : Value();
}
OpFoldResult ReduceMaxOp::fold(FoldAdaptor adaptor) {
  return getDims().empty() ? getX() : Value();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks that the verifiers of compute ops share.

#include "Checks.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

std::string piper::numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

FloatType piper::computingType(Type element) {
  if (element.isF64())
    return cast<FloatType>(element);
  return Float32Type::get(element.getContext());
}

std::string piper::findNumberProblem(FloatType type, double value) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (value == 0 || rounded.isNormal())
    return "";
  auto text = [](const APFloat &number) {
    return numberText(number.convertToDouble());
  };
  return "from " + text(APFloat::getSmallestNormalized(semantics)) + " to " +
         text(APFloat::getLargest(semantics)) + ", the normal numbers of f" +
         std::to_string(type.getWidth());
}

static std::string plural(int64_t count, StringRef noun) {
  return (noun + (count == 1 ? "" : "s")).str();
}

LogicalResult piper::expectRankAtLeast(Operation *op, StringRef what,
                                       Value value, int64_t rank) {
  if (static_cast<int64_t>(shapeOf(value).size()) >= rank)
    return success();
  return op->emitOpError() << "expects " << what << " to have at least " << rank
                           << plural(rank, " dimension") << " but got "
                           << value.getType();
}

LogicalResult piper::expectRank(Operation *op, StringRef what, Value value,
                                int64_t rank, StringRef dims) {
  if (static_cast<int64_t>(shapeOf(value).size()) == rank)
    return success();
  return op->emitOpError() << "expects " << what << " to have " << rank
                           << plural(rank, " dimension") << " " << dims
                           << " but got " << value.getType();
}

LogicalResult piper::expectElementTypeOf(Operation *op, StringRef what,
                                         Value value, StringRef sourceName,
                                         Value source) {
  Type expected = elementTypeOf(source), got = elementTypeOf(value);
  if (got == expected)
    return success();
  return op->emitOpError() << "expects " << what << " to have the element type "
                           << expected << " of " << sourceName << " but got "
                           << got << "; insert a 'piper.cast'";
}

LogicalResult piper::expectType(Operation *op, StringRef what, Value value,
                                ArrayRef<int64_t> shape, Type elementType,
                                StringRef why) {
  Type expected = RankedTensorType::get(shape, elementType);
  if (value.getType() == expected)
    return success();
  return op->emitOpError() << "expects " << what << " to be " << expected
                           << " (" << why << ") but got " << value.getType();
}

LogicalResult piper::expectTypeOf(Operation *op, StringRef what, Value value,
                                  StringRef sourceName, Value source) {
  if (value.getType() == source.getType())
    return success();
  return op->emitOpError() << "expects " << what << " to have the type "
                           << source.getType() << " of " << sourceName
                           << " but got " << value.getType();
}

LogicalResult piper::expectDims(Operation *op, ArrayRef<int64_t> dims,
                                ArrayRef<int64_t> shape) {
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
      return op->emitOpError()
             << "expects 'dims' to be dimensions of an operand with "
             << shape.size() << " dimensions but got " << dim;
    if (dim <= previous)
      return op->emitOpError() << "expects 'dims' to be ascending and unique "
                                  "but got "
                               << shapeText(dims);
    previous = dim;
  }
  return success();
}

LogicalResult piper::expectInRange(Operation *op, StringRef name, double value,
                                   double low, double high) {
  if (value >= low && value < high)
    return success();
  return op->emitOpError() << "expects '" << name << "' in [" << numberText(low)
                           << ", " << numberText(high) << ") but got "
                           << numberText(value);
}

LogicalResult piper::expectPositive(Operation *op, StringRef name,
                                    double value) {
  if (value > 0 && std::isfinite(value))
    return success();
  return op->emitOpError() << "expects '" << name
                           << "' to be positive and finite but got "
                           << numberText(value);
}

LogicalResult piper::expectNumberOf(Operation *op, StringRef name, double value,
                                    Type element) {
  std::string problem = findNumberProblem(computingType(element), value);
  if (problem.empty())
    return success();
  return op->emitOpError() << "expects '" << name
                           << "' to be 0 or of a magnitude " << problem
                           << ", but got " << numberText(value);
}

LogicalResult piper::expectNotNegative(Operation *op, StringRef name,
                                       int64_t value) {
  if (value >= 0)
    return success();
  return op->emitOpError() << "expects '" << name
                           << "' not to be negative but got " << value;
}

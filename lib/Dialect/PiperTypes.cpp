// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The type of a value that has coordinates.

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::piper;

#define GET_TYPEDEF_CLASSES
#include "Piper/Dialect/PiperTypes.cpp.inc"

void PiperDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Piper/Dialect/PiperTypes.cpp.inc"
      >();
}

RankedTensorType mlir::piper::getLocalTensor(Type type) {
  if (auto dist = dyn_cast<DistType>(type))
    return dist.getTensor();
  return dyn_cast<RankedTensorType>(type);
}

ArrayRef<int64_t> mlir::piper::getCoordinates(Type type) {
  if (auto dist = dyn_cast<DistType>(type))
    return dist.getOn();
  return {};
}

LogicalResult DistType::verify(function_ref<InFlightDiagnostic()> emitError,
                               RankedTensorType tensor, ArrayRef<int64_t> on) {
  if (on.empty())
    return emitError() << "expects at least one coordinate";
  if (on.front() < 0)
    return emitError() << "expects coordinates of 0 or more but got "
                       << on.front();
  for (size_t i = 1; i < on.size(); ++i)
    if (on[i - 1] >= on[i])
      return emitError() << "expects ascending coordinates but got "
                         << on[i - 1] << " before " << on[i];
  return success();
}

/// `<tensor<4xf32>, on [pp = 0, 3]>`
Type DistType::parse(AsmParser &parser) {
  RankedTensorType tensor;
  SmallVector<int64_t> on;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(tensor) || parser.parseComma() ||
      parser.parseKeyword("on") || parser.parseLSquare() ||
      parser.parseKeyword("pp") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(
          [&] { return parser.parseInteger(on.emplace_back()); }) ||
      parser.parseRSquare() || parser.parseGreater())
    return {};
  return DistType::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), tensor, on);
}

void DistType::print(AsmPrinter &printer) const {
  printer << "<" << getTensor() << ", on [pp = ";
  llvm::interleaveComma(getOn(), printer);
  printer << "]>";
}

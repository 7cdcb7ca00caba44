// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the mesh and of the ops between coordinates.

#include "Piper/Dialect/PiperDialect.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::piper;

LogicalResult MicroBatchOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto out = cast<RankedTensorType>(getOut().getType());
  if (input.getRank() == 0)
    return emitOpError() << "expects a dimension of micro-batches but got "
                         << input;
  if (getIndex() < 0 || getIndex() >= input.getDimSize(0))
    return emitOpError() << "expects an index below " << input.getDimSize(0)
                         << " but got " << getIndex();
  auto expected = RankedTensorType::get(input.getShape().drop_front(),
                                        input.getElementType());
  if (out != expected)
    return emitOpError() << "expects a result of " << expected << " but got "
                         << out;
  return success();
}

LogicalResult MeshOp::verify() {
  if (getAxes().size() != getSizes().size() || getSizes().empty())
    return emitOpError() << "expects one size for each axis but got "
                         << getAxes().size() << " axes and "
                         << getSizes().size() << " sizes";
  llvm::StringSet<> seen;
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes())) {
    StringRef name = cast<StringAttr>(axis).getValue();
    if (!seen.insert(name).second)
      return emitOpError() << "expects axis '" << name << "' once";
    if (size < 1)
      return emitOpError() << "expects axis '" << name
                           << "' to have a size of 1 or more but got " << size;
  }
  return success();
}

LogicalResult TransferOp::verify() {
  auto from = cast<DistType>(getInput().getType());
  auto to = cast<DistType>(getOut().getType());
  if (from.getTensor() != to.getTensor())
    return emitOpError() << "expects to keep the type " << from.getTensor()
                         << " but got " << to.getTensor();
  if (to.getOn().size() != 1)
    return emitOpError() << "expects a result on one coordinate but got " << to;
  if (llvm::is_contained(from.getOn(), to.getOn().front()))
    return emitOpError() << "expects to go to another coordinate but its "
                            "operand is on pp = "
                         << to.getOn().front() << " already";
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expects at least one operand";
  if (getAxes().size() != 1 || cast<StringAttr>(getAxes()[0]) != "pp")
    return emitOpError() << "expects the axes [\"pp\"] but got " << getAxes();
  RankedTensorType type = getLocalTensor(getOut().getType());
  for (Value input : getInputs())
    if (getLocalTensor(input.getType()) != type)
      return emitOpError() << "expects operands of " << type << " but got "
                           << getLocalTensor(input.getType());
  Type element = type.getElementType();
  bool canAdd = element.isF32() || element.isF64() || element.isInteger(32) ||
                element.isInteger(64);
  if (getInputs().size() > 1 && !canAdd)
    return emitOpError() << "expects elements of f32, f64, i32 or i64 to add "
                            "but got "
                         << element;
  return success();
}

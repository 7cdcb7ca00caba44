// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect: registration, and the checks of its attributes where they are
// put on ops, arguments and results.

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::piper;

#include "Piper/Dialect/PiperDialect.cpp.inc"
#include "Piper/Dialect/PiperInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "Piper/Dialect/PiperOps.cpp.inc"

void PiperDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "Piper/Dialect/PiperOps.cpp.inc"
      >();
}

Operation *PiperDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

/// Checks that the attribute `piper.NAME` is of the kind that the name
/// promises.
static LogicalResult verifyKind(NamedAttribute attribute,
                                function_ref<InFlightDiagnostic()> emitError) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto expects = [&](bool good, StringRef kind) -> LogicalResult {
    if (good)
      return success();
    return emitError() << "expects attribute '" << name << "' to be " << kind
                       << " but got " << value;
  };
  if (name == PiperDialect::TagsAttrHelper::getNameStr())
    return expects(isa<TagsAttr>(value), "#piper.tags<..>");
  if (name == PiperDialect::InputAttrHelper::getNameStr())
    return expects(isa<InputAttr>(value), "#piper.input<..>");
  if (name == PiperDialect::ParamAttrHelper::getNameStr())
    return expects(isa<ParamAttr>(value), "#piper.param<..>");
  if (name == PiperDialect::StateAttrHelper::getNameStr())
    return expects(isa<StateAttr>(value), "#piper.state<..>");
  if (name == PiperDialect::OutputAttrHelper::getNameStr() ||
      name == PiperDialect::NextAttrHelper::getNameStr() ||
      name == PiperDialect::GradientAttrHelper::getNameStr())
    return expects(isa<StringAttr>(value), "a string");
  if (name == PiperDialect::LevelAttrHelper::getNameStr())
    return expects(isa<LevelAttr>(value), "#piper.level<..>");
  if (name == PiperDialect::MemoryAttrHelper::getNameStr())
    return expects(isa<MemoryAttr>(value), "#piper.memory<..>");
  if (name == PiperDialect::StrategyAttrHelper::getNameStr())
    return expects(isa<StrategyAttr>(value), "#piper.strategy<..>");
  if (name == PiperDialect::DirectivesAttrHelper::getNameStr())
    return expects(isa<ArrayAttr>(value), "a list of directives");
  return emitError() << "unknown attribute '" << name
                     << "' of the piper dialect";
}

LogicalResult PiperDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  return verifyKind(attribute, [&] { return op->emitOpError(); });
}

/// A named dimension list must be as long as the tensor has dimensions.
static LogicalResult verifyDims(Operation *op, StringRef kind, StringRef name,
                                ArrayRef<StringAttr> dims, Type type,
                                bool hasMicroBatches = false) {
  RankedTensorType tensor = getLocalTensor(type);
  if (!tensor)
    return op->emitOpError() << "expects " << kind << " '" << name
                             << "' to be a tensor but got " << type;
  int64_t expected = tensor.getRank() - (hasMicroBatches ? 1 : 0);
  if (!dims.empty() && static_cast<int64_t>(dims.size()) != expected)
    return op->emitOpError() << "expects " << kind << " '" << name
                             << "' of type " << type << " to have " << expected
                             << " dimension names but got " << dims.size();
  return success();
}

LogicalResult PiperDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned region,
                                                     unsigned index,
                                                     NamedAttribute attribute) {
  if (failed(verifyKind(attribute, [&] { return op->emitOpError(); })))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  Type type = function.getArgumentTypes()[index];
  if (auto input = dyn_cast<InputAttr>(attribute.getValue()))
    return verifyDims(op, "input", input.getName(), input.getDims(), type,
                      input.getSplit() >= 0);
  auto param = dyn_cast<ParamAttr>(attribute.getValue());
  if (!param)
    return success();
  if (failed(
          verifyDims(op, "parameter", param.getName(), param.getDims(), type)))
    return failure();
  if (!isa<FloatType>(getLocalTensor(type).getElementType()))
    return op->emitOpError()
           << "expects parameter '" << param.getName().getValue()
           << "' to have float elements but got " << type;
  auto init = dyn_cast<ElementsAttr>(param.getInit());
  if (init && init.getType() != getLocalTensor(type))
    return op->emitOpError()
           << "expects the initial value of parameter '"
           << param.getName().getValue() << "' to have its type " << type
           << " but got " << init.getType();
  // Every step keeps what is finite finite, and counts on it.
  if (auto dense = dyn_cast<DenseElementsAttr>(param.getInit()))
    for (const APFloat &value : dense.getValues<APFloat>())
      if (!value.isFinite())
        return op->emitOpError()
               << "expects finite initial values of parameter '"
               << param.getName().getValue() << "' but got "
               << (value.isNaN()        ? "nan"
                   : value.isNegative() ? "-inf"
                                        : "inf");
  return success();
}

LogicalResult PiperDialect::verifyRegionResultAttribute(
    Operation *op, unsigned region, unsigned index, NamedAttribute attribute) {
  return verifyKind(attribute, [&] { return op->emitOpError(); });
}

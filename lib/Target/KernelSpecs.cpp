// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, targets and compute ops as the runtime's plain structures.

#include "Piper/Target/BuildProgram.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::piper;
namespace rt = ::piper::rt;

bool mlir::piper::canConvertType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  Type element = tensor.getElementType();
  return element.isF32() || element.isF64() || element.isBF16() ||
         element.isSignlessInteger(1) || element.isSignlessInteger(32) ||
         element.isSignlessInteger(64);
}

LogicalResult mlir::piper::checkTypes(Operation *op, TypeRange types,
                                      StringRef kind) {
  for (auto [number, type] : llvm::enumerate(types))
    if (!canConvertType(type))
      return op->emitOpError()
             << "expects " << kind << " #" << number
             << " to be a static tensor of f32, f64, bf16, i1, i32 or i64 but "
                "got "
             << type;
  return success();
}

rt::TensorType mlir::piper::convertType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  rt::TensorType result;
  result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  Type element = tensor.getElementType();
  if (element.isF32())
    result.element = rt::ElementType::F32;
  else if (element.isF64())
    result.element = rt::ElementType::F64;
  else if (element.isBF16())
    result.element = rt::ElementType::BF16;
  else if (element.isInteger(1))
    result.element = rt::ElementType::I1;
  else if (element.isInteger(32))
    result.element = rt::ElementType::I32;
  else
    result.element = rt::ElementType::I64;
  return result;
}

rt::Target mlir::piper::convertTarget(TargetAttr target) {
  return {target.getDevice().str(), static_cast<int>(target.getThreads())};
}

std::vector<uint8_t> mlir::piper::denseBytes(DenseElementsAttr value) {
  rt::TensorType type = convertType(value.getType());
  size_t width = rt::elementBytes(type.element);
  std::vector<uint8_t> bytes(type.numBytes());
  if (value.getElementType().isInteger(1)) {
    for (auto [index, element] : llvm::enumerate(value.getValues<bool>()))
      bytes[index] = element;
    return bytes;
  }
  ArrayRef<char> raw = value.getRawData();
  for (size_t i = 0; i < bytes.size();
       i += value.isSplat() ? width : raw.size())
    std::copy(raw.begin(), raw.end(), bytes.begin() + i);
  return bytes;
}

/// Adds one attribute of an op. Returns false for a kind that kernels have not.
static bool addAttribute(rt::Attributes &attributes, StringRef name,
                         Attribute value) {
  return TypeSwitch<Attribute, bool>(value)
      .Case<UnitAttr>([&](UnitAttr) {
        attributes.set(name.str(), int64_t(1));
        return true;
      })
      .Case<IntegerAttr>([&](IntegerAttr number) {
        attributes.set(name.str(), number.getValue().getSExtValue());
        return true;
      })
      .Case<FloatAttr>([&](FloatAttr number) {
        attributes.set(name.str(), number.getValueAsDouble());
        return true;
      })
      .Case<StringAttr>([&](StringAttr text) {
        attributes.set(name.str(), text.str());
        return true;
      })
      .Case<DenseI64ArrayAttr>([&](DenseI64ArrayAttr numbers) {
        attributes.set(name.str(),
                       std::vector<int64_t>(numbers.asArrayRef().begin(),
                                            numbers.asArrayRef().end()));
        return true;
      })
      .Case<DenseElementsAttr>([&](DenseElementsAttr dense) {
        attributes.set(name.str(), denseBytes(dense));
        return true;
      })
      .Default([](Attribute) { return false; });
}

FailureOr<rt::KernelSpec> mlir::piper::buildKernelSpec(Operation *op) {
  rt::KernelSpec spec;
  spec.name = op->getName().stripDialect().str();
  for (Type type : op->getOperandTypes())
    spec.operands.push_back(convertType(type));
  for (Type type : op->getResultTypes())
    spec.results.push_back(convertType(type));
  auto properties =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!properties)
    return spec;
  for (NamedAttribute attribute : properties)
    if (!addAttribute(spec.attributes, attribute.getName(),
                      attribute.getValue()))
      return op->emitOpError()
             << "expects attribute '" << attribute.getName().strref()
             << "' to be a number, text, list or dense constant "
                "but got "
             << attribute.getValue();
  return spec;
}

FailureOr<const rt::KernelEntry *> mlir::piper::lookupKernel(Operation *op) {
  const rt::KernelEntry *entry =
      isa<PiperDialect>(op->getDialect())
          ? rt::findKernel(op->getName().stripDialect().str())
          : nullptr;
  if (entry)
    return entry;
  return op->emitOpError() << "has no kernel for device 'cpu'";
}

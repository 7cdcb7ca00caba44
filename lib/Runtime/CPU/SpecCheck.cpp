// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a KernelSpec and their messages.

#include "SpecCheck.h"

#include "Piper/Runtime/CPU/InstructionSet.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::cpu;

Status cpu::kernelError(const KernelSpec &spec, const std::string &expected,
                        const std::string &got) {
  return Status::error("kernel '" + spec.name + "' expects " + expected +
                       " but got " + got);
}

int64_t cpu::product(const Shape &shape, int64_t begin, int64_t end) {
  int64_t total = 1;
  for (int64_t i = begin; i < end; ++i)
    total *= shape[size_t(i)];
  return total;
}

int64_t cpu::product(const Shape &shape) {
  return product(shape, 0, int64_t(shape.size()));
}

std::string cpu::shapeText(const Shape &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

Status cpu::checkProcess() {
  Result<InstructionSet> set = currentInstructionSet();
  return set.ok() ? Status::success() : set.takeStatus();
}

static Status checkTensor(const KernelSpec &spec, const TensorType &type,
                          const std::string &which) {
  if (uint8_t(type.element) > uint8_t(ElementType::I64))
    return kernelError(spec, "a known element type for " + which,
                       "number " + std::to_string(int(type.element)));
  constexpr int64_t kMostElements = int64_t(1) << 58;
  int64_t elements = 1;
  for (int64_t dim : type.shape) {
    if (dim <= 0)
      return kernelError(spec, "positive dimensions of " + which,
                         shapeText(type.shape));
    if (dim > kMostElements / elements)
      return kernelError(spec, "fewer than 2^58 elements of " + which,
                         shapeText(type.shape));
    elements *= dim;
  }
  return Status::success();
}

static Status checkCount(const KernelSpec &spec, const char *what, Arity arity,
                         size_t count) {
  int64_t actual = int64_t(count);
  if (actual >= arity.least && actual <= arity.most)
    return Status::success();
  std::string expected = std::to_string(arity.least);
  if (arity.most == kAnyNumber)
    expected += " or more";
  else if (arity.most > arity.least)
    expected += " to " + std::to_string(arity.most);
  return kernelError(spec, expected + " " + what, std::to_string(actual));
}

Status cpu::checkSpec(const KernelSpec &spec, Arity operands, Arity results) {
  PIPER_RETURN_IF_ERROR(
      checkCount(spec, "operands", operands, spec.operands.size()));
  PIPER_RETURN_IF_ERROR(
      checkCount(spec, "results", results, spec.results.size()));
  for (size_t i = 0; i < spec.operands.size(); ++i)
    PIPER_RETURN_IF_ERROR(
        checkTensor(spec, spec.operands[i], operandName(int64_t(i))));
  for (size_t i = 0; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(
        checkTensor(spec, spec.results[i], resultName(int64_t(i))));
  return Status::success();
}

Status cpu::expectElement(const KernelSpec &spec, const TensorType &type,
                          const std::string &which, ElementType element) {
  if (type.element == element)
    return Status::success();
  return kernelError(spec, std::string(elementName(element)) + " for " + which,
                     elementName(type.element));
}

Status cpu::expectReal(const KernelSpec &spec, const TensorType &type,
                       const std::string &which) {
  if (type.element == ElementType::F32 || type.element == ElementType::F64)
    return Status::success();
  return kernelError(spec, "f32 or f64 for " + which,
                     elementName(type.element));
}

Status cpu::expectIndices(const KernelSpec &spec, const TensorType &type,
                          const std::string &which) {
  if (type.element == ElementType::I32 || type.element == ElementType::I64)
    return Status::success();
  return kernelError(spec, "i32 or i64 for " + which,
                     elementName(type.element));
}

Status cpu::expectType(const KernelSpec &spec, const TensorType &type,
                       const std::string &which, ElementType element,
                       const Shape &shape) {
  if (type.element == element && type.shape == shape)
    return Status::success();
  return kernelError(spec, TensorType{element, shape}.str() + " for " + which,
                     type.str());
}

Status cpu::expectRank(const KernelSpec &spec, const TensorType &type,
                       const std::string &which, int64_t rank) {
  if (type.rank() >= rank)
    return Status::success();
  return kernelError(spec,
                     std::to_string(rank) + " or more dimensions of " + which,
                     type.str());
}

Status cpu::expectScalarReal(const KernelSpec &spec, const TensorType &type,
                             const std::string &which) {
  PIPER_RETURN_IF_ERROR(expectReal(spec, type, which));
  return expectType(spec, type, which, type.element, {});
}

Status cpu::expectFloatAttribute(const KernelSpec &spec, const char *name) {
  const Attributes::Value *value = spec.attributes.find(name);
  std::string expected = "a finite float attribute '" + std::string(name) + "'";
  if (!value)
    return kernelError(spec, expected, "none");
  const double *number = std::get_if<double>(value);
  if (!number)
    return kernelError(spec, expected, "another kind");
  if (!std::isfinite(*number))
    return kernelError(spec, expected, std::to_string(*number));
  return Status::success();
}

Status cpu::expectAllEqualReal(const KernelSpec &spec) {
  const TensorType &type = spec.operands[0];
  PIPER_RETURN_IF_ERROR(expectReal(spec, type, operandName(0)));
  for (size_t i = 1; i < spec.operands.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[i],
                                     operandName(int64_t(i)), type.element,
                                     type.shape));
  for (size_t i = 0; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[i],
                                     resultName(int64_t(i)), type.element,
                                     type.shape));
  return Status::success();
}

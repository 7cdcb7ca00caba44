// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a piece lies in the whole tensor.

#include "RandomMask.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

Shape cpu::globalShape(const KernelSpec &spec, const Shape &part) {
  return spec.attributes.find("global_shape")
             ? spec.attributes.getInts("global_shape")
             : part;
}

Status cpu::checkPiece(const KernelSpec &spec, const TensorType &part,
                       size_t origin) {
  if (spec.operands.size() > origin) {
    const TensorType &type = spec.operands[origin];
    std::string name = operandName(int64_t(origin));
    PIPER_RETURN_IF_ERROR(expectIndices(spec, type, name));
    PIPER_RETURN_IF_ERROR(
        expectType(spec, type, name, type.element, {part.rank()}));
  }
  TensorType whole{part.element, globalShape(spec, part.shape)};
  bool holds = whole.rank() == part.rank();
  for (size_t i = 0; holds && i < part.shape.size(); ++i)
    holds = whole.shape[i] >= part.shape[i];
  if (!holds)
    return kernelError(spec, "'global_shape' to hold " + part.str(),
                       shapeText(whole.shape));
  // Its strides must not overflow either.
  return checkSpec(KernelSpec{spec.name, {whole}, {}, {}}, 1, 0);
}

Status cpu::findPieceStart(const char *kernel, const void *origin,
                           ElementType type, const Shape &part,
                           const Shape &whole, int64_t &start) {
  start = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    int64_t at = readIndex(origin, type, int64_t(i));
    if (at < 0 || at > whole[i] - part[i])
      return Status::error(
          "kernel '" + std::string(kernel) + "' expects an origin from 0 to " +
          std::to_string(whole[i] - part[i]) + " along dimension " +
          std::to_string(i) + " but got " + std::to_string(at));
    start = start * whole[i] + at;
  }
  return Status::success();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that are written in f64 (attributes, options) and used in another
// type: none may become 0, inf or a number of few digits on the way.

#ifndef PIPER_DIALECT_NUMBERS_H
#define PIPER_DIALECT_NUMBERS_H

#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace mlir::piper {

/// The type that computes with tensors of `element`: f64 for f64, else f32.
FloatType computingType(Type element);

/// What is expected of a number used in `type` that `value` is not: "from A to
/// B, the normal numbers of f32"; empty if its magnitude, rounded to `type`, is
/// 0 or normal.
std::string findNumberProblem(FloatType type, double value);

/// A number as short text: "0.1", "inf", "nan".
std::string numberText(double value);

} // namespace mlir::piper

#endif // PIPER_DIALECT_NUMBERS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of one op as a function, built as piper-autodiff builds it.

#ifndef PIPER_UNITTESTS_COMPILER_GRADIENTFUNCTION_H
#define PIPER_UNITTESTS_COMPILER_GRADIENTFUNCTION_H

#include "OpCase.h"

namespace piper::test {

struct GradientFunction {
  /// @g: the operands of the op, then the gradient of its first result, to the
  /// gradients of the wanted operands that have one.
  mlir::func::FuncOp function;
  /// Which operand each result is the gradient of.
  std::vector<int> operands;
};

/// Whether an operand or result is of floats.
bool isFloatTensor(mlir::Value value);

/// Adds @g to the module of `row`: clones the op with the results it saves and
/// builds the gradient after it. Requires: the op is differentiable and its
/// first result is of floats.
GradientFunction buildGradientFunction(CaseModule &row,
                                       const std::vector<bool> &wanted);

/// The same with every operand of floats wanted.
GradientFunction buildGradientFunction(CaseModule &row);

} // namespace piper::test

#endif // PIPER_UNITTESTS_COMPILER_GRADIENTFUNCTION_H

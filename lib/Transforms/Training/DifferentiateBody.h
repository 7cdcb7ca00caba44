// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of one body: a forward that saves what is needed, and a
// function that computes the gradients of its operands.

#ifndef PIPER_LIB_TRANSFORMS_TRAINING_DIFFERENTIATEBODY_H
#define PIPER_LIB_TRANSFORMS_TRAINING_DIFFERENTIATEBODY_H

#include "Piper/Transforms/BodyTable.h"

namespace mlir::piper {

/// How the gradient of a result of a body arrives.
enum class ResultGradient : uint8_t {
  None,
  /// As an operand of the backward.
  Given,
  /// It is 1: the result is the loss.
  One
};

/// A body differentiated for given gradients of results and wanted gradients
/// of operands.
struct Derivative {
  /// The body, with the saved values as further results.
  func::FuncOp forward;
  /// Null if every wanted gradient is zero or the gradient of a result.
  func::FuncOp backward;

  /// Where an operand of the backward comes from: the gradient of result
  /// `index`, operand `index`, or result `index` of the forward.
  struct Source {
    enum Kind { ResultGradient, Operand, Result } kind;
    int index;
  };
  SmallVector<Source> operands;

  /// The gradient of each operand of the body: zero, result `index` of the
  /// backward, or the gradient of result `index` of the body as it is.
  struct Gradient {
    enum Kind { Zero, BackwardResult, ResultGradient } kind = Zero;
    int index = 0;
  };
  SmallVector<Gradient> gradients;
};

/// Differentiates `body`. `results` and `wanted` have one entry per result and
/// operand. What the backward needs of the forward is passed as an operand if
/// the forward had it as one, made again where that is cheap and its inputs are
/// at hand, else saved. Emits an error for an op without a gradient.
FailureOr<Derivative> differentiateBody(BodyTable &bodies, func::FuncOp body,
                                        ArrayRef<ResultGradient> results,
                                        ArrayRef<bool> wanted);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TRAINING_DIFFERENTIATEBODY_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of the larger blocks of a transformer, each one kernel, and the
// results that their forward saves for them.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/Shapes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::piper;

/// Opens the definition of an op's gradient: see DifferentiableOpInterface.
#define PIPER_GRADIENT(Op)                                                     \
  void Op::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,      \
                         ArrayRef<bool> wanted,                                \
                         MutableArrayRef<Value> operandGrads)

/// Whether one of the first `count` operands has a gradient to be built. A
/// saved result has no gradient: nothing but the gradient itself reads it.
static bool isNeeded(ArrayRef<Value> resultGrads, ArrayRef<bool> wanted,
                     unsigned count) {
  return resultGrads[0] && llvm::is_contained(wanted.take_front(count), true);
}

/// Hands out the results of a gradient op that makes all gradients at once.
static void takeWanted(Operation *gradientOp, ArrayRef<bool> wanted,
                       MutableArrayRef<Value> operandGrads) {
  for (auto [index, result] : llvm::enumerate(gradientOp->getResults()))
    if (wanted[index])
      operandGrads[index] = result;
}

/// A tensor of statistics of `x`.
static Type statistics(Value x, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, statisticsType(elementTypeOf(x)));
}

PIPER_GRADIENT(EmbeddingOp) {
  if (wanted[0])
    operandGrads[0] = EmbeddingGradOp::create(
        builder, getLoc(), getTable().getType(), resultGrads[0], getIds());
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

void LayerNormOp::getSavedTypes(SmallVectorImpl<Type> &types) {
  if (!getSaved().empty())
    return;
  Type perRow = statistics(getX(), shapeOf(getX()).drop_back());
  types.append({perRow, perRow});
}

PIPER_GRADIENT(LayerNormOp) {
  if (!isNeeded(resultGrads, wanted, 3))
    return;
  auto grad = LayerNormGradOp::create(builder, getLoc(), getX().getType(),
                                      getGamma().getType(), getBeta().getType(),
                                      resultGrads[0], getX(), getGamma(),
                                      getSaved()[0], getSaved()[1]);
  takeWanted(grad, wanted, operandGrads);
}

PIPER_GRADIENT(SoftmaxOp) {
  if (wanted[0])
    operandGrads[0] = SoftmaxGradOp::create(builder, getLoc(), getType(),
                                            resultGrads[0], getY());
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

void AttentionOp::getSavedTypes(SmallVectorImpl<Type> &types) {
  if (!getSaved().empty())
    return;
  ArrayRef<int64_t> q = shapeOf(getQ());
  types.append(2, statistics(getQ(), {q[0], q[2], q[1]}));
}

PIPER_GRADIENT(AttentionOp) {
  if (!isNeeded(resultGrads, wanted, 3))
    return;
  auto grad = AttentionGradOp::create(
      builder, getLoc(), getQ().getType(), getK().getType(), getV().getType(),
      resultGrads[0], getQ(), getK(), getV(), getSaved()[0], getSaved()[1],
      getRandom(), getScaleAttr(), getCausalAttr(), getDropoutAttr(),
      getIndexAttr(), getGlobalShapeAttr());
  takeWanted(grad, wanted, operandGrads);
}

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

PIPER_GRADIENT(DropoutOp) {
  if (wanted[0])
    operandGrads[0] = DropoutOp::create(
        builder, getLoc(), getType(), resultGrads[0], getKey(), getOrigin(),
        getPAttr(), getIndexAttr(), getGlobalShapeAttr());
}

// The random numbers are a function of the key: no mask needs to be kept.
bool DropoutOp::isCheapToRecompute() { return true; }

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

void CrossEntropyOp::getSavedTypes(SmallVectorImpl<Type> &types) {
  if (getSaved().empty())
    types.append(2, statistics(getLogits(), shapeOf(getLabels())));
}

PIPER_GRADIENT(CrossEntropyOp) {
  if (isNeeded(resultGrads, wanted, 1))
    operandGrads[0] = CrossEntropyGradOp::create(
        builder, getLoc(), getLogits().getType(), resultGrads[0], getLogits(),
        getLabels(), getSaved()[0], getSaved()[1]);
}

PIPER_GRADIENT(DivideOp) {
  if (!wanted[0])
    return;
  // A factor of 0 for a count of 0 keeps the gradients finite; the mean is NaN
  // and the step is skipped.
  Location loc = getLoc();
  Type elementType = elementTypeOf(getSum());
  Value factor = ReciprocalOp::create(
      builder, loc, RankedTensorType::get({}, statisticsType(elementType)),
      getCount());
  if (elementTypeOf(factor) != elementType)
    factor = CastOp::create(builder, loc,
                            RankedTensorType::get({}, elementType), factor);
  operandGrads[0] =
      MulOp::create(builder, loc, getSum().getType(), resultGrads[0], factor);
}

#undef PIPER_GRADIENT

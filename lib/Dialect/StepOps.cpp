// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the ops at the end of a step: learning rate, norm, clipping and
// updates.

#include "Checks.h"

#include "Piper/Dialect/PiperDialect.h"

#include <limits>

using namespace mlir;
using namespace mlir::piper;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// learning_rate
//===----------------------------------------------------------------------===//

LogicalResult LearningRateOp::verify() {
  StringRef schedule = getSchedule();
  if (schedule != "constant" && schedule != "linear" && schedule != "cosine")
    return emitOpError() << "expects 'schedule' to be 'constant', 'linear' or "
                            "'cosine' but got '"
                         << schedule << "'";
  double lr = getLr().convertToDouble(), minLr = getMinLr().convertToDouble();
  int64_t warmup = getWarmupStepsAttr().getInt();
  int64_t total = getTotalStepsAttr().getInt();
  if (failed(expectInRange(*this, "lr", lr, 0, kInfinity)) ||
      failed(expectInRange(*this, "min_lr", minLr, 0, kInfinity)) ||
      failed(expectNumberOf(*this, "lr", lr, elementTypeOf(getY()))) ||
      failed(expectNumberOf(*this, "min_lr", minLr, elementTypeOf(getY()))) ||
      failed(expectNotNegative(*this, "warmup_steps", warmup)) ||
      failed(expectNotNegative(*this, "total_steps", total)))
    return failure();
  if (minLr > lr)
    return emitOpError() << "expects 'min_lr' to be at most 'lr' = "
                         << numberText(lr) << " but got " << numberText(minLr);
  if (schedule != "constant" && total <= warmup)
    return emitOpError() << "expects 'total_steps' of schedule '" << schedule
                         << "' to be more than 'warmup_steps' = " << warmup
                         << " but got " << total;
  return success();
}

//===----------------------------------------------------------------------===//
// norm_table, clip
//===----------------------------------------------------------------------===//

static Type i64Of(Operation *op) {
  return IntegerType::get(op->getContext(), 64);
}

LogicalResult NormTableOp::verify() {
  int64_t gradients = getGradients().size();
  if (failed(expectType(*this, "result 'sum'", getSum(), {kDigits},
                        i64Of(*this), "the digits of the sum")))
    return failure();
  return expectType(*this, "result 'nonfinite'", getNonfinite(), {gradients},
                    i64Of(*this), "one count per operand");
}

LogicalResult ClipOp::verify() {
  if (failed(expectType(*this, "operand 'sum'", getSum(),
                        {NormTableOp::kDigits}, i64Of(*this),
                        "the digits of 'piper.norm_table'")) ||
      failed(expectRank(*this, "operand 'nonfinite'", getNonfinite(), 1,
                        "[gradients]")) ||
      failed(expectType(*this, "operand 'nonfinite'", getNonfinite(),
                        shapeOf(getNonfinite()), i64Of(*this),
                        "one count per gradient")) ||
      failed(expectTypeOf(*this, "result 'scale'", getScale(), "result 'norm'",
                          getNorm())))
    return failure();
  double maxNorm = getMaxNorm().convertToDouble();
  if (maxNorm == kInfinity)
    return success();
  if (maxNorm > 0)
    return expectNumberOf(*this, "max_norm", maxNorm,
                          elementTypeOf(getScale()));
  return emitOpError() << "expects 'max_norm' to be positive ('inf' to measure "
                          "without clipping) but got "
                       << numberText(maxNorm);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Checks what all updates have in common: a parameter in f32 or f64, and
/// scalars of its type.
static LogicalResult verifyUpdate(Operation *op, Value param, Value grad,
                                  Value lr, Value scale, double weightDecay) {
  Type elementType = elementTypeOf(param);
  if (elementType.isBF16())
    return op->emitOpError()
           << "expects operand 'param' to have the element type 'f32' or 'f64' "
              "but got 'bf16'; update an f32 copy of the parameter";
  if (failed(
          expectTypeOf(op, "operand 'grad'", grad, "operand 'param'", param)) ||
      failed(expectElementTypeOf(op, "operand 'lr'", lr, "operand 'param'",
                                 param)) ||
      failed(expectElementTypeOf(op, "operand 'scale'", scale,
                                 "operand 'param'", param)))
    return failure();
  if (failed(expectInRange(op, "weight_decay", weightDecay, 0, kInfinity)))
    return failure();
  return expectNumberOf(op, "weight_decay", weightDecay, elementType);
}

/// What an update by SGD and its check have in common.
template <typename OpTy> static LogicalResult verifySgd(OpTy op) {
  if (failed(verifyUpdate(op, op.getParam(), op.getGrad(), op.getLr(),
                          op.getScale(),
                          op.getWeightDecay().convertToDouble())))
    return failure();
  double momentum = op.getMomentum().convertToDouble();
  if (failed(expectInRange(op, "momentum", momentum, 0, 1)) ||
      failed(expectNumberOf(op, "momentum", momentum,
                            elementTypeOf(op.getParam()))))
    return failure();
  if (op.getVelocity() &&
      failed(expectTypeOf(op, "operand 'velocity'", op.getVelocity(),
                          "operand 'param'", op.getParam())))
    return failure();
  if (momentum > 0 && !op.getVelocity())
    return op.emitOpError()
           << "expects an operand 'velocity' with 'momentum' = "
           << numberText(momentum) << " but got none";
  return success();
}

LogicalResult SgdOp::verify() {
  if (failed(verifySgd(*this)))
    return failure();
  size_t results = getVelocity() ? 2 : 1;
  if (getUpdated().size() != results)
    return emitOpError() << "expects " << results
                         << (getVelocity()
                                 ? " results (parameter and velocity)"
                                 : " result (the parameter, without velocity)")
                         << " but got " << getUpdated().size();
  for (auto [number, updated] : llvm::enumerate(getUpdated()))
    if (failed(expectTypeOf(*this, "result #" + std::to_string(number), updated,
                            "operand 'param'", getParam())))
      return failure();
  return success();
}

/// What an update by AdamW and its check have in common.
template <typename OpTy> static LogicalResult verifyAdamW(OpTy op) {
  if (failed(verifyUpdate(op, op.getParam(), op.getGrad(), op.getLr(),
                          op.getScale(),
                          op.getWeightDecay().convertToDouble())) ||
      failed(expectTypeOf(op, "operand 'm'", op.getM(), "operand 'param'",
                          op.getParam())) ||
      failed(expectTypeOf(op, "operand 'v'", op.getV(), "operand 'param'",
                          op.getParam())) ||
      failed(
          expectInRange(op, "beta1", op.getBeta1().convertToDouble(), 0, 1)) ||
      failed(expectInRange(op, "beta2", op.getBeta2().convertToDouble(), 0, 1)))
    return failure();
  Type element = elementTypeOf(op.getParam());
  double eps = op.getEps().convertToDouble();
  if (failed(expectPositive(op, "eps", eps)) ||
      failed(expectNumberOf(op, "beta1", op.getBeta1().convertToDouble(),
                            element)) ||
      failed(expectNumberOf(op, "beta2", op.getBeta2().convertToDouble(),
                            element)))
    return failure();
  return expectNumberOf(op, "eps", eps, element);
}

LogicalResult AdamWOp::verify() {
  if (failed(verifyAdamW(*this)))
    return failure();
  std::pair<StringRef, Value> like[] = {{"result 'new_param'", getNewParam()},
                                        {"result 'new_m'", getNewM()},
                                        {"result 'new_v'", getNewV()}};
  for (auto [name, value] : like)
    if (failed(expectTypeOf(*this, name, value, "operand 'param'", getParam())))
      return failure();
  return success();
}

template <typename OpTy> static LogicalResult verifyCheck(OpTy op) {
  if (failed(expectElementTypeOf(op, "operand 'norm'", op.getNorm(),
                                 "operand 'param'", op.getParam())))
    return failure();
  return expectType(op, "result 'nonfinite'", op.getNonfinite(), {1}, i64Of(op),
                    "one count");
}

LogicalResult SgdCheckOp::verify() {
  if (failed(verifySgd(*this)))
    return failure();
  return verifyCheck(*this);
}

LogicalResult AdamWCheckOp::verify() {
  if (failed(verifyAdamW(*this)))
    return failure();
  return verifyCheck(*this);
}

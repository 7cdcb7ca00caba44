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
  if (maxNorm > 0)
    return success();
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
  return expectInRange(op, "weight_decay", weightDecay, 0, kInfinity);
}

LogicalResult SgdOp::verify() {
  if (failed(verifyUpdate(*this, getParam(), getGrad(), getLr(), getScale(),
                          getWeightDecay().convertToDouble())))
    return failure();
  double momentum = getMomentum().convertToDouble();
  if (failed(expectInRange(*this, "momentum", momentum, 0, 1)))
    return failure();
  if (getVelocity() &&
      failed(expectTypeOf(*this, "operand 'velocity'", getVelocity(),
                          "operand 'param'", getParam())))
    return failure();
  if (momentum > 0 && !getVelocity())
    return emitOpError() << "expects an operand 'velocity' with 'momentum' = "
                         << numberText(momentum) << " but got none";
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

LogicalResult AdamWOp::verify() {
  if (failed(verifyUpdate(*this, getParam(), getGrad(), getLr(), getScale(),
                          getWeightDecay().convertToDouble())))
    return failure();
  std::pair<StringRef, Value> like[] = {{"operand 'm'", getM()},
                                        {"operand 'v'", getV()},
                                        {"result 'new_param'", getNewParam()},
                                        {"result 'new_m'", getNewM()},
                                        {"result 'new_v'", getNewV()}};
  for (auto [name, value] : like)
    if (failed(expectTypeOf(*this, name, value, "operand 'param'", getParam())))
      return failure();
  if (failed(
          expectInRange(*this, "beta1", getBeta1().convertToDouble(), 0, 1)) ||
      failed(expectInRange(*this, "beta2", getBeta2().convertToDouble(), 0, 1)))
    return failure();
  return expectPositive(*this, "eps", getEps().convertToDouble());
}

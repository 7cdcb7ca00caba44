// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of each optimizer: the update, and the check of what it would write,
// with the same numbers.

#include "OptimizerParts.h"

using namespace mlir;
using namespace mlir::piper;

static bool isAdamW(const PiperOptimizerOptions &options) {
  return options.optimizer == "adamw";
}

/// Weight decay applies to matrices, not to biases and the factors of norms.
static double decayOf(const PiperOptimizerOptions &options, Value param) {
  bool isMatrix = cast<RankedTensorType>(param.getType()).getRank() >= 2;
  return isMatrix ? double(options.weightDecay) : 0.0;
}

SmallVector<StringRef>
mlir::piper::momentSuffixes(const PiperOptimizerOptions &options) {
  if (isAdamW(options))
    return {".m", ".v"};
  if (options.momentum > 0)
    return {".v"};
  return {};
}

/// The operands that the update and its check have in common, with `last`
/// behind them, but before the velocity.
static SmallVector<Value> operandsOf(const PiperOptimizerOptions &options,
                                     const Trained &trained,
                                     const StepScalars &scalars, Value last) {
  SmallVector<Value> operands = {trained.value, trained.gradient};
  if (isAdamW(options)) {
    llvm::append_range(operands, trained.moments);
    operands.append({scalars.lr, scalars.update, scalars.scale, last});
  } else {
    operands.append({scalars.lr, scalars.scale, last});
    llvm::append_range(operands, trained.moments);
  }
  return operands;
}

SmallVector<Value>
mlir::piper::checkOperands(const PiperOptimizerOptions &options,
                           const Trained &trained, const StepScalars &scalars) {
  return operandsOf(options, trained, scalars, scalars.norm);
}

SmallVector<Value>
mlir::piper::updateOperands(const PiperOptimizerOptions &options,
                            const Trained &trained,
                            const StepScalars &scalars) {
  return operandsOf(options, trained, scalars, scalars.ok);
}

Operation *mlir::piper::createUpdate(OpBuilder &builder, Location loc,
                                     const PiperOptimizerOptions &options,
                                     ValueRange o) {
  Type type = o[0].getType();
  double decay = decayOf(options, o[0]);
  if (isAdamW(options))
    return AdamWOp::create(builder, loc, type, type, type, o[0], o[1], o[2],
                           o[3], o[4], o[5], o[6], o[7], APFloat(options.beta1),
                           APFloat(options.beta2), APFloat(options.eps),
                           APFloat(decay));
  Value velocity = o.size() > 5 ? o[5] : Value();
  SmallVector<Type> types(velocity ? 2 : 1, type);
  return SgdOp::create(builder, loc, types, o[0], o[1], o[2], o[3], o[4],
                       velocity, builder.getF64FloatAttr(options.momentum),
                       builder.getF64FloatAttr(decay));
}

Operation *mlir::piper::createCheck(OpBuilder &builder, Location loc,
                                    const PiperOptimizerOptions &options,
                                    ValueRange o) {
  Type count = RankedTensorType::get({1}, builder.getI64Type());
  double decay = decayOf(options, o[0]);
  if (isAdamW(options))
    return AdamWCheckOp::create(builder, loc, count, o[0], o[1], o[2], o[3],
                                o[4], o[5], o[6], o[7], APFloat(options.beta1),
                                APFloat(options.beta2), APFloat(options.eps),
                                APFloat(decay));
  return SgdCheckOp::create(builder, loc, count, o[0], o[1], o[2], o[3], o[4],
                            o.size() > 5 ? o[5] : Value(),
                            builder.getF64FloatAttr(options.momentum),
                            builder.getF64FloatAttr(decay));
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the options of the optimizer.

#include "OptimizerParts.h"

#include "Piper/Dialect/Numbers.h"
#include "Piper/Dialect/ProgramLocation.h"

using namespace mlir;
using namespace mlir::piper;

LogicalResult
mlir::piper::checkOptimizerOptions(ModuleOp module,
                                   const PiperOptimizerOptions &o) {
  auto refuse = [&](StringRef option, StringRef expects, double got) {
    return emitProgramError(module)
           << "option '" << option << "' expects " << expects << " but got "
           << numberText(got);
  };
  auto unit = [](double x) { return x >= 0 && x < 1; };
  auto finite = [](double x) { return std::isfinite(x); };
  if (o.optimizer != "adamw" && o.optimizer != "sgd")
    return emitProgramError(module)
           << "option 'optimizer' expects adamw or sgd but got '" << o.optimizer
           << "'";
  if (!llvm::is_contained({"constant", "linear", "cosine"}, o.schedule))
    return emitProgramError(module) << "option 'lr-schedule' expects constant, "
                                       "linear or cosine but got '"
                                    << o.schedule << "'";
  if (!finite(o.lr) || o.lr < 0)
    return refuse("lr", "a finite number of 0 or more", o.lr);
  if (!unit(o.momentum))
    return refuse("momentum", "a number from 0 to below 1", o.momentum);
  if (!unit(o.beta1))
    return refuse("beta1", "a number from 0 to below 1", o.beta1);
  if (!unit(o.beta2))
    return refuse("beta2", "a number from 0 to below 1", o.beta2);
  if (!finite(o.eps) || !(o.eps > 0))
    return refuse("eps", "a positive finite number", o.eps);
  if (!finite(o.weightDecay) || o.weightDecay < 0)
    return refuse("weight-decay", "a finite number of 0 or more",
                  o.weightDecay);
  if (!(o.clip > 0))
    return refuse("clip", "a positive number, or inf to measure only,", o.clip);
  if (!finite(o.minLr) || o.minLr < 0 || o.minLr > o.lr)
    return refuse("min-lr", "a number from 0 to lr", o.minLr);
  if (o.warmupSteps < 0)
    return refuse("warmup-steps", "a number of 0 or more", o.warmupSteps);
  if (o.schedule != "constant" && o.totalSteps <= o.warmupSteps)
    return refuse(
        "total-steps",
        "more steps than warmup-steps for a schedule that is not constant",
        o.totalSteps);
  return success();
}

LogicalResult mlir::piper::checkOptimizerNumbers(ModuleOp module,
                                                 const PiperOptimizerOptions &o,
                                                 Type element) {
  std::pair<StringRef, double> numbers[] = {
      {"lr", o.lr},       {"momentum", o.momentum},
      {"beta1", o.beta1}, {"beta2", o.beta2},
      {"eps", o.eps},     {"weight-decay", o.weightDecay},
      {"clip", o.clip},   {"min-lr", o.minLr}};
  FloatType type = computingType(element);
  for (auto [name, value] : numbers) {
    if (name == "clip" && std::isinf(value))
      continue;
    std::string problem = findNumberProblem(type, value);
    if (!problem.empty())
      return emitProgramError(module)
             << "option '" << name << "' expects "
             << (name == "eps" || name == "clip" ? "a number "
                                                 : "0 or a number ")
             << problem << ", but got " << numberText(value);
  }
  return success();
}

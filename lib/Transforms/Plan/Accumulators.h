// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators of tasks as operands of bodies: a task with `into` becomes one
// without.

#ifndef PIPER_LIB_TRANSFORMS_PLAN_ACCUMULATORS_H
#define PIPER_LIB_TRANSFORMS_PLAN_ACCUMULATORS_H

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::piper {

/// Makes, for a body F and a number of accumulators, the body `F.into`: F with
/// one more operand for each of its last results, which it returns added to
/// that operand (operand first).
class AccumulatorBodies {
public:
  explicit AccumulatorBodies(ModuleOp module) : symbols(module) {}

  /// Turns the operands of `into` into operands of `F.into`. A task without
  /// them stays as it is. Emits an error for a body that cannot add.
  LogicalResult lower(TaskOp task);

private:
  FailureOr<func::FuncOp> build(TaskOp task, func::FuncOp body);

  SymbolTable symbols;
  DenseMap<std::pair<StringAttr, size_t>, func::FuncOp> known;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_PLAN_ACCUMULATORS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From MLIR to the runtime's plain structures: types, kernels, functions,
// and whole plans.

#ifndef PIPER_TARGET_BUILDPROGRAM_H
#define PIPER_TARGET_BUILDPROGRAM_H

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Runtime/Kernel.h"
#include "Piper/Runtime/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::piper {

namespace rt = ::piper::rt;

/// Whether convertType takes the type: a static tensor of the dialect's element
/// types.
bool canConvertType(Type type);
/// Requires: canConvertType.
rt::TensorType convertType(Type type);
/// Emits an error at `op` if the types of what are its arguments or results
/// cannot be converted; `kind` is "argument" or "result".
LogicalResult checkTypes(Operation *op, TypeRange types, StringRef kind);
rt::Target convertTarget(TargetAttr target);

/// All elements of a constant, row-major, as the runtime has them in memory.
std::vector<uint8_t> denseBytes(DenseElementsAttr value);

/// The kernel that runs a compute op: name, types, and every attribute that
/// is not discardable. Emits an error for an op without a kernel.
FailureOr<rt::KernelSpec> buildKernelSpec(Operation *op);

/// The row of the table of kernels for an op; emits an error if there is none.
FailureOr<const rt::KernelEntry *> lookupKernel(Operation *op);

/// A body whose values have places (MemoryAttr, made by planBody) as the
/// runtime's function.
FailureOr<rt::Function> buildFunction(func::FuncOp function,
                                      const rt::Target &target);

/// The ops that the parts of an rt::Plan were made from, in the same order: for
/// messages that point into the module.
struct PlanOps {
  struct Entry {
    EntryOp op;
    std::vector<Operation *> instructions;
  };
  struct Program {
    ProgramOp op;
    std::vector<Entry> entries;
  };
  std::vector<Program> programs;
};

/// All programs of a plan, by coordinate. Emits an error if the module is not a
/// plan, or if something that piper-plan-memory sets is missing.
FailureOr<rt::Plan> buildPlan(ModuleOp module, PlanOps *ops = nullptr);

} // namespace mlir::piper

#endif // PIPER_TARGET_BUILDPROGRAM_H

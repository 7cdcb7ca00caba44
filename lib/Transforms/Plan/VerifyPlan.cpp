// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wall at the end: the runtime's own checks of a plan, each program alone
// and then all together, with their messages at the ops.

#include "Piper/Runtime/CheckPlan.h"
#include "Piper/Runtime/CheckProgram.h"
#include "Piper/Target/BuildProgram.h"
#include "Piper/Transforms/BodyTable.h"
#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERVERIFYPLAN
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// The op that a problem is about, as near as it says.
static Operation *findOp(ModuleOp module, const PlanOps &ops,
                         const rt::PlanProblem &problem) {
  if (problem.program < 0)
    return module;
  const PlanOps::Program &program = ops.programs[problem.program];
  if (problem.entry < 0)
    return program.op;
  const PlanOps::Entry &entry = program.entries[problem.entry];
  if (problem.instruction < 0)
    return entry.op;
  return entry.instructions[problem.instruction];
}

static LogicalResult verifyPlan(ModuleOp module) {
  PlanOps ops;
  FailureOr<rt::Plan> plan = buildPlan(module, &ops);
  if (failed(plan))
    return failure();
  for (auto [program, from] : llvm::zip_equal(plan->programs, ops.programs))
    if (rt::Status status = rt::checkProgram(program); !status.ok())
      return from.op->emitError() << status.message();
  if (std::optional<rt::PlanProblem> problem = rt::findPlanProblem(*plan))
    return findOp(module, ops, *problem)->emitError() << problem->message;
  return success();
}

namespace {
class PiperVerifyPlanPass
    : public mlir::piper::impl::PiperVerifyPlanBase<PiperVerifyPlanPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::Plan)) ||
        failed(verifyPlan(module)))
      signalPassFailure();
  }
};
} // namespace

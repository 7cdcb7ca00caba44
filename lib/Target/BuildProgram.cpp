// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan module to the runtime's Plan. A plan may have been edited by
// hand: what is missing is an error here, what is inconsistent one of the
// runtime's loader.

#include "Piper/Target/BuildProgram.h"

#include "Piper/Dialect/ProgramLocation.h"

#include "BuildEntry.h"

using namespace mlir;
using namespace mlir::piper;

static LogicalResult buildOne(ProgramOp op, FunctionCache &cache,
                              rt::Program &program, PlanOps::Program &ops) {
  program.name = op.getSymName().str();
  program.coordinate = std::max<int64_t>(op.getCoordinate(), 0);
  program.target = convertTarget(op.getTarget());
  if (!op.getArena())
    return op.emitOpError() << "expects the size of the arena that "
                               "piper-plan-memory sets";
  program.arenaBytes = *op.getArena();
  ops.op = op;
  EntryBuilder builder(program, cache);
  for (Operation &inner : op.getBody().front()) {
    auto entry = dyn_cast<EntryOp>(inner);
    if (!entry)
      return inner.emitOpError() << "expects only entry points in a program";
    ops.entries.push_back({entry, {}});
    if (failed(builder.add(entry, ops.entries.back().instructions)))
      return failure();
  }
  return success();
}

/// The programs by coordinate, which must be 0, 1, .. and one program each.
static FailureOr<SmallVector<ProgramOp>> collectPrograms(ModuleOp module) {
  SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  if (programs.empty())
    return emitProgramError(module)
           << "expects a program but the plan has none";
  llvm::stable_sort(programs, [](ProgramOp a, ProgramOp b) {
    return a.getCoordinate() < b.getCoordinate();
  });
  // The only program of a plan without a mesh has no coordinate.
  if (programs.size() == 1 && programs.front().getCoordinate() == -1)
    return programs;
  for (auto [index, program] : llvm::enumerate(programs)) {
    if (program.getCoordinate() != static_cast<int64_t>(index))
      return program.emitOpError()
             << "expects the " << programs.size()
             << " programs of the plan at pp = 0 to " << programs.size() - 1
             << ", one each, but is at pp = " << program.getCoordinate();
    if (program.getBuffering() != programs.front().getBuffering()) {
      InFlightDiagnostic diagnostic =
          program.emitOpError()
          << "expects the buffering of the other programs, "
          << programs.front().getBuffering() << ", but got "
          << program.getBuffering();
      diagnostic.attachNote(programs.front().getLoc()) << "one is here";
      return diagnostic;
    }
  }
  return programs;
}

FailureOr<rt::Plan> mlir::piper::buildPlan(ModuleOp module, PlanOps *ops) {
  auto level = module->getAttrOfType<LevelAttr>(
      PiperDialect::LevelAttrHelper::getNameStr());
  if (!level || level.getValue() != Level::Plan)
    return emitProgramError(module)
           << "expects a plan but got level '"
           << stringifyLevel(level ? level.getValue() : Level::Model) << "'";
  FailureOr<SmallVector<ProgramOp>> programs = collectPrograms(module);
  if (failed(programs))
    return failure();
  rt::Plan plan;
  plan.buffering = programs->front().getBuffering();
  plan.programs.resize(programs->size());
  FunctionCache cache(module);
  PlanOps local;
  PlanOps &all = ops ? *ops : local;
  all.programs.resize(programs->size());
  for (auto [index, program] : llvm::enumerate(*programs))
    if (failed(buildOne(program, cache, plan.programs[index],
                        all.programs[index])))
      return failure();
  return plan;
}

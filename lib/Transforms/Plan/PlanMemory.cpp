// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every value its offset in the arena of its program.
//
// 1. Bodies: places of their values, and which results may overwrite operands.
// 2. State: one offset for each name, from the start of the arena.
// 3. Each entry point, in EntryPlanner.
// 4. What each program needs, against the limit.

#include "Directives/Directive.h"
#include "EntryPlanner.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPLANMEMORY
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// Plans all bodies for the target of the programs.
static LogicalResult planBodies(ModuleOp module, ArrayRef<ProgramOp> programs,
                                PlannedBodies &bodies) {
  if (programs.empty())
    return success();
  // Bodies are shared, and their workspaces depend on the target.
  ProgramOp first = programs.front();
  for (ProgramOp program : programs)
    if (program.getTarget() != first.getTarget())
      return program.emitOpError()
             << "expects the target of the other programs, "
             << first.getTarget() << ", but got " << program.getTarget();
  rt::Target target = convertTarget(first.getTarget());
  for (auto function : module.getOps<func::FuncOp>()) {
    PlannedBody &body = bodies[function.getSymName()];
    if (failed(planBody(function, target, &body.inPlace)))
      return failure();
    body.workspaceBytes = function
                              ->getAttrOfType<MemoryAttr>(
                                  PiperDialect::MemoryAttrHelper::getNameStr())
                              .getBytes();
  }
  return success();
}

/// "coordinate 1 (stages 1, 3) ", empty without a mesh.
static std::string describePlace(ProgramOp program) {
  if (program.getCoordinate() < 0)
    return "";
  std::set<int64_t> stages;
  program.walk([&](TaskOp task) {
    if (task.getStage() >= 0)
      stages.insert(task.getStage());
  });
  std::string text =
      "coordinate " + std::to_string(program.getCoordinate()) + " ";
  if (stages.empty())
    return text;
  return text + (stages.size() == 1 ? "(stage " : "(stages ") +
         llvm::join(
             llvm::map_range(
                 stages, [](int64_t stage) { return std::to_string(stage); }),
             ", ") +
         ") ";
}

namespace {
class PiperPlanMemoryPass
    : public mlir::piper::impl::PiperPlanMemoryBase<PiperPlanMemoryPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (failed(expectLevel(module, getArgument(), Level::Programs)) ||
        failed(verifyTasks(module)))
      return failure();
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    FailureOr<SmallVector<int64_t>> limits = readLimits(module, programs);
    PlannedBodies bodies;
    if (failed(limits) || failed(planBodies(module, programs, bodies)))
      return failure();
    std::optional<InFlightDiagnostic> tooLarge;
    for (auto [index, program] : llvm::enumerate(programs)) {
      if (failed(plan(program, bodies)))
        return failure();
      if (limits->empty() || int64_t(*program.getArena()) <= (*limits)[index])
        continue;
      // One error, whose notes are the other places.
      bool isFirst = !tooLarge;
      if (isFirst)
        tooLarge.emplace(program.emitError());
      Diagnostic &text = isFirst ? *tooLarge->getUnderlyingDiagnostic()
                                 : tooLarge->attachNote(program.getLoc());
      text << describePlace(program) << "needs " << *program.getArena()
           << " bytes but the limit is " << (*limits)[index];
    }
    if (tooLarge)
      return *tooLarge;
    setLevel(module, Level::Plan);
    return success();
  }

  /// The limit of each program; empty if there is none.
  FailureOr<SmallVector<int64_t>> readLimits(ModuleOp module,
                                             ArrayRef<ProgramOp> programs) {
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return failure();
    SmallVector<int64_t> limits(directives->options.memoryLimit);
    if (!limit.empty()) {
      limits.clear();
      SmallVector<StringRef> words;
      StringRef(limit).split(words, ',');
      for (StringRef word : words)
        if (word.trim().getAsInteger(10, limits.emplace_back()) ||
            limits.back() < 0)
          return emitProgramError(module)
                 << "option 'limit' expects numbers of bytes but got '" << limit
                 << "'";
    }
    if (limits.size() == 1)
      limits.resize(programs.size(), limits.front());
    if (!limits.empty() && limits.size() != programs.size())
      return emitProgramError(module)
             << "expects one memory limit, or one for each of the "
             << programs.size() << " programs, but got " << limits.size();
    return limits;
  }

  LogicalResult plan(ProgramOp program, const PlannedBodies &bodies) {
    // All state comes first: an entry point that lacks some of it must leave
    // its bytes alone.
    StateLayout state;
    for (EntryOp entry : program.getBody().getOps<EntryOp>())
      state.add(entry);
    int64_t arena = state.bytes;
    for (EntryOp entry : program.getBody().getOps<EntryOp>()) {
      FailureOr<int64_t> bytes = EntryPlanner(entry, bodies, state).run();
      if (failed(bytes))
        return failure();
      arena = std::max(arena, *bytes);
    }
    program.setArena(arena);
    return success();
  }
};
} // namespace

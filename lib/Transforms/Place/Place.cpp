// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts every task on its pipeline coordinates.
//
// 1. Tasks of the body go to the coordinate of their stage and copy; each
//    parameter is stored where it is used, in any entry point.
// 2. Other tasks go where their results are needed or their operands are.
// 3. Values get their types; those that are read elsewhere are moved, and those
//    that have parts on several coordinates are added up.

#include "EntryPlacer.h"
#include "Split/Recompute.h"
#include "Tasks/DescribeTask.h"

#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

#include <deque>
#include <numeric>

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPLACE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

static CoordinateSets::Set getAll(CoordinateSets &sets, int64_t coordinates) {
  std::vector<int64_t> all(coordinates);
  std::iota(all.begin(), all.end(), 0);
  return sets.get(all);
}

ModulePlacement::ModulePlacement(ModuleOp module, StagePlan given)
    : plan(std::move(given)), all(getAll(sets, plan.coordinates)),
      bodies(module) {}

/// One op of all operands and with all results.
static BodyKind classifyBody(func::FuncOp body) {
  Block &block = body.front();
  Operation *op = &block.front(), *end = block.getTerminator();
  if (op == end || op->getNextNode() != end ||
      op->getOperands() != ValueRange(block.getArguments()) ||
      end->getOperands() != op->getResults())
    return BodyKind::Other;
  if (isa<NormTableOp>(op))
    return BodyKind::NormTable;
  if (isa<UpdateCheckOpInterface>(op))
    return BodyKind::Check;
  if (isa<ConcatOp>(op))
    return BodyKind::Concat;
  auto add = dyn_cast<AddOp>(op);
  if (!add || add.getA().getType() != add.getB().getType())
    return BodyKind::Other;
  Type element = getElementTypeOrSelf(add.getType());
  bool canReduce = element.isF32() || element.isF64() ||
                   element.isInteger(32) || element.isInteger(64);
  return canReduce ? BodyKind::Add : BodyKind::Other;
}

BodyKind ModulePlacement::kindOf(TaskOp task) {
  auto [found, isNew] =
      kinds.try_emplace(task.getCalleeAttr(), BodyKind::Other);
  if (isNew)
    found->second = classifyBody(bodies.lookup(task));
  return found->second;
}

/// Tasks are placed as they are: a directive that makes others of them has to
/// be executed before.
static LogicalResult verifySplit(ModuleOp module, const SplitDirective &split) {
  int64_t count = getMicroBatches(module);
  if (count == split.microBatches)
    return success();
  Origins origins(module);
  return origins.error(split.number)
         << "'piper-place' expects the step in " << split.microBatches
         << " micro-batches, as " << origins.name(split.number, "split")
         << " says, but got " << count << ": run piper-split first";
}

static LogicalResult verifyRecompute(ModuleOp module,
                                     const Directives &directives) {
  auto train = module.lookupSymbol<func::FuncOp>("train");
  if (!train || directives.recompute.empty())
    return success();
  DenseSet<int64_t> recomputed;
  for (auto task : train.getOps<TaskOp>())
    if (task.getPass() == PassKind::R)
      recomputed.insert(task.getSegment());
  std::string tag = directives.microBatchTag();
  for (auto task : train.getOps<TaskOp>()) {
    if (task.getPass() != PassKind::F || !canRecompute(task) ||
        recomputed.contains(task.getSegment()))
      continue;
    for (const RecomputeDirective &directive : directives.recompute) {
      if (!directive.filter.matches(task, tag))
        continue;
      Origins origins(module);
      InFlightDiagnostic error = origins.error(directive.number);
      error << "'piper-place' expects segments that run again, as "
            << origins.name(directive.number, "recompute") << " says, but got "
            << describeTask(task)
            << ", which keeps results for its backward: run piper-recompute "
               "first";
      error.attachNote(task.getLoc()) << "the task";
      return error;
    }
  }
  return success();
}

static LogicalResult verifyExecuted(ModuleOp module,
                                    const Directives &directives) {
  if (directives.split && failed(verifySplit(module, *directives.split)))
    return failure();
  return verifyRecompute(module, directives);
}

static LogicalResult placeModule(ModuleOp module, StagePlan plan) {
  ModulePlacement shared(module, std::move(plan));
  std::deque<EntryPlacer> entries;
  for (func::FuncOp entry : getEntryFunctions(module))
    entries.emplace_back(entry, shared);
  for (EntryPlacer &entry : entries)
    if (failed(entry.placeBody()))
      return failure();
  for (EntryPlacer &entry : entries)
    entry.classifySteps();
  for (EntryPlacer &entry : entries)
    if (failed(entry.rewrite()))
      return failure();
  shared.bodies.eraseUnused();

  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto mesh = MeshOp::create(builder, module.getLoc(), "mesh",
                             builder.getStrArrayAttr({"pp"}),
                             ArrayRef<int64_t>(shared.plan.coordinates));
  // A body may have the name of the mesh: the table makes it unique.
  mesh->remove();
  SymbolTable(module).insert(mesh, module.getBody()->begin());
  setLevel(module, Level::Placed);
  return success();
}

namespace {
class PiperPlacePass
    : public mlir::piper::impl::PiperPlaceBase<PiperPlacePass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return signalPassFailure();
    FailureOr<std::optional<StagePlan>> plan =
        getStagePlan(module, *directives);
    if (failed(plan) || failed(verifyExecuted(module, *directives)) ||
        (*plan && failed(placeModule(module, std::move(**plan)))))
      return signalPassFailure();
  }
};
} // namespace

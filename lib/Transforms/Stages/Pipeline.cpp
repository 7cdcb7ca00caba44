// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes directives of the strategy, and gives tasks their stages.
//
// 1. Take the keys of the module's strategy where the options have none.
// 2. Add the directives of the keys to those of the module.
// 3. Check all directives together: stages, schedule, limits.
// 4. Set `stage` on the tasks of the body of `train` by segment, and in other
//    entry points by the tags.
// 5. Say what the stages cost.

#include "SegmentCosts.h"
#include "Strategy.h"

#include "BalanceStages.h"
#include "Piper/Transforms/CompileKeys.h"
#include "Tasks/VerifyTasks.h"

#include "llvm/ADT/StringExtras.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPIPELINE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Strategy
//===----------------------------------------------------------------------===//

/// The options that were given. The others become what stands for none: 0 of a
/// count, the empty text.
static llvm::StringSet<> takeGiven(PiperPipelineOptions &options) {
  llvm::StringSet<> given;
  for (auto [key, value, none] :
       {std::tuple("pipeline-parallel", &options.pipelineParallel, 0),
        std::tuple("micro-batches", &options.microBatches, 0),
        std::tuple("chunks", &options.chunks, 0),
        std::tuple("prefetch", &options.prefetch, -1),
        std::tuple("buffering", &options.buffering, -1)})
    if (*value == -1)
      *value = none;
    else
      given.insert(key);
  for (auto [key, value] : {std::pair("schedule", &options.schedule),
                            std::pair("cuts", &options.cuts),
                            std::pair("recompute", &options.recompute),
                            std::pair("memory-limit", &options.memoryLimit),
                            std::pair("costs", &options.costs)})
    if (*value == "-")
      value->clear();
    else
      given.insert(key);
  return given;
}

/// Every key of the pipeline that is not given, from the strategy. Alone, this
/// pass has no use for the others.
static FailureOr<PiperPipelineOptions>
addStrategy(ModuleOp module, const PiperPipelineOptions &options,
            llvm::StringSet<> given) {
  CompileOptions all;
  all.pipeline = options;
  all.given = std::move(given);
  if (failed(takeStrategy(module, all)))
    return failure();
  for (StringRef key : CompileOptions::otherKeys())
    if (all.given.contains(key))
      return emitProgramError(module)
             << "key '" << key
             << "' of the strategy is for another pass than "
                "'piper-pipeline': expects it to be run by piper-compile";
  return all.pipeline;
}

static LogicalResult addOfKeys(ModuleOp module,
                               const PiperPipelineOptions &keys) {
  FailureOr<Directives> present = readDirectives(module);
  if (failed(present))
    return failure();
  return expandStrategy(module, keys, *present);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {

/// The stage of a segment by its tags: the n-th of `train` with these tags is
/// the n-th of another entry point.
class StagesByTags {
public:
  StagesByTags(func::FuncOp train, const StagePlan &plan) {
    DenseSet<int64_t> seen;
    for (auto task : train.getOps<TaskOp>())
      if (task.getPass() == PassKind::F && task.getSegment() >= 0 &&
          seen.insert(task.getSegment()).second)
        stages[task.getTagsAttr()].push_back(
            plan.stageOfSegment.lookup(task.getSegment()));
  }

  /// Where there are more than in `train`, that of the last with these tags;
  /// where there is none with them, that of the segment before.
  void apply(func::FuncOp entry) const {
    DenseMap<Attribute, size_t> count;
    int64_t stage = 0;
    for (auto task : entry.getOps<TaskOp>()) {
      if (task.getSegment() < 0)
        continue;
      auto found = stages.find(task.getTagsAttr());
      if (found != stages.end()) {
        size_t ordinal = count[task.getTagsAttr()]++;
        const auto &known = found->second;
        stage = known[std::min(ordinal, known.size() - 1)];
      }
      task.setStage(stage);
    }
  }

private:
  DenseMap<Attribute, SmallVector<int64_t, 1>> stages;
};

} // namespace

/// A schedule runs the stages of an entry in their order: none may read what a
/// later one makes.
static LogicalResult verifyAscending(func::FuncOp entry) {
  // The task of the last stage that a value comes from.
  DenseMap<Value, TaskOp> from;
  auto text = [](TaskOp task) {
    TagsAttr tags = task.getTagsAttr();
    return tags ? "<" + tags.text() + ">" : std::string("no tags");
  };
  for (auto task : entry.getOps<TaskOp>()) {
    TaskOp last = task;
    for (Value operand : task->getOperands())
      if (TaskOp source = from.lookup(operand))
        if (source.getStage() > last.getStage())
          last = source;
    if (last != task && task.getSegment() >= 0) {
      InFlightDiagnostic error = entry.emitError();
      error << "'" << entry.getSymName() << "' visits stage " << last.getStage()
            << " before stage " << task.getStage()
            << ", since its tags stand in another order than in 'train': "
            << text(last) << " before " << text(task);
      error.attachNote(task.getLoc())
          << "of stage " << task.getStage() << " by its tags " << text(task);
      error.attachNote(last.getLoc())
          << "of stage " << last.getStage() << " by its tags " << text(last);
      return error;
    }
    for (Value result : task->getResults())
      from[result] = last;
  }
  return success();
}

static void setStages(ModuleOp module, const StagePlan &plan) {
  func::FuncOp train = module.lookupSymbol<func::FuncOp>("train");
  StagesByTags byTags(train, plan);
  for (func::FuncOp entry : getEntryFunctions(module))
    if (entry != train)
      byTags.apply(entry);
  for (auto task : train.getOps<TaskOp>())
    if (task.getSegment() >= 0)
      task.setStage(plan.stageOfSegment.lookup(task.getSegment()));
}

/// The costs of all stages, and of the balanced ones where the user's are
/// worse.
static LogicalResult remarkCosts(ModuleOp module, const Directives &directives,
                                 const StagePlan &plan, bool areUsers) {
  auto given = getTaskCosts(directives, Origins(module));
  if (failed(given))
    return failure();
  TaskCostTable table(module, std::move(*given));
  SmallVector<double> costs = getSegmentCosts(module, directives, table);
  SmallVector<int64_t> cuts;
  for (auto [index, segment] : llvm::enumerate(getSegments(module)))
    if (plan.stageOfSegment.lookup(segment) > int64_t(cuts.size()))
      cuts.push_back(index);
  SmallVector<double> stages = getCostsOfStages(costs, cuts);
  InFlightDiagnostic remark = emitProgramRemark(module)
                              << "stage costs: " << costText(stages);
  if (!areUsers)
    return success();
  SmallVector<int64_t> best = balanceStages(costs, plan.stages);
  SmallVector<double> balanced = getCostsOfStages(costs, best);
  if (*llvm::max_element(balanced) < *llvm::max_element(stages))
    remark << "; balanced, with cuts="
           << llvm::join(llvm::map_range(
                             best, [](int64_t c) { return std::to_string(c); }),
                         ",")
           << ": " << costText(balanced);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult verifyLimits(ModuleOp module, const Directives &directives,
                                  int64_t coordinates) {
  int64_t limits = directives.options.memoryLimit.size();
  if (limits <= 1 || limits == coordinates)
    return success();
  return Origins(module).error(directives.options.memoryLimitNumber, "options")
         << "expects a memory limit for all or for each of " << coordinates
         << (coordinates == 1 ? " coordinate" : " coordinates") << " but got "
         << limits;
}

/// Without stages, what `options` say of them was meant to change something.
static LogicalResult verifyUnplaced(ModuleOp module) {
  auto list = module->getAttrOfType<ArrayAttr>(
      PiperDialect::DirectivesAttrHelper::getNameStr());
  if (!list)
    return success();
  for (auto [index, attribute] : llvm::enumerate(list)) {
    auto entries = cast<DictionaryAttr>(attribute);
    if (entries.getAs<StringAttr>("op") != "options")
      continue;
    for (StringRef key : {"prefetch", "buffering", "costs"})
      if (entries.get(key))
        return Origins(module).error(index + 1, "options")
               << "key '" << key << "' needs 'place' directives";
  }
  return success();
}

static LogicalResult makeStages(ModuleOp module, bool areUsersCuts) {
  FailureOr<Directives> directives = readDirectives(module);
  if (failed(directives))
    return failure();
  auto plan = getStagePlan(module, *directives);
  if (failed(plan))
    return failure();
  StagePlan stages = *plan ? **plan : StagePlan();
  if (failed(verifyLimits(module, *directives, stages.coordinates)))
    return failure();
  if (!*plan)
    return verifyUnplaced(module);
  int64_t microBatches =
      directives->split ? directives->split->microBatches : 1;
  if (failed(verifySchedule(module, *directives, stages, microBatches)))
    return failure();
  setStages(module, stages);
  if (directives->schedule)
    for (func::FuncOp entry : getEntryFunctions(module))
      if (entry.getSymName() != "train" && failed(verifyAscending(entry)))
        return failure();
  return remarkCosts(module, *directives, stages, areUsersCuts);
}

namespace {
class PiperPipelinePass
    : public mlir::piper::impl::PiperPipelineBase<PiperPipelinePass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    PiperPipelineOptions options = {
        pipelineParallel, chunks,   cuts,      schedule,    microBatches,
        recompute,        prefetch, buffering, memoryLimit, costs};
    llvm::StringSet<> given = takeGiven(options);
    FailureOr<PiperPipelineOptions> keys = addStrategy(module, options, given);
    if (failed(keys) ||
        failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)) || failed(addOfKeys(module, *keys)) ||
        failed(makeStages(module, !keys->cuts.empty())))
      signalPassFailure();
  }
};
} // namespace

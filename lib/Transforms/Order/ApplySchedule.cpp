// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the ops of a placed step in the order of its schedule.
//
// 1. Make the schedule of the stages and check it.
// 2. In each entry point: what its stages cost, the order of its tasks under
//    the schedule, the order of the whole block along these.
//
// A placed step without a schedule or orders keeps the order of its tasks;
// only its transfers move.

#include "BlockOrder.h"
#include "ScheduleOrder.h"
#include "StageCosts.h"

#include "Piper/Schedule/Verify.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERAPPLYSCHEDULE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;

/// What a schedule directive is executed with.
static LogicalResult checkDirectives(ModuleOp module,
                                     const Directives &directives) {
  Origins origins(module);
  int64_t number = directives.schedule->number;
  std::string name = origins.name(number, "schedule");
  if (!directives.order.empty())
    return origins.error(number)
           << name << " and "
           << origins.name(directives.order.front().number, "order")
           << " both say in which order tasks run: expects one of them";
  if (directives.place.empty())
    return origins.error(number)
           << name
           << " expects 'place' directives, whose stages it orders, but there "
              "are none";
  return success();
}

static LogicalResult checkSchedule(ModuleOp module,
                                   const Directives &directives,
                                   const schedule::Schedule &given) {
  schedule::VerifyOptions options;
  options.ascendingBackwards = false; // `into` chains follow any order
  std::vector<std::string> broken = schedule::verify(given, options);
  if (broken.empty())
    return success();
  InFlightDiagnostic error =
      Origins(module).error(directives.schedule->number, "schedule");
  error << broken.front();
  for (const std::string &rule : llvm::drop_begin(broken))
    error.attachNote() << rule;
  return error;
}

/// The schedule of the module; none if nothing asks for one.
static FailureOr<std::optional<schedule::Schedule>>
makeSchedule(ModuleOp module, const Directives &directives) {
  if (!directives.schedule)
    return std::optional<schedule::Schedule>();
  FailureOr<std::optional<StagePlan>> plan = getStagePlan(module, directives);
  if (failed(plan))
    return failure();
  auto made = getSchedule(module, directives, **plan, getMicroBatches(module));
  if (failed(made) || failed(checkSchedule(module, directives, **made)))
    return failure();
  return made;
}

static LogicalResult
applySchedule(func::FuncOp entry,
              const std::optional<schedule::Schedule> &given,
              TaskCostTable &costs, int64_t prefetch) {
  BodyTasks body(entry);
  if (body.tasks().empty())
    return success();
  if (!given)
    return applyOrder(entry, cutIntoActions(body.tasks(), body), prefetch);
  int64_t stages = given->chains.front().size();
  FailureOr<TaskOrder> order = orderBySchedule(
      entry, body, *given, getStageCosts(entry, body, stages, costs));
  if (failed(order))
    return failure();
  return applyOrder(entry, *order, prefetch);
}

namespace {
class PiperApplySchedulePass
    : public mlir::piper::impl::PiperApplyScheduleBase<PiperApplySchedulePass> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return failure();
    if (!directives->schedule && !schedule.empty())
      addOption(*directives);
    // Orders are executed by `piper-order`; a step without places has no
    // transfers.
    bool isPlaced = getLevel(module) == Level::Placed;
    if (!directives->schedule && (!directives->order.empty() || !isPlaced))
      return success();
    if ((directives->schedule &&
         failed(checkDirectives(module, *directives))) ||
        failed(expectLevel(module, getArgument(), Level::Placed)) ||
        failed(verifyTasks(module)))
      return failure();
    auto given = makeSchedule(module, *directives);
    FailureOr<::piper::rt::TaskCosts> read =
        getTaskCosts(*directives, Origins(module));
    if (failed(given) || failed(read))
      return failure();
    TaskCostTable costs(module, std::move(*read));
    for (func::FuncOp entry : getEntryFunctions(module))
      if (failed(applySchedule(entry, *given, costs,
                               directives->options.prefetch)))
        return failure();
    return success();
  }

  /// The option stands for a directive behind the others.
  void addOption(Directives &directives) {
    auto list = getOperation()->getAttrOfType<ArrayAttr>(
        PiperDialect::DirectivesAttrHelper::getNameStr());
    ScheduleDirective directive;
    bool isFile = StringRef(schedule).ends_with(".json");
    (isFile ? directive.file : directive.kind) = schedule;
    directive.number = (list ? list.size() : 0) + 1;
    directives.schedule = std::move(directive);
  }
};
} // namespace

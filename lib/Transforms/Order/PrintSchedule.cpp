// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the schedule that the op order of `train` is: as JSON, as a timetable
// and in numbers. Times are those of the cost file that the directives name, or
// F = 1, B = 2, BI = BW = 1 without one.

#include "ReadSchedule.h"
#include "StageCosts.h"
#include "Tasks/WriteText.h"

#include "Piper/Schedule/JSON.h"
#include "Piper/Schedule/Print.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

#include "llvm/Support/Format.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPRINTSCHEDULE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;

/// With the schedule of the module, which says what tasks do not show.
static FailureOr<schedule::Schedule>
read(ModuleOp module, const Directives &directives, const BodyTasks &body) {
  if (!directives.schedule || directives.place.empty() ||
      getLevel(module) != Level::Placed)
    return readSchedule(body, nullptr);
  FailureOr<std::optional<StagePlan>> plan = getStagePlan(module, directives);
  if (failed(plan))
    return failure();
  auto given = getSchedule(module, directives, **plan, body.microBatches());
  if (failed(given))
    return failure();
  return readSchedule(body, &**given);
}

static void printTimes(const schedule::Schedule &read,
                       const schedule::Costs &costs, bool timetable,
                       raw_ostream &os) {
  auto simulated = schedule::simulate(read, costs);
  if (!simulated) {
    os << "no timetable: " << simulated.error() << "\n";
    return;
  }
  if (timetable)
    os << schedule::printTimetable(read, *simulated);
  os << "bubble " << llvm::format("%.1f", 100 * simulated->bubbleRatio())
     << " %, length " << llvm::format("%g", simulated->makespan)
     << ", peak in flight " << simulated->maxPeak() << "\n";
}

namespace {
class PiperPrintSchedulePass
    : public mlir::piper::impl::PiperPrintScheduleBase<PiperPrintSchedulePass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (getLevel(module) != Level::DAG && getLevel(module) != Level::Placed) {
      emitProgramError(module) << "'" << getArgument()
                               << "' expects level 'dag' or 'placed' but got '"
                               << stringifyLevel(getLevel(module)) << "'";
      return signalPassFailure();
    }
    if (failed(verifyTasks(module)))
      return signalPassFailure();
    markAllAnalysesPreserved();
    for (func::FuncOp entry : getEntryFunctions(module))
      if (entry.getSymName() == "train" && failed(print(entry)))
        return signalPassFailure();
  }

private:
  LogicalResult print(func::FuncOp train) {
    ModuleOp module = getOperation();
    BodyTasks body(train);
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return failure();
    FailureOr<schedule::Schedule> order = read(module, *directives, body);
    FailureOr<::piper::rt::TaskCosts> taskCosts =
        getTaskCosts(*directives, Origins(module));
    if (failed(order) || failed(taskCosts))
      return failure();
    schedule::Costs costs; // of a unit
    if (!directives->options.costs.empty()) {
      TaskCostTable table(module, std::move(*taskCosts));
      costs = getStageCosts(train, body, order->chains.front().size(), table);
    }

    std::string text;
    llvm::raw_string_ostream os(text);
    if (json)
      os << schedule::toJSON(*order) << "\n";
    printTimes(*order, costs, timetable, os);
    return writeText(module, output, text);
  }
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where stages live, and the schedule that runs on them.
//
// 1. Each forward segment of `train` gets the one `place` directive that
//    matches it.
// 2. Segments become stages: by `stage`, or runs of equal devices.
// 3. A schedule is made for, or read and compared with, these stages.

#include "ScheduleFile.h"

#include "Directives/Directive.h"
#include "Piper/Schedule/Generate.h"
#include "Piper/Transforms/BodyTable.h"

#include "llvm/ADT/StringExtras.h"

#include <climits>
#include <set>

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {

/// A segment of the body with the directive that places it.
struct PlacedSegment {
  int64_t segment;
  TaskOp task;
  const PlaceDirective *place;
};

class StagePlanner {
public:
  StagePlanner(ModuleOp module, const Directives &directives)
      : module(module), origins(module), directives(directives) {}
  LogicalResult run();
  StagePlan plan;

private:
  InFlightDiagnostic error(const PlaceDirective &place) {
    return origins.error(place.number, "place");
  }
  LogicalResult matchSegments();
  LogicalResult formStages();
  LogicalResult verifyDevices();

  std::string name(const PlaceDirective &place) const {
    return origins.name(place.number, "place");
  }

  ModuleOp module;
  Origins origins;
  const Directives &directives;
  SmallVector<PlacedSegment> segments;
  /// The directive that a stage is named for in messages.
  SmallVector<const PlaceDirective *> placeOf;
};

} // namespace

LogicalResult StagePlanner::matchSegments() {
  std::string tag = directives.microBatchTag();
  DenseMap<int64_t, TaskOp> tasks;
  for (func::FuncOp entry : getEntryFunctions(module))
    if (entry.getSymName() == "train")
      for (auto task : entry.getOps<TaskOp>())
        if (task.getPass() == PassKind::F && task.getSegment() >= 0)
          tasks.try_emplace(task.getSegment(), task);
  for (auto [segment, task] : tasks)
    segments.push_back({segment, task, nullptr});
  llvm::sort(segments, [](const PlacedSegment &a, const PlacedSegment &b) {
    return a.segment < b.segment;
  });
  for (const PlaceDirective &place : directives.place) {
    bool any = false;
    for (PlacedSegment &segment : segments) {
      if (!place.filter.matches(segment.task, tag))
        continue;
      any = true;
      if (segment.place)
        return error(place)
               << "places segment " << segment.segment << ", which "
               << name(*segment.place) << " places already";
      segment.place = &place;
    }
    if (!any)
      return error(place) << "filter " << place.filter.text()
                          << " matches no segment that a result of 'train' "
                             "needs";
  }
  for (PlacedSegment &segment : segments) {
    if (segment.place)
      continue;
    InFlightDiagnostic diagnostic =
        origins.error(directives.place.front().number);
    diagnostic << "no 'place' directive matches segment " << segment.segment;
    if (TagsAttr tags = segment.task.getTagsAttr())
      diagnostic << ", tags <" << tags.text() << ">";
    diagnostic.attachNote(segment.task.getLoc()) << "the segment begins here";
    return diagnostic;
  }
  return success();
}

LogicalResult StagePlanner::formStages() {
  const PlaceDirective *previous = nullptr;
  int64_t stage = -1;
  for (const PlacedSegment &segment : segments) {
    const PlaceDirective &place = *segment.place;
    if (previous && (previous->stage >= 0) != (place.stage >= 0))
      return error(place) << (place.stage >= 0 ? "has a stage but "
                                               : "has no stage but ")
                          << name(*previous)
                          << (place.stage >= 0 ? " has none" : " has one");
    bool isNew =
        !previous || (place.stage >= 0 ? place.stage != stage
                                       : place.devices != previous->devices);
    if (isNew) {
      if (place.stage >= 0 && place.stage != stage + 1) {
        InFlightDiagnostic diagnostic = error(place);
        diagnostic << "expects segment " << segment.segment << " in stage ";
        if (stage >= 0)
          diagnostic << stage << " or ";
        return diagnostic << stage + 1 << " but got " << place.stage
                          << ": stages ascend with the segments";
      }
      ++stage;
      plan.devices.emplace_back(place.devices.begin(), place.devices.end());
      placeOf.push_back(&place);
    } else if (place.devices != placeOf.back()->devices) {
      return error(place) << "puts stage " << stage << " on other devices than "
                          << name(*placeOf.back());
    }
    plan.stageOfSegment[segment.segment] = stage;
    previous = &place;
  }
  plan.stages = plan.devices.size();
  return success();
}

LogicalResult StagePlanner::verifyDevices() {
  std::set<int64_t> used;
  plan.copies = plan.devices.front().size();
  for (auto [stage, devices] : llvm::enumerate(plan.devices)) {
    if (int64_t(devices.size()) != plan.copies)
      return error(*placeOf[stage])
             << "has " << devices.size()
             << (devices.size() == 1 ? " device but " : " devices but ")
             << name(*placeOf[0]) << " has " << plan.copies;
    used.insert(devices.begin(), devices.end());
  }
  plan.coordinates = used.size();
  int64_t expected = 0;
  for (int64_t coordinate : used)
    if (coordinate != expected++)
      return origins.error(directives.place.front().number)
             << "expects the devices of 'place' directives to be 0.."
             << *used.rbegin() << " but none has " << expected - 1;
  if (plan.copies == 1)
    return success();
  if (plan.stages != plan.coordinates)
    return origins.error(directives.place.front().number)
           << "expects one stage for each coordinate where stages have two "
              "devices but got "
           << plan.stages << " stages on " << plan.coordinates
           << " coordinates";
  for (auto [stage, devices] : llvm::enumerate(plan.devices)) {
    int64_t mirror = plan.devices[plan.stages - 1 - stage][0];
    if (devices[1] != mirror)
      return error(*placeOf[stage])
             << "expects the second copy of stage " << stage << " on " << mirror
             << ", beside stage " << plan.stages - 1 - stage << ", but got "
             << devices[1];
  }
  return success();
}

LogicalResult StagePlanner::run() {
  if (failed(matchSegments()) || failed(formStages()))
    return failure();
  return verifyDevices();
}

FailureOr<std::optional<StagePlan>>
mlir::piper::getStagePlan(ModuleOp module, const Directives &directives) {
  if (directives.place.empty())
    return std::optional<StagePlan>();
  StagePlanner planner(module, directives);
  planner.plan.devices.clear();
  if (failed(planner.run()))
    return failure();
  return std::optional<StagePlan>(std::move(planner.plan));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The library counts in int and refuses what is far below its largest.
static int toInt(int64_t value) {
  return static_cast<int>(std::min<int64_t>(value, INT_MAX));
}

static std::string deviceText(ArrayRef<int64_t> devices) {
  if (devices.size() == 1)
    return "coordinate " + std::to_string(devices[0]);
  return "coordinates " +
         llvm::join(llvm::map_range(
                        devices, [](int64_t d) { return std::to_string(d); }),
                    " and ");
}

/// Where `made` has the first stage that the plan has elsewhere, as "stage 1 on
/// coordinate 1, but .. on coordinate 0"; empty if all agree. A chain visits
/// the stages of the model in order.
static std::string findDifference(const schedule::Schedule &made,
                                  const StagePlan &plan) {
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    SmallVector<int64_t, 2> expected;
    for (const std::vector<int> &chain : made.chains)
      expected.push_back(made.stageRank[chain[stage]]);
    if (expected != plan.devices[stage])
      return "stage " + std::to_string(stage) + " on " + deviceText(expected) +
             ", but the 'place' directives put it on " +
             deviceText(plan.devices[stage]);
  }
  return "";
}

namespace {

class Scheduler {
public:
  Scheduler(ModuleOp module, const ScheduleDirective &directive,
            const StagePlan &plan, int64_t microBatches)
      : module(module), directive(directive), plan(plan),
        microBatches(microBatches) {}
  /// What a kind is asked for, which it can make.
  FailureOr<schedule::Request> request();
  FailureOr<schedule::Schedule> generate();
  FailureOr<schedule::Schedule> read();

private:
  InFlightDiagnostic error() {
    return Origins(module).error(directive.number, "schedule");
  }
  LogicalResult compare(const schedule::Schedule &given);

  ModuleOp module;
  const ScheduleDirective &directive;
  const StagePlan &plan;
  int64_t microBatches;
};

} // namespace

FailureOr<schedule::Request> Scheduler::request() {
  schedule::Request request;
  request.kind = directive.kind;
  request.P = toInt(plan.coordinates);
  request.M = toInt(microBatches);
  for (int64_t limit : directive.limit)
    request.limit.push_back(toInt(limit));
  auto chunks =
      schedule::chunksFor(directive.kind, toInt(plan.stages), request.P);
  if (!chunks)
    return error() << chunks.error();
  request.V = *chunks;
  if (directive.chunks && directive.chunks != request.V)
    return error() << "expects " << directive.chunks
                   << " chunks but the 'place' directives put " << request.V
                   << (request.V == 1 ? " stage" : " stages")
                   << " on each coordinate";
  // Search takes either of two placements: the one that fits.
  const schedule::KindInfo *kind = schedule::findKind(directive.kind);
  auto placement = kind ? kind->placement : schedule::Placement::Loop;
  auto make = [&](schedule::Placement placement) {
    return schedule::makePlacement(placement, request.P, request.V, 1);
  };
  if (!kind && !findDifference(make(placement), plan).empty() &&
      findDifference(make(schedule::Placement::V), plan).empty())
    placement = schedule::Placement::V;
  std::string difference = findDifference(make(placement), plan);
  if (!difference.empty())
    return error() << "kind '" << directive.kind << "' needs placement '"
                   << schedule::placementName(placement) << "', with "
                   << difference;
  request.placement = placement;
  if (auto legal = schedule::checkRequest(request); !legal)
    return error() << legal.error();
  return request;
}

FailureOr<schedule::Schedule> Scheduler::generate() {
  FailureOr<schedule::Request> asked = request();
  if (failed(asked))
    return failure();
  auto made = schedule::generate(*asked);
  if (!made)
    return error() << made.error();
  return std::move(*made);
}

LogicalResult Scheduler::compare(const schedule::Schedule &given) {
  auto expects = [&](const Twine &what, int64_t expected,
                     int64_t got) -> LogicalResult {
    if (expected == got)
      return success();
    return error() << "file '" << directive.file << "' is for " << what.str()
                   << " = " << got << " but the step has " << expected;
  };
  if (failed(expects("P", plan.coordinates, given.P)) ||
      failed(expects("M", microBatches, given.M)))
    return failure();
  if (int64_t(given.chains.size()) != plan.copies)
    return error() << "file '" << directive.file << "' has "
                   << given.chains.size()
                   << (given.chains.size() == 1 ? " chain" : " chains")
                   << " of stages but stages have " << plan.copies
                   << (plan.copies == 1 ? " device" : " devices");
  if (failed(expects("stages in a chain", plan.stages, given.chains[0].size())))
    return failure();
  std::string difference = findDifference(given, plan);
  if (!difference.empty())
    return error() << "file '" << directive.file << "' has " << difference;
  return success();
}

FailureOr<schedule::Schedule> Scheduler::read() {
  auto given = readScheduleFile(directive.file);
  if (!given)
    return error() << given.error();
  if (failed(compare(*given)))
    return failure();
  return std::move(*given);
}

FailureOr<std::optional<schedule::Schedule>>
mlir::piper::getSchedule(ModuleOp module, const Directives &directives,
                         const StagePlan &plan, int64_t microBatches) {
  if (!directives.schedule)
    return std::optional<schedule::Schedule>();
  Scheduler scheduler(module, *directives.schedule, plan, microBatches);
  FailureOr<schedule::Schedule> made = directives.schedule->file.empty()
                                           ? scheduler.generate()
                                           : scheduler.read();
  if (failed(made))
    return failure();
  return std::optional<schedule::Schedule>(std::move(*made));
}

LogicalResult mlir::piper::verifySchedule(ModuleOp module,
                                          const Directives &directives,
                                          const StagePlan &plan,
                                          int64_t microBatches) {
  if (!directives.schedule)
    return success();
  Scheduler scheduler(module, *directives.schedule, plan, microBatches);
  return directives.schedule->file.empty() ? LogicalResult(scheduler.request())
                                           : LogicalResult(scheduler.read());
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands the keys of a strategy into directives.
//
// 1. Refuse values that are not allowed, keys that say what a directive says
//    already, and keys that change nothing.
// 2. `place`: as many stages as the schedule has, cut where the user says or
//    balanced by cost, on the coordinates of the kind.
// 3. The other directives, one for each key.

#include "Strategy.h"

#include "ScheduleFile.h"
#include "SegmentCosts.h"

#include "BalanceStages.h"
#include "Piper/Schedule/Generate.h"

#include "llvm/ADT/StringExtras.h"

#include <climits>

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;

namespace {

class StrategyExpander {
public:
  StrategyExpander(ModuleOp module, const PiperPipelineOptions &keys,
                   const Directives &present)
      : module(module), keys(keys), present(present), origins(module),
        builder(module.getContext()) {}
  LogicalResult run();

private:
  LogicalResult checkValues();
  LogicalResult checkTwice();
  LogicalResult checkEffects();
  LogicalResult addPlaces();
  void addRecompute();
  void addOthers();

  /// The placement of the stages, of a kind or a file.
  FailureOr<schedule::Schedule> makeStages(int64_t segments);
  FailureOr<schedule::Schedule> readStages(StringRef file);
  FailureOr<SmallVector<int64_t>> readCuts(int64_t stages, int64_t segments);
  FailureOr<SmallVector<int64_t>> chooseCuts(int64_t stages);
  LogicalResult checkStages(int64_t perCoordinate, int64_t segments);

  InFlightDiagnostic error() { return emitProgramError(module); }
  LogicalResult expects(StringRef key, const Twine &what, const Twine &got) {
    return error() << "key '" << key << "' expects " << what.str()
                   << " but got " << got.str();
  }

  NamedAttribute named(StringRef key, Attribute value) {
    return builder.getNamedAttr(key, value);
  }
  NamedAttribute named(StringRef key, int64_t value) {
    return named(key, builder.getI64IntegerAttr(value));
  }
  NamedAttribute named(StringRef key, StringRef value) {
    return named(key, builder.getStringAttr(value));
  }
  NamedAttribute named(StringRef key, ArrayRef<int64_t> values) {
    return named(key, builder.getI64ArrayAttr(values));
  }
  DictionaryAttr filter(ArrayRef<NamedAttribute> terms) {
    return builder.getDictionaryAttr(terms);
  }
  /// A directive that stands for `key`.
  void add(StringRef key, StringRef op, ArrayRef<NamedAttribute> entries) {
    SmallVector<NamedAttribute> all = {named("op", op)};
    llvm::append_range(all, entries);
    result.push_back(builder.getDictionaryAttr(all));
    resultKeys.push_back(builder.getStringAttr(key));
  }

  ModuleOp module;
  const PiperPipelineOptions &keys;
  const Directives &present;
  Origins origins;
  Builder builder;
  SmallVector<Attribute> result, resultKeys;
};

} // namespace

static bool isFile(StringRef schedule) { return schedule.ends_with(".json"); }

/// The numbers of a list as "3,6,9"; nothing if it is none.
static std::optional<SmallVector<int64_t>> parseList(StringRef text) {
  SmallVector<int64_t> numbers;
  SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words)
    if (word.getAsInteger(10, numbers.emplace_back()))
      return std::nullopt;
  return numbers;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult StrategyExpander::checkValues() {
  // 0 and -1 stand for a key that is not given.
  constexpr int64_t kMost = schedule::kMaxStageMicroBatches;
  for (auto [key, value, least, most] :
       {std::tuple("pipeline-parallel", keys.pipelineParallel, 0, INT64_MAX),
        std::tuple("chunks", keys.chunks, 0, INT64_MAX),
        std::tuple("micro-batches", keys.microBatches, 0, kMost),
        std::tuple("prefetch", keys.prefetch, -1, kMost),
        std::tuple("buffering", keys.buffering, -1, kMost)}) {
    if (value < least)
      return expects(key,
                     "a whole number of " + Twine(least ? 0 : 1) + " or more",
                     Twine(value));
    if (value > most)
      return expects(key, "at most " + Twine(most), Twine(value));
  }
  StringRef recompute = keys.recompute;
  if (!recompute.empty() && recompute != "true" && recompute != "false" &&
      (!recompute.contains('=') || recompute.starts_with("=") ||
       recompute.ends_with("=")))
    return expects("recompute", "true, false or TAG=VALUE",
                   "'" + recompute + "'");
  if (keys.memoryLimit.empty())
    return success();
  auto limits = parseList(keys.memoryLimit);
  if (!limits || llvm::any_of(*limits, [](int64_t limit) { return limit < 1; }))
    return expects("memory-limit",
                   "bytes, or a list of them as 1000000,2000000",
                   "'" + Twine(keys.memoryLimit) + "'");
  return success();
}

/// What a key says and a directive says already.
LogicalResult StrategyExpander::checkTwice() {
  auto refuse = [&](StringRef key, int64_t number, StringRef op) {
    return error() << "key '" << key << "' and " << origins.name(number, op)
                   << " say the same thing: expects one of them";
  };
  if (keys.pipelineParallel && !present.place.empty())
    return refuse("pipeline-parallel", present.place.front().number, "place");
  if (keys.microBatches && present.split)
    return refuse("micro-batches", present.split->number, "split");
  if (!keys.schedule.empty() && present.schedule)
    return refuse("schedule", present.schedule->number, "schedule");
  if (keys.chunks && present.schedule && present.schedule->chunks)
    return refuse("chunks", present.schedule->number, "schedule");
  if (!keys.recompute.empty() && !present.recompute.empty())
    return refuse("recompute", present.recompute.front().number, "recompute");
  auto list = module->getAttrOfType<ArrayAttr>(
      PiperDialect::DirectivesAttrHelper::getNameStr());
  if (!list)
    return success();
  for (auto [index, attribute] : llvm::enumerate(list)) {
    auto entries = cast<DictionaryAttr>(attribute);
    if (entries.getAs<StringAttr>("op") != "options")
      continue;
    for (auto [key, isGiven] : {std::pair("prefetch", keys.prefetch >= 0),
                                std::pair("buffering", keys.buffering >= 0),
                                std::pair("costs", !keys.costs.empty())})
      if (isGiven && entries.get(key))
        return refuse(key, index + 1, "options");
    if (!keys.memoryLimit.empty() && entries.get("memory_limit"))
      return refuse("memory-limit", index + 1, "options");
  }
  return success();
}

/// A key that changes nothing was meant to change something.
LogicalResult StrategyExpander::checkEffects() {
  bool isPlaced = keys.pipelineParallel || !present.place.empty();
  for (auto [key, isGiven, hasEffect] :
       {std::tuple("chunks", keys.chunks > 0, keys.pipelineParallel > 0),
        std::tuple("cuts", !keys.cuts.empty(), keys.pipelineParallel > 0),
        std::tuple("schedule", !keys.schedule.empty(), isPlaced),
        std::tuple("prefetch", keys.prefetch >= 0, isPlaced),
        std::tuple("buffering", keys.buffering >= 0, isPlaced),
        std::tuple("costs", !keys.costs.empty(), isPlaced)})
    if (isGiven && !hasEffect)
      return error() << "key '" << key << "' needs pipeline-parallel";
  if (!keys.schedule.empty() && !present.order.empty())
    return error() << "key 'schedule' and "
                   << origins.name(present.order.front().number, "order")
                   << " both order the tasks: expects one of them";
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult StrategyExpander::checkStages(int64_t perCoordinate,
                                            int64_t segments) {
  if (keys.pipelineParallel <= segments / perCoordinate)
    return success();
  int64_t stages;
  if (llvm::MulOverflow(keys.pipelineParallel, perCoordinate, stages))
    stages = INT64_MAX;
  InFlightDiagnostic diagnostic = error();
  diagnostic << "key 'pipeline-parallel': " << stages
             << (stages == 1 ? " stage on " : " stages on ")
             << keys.pipelineParallel
             << (keys.pipelineParallel == 1 ? " coordinate" : " coordinates")
             << " need as many segments but 'train' has " << segments;
  if (int64_t largest = segments / perCoordinate)
    return diagnostic << ": the largest legal pipeline-parallel is " << largest;
  return diagnostic << ": no pipeline-parallel is legal";
}

FailureOr<schedule::Schedule> StrategyExpander::readStages(StringRef file) {
  auto given = readScheduleFile(file.str());
  if (!given)
    return error() << "key 'schedule': " << given.error();
  for (auto [key, asked, has] :
       {std::tuple("pipeline-parallel", keys.pipelineParallel, given->P),
        std::tuple("chunks", keys.chunks ? keys.chunks : given->V, given->V)})
    if (asked != has)
      return error() << "key '" << key << "' is " << asked
                     << " but the schedule of '" << file << "' has " << has;
  return std::move(*given);
}

FailureOr<schedule::Schedule> StrategyExpander::makeStages(int64_t segments) {
  std::string name = "1f1b", from = "key 'pipeline-parallel'";
  if (!keys.schedule.empty()) {
    name = keys.schedule;
    from = "key 'schedule'";
  } else if (present.schedule) {
    name = present.schedule->kind + present.schedule->file;
    from = origins.name(present.schedule->number, "schedule");
  }
  if (present.schedule ? !present.schedule->file.empty() : isFile(name)) {
    FailureOr<schedule::Schedule> given = readStages(name);
    if (failed(given) ||
        failed(checkStages(given->chains[0].size() / given->P, segments)))
      return failure();
    return given;
  }
  auto toInt = [](int64_t value) {
    return static_cast<int>(std::min<int64_t>(value, INT_MAX));
  };
  const schedule::KindInfo *kind = schedule::findKind(name);
  int64_t chunks = keys.chunks ? keys.chunks
                   : present.schedule && present.schedule->chunks
                       ? present.schedule->chunks
                   : !kind        ? 1
                   : kind->chunks ? kind->chunks
                                  : 2;
  bool isLegal = !kind || !kind->chunks || kind->chunks == chunks;
  bool hasCopies =
      kind && kind->placement == schedule::Placement::Bidirectional;
  if (isLegal && failed(checkStages(hasCopies ? 1 : chunks, segments)))
    return failure();
  schedule::Request request;
  request.kind = name;
  request.P = toInt(keys.pipelineParallel);
  request.V = toInt(chunks);
  request.M = toInt(keys.microBatches ? keys.microBatches
                    : present.split   ? present.split->microBatches
                                      : 1);
  auto placement = schedule::checkRequest(request);
  if (!placement)
    return error() << from << ": " << placement.error();
  return schedule::makePlacement(*placement, request.P, request.V, 1);
}

FailureOr<SmallVector<int64_t>> StrategyExpander::readCuts(int64_t stages,
                                                           int64_t segments) {
  auto cuts = parseList(keys.cuts);
  auto refuse = [&](const Twine &what) {
    return expects("cuts", what, "'" + Twine(keys.cuts) + "'");
  };
  if (!cuts)
    return refuse("the first segments of stages 1.., as 3,6,9");
  if (int64_t(cuts->size()) != stages - 1)
    return refuse(Twine(stages - 1) + (stages == 2 ? " number" : " numbers") +
                  " for " + Twine(stages) +
                  (stages == 1 ? " stage" : " stages"));
  int64_t previous = 0;
  for (int64_t cut : *cuts) {
    if (cut <= previous || cut >= segments)
      return refuse("ascending segments of 1.." + Twine(segments - 1));
    previous = cut;
  }
  return std::move(*cuts);
}

FailureOr<SmallVector<int64_t>> StrategyExpander::chooseCuts(int64_t stages) {
  // With the costs and the recomputation that are to hold.
  Origins ofKeys(module, resultKeys);
  if (failed(verifyFilterNames(module, result, ofKeys)))
    return failure();
  FailureOr<Directives> own = parseDirectives(result, ofKeys);
  if (failed(own))
    return failure();
  llvm::append_range(own->recompute, present.recompute);
  auto costs = own->options.costs.empty() ? getTaskCosts(present, origins)
                                          : getTaskCosts(*own, ofKeys);
  if (failed(costs))
    return failure();
  TaskCostTable table(module, std::move(*costs));
  return balanceStages(getSegmentCosts(module, *own, table), stages);
}

LogicalResult StrategyExpander::addPlaces() {
  if (!keys.pipelineParallel)
    return success();
  SmallVector<int64_t> segments = getSegments(module);
  FailureOr<schedule::Schedule> made = makeStages(segments.size());
  if (failed(made))
    return failure();
  int64_t stages = made->chains[0].size();
  FailureOr<SmallVector<int64_t>> cuts =
      keys.cuts.empty() ? chooseCuts(stages)
                        : readCuts(stages, segments.size());
  if (failed(cuts))
    return failure();
  // Only now: a schedule that was not asked for is there for its stages.
  if (keys.schedule.empty() && !present.schedule && present.order.empty())
    add("pipeline-parallel", "schedule", {named("kind", "1f1b")});
  int64_t stage = 0;
  for (auto [index, segment] : llvm::enumerate(segments)) {
    if (stage < stages - 1 && int64_t(index) == (*cuts)[stage])
      ++stage;
    SmallVector<int64_t> devices;
    for (const std::vector<int> &chain : made->chains)
      devices.push_back(made->stageRank[chain[stage]]);
    add("pipeline-parallel", "place",
        {named("filter", filter({named("SEGMENT", segment)})),
         named("devices", devices), named("stage", stage)});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The other directives
//===----------------------------------------------------------------------===//

void StrategyExpander::addRecompute() {
  StringRef text = keys.recompute;
  if (text.empty() || text == "false")
    return;
  SmallVector<NamedAttribute> terms;
  if (text != "true") {
    auto [tag, value] = text.split('=');
    int64_t number;
    terms.push_back(value.getAsInteger(10, number) ? named(tag, value)
                                                   : named(tag, number));
  }
  add("recompute", "recompute", {named("filter", filter(terms))});
}

void StrategyExpander::addOthers() {
  if (keys.microBatches)
    add("micro-batches", "split",
        {named("filter", filter({})), named("dim_name", "MB"),
         named("dim", "batch"), named("num_microbatches", keys.microBatches)});
  addRecompute();
  if (!keys.schedule.empty()) {
    bool isKind = !isFile(keys.schedule);
    SmallVector<NamedAttribute> entries = {
        named(isKind ? "kind" : "file", keys.schedule)};
    if (isKind && keys.chunks)
      entries.push_back(named("chunks", keys.chunks));
    add("schedule", "schedule", entries);
  }
  // One directive for each key, so that a message can name it.
  if (keys.prefetch >= 0)
    add("prefetch", "options", {named("prefetch", keys.prefetch)});
  if (keys.buffering >= 0)
    add("buffering", "options", {named("buffering", keys.buffering)});
  if (!keys.costs.empty())
    add("costs", "options", {named("costs", keys.costs)});
  if (!keys.memoryLimit.empty())
    add("memory-limit", "options",
        {named("memory_limit", *parseList(keys.memoryLimit))});
}

LogicalResult StrategyExpander::run() {
  if (failed(checkValues()) || failed(checkTwice()) || failed(checkEffects()))
    return failure();
  addOthers();
  if (failed(addPlaces()))
    return failure();
  addDirectives(module, result, resultKeys);
  return success();
}

LogicalResult mlir::piper::expandStrategy(ModuleOp module,
                                          const PiperPipelineOptions &keys,
                                          const Directives &present) {
  return StrategyExpander(module, keys, present).run();
}

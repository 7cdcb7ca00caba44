// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads `piper.directives` and says what is wrong with it, one message with the
// number of the directive and the key.

#include "DirectiveReader.h"

#include "Piper/Schedule/Generate.h"
#include "Piper/Transforms/BodyTable.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

namespace {

class ListReader {
public:
  explicit ListReader(const Origins &origins) : origins(origins) {}
  LogicalResult read(Attribute attribute, int64_t number);
  LogicalResult verifyMicroBatches() const;
  Directives result;

private:
  LogicalResult place(const DirectiveReader &reader, int64_t number);
  LogicalResult split(const DirectiveReader &reader, int64_t number);
  LogicalResult order(const DirectiveReader &reader, int64_t number);
  LogicalResult schedule(const DirectiveReader &reader, int64_t number);
  LogicalResult recompute(const DirectiveReader &reader, int64_t number);
  LogicalResult options(const DirectiveReader &reader, int64_t number);

  const Origins &origins;
  /// The directive that set an option.
  llvm::StringMap<int64_t> setBy;
};

} // namespace

LogicalResult ListReader::place(const DirectiveReader &reader, int64_t number) {
  PlaceDirective place;
  place.number = number;
  std::string stream = "compute";
  if (failed(reader.keys({"filter", "devices", "stream", "stage"})) ||
      failed(reader.filter("filter", place.filter)) ||
      failed(reader.integers("devices", place.devices, 0)) ||
      failed(reader.integer("stage", place.stage, 0)) ||
      failed(reader.string("stream", stream)))
    return failure();
  if (place.devices.empty() || place.devices.size() > 2)
    return reader.error("expects 'devices' with one coordinate, or two for "
                        "both directions of dualpipe, but got " +
                        Twine(place.devices.size()));
  if (place.devices.size() == 2 && place.devices[0] == place.devices[1])
    return reader.error("expects two different devices but got " +
                        Twine(place.devices[0]) + " twice");
  if (stream != "compute")
    return reader.error("expects stream \"compute\" but got \"" +
                        Twine(stream) + "\"");
  for (const auto &[name, value] : place.filter.terms) {
    bool isForward =
        !value || *value == std::variant<int64_t, std::string>("F");
    if (name == kPass && !isForward)
      return reader.error(
          "places forward tasks, and the others of their "
          "segments with them: expects PASS = \"F\" but got \"" +
          std::get<std::string>(*value) + "\"");
    if (name == kStage)
      return reader.error("expects a filter without STAGE, which is what "
                          "'place' makes");
  }
  result.place.push_back(std::move(place));
  return success();
}

LogicalResult ListReader::split(const DirectiveReader &reader, int64_t number) {
  SplitDirective split;
  split.number = number;
  if (result.split)
    return reader.error("the step is split already by " +
                        reader.name(result.split->number, "split"));
  if (failed(reader.keys({"filter", "dim_name", "num_microbatches", "dim"})) ||
      (reader.has("filter") && failed(reader.filter("filter", split.filter))) ||
      failed(reader.string("dim_name", split.tag)) ||
      failed(reader.string("dim", split.dim)) ||
      failed(reader.integer("num_microbatches", split.microBatches, 1)))
    return failure();
  if (!reader.has("num_microbatches"))
    return reader.error("expects key 'num_microbatches'");
  if (split.microBatches > ::piper::schedule::kMaxStageMicroBatches)
    return reader.error("expects at most " +
                        Twine(::piper::schedule::kMaxStageMicroBatches) +
                        " micro-batches but got " + Twine(split.microBatches));
  if (!split.filter.terms.empty())
    return reader.error("expects filter {}, since all tasks are split alike, "
                        "but got " +
                        Twine(split.filter.text()));
  if (llvm::is_contained({kPass, kSegment, kStage}, StringRef(split.tag)))
    return reader.error("expects a dim_name that is no property of tasks but "
                        "got '" +
                        Twine(split.tag) + "'");
  result.split = std::move(split);
  return success();
}

LogicalResult ListReader::order(const DirectiveReader &reader, int64_t number) {
  OrderDirective order;
  order.number = number;
  if (failed(reader.keys({"filters"})) ||
      failed(reader.groups("filters", order.groups)))
    return failure();
  result.order.push_back(std::move(order));
  return success();
}

LogicalResult ListReader::schedule(const DirectiveReader &reader,
                                   int64_t number) {
  ScheduleDirective schedule;
  schedule.number = number;
  if (result.schedule)
    return reader.error("there is a schedule already, " +
                        reader.name(result.schedule->number, "schedule"));
  if (failed(reader.keys({"kind", "file", "chunks", "limit"})) ||
      failed(reader.string("kind", schedule.kind)) ||
      failed(reader.string("file", schedule.file)) ||
      failed(reader.integer("chunks", schedule.chunks, 1)) ||
      failed(reader.integers("limit", schedule.limit, 1)))
    return failure();
  if (schedule.kind.empty() == schedule.file.empty())
    return reader.error("expects either key 'kind' or key 'file'");
  if (!schedule.file.empty() && (schedule.chunks || !schedule.limit.empty()))
    return reader.error("'chunks' and 'limit' are for a kind: a file has its "
                        "own");
  // The library's own words for an unknown kind.
  if (!schedule.kind.empty()) {
    auto known = ::piper::schedule::chunksFor(schedule.kind, 2, 1);
    if (!known && StringRef(known.error()).starts_with("unknown"))
      return reader.error(Twine(known.error()));
  }
  result.schedule = std::move(schedule);
  return success();
}

LogicalResult ListReader::recompute(const DirectiveReader &reader,
                                    int64_t number) {
  RecomputeDirective recompute;
  recompute.number = number;
  if (failed(reader.keys({"filter"})) ||
      failed(reader.filter("filter", recompute.filter)))
    return failure();
  result.recompute.push_back(std::move(recompute));
  return success();
}

LogicalResult ListReader::options(const DirectiveReader &reader,
                                  int64_t number) {
  constexpr StringRef kKeys[] = {"prefetch", "buffering", "costs",
                                 "memory_limit"};
  OptionsDirective &options = result.options;
  if (failed(reader.keys(kKeys)))
    return failure();
  if (llvm::none_of(kKeys, [&](StringRef key) { return reader.has(key); }))
    return reader.error("expects prefetch, buffering, costs or memory_limit "
                        "but has none of them");
  for (StringRef key : kKeys) {
    if (!reader.has(key))
      continue;
    auto [found, isNew] = setBy.try_emplace(key, number);
    if (!isNew)
      return reader.error("key '" + key + "' is set already by " +
                          reader.name(found->second, "options"));
  }
  // No step has more messages or actions to count.
  constexpr int64_t kMost = ::piper::schedule::kMaxStageMicroBatches;
  if (failed(reader.integer("prefetch", options.prefetch, 0, kMost)) ||
      failed(reader.integer("buffering", options.buffering, 0, kMost)) ||
      failed(reader.string("costs", options.costs)) ||
      failed(reader.integers("memory_limit", options.memoryLimit, 1)))
    return failure();
  if (reader.has("costs"))
    options.costsNumber = number;
  if (reader.has("memory_limit"))
    options.memoryLimitNumber = number;
  return success();
}

LogicalResult ListReader::read(Attribute attribute, int64_t number) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  auto op = entries ? entries.getAs<StringAttr>("op") : StringAttr();
  if (!op)
    return origins.error(number)
           << "directive #" << number
           << (entries ? ": expects key 'op' with a string"
                       : ": expects a dictionary with the key 'op'");
  DirectiveReader reader(entries, number, op.getValue(), origins);
  if (op == "place")
    return place(reader, number);
  if (op == "split")
    return split(reader, number);
  if (op == "order")
    return order(reader, number);
  if (op == "schedule")
    return schedule(reader, number);
  if (op == "recompute")
    return recompute(reader, number);
  if (op == "options")
    return options(reader, number);
  constexpr StringRef kLegal =
      "expects place, split, order, schedule, recompute or options";
  if (op == "replicate" || op == "shard")
    return reader.error("not supported, since a step runs on one pipeline: " +
                        kLegal);
  return reader.error("unknown op '" + op.getValue() + "': " + kLegal);
}

/// The index of a micro-batch is a number; whose tag it is is known only once
/// all directives are.
LogicalResult ListReader::verifyMicroBatches() const {
  std::string tag = result.microBatchTag();
  auto verify = [&](const Filter &filter, StringRef op, int64_t number,
                    bool legal) -> LogicalResult {
    for (const auto &[name, value] : filter.terms) {
      if (name != tag || (legal && (!value || value->index() == 0)))
        continue;
      InFlightDiagnostic error = origins.error(number, op);
      if (legal)
        return error << "expects a whole number or \"*\" for '" << tag
                     << "' in " << filter.text();
      return error << "expects a filter without '" << tag
                   << "', since it is the same for all micro-batches";
    }
    return success();
  };
  for (const PlaceDirective &place : result.place)
    if (failed(verify(place.filter, "place", place.number, false)))
      return failure();
  for (const RecomputeDirective &recompute : result.recompute)
    if (failed(verify(recompute.filter, "recompute", recompute.number, false)))
      return failure();
  for (const OrderDirective &order : result.order)
    for (const auto &group : order.groups)
      for (const Filter &filter : group)
        if (failed(verify(filter, "order", order.number, true)))
          return failure();
  return success();
}

FailureOr<Directives> mlir::piper::parseDirectives(ArrayRef<Attribute> list,
                                                   const Origins &origins) {
  ListReader reader(origins);
  for (auto [index, attribute] : llvm::enumerate(list))
    if (failed(reader.read(attribute, index + 1)))
      return failure();
  if (failed(reader.verifyMicroBatches()))
    return failure();
  return std::move(reader.result);
}

//===----------------------------------------------------------------------===//
// Of a module
//===----------------------------------------------------------------------===//

/// All tags of the model, which stand at its ops or its tasks.
static llvm::StringSet<> getTags(ModuleOp module) {
  llvm::StringSet<> known;
  DenseSet<TagsAttr> seen;
  StringRef name = PiperDialect::TagsAttrHelper::getNameStr();
  module.walk([&](Operation *op) {
    auto task = dyn_cast<TaskOp>(op);
    TagsAttr tags =
        task ? task.getTagsAttr() : op->getAttrOfType<TagsAttr>(name);
    if (tags && seen.insert(tags).second)
      for (NamedAttribute tag : tags.getEntries())
        known.insert(tag.getName());
  });
  return known;
}

/// The names in the filters of a directive that is not checked yet.
static void findNames(Attribute filters, SmallVectorImpl<StringRef> &names) {
  if (auto list = dyn_cast_or_null<ArrayAttr>(filters))
    for (Attribute element : list)
      findNames(element, names);
  if (auto filter = dyn_cast_or_null<DictionaryAttr>(filters))
    for (NamedAttribute term : filter)
      names.push_back(term.getName());
}

LogicalResult mlir::piper::verifyFilterNames(ModuleOp module,
                                             ArrayRef<Attribute> list,
                                             const Origins &origins) {
  StringRef split;
  int64_t splitNumber = 0;
  for (auto [index, attribute] : llvm::enumerate(list)) {
    auto entries = dyn_cast<DictionaryAttr>(attribute);
    auto op = entries ? entries.getAs<StringAttr>("op") : StringAttr();
    auto tag = entries ? entries.getAs<StringAttr>("dim_name") : StringAttr();
    if (op && op == "split" && tag) {
      split = tag.getValue();
      splitNumber = index + 1;
    }
  }
  llvm::StringSet<> known = getTags(module);
  for (auto [index, attribute] : llvm::enumerate(list)) {
    auto entries = dyn_cast<DictionaryAttr>(attribute);
    auto op = entries ? entries.getAs<StringAttr>("op") : StringAttr();
    if (!op)
      continue;
    SmallVector<StringRef> names;
    findNames(entries.get("filter"), names);
    findNames(entries.get("filters"), names);
    for (StringRef name : names) {
      bool isSplit = name == (split.empty() ? "MB" : split);
      if (!known.contains(name) ||
          !(isSplit || llvm::is_contained({kPass, kSegment, kStage}, name)))
        continue;
      InFlightDiagnostic error = origins.error(index + 1, op.getValue());
      error << "'" << name << "' is ";
      if (isSplit && splitNumber)
        return error << "the dim_name of " << origins.name(splitNumber, "split")
                     << " and a tag of the model: rename one of them";
      return error << "a property of tasks and a tag of the model: rename the "
                      "tag";
    }
  }
  return success();
}

/// Every tag of a filter is a property, or some task has it.
static LogicalResult verifyTags(ModuleOp module, const Directives &directives) {
  llvm::StringSet<> known = getTags(module);
  std::string microBatchTag = directives.microBatchTag();
  auto verify = [&](const Filter &filter, StringRef op,
                    int64_t number) -> LogicalResult {
    for (const auto &[name, value] : filter.terms) {
      bool isProperty = name == kPass || name == kSegment || name == kStage ||
                        name == microBatchTag;
      if (isProperty || known.contains(name))
        continue;
      InFlightDiagnostic error = Origins(module).error(number, op);
      SmallVector<StringRef> names(known.keys());
      llvm::sort(names);
      error << "unknown tag '" << name << "' in " << filter.text()
            << ": expects PASS, SEGMENT, STAGE, " << microBatchTag;
      for (StringRef tag : names)
        error << ", " << tag;
      return error;
    }
    return success();
  };
  for (const PlaceDirective &place : directives.place)
    if (failed(verify(place.filter, "place", place.number)))
      return failure();
  for (const RecomputeDirective &recompute : directives.recompute)
    if (failed(verify(recompute.filter, "recompute", recompute.number)))
      return failure();
  for (const OrderDirective &order : directives.order)
    for (const auto &group : order.groups)
      for (const Filter &filter : group)
        if (failed(verify(filter, "order", order.number)))
          return failure();
  return success();
}

FailureOr<Directives> mlir::piper::readDirectives(ModuleOp module) {
  auto list = module->getAttrOfType<ArrayAttr>(
      PiperDialect::DirectivesAttrHelper::getNameStr());
  if (!list)
    return Directives();
  Origins origins(module);
  if (failed(verifyFilterNames(module, list.getValue(), origins)))
    return failure();
  FailureOr<Directives> directives = parseDirectives(list.getValue(), origins);
  if (failed(directives) || (getLevel(module) != Level::Model &&
                             failed(verifyTags(module, *directives))))
    return failure();
  return directives;
}

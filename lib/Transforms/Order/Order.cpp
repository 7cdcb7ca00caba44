// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the ops of a step in the order of `order` directives.
//
// 1. Find the tasks of each filter; a directive names each task once, and both
//    halves of a backward or none.
// 2. Add to the data flow: groups one after the other; in a group of several
//    filters, the filters' tasks in turn.
// 3. Order the tasks along this graph, and the whole block along the tasks.

#include "BlockOrder.h"
#include "TaskGraph.h"

#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERORDER
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

/// The tasks of a body by what filters ask for most: there may be as many
/// filters as tasks.
class TaskIndex {
public:
  TaskIndex(func::FuncOp entry, const BodyTasks &body,
            std::string microBatchTag);

  /// Numbers of the tasks that a filter matches, ascending. Recomputation goes
  /// with its backward and cannot be named.
  std::vector<int64_t> match(const Filter &filter) const;
  /// Whether a filter names a half of a backward that is all in the other one.
  bool isEmptyHalf(const Filter &filter) const;
  /// Why a filter matches nothing: "'MB' goes from 0 to 3".
  std::string explainNoMatch(const Filter &filter) const;

private:
  bool matches(const Filter &filter, int64_t number) const {
    TaskOp task = body.tasks()[number];
    return task.getPass() != PassKind::R && filter.matches(task, microBatchTag);
  }
  std::optional<int64_t> indexIn(const Filter &filter, StringRef name) const;
  std::optional<int64_t> valueOf(TaskOp task, StringRef name) const;

  std::optional<std::string> explainOnce(const Filter &filter) const;

  func::FuncOp entry;
  const BodyTasks &body;
  std::string microBatchTag;
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> byPlace;
  std::map<int64_t, std::vector<int64_t>> byMicroBatch;
  std::vector<int64_t> all;
};

/// One directive on one entry point: by group and filter, its tasks.
struct NamedTasks {
  const OrderDirective *directive;
  std::vector<std::vector<std::vector<int64_t>>> groups;
};

} // namespace

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

constexpr StringRef kStage = "STAGE", kSegment = "SEGMENT";

TaskIndex::TaskIndex(func::FuncOp entry, const BodyTasks &body,
                     std::string microBatchTag)
    : entry(entry), body(body), microBatchTag(std::move(microBatchTag)) {
  for (TaskOp task : body.tasks()) {
    auto number = static_cast<int64_t>(all.size());
    byPlace[{task.getStage(), task.getMb()}].push_back(number);
    byMicroBatch[task.getMb()].push_back(number);
    all.push_back(number);
  }
}

std::optional<int64_t> TaskIndex::indexIn(const Filter &filter,
                                          StringRef name) const {
  for (const auto &[term, value] : filter.terms)
    if (term == name && value && value->index() == 0)
      return std::get<int64_t>(*value);
  return std::nullopt;
}

std::vector<int64_t> TaskIndex::match(const Filter &filter) const {
  std::optional<int64_t> stage = indexIn(filter, kStage);
  std::optional<int64_t> mb = indexIn(filter, microBatchTag);
  const std::vector<int64_t> *candidates = &all;
  const std::vector<int64_t> none;
  auto find = [&](const auto &map, auto key) {
    auto found = map.find(key);
    candidates = found == map.end() ? &none : &found->second;
  };
  if (stage && mb)
    find(byPlace, std::make_pair(*stage, *mb));
  else if (mb)
    find(byMicroBatch, *mb);
  std::vector<int64_t> result;
  llvm::copy_if(*candidates, std::back_inserter(result),
                [&](int64_t number) { return matches(filter, number); });
  return result;
}

/// The number that a task has under a tag or index.
std::optional<int64_t> TaskIndex::valueOf(TaskOp task, StringRef name) const {
  int64_t index = -1;
  if (name == kStage)
    index = task.getStage();
  else if (name == kSegment)
    index = task.getSegment();
  else if (name == microBatchTag)
    index = task.getMb();
  else if (TagsAttr tags = task.getTagsAttr())
    if (auto number = tags.getEntries().getAs<IntegerAttr>(name);
        number && number.getValue().getSignificantBits() <= 64)
      return number.getValue().getSExtValue();
  return index < 0 ? std::nullopt : std::optional<int64_t>(index);
}

bool TaskIndex::isEmptyHalf(const Filter &filter) const {
  Filter other = filter;
  for (auto &[term, value] : other.terms)
    if (auto *pass = value ? std::get_if<std::string>(&*value) : nullptr;
        pass && term == "PASS" && (*pass == "BI" || *pass == "BW")) {
      *pass = *pass == "BI" ? "BW" : "BI";
      return !match(other).empty();
    }
  return false;
}

/// What the filter means but for its micro-batch may run once in a step.
std::optional<std::string> TaskIndex::explainOnce(const Filter &filter) const {
  Filter rest;
  for (const auto &term : filter.terms)
    if (term.first != microBatchTag)
      rest.terms.push_back(term);
  for (auto task : func::FuncOp(entry).getOps<TaskOp>())
    if (task.getSegment() >= 0 && !body.contains(task) &&
        rest.matches(task, microBatchTag))
      return "the tasks of " + rest.text() +
             " run once in a step, not for each micro-batch, and have no place "
             "in an order";
  return std::nullopt;
}

std::string TaskIndex::explainNoMatch(const Filter &filter) const {
  if (std::optional<std::string> once = explainOnce(filter))
    return *once;
  for (const auto &term : filter.terms) {
    Filter alone;
    alone.terms.push_back(term);
    if (!match(alone).empty())
      continue;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (TaskOp task : body.tasks())
      if (std::optional<int64_t> value = valueOf(task, term.first)) {
        first = std::min(first, *value);
        last = std::max(last, *value);
      }
    std::string name = "'" + term.first + "'";
    if (first > last)
      return "no task of the body has " + alone.text();
    if (first == last)
      return name + " is " + std::to_string(first);
    return name + " goes from " + std::to_string(first) + " to " +
           std::to_string(last);
  }
  return "no task has all of these";
}

//===----------------------------------------------------------------------===//
// Directives
//===----------------------------------------------------------------------===//

namespace {

class EntryOrder {
public:
  EntryOrder(func::FuncOp entry, const Directives &directives,
             TaskCostTable &costs)
      : entry(entry), directives(directives),
        origins(entry->getParentOfType<ModuleOp>()), body(entry),
        index(entry, body, directives.microBatchTag()),
        graph(entry, body, costs) {}
  LogicalResult run();

private:
  InFlightDiagnostic error(const OrderDirective &directive) {
    return origins.error(directive.number, "order");
  }
  FailureOr<NamedTasks> findTasks(const OrderDirective &directive);
  LogicalResult checkHalves(const NamedTasks &named, ArrayRef<int64_t> groupOf);
  void addOrders(const NamedTasks &named);
  LogicalResult reportCycle();

  func::FuncOp entry;
  const Directives &directives;
  Origins origins;
  BodyTasks body;
  TaskIndex index;
  TaskGraph graph;
};

} // namespace

/// Filters must match in `train`; an evaluation has only the forwards of an
/// order.
FailureOr<NamedTasks> EntryOrder::findTasks(const OrderDirective &directive) {
  NamedTasks named{&directive, {}};
  std::vector<int64_t> groupOf(body.tasks().size(), -1);
  for (auto [number, filters] : llvm::enumerate(directive.groups)) {
    named.groups.emplace_back();
    for (const Filter &filter : filters) {
      std::vector<int64_t> tasks = index.match(filter);
      if (tasks.empty() && entry.getSymName() == "train" &&
          !index.isEmptyHalf(filter))
        return error(directive)
               << "filter " << filter.text() << " of group " << number + 1
               << " matches no task: " << index.explainNoMatch(filter);
      for (int64_t task : tasks) {
        if (groupOf[task] == int64_t(number))
          return error(directive)
                 << "names " << describeTask(body.tasks()[task])
                 << " twice in group " << number + 1;
        if (groupOf[task] >= 0)
          return error(directive)
                 << "names " << describeTask(body.tasks()[task])
                 << " twice, in groups " << groupOf[task] + 1 << " and "
                 << number + 1;
        groupOf[task] = number;
      }
      named.groups.back().push_back(std::move(tasks));
    }
  }
  if (failed(checkHalves(named, groupOf)))
    return failure();
  return named;
}

/// A backward without its second half would leave that one behind, with all it
/// keeps in memory.
LogicalResult EntryOrder::checkHalves(const NamedTasks &named,
                                      ArrayRef<int64_t> groupOf) {
  auto keyOf = [](TaskOp task) {
    return std::make_tuple(task.getSegment(), task.getStage(), task.getMb(),
                           task.getCopy());
  };
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, TaskOp> unnamed;
  for (auto [task, group] : llvm::zip_equal(body.tasks(), groupOf))
    if (TaskOp(task).getPass() == PassKind::BW && group < 0)
      unnamed.try_emplace(keyOf(task), task);
  if (unnamed.empty())
    return success();
  for (auto [member, group] : llvm::zip_equal(body.tasks(), groupOf)) {
    TaskOp task = member;
    if (task.getPass() != PassKind::BI || group < 0)
      continue;
    auto half = unnamed.find(keyOf(task));
    if (half != unnamed.end())
      return error(*named.directive)
             << "names " << describeTask(task) << " in group " << group + 1
             << " but not the gradient of the weights, "
             << describeTask(half->second);
  }
  return success();
}

/// The tasks of several filters, taken in turn.
static std::vector<int64_t> interleave(ArrayRef<std::vector<int64_t>> filters) {
  std::vector<int64_t> result;
  for (size_t i = 0, before = SIZE_MAX; before != result.size(); ++i) {
    before = result.size();
    for (const std::vector<int64_t> &tasks : filters)
      if (i < tasks.size())
        result.push_back(tasks[i]);
  }
  return result;
}

void EntryOrder::addOrders(const NamedTasks &named) {
  int64_t directive = named.directive->number;
  std::vector<int64_t> previous;
  for (const auto &filters : named.groups) {
    std::vector<int64_t> tasks = interleave(filters);
    if (tasks.empty())
      continue;
    if (filters.size() > 1)
      for (size_t i = 1; i < tasks.size(); ++i)
        graph.addOrder(tasks[i - 1], tasks[i], directive);
    if (!previous.empty())
      graph.addOrder(previous, tasks, directive);
    previous = std::move(tasks);
  }
}

/// Names the two tasks that a directive puts the wrong way round.
LogicalResult EntryOrder::reportCycle() {
  std::vector<TaskGraph::Hop> hops = graph.findCycle();
  size_t last = 1;
  while (last < hops.size() && hops[last].directive == hops[0].directive)
    ++last;
  last %= hops.size();
  TaskOp first = body.tasks()[hops[0].task],
         second = body.tasks()[hops[last].task];
  InFlightDiagnostic diagnostic = origins.error(hops[0].directive);
  diagnostic << origins.name(hops[0].directive, "order") << " puts "
             << describeTask(first) << " before " << describeTask(second)
             << ", which must run first: ";
  // All of a short cycle, both ends of a long one.
  constexpr size_t kShown = 12, kTail = 3;
  for (size_t i = 0; i <= hops.size(); ++i) {
    size_t at = (last + i) % hops.size();
    if (hops.size() > kShown && i == kShown - kTail) {
      i = hops.size() - kTail - 1;
      diagnostic << "... -> ";
      continue;
    }
    diagnostic << describeTask(body.tasks()[hops[at].task]);
    if (i == hops.size())
      break;
    if (hops[at].directive == 0)
      diagnostic << " -> ";
    else
      diagnostic << " -(" << origins.name(hops[at].directive, "order")
                 << ")-> ";
  }
  diagnostic.attachNote(first.getLoc()) << "ordered before the other";
  diagnostic.attachNote(second.getLoc()) << "needed by the other";
  return diagnostic;
}

LogicalResult EntryOrder::run() {
  for (const OrderDirective &directive : directives.order) {
    FailureOr<NamedTasks> named = findTasks(directive);
    if (failed(named))
      return failure();
    addOrders(*named);
  }
  std::vector<TaskOp> order = graph.makeOrder();
  if (order.size() != body.tasks().size())
    return reportCycle();
  return applyOrder(entry, cutIntoActions(order, body),
                    directives.options.prefetch);
}

namespace {
class PiperOrderPass
    : public mlir::piper::impl::PiperOrderBase<PiperOrderPass> {
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
    if (directives->order.empty())
      return success();
    if (directives->schedule) {
      Origins origins(module);
      int64_t number = directives->order.front().number;
      return origins.error(number)
             << origins.name(directives->schedule->number, "schedule")
             << " and " << origins.name(number, "order")
             << " both say in which order tasks run: expects one of them";
    }
    // One device needs no places.
    Level level = directives->place.empty() && getLevel(module) == Level::DAG
                      ? Level::DAG
                      : Level::Placed;
    if (failed(expectLevel(module, getArgument(), level)) ||
        failed(verifyTasks(module)))
      return failure();
    FailureOr<::piper::rt::TaskCosts> read =
        getTaskCosts(*directives, Origins(module));
    if (failed(read))
      return failure();
    TaskCostTable costs(module, std::move(*read));
    for (func::FuncOp entry : getEntryFunctions(module))
      if (failed(EntryOrder(entry, *directives, costs).run()))
        return failure();
    return success();
  }
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the graph of tasks; a list scheduler; cycles.

#include "TaskGraph.h"
#include "IntoChains.h"
#include "StageCosts.h"

#include <algorithm>
#include <queue>
#include <set>

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

TaskGraph::TaskGraph(func::FuncOp entry, const BodyTasks &body,
                     TaskCostTable &costs)
    : body(body), nodes(body.tasks().size()) {
  for (TaskOp task : body.tasks())
    costOf.push_back(costs.of(task));
  addDataFlow(entry, costs);
}

void TaskGraph::addDataFlow(func::FuncOp entry, const TaskCostTable &costs) {
  IntoChains chains(entry.front());
  DenseMap<Operation *, int64_t> numberOf;
  for (auto [number, task] : llvm::enumerate(body.tasks())) {
    for (OpOperand &operand : task->getOpOperands()) {
      if (chains.isLink(operand))
        continue;
      Operation *producer = operand.get().getDefiningOp();
      double delay = 0;
      while (auto transfer = dyn_cast_or_null<TransferOp>(producer)) {
        delay += getMessageCost(transfer.getOut().getType(), costs);
        producer = transfer.getInput().getDefiningOp();
      }
      if (auto found = numberOf.find(producer); found != numberOf.end())
        edges.push_back({found->second, int64_t(number), 0, delay});
    }
    numberOf[task] = number;
  }
  // Recomputation runs right before its first reader: its time is that one's.
  std::vector<bool> isCounted(body.tasks().size(), false);
  for (const Edge &edge : edges) {
    TaskOp producer = body.tasks()[edge.from];
    if (producer.getPass() != PassKind::R || isCounted[edge.from])
      continue;
    isCounted[edge.from] = true;
    costOf[edge.to] += costOf[edge.from];
    costOf[edge.from] = 0;
  }
}

void TaskGraph::addOrder(ArrayRef<int64_t> before, ArrayRef<int64_t> after,
                         int64_t directive) {
  // One node between the groups, so that the edges are as many as the tasks.
  int64_t boundary = nodes++;
  for (int64_t task : before)
    edges.push_back({task, boundary, directive, 0});
  for (int64_t task : after)
    edges.push_back({boundary, task, directive, 0});
}

/// Edges by their source.
struct TaskGraph::Successors {
  explicit Successors(const TaskGraph &graph) : begin(graph.nodes + 1, 0) {
    for (const Edge &edge : graph.edges)
      ++begin[edge.from + 1];
    for (int64_t node = 0; node < graph.nodes; ++node)
      begin[node + 1] += begin[node];
    sorted.resize(graph.edges.size());
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    for (const Edge &edge : graph.edges)
      sorted[next[edge.from]++] = &edge;
  }
  ArrayRef<const Edge *> of(int64_t node) const {
    return ArrayRef(sorted).slice(begin[node], begin[node + 1] - begin[node]);
  }
  std::vector<size_t> begin;
  std::vector<const Edge *> sorted;
};

//===----------------------------------------------------------------------===//
// List scheduling
//===----------------------------------------------------------------------===//

namespace {

/// The tasks of one coordinate that nothing keeps from running but time.
struct Queue {
  using Timed = std::pair<double, int64_t>;
  double free = 0;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> arriving;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> arrived;

  bool isEmpty() const { return arriving.empty() && arrived.empty(); }
  double nextStart() const {
    return arrived.empty() ? std::max(free, arriving.top().first) : free;
  }
  int64_t take(double now) {
    for (; !arriving.empty() && arriving.top().first <= now; arriving.pop())
      arrived.push(arriving.top().second);
    int64_t task = arrived.top();
    arrived.pop();
    return task;
  }
};

/// The queues of all coordinates, by when their next task could start.
class Queues {
public:
  explicit Queues(ArrayRef<TaskOp> tasks) {
    for (TaskOp task : tasks)
      queueOf.push_back(
          index.try_emplace(getCoordinate(task), index.size()).first->second);
    queues.resize(index.size());
  }
  bool isEmpty() const { return order.empty(); }
  void add(int64_t task, double ready) {
    size_t number = queueOf[task];
    change(number, [&] { queues[number].arriving.push({ready, task}); });
  }
  /// The next task and its start.
  std::pair<int64_t, double> take(ArrayRef<double> costOf) {
    auto [start, number] = *order.begin();
    int64_t task = -1;
    change(number, [&] {
      task = queues[number].take(start);
      queues[number].free = start + costOf[task];
    });
    return {task, start};
  }

private:
  template <typename Edit> void change(size_t number, Edit edit) {
    Queue &queue = queues[number];
    if (!queue.isEmpty())
      order.erase({queue.nextStart(), number});
    edit();
    if (!queue.isEmpty())
      order.insert({queue.nextStart(), number});
  }

  std::map<int64_t, size_t> index;
  std::vector<size_t> queueOf;
  std::vector<Queue> queues;
  std::set<std::pair<double, size_t>> order;
};

} // namespace

std::vector<TaskOp> TaskGraph::makeOrder() {
  Successors successors(*this);
  int64_t tasks = body.tasks().size();
  std::vector<int64_t> open(nodes, 0);
  std::vector<double> ready(nodes, 0);
  for (const Edge &edge : edges)
    ++open[edge.to];
  isStuck.assign(nodes, true);
  Queues queues(body.tasks());
  std::vector<int64_t> order, worklist;
  auto release = [&](int64_t node) {
    if (node < tasks)
      queues.add(node, ready[node]);
    else
      worklist.push_back(node);
  };
  auto finish = [&](int64_t node, double end) {
    isStuck[node] = false;
    for (const Edge *edge : successors.of(node)) {
      // An order is no wait: it says where tasks stand, not when they run.
      if (edge->directive == 0)
        ready[edge->to] = std::max(ready[edge->to], end + edge->delay);
      if (--open[edge->to] == 0)
        release(edge->to);
    }
  };
  for (int64_t node = 0; node < nodes; ++node)
    if (open[node] == 0)
      release(node);
  while (!worklist.empty() || !queues.isEmpty()) {
    if (!worklist.empty()) {
      int64_t boundary = worklist.back();
      worklist.pop_back();
      finish(boundary, 0);
      continue;
    }
    auto [task, start] = queues.take(costOf);
    order.push_back(task);
    finish(task, start + costOf[task]);
  }
  return sinkRecomputation(order);
}

std::vector<TaskOp>
TaskGraph::sinkRecomputation(ArrayRef<int64_t> order) const {
  ArrayRef<TaskOp> tasks = body.tasks();
  auto isAgain = [&](int64_t task) {
    return TaskOp(tasks[task]).getPass() == PassKind::R;
  };
  // By reader.
  DenseMap<int64_t, SmallVector<int64_t, 2>> recomputed;
  for (const Edge &edge : edges)
    if (edge.directive == 0 && isAgain(edge.from))
      recomputed[edge.to].push_back(edge.from);
  std::vector<bool> isDone(tasks.size(), false);
  std::vector<TaskOp> result;
  SmallVector<int64_t> needed;
  auto emit = [&](int64_t task) {
    needed.assign(1, task);
    for (size_t i = 0; i < needed.size(); ++i) {
      isDone[needed[i]] = true;
      auto found = recomputed.find(needed[i]);
      if (found == recomputed.end())
        continue;
      for (int64_t producer : found->second)
        if (!isDone[producer]) {
          isDone[producer] = true;
          needed.push_back(producer);
        }
    }
    llvm::sort(needed); // program order respects the data flow
    for (int64_t member : needed)
      result.push_back(tasks[member]);
  };
  for (int64_t task : order)
    if (!isAgain(task))
      emit(task);
  for (int64_t task : order) // read by nobody
    if (!isDone[task])
      emit(task);
  return result;
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

/// From a stuck node back along what it waits for, until one repeats.
std::vector<int64_t> TaskGraph::findAnyCycle() const {
  std::vector<int64_t> waitsFor(nodes, -1), visited(nodes, -1);
  for (const Edge &edge : edges)
    if (isStuck[edge.from] && isStuck[edge.to])
      waitsFor[edge.to] = edge.from;
  int64_t node =
      std::find(isStuck.begin(), isStuck.end(), true) - isStuck.begin();
  std::vector<int64_t> path;
  for (; visited[node] < 0; node = waitsFor[node]) {
    visited[node] = path.size();
    path.push_back(node);
  }
  path.erase(path.begin(), path.begin() + visited[node]);
  std::reverse(path.begin(), path.end());
  return path;
}

/// Breadth first among stuck nodes, from a node to itself.
std::vector<int64_t> TaskGraph::findShortestCycle(int64_t through) const {
  Successors successors(*this);
  std::vector<int64_t> cameFrom(nodes, -1), frontier = {through};
  for (size_t i = 0; i < frontier.size() && cameFrom[through] < 0; ++i)
    for (const Edge *edge : successors.of(frontier[i]))
      if (isStuck[edge->to] && cameFrom[edge->to] < 0) {
        cameFrom[edge->to] = frontier[i];
        if (edge->to != through)
          frontier.push_back(edge->to);
      }
  std::vector<int64_t> cycle = {through};
  for (int64_t node = cameFrom[through]; node != through; node = cameFrom[node])
    cycle.push_back(node);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

/// The data flow first: a directive that repeats it adds nothing.
int64_t TaskGraph::directiveOf(int64_t from, int64_t to) const {
  int64_t directive = INT64_MAX;
  for (const Edge &edge : edges)
    if (edge.from == from && edge.to == to)
      directive = std::min(directive, edge.directive);
  return directive;
}

std::vector<TaskGraph::Hop> TaskGraph::findCycle() const {
  // A cycle has a boundary, as the data flow has none.
  int64_t tasks = body.tasks().size();
  std::vector<int64_t> best;
  constexpr int kTried = 8;
  int tried = 0;
  for (int64_t node : findAnyCycle()) {
    if (node < tasks || tried++ == kTried)
      continue;
    std::vector<int64_t> cycle = findShortestCycle(node);
    if (best.empty() || cycle.size() < best.size())
      best = std::move(cycle);
  }
  std::vector<Hop> hops;
  for (size_t i = 0; i < best.size(); ++i)
    if (best[i] < tasks)
      hops.push_back(
          {best[i], directiveOf(best[i], best[(i + 1) % best.size()])});
  // Begin where the longest run of hops by one directive begins.
  for (size_t i = 0; i < hops.size(); ++i) {
    int64_t previous = hops.back().directive;
    if (hops.front().directive != 0 && hops.front().directive != previous)
      break;
    std::rotate(hops.begin(), hops.begin() + 1, hops.end());
  }
  return hops;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a whole step, from an order of its tasks.
//
// 1. Sort the other ops: before the body, after it (updates always are), or a
//    transfer within it.
// 2. Relink `into` chains along the tasks, so that a sum has its last task.
// 3. Give each transfer of the body its anchor, the task that it stands behind,
//    and lay out all ops in one list.
// 4. Check that each op stands behind what it reads.
// 5. Move the ops, once each.

#include "BlockOrder.h"
#include "IntoChains.h"

using namespace mlir;
using namespace mlir::piper;

namespace {

/// A transfer, behind the task at position `anchor`.
struct Anchored {
  int64_t anchor = -1;
  /// Position of its first reader.
  int64_t reader = INT64_MAX;
  /// When its value is made, where that is known.
  double ready = 0;
  TransferOp op;
};

class BlockOrder {
public:
  BlockOrder(func::FuncOp entry, const TaskOrder &order, int64_t prefetch)
      : entry(entry), block(entry.front()), order(order), prefetch(prefetch) {}
  LogicalResult run();

private:
  void numberActions();
  void sortOps();
  void relinkSums();
  int64_t firstReader(TransferOp transfer) const;
  int64_t producerPosition(TransferOp transfer, int64_t reader) const;
  double readyTime(TransferOp transfer) const;
  int64_t receiverPosition(TransferOp transfer, int64_t reader) const;
  void anchorTransfers();
  std::vector<Operation *> layOut() const;
  LogicalResult verify(ArrayRef<Operation *> ops) const;

  func::FuncOp entry;
  Block &block;
  const TaskOrder &order;
  int64_t prefetch;
  DenseMap<Operation *, int64_t> positionOf;
  /// The actions of each coordinate, and the index of each among those.
  std::map<int64_t, std::vector<int64_t>> actionsAt;
  std::vector<int64_t> indexOf;
  std::vector<Operation *> views, before, after;
  std::vector<Anchored> transfers;
  DenseMap<Operation *, size_t> transferIndex;
};

} // namespace

void BlockOrder::numberActions() {
  for (auto [position, task] : llvm::enumerate(order.tasks))
    positionOf[task] = position;
  for (auto [action, entry] : llvm::enumerate(order.actions)) {
    std::vector<int64_t> &list = actionsAt[entry.coordinate];
    indexOf.push_back(list.size());
    list.push_back(action);
  }
}

/// The ops that make next values of the state, which take the memory of the
/// present ones: every reader of these comes before them, whether or not a
/// value says so.
static DenseSet<Operation *> findUpdates(func::FuncOp entry) {
  DenseSet<Operation *> updates;
  for (auto [index, value] :
       llvm::enumerate(entry.front().getTerminator()->getOperands()))
    if (Operation *op = value.getDefiningOp();
        op &&
        entry.getResultAttr(index, PiperDialect::NextAttrHelper::getNameStr()))
      updates.insert(op);
  return updates;
}

/// A transfer belongs to the body if a task of the body makes its value.
void BlockOrder::sortOps() {
  DenseSet<Operation *> late;
  const DenseSet<Operation *> updates = findUpdates(entry);
  for (Operation &op : block.without_terminator()) {
    if (positionOf.contains(&op))
      continue;
    if (isa<MicroBatchOp>(op)) {
      views.push_back(&op);
      continue;
    }
    bool ofBody = false, isLate = updates.contains(&op);
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      ofBody |=
          positionOf.contains(producer) || transferIndex.contains(producer);
      isLate |= late.contains(producer);
    }
    if (auto transfer = dyn_cast<TransferOp>(op); transfer && ofBody) {
      transferIndex[&op] = transfers.size();
      transfers.push_back({-1, INT64_MAX, 0, transfer});
    } else if (ofBody || isLate) {
      late.insert(&op);
      after.push_back(&op);
    } else {
      before.push_back(&op);
    }
  }
}

/// A sum belongs to the last task of its chain from here on. Tasks before the
/// body, and those after it, keep their order.
void BlockOrder::relinkSums() {
  DenseSet<Operation *> isAfter(after.begin(), after.end());
  IntoChains(block).relink([&](TaskOp task) {
    if (auto found = positionOf.find(task); found != positionOf.end())
      return found->second;
    return isAfter.contains(task) ? INT64_MAX : -1;
  });
}

/// INT64_MAX if only later parts of the step read it.
int64_t BlockOrder::firstReader(TransferOp transfer) const {
  int64_t first = INT64_MAX;
  for (Operation *user : transfer->getUsers()) {
    if (auto task = positionOf.find(user); task != positionOf.end())
      first = std::min(first, task->second);
    else if (auto next = transferIndex.find(user); next != transferIndex.end())
      first = std::min(first, transfers[next->second].reader);
  }
  return first;
}

/// Values leave when their action is ready; those of a pair leave together.
int64_t BlockOrder::producerPosition(TransferOp transfer,
                                     int64_t reader) const {
  Operation *producer = transfer.getInput().getDefiningOp();
  if (auto previous = transferIndex.find(producer);
      previous != transferIndex.end())
    return transfers[previous->second].anchor;
  int64_t position = positionOf.at(producer);
  const TaskOrder::Action &action = order.actions[order.actionOf[position]];
  if (action.isPair && action.lastPosition < reader)
    position = action.lastPosition;
  if (action.leaves < 0)
    return position;
  int64_t ready = order.actions[action.leaves].lastPosition;
  return ready < reader ? std::max(position, ready) : position;
}

double BlockOrder::readyTime(TransferOp transfer) const {
  Operation *producer = transfer.getInput().getDefiningOp();
  if (auto previous = transferIndex.find(producer);
      previous != transferIndex.end())
    return transfers[previous->second].ready;
  return order.actions[order.actionOf[positionOf.at(producer)]].ready;
}

/// The end of the action that is `prefetch` actions before the one before the
/// reader's, on its coordinate; -1 if there are fewer.
int64_t BlockOrder::receiverPosition(TransferOp transfer,
                                     int64_t reader) const {
  int64_t coordinate = getCoordinates(transfer.getOut().getType()).front();
  auto list = actionsAt.find(coordinate);
  if (list == actionsAt.end())
    return -1;
  int64_t index = list->second.size();
  if (reader != INT64_MAX) {
    int64_t action = order.actionOf[reader];
    if (order.actions[action].coordinate != coordinate)
      return -1; // another transfer takes it on from here
    index = indexOf[action];
  }
  int64_t earliest = index - 1 - prefetch;
  return earliest < 0 ? -1 : order.actions[list->second[earliest]].lastPosition;
}

void BlockOrder::anchorTransfers() {
  for (Anchored &transfer : llvm::reverse(transfers))
    transfer.reader = firstReader(transfer.op);
  for (Anchored &transfer : transfers) {
    transfer.anchor = std::max(producerPosition(transfer.op, transfer.reader),
                               receiverPosition(transfer.op, transfer.reader));
    transfer.ready = readyTime(transfer.op);
  }
}

std::vector<Operation *> BlockOrder::layOut() const {
  // By anchor, in time linear in their number; behind one, as they get ready.
  std::vector<std::vector<const Anchored *>> behind(order.tasks.size());
  for (const Anchored &transfer : transfers)
    behind[transfer.anchor].push_back(&transfer);
  std::vector<Operation *> ops = views;
  llvm::append_range(ops, before);
  for (auto [position, task] : llvm::enumerate(order.tasks)) {
    ops.push_back(task);
    llvm::stable_sort(
        behind[position], [](const Anchored *a, const Anchored *b) {
          return std::tie(a->ready, a->reader) < std::tie(b->ready, b->reader);
        });
    for (const Anchored *transfer : behind[position])
      ops.push_back(transfer->op);
  }
  llvm::append_range(ops, after);
  return ops;
}

static std::string describe(Operation *op) {
  auto task = dyn_cast<TaskOp>(op);
  return task ? describeTask(task)
              : "'" + op->getName().getStringRef().str() + "'";
}

LogicalResult BlockOrder::verify(ArrayRef<Operation *> ops) const {
  DenseSet<Operation *> seen;
  seen.reserve(ops.size());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || seen.contains(producer))
        continue;
      while (auto transfer = dyn_cast<TransferOp>(producer))
        if (Operation *made = transfer.getInput().getDefiningOp())
          producer = made;
        else
          break;
      InFlightDiagnostic error =
          op->emitOpError() << "expects " << describe(producer)
                            << " before it, whose result it reads, but the "
                               "order puts that later";
      error.attachNote(producer->getLoc()) << "the result is made here";
      return error;
    }
    seen.insert(op);
  }
  return success();
}

LogicalResult BlockOrder::run() {
  numberActions();
  sortOps();
  relinkSums();
  anchorTransfers();
  std::vector<Operation *> ops = layOut();
  if (failed(verify(ops)))
    return failure();
  Operation *end = block.getTerminator();
  for (Operation *op : ops)
    op->moveBefore(end);
  return success();
}

LogicalResult mlir::piper::applyOrder(func::FuncOp entry,
                                      const TaskOrder &order,
                                      int64_t prefetch) {
  return BlockOrder(entry, order, prefetch).run();
}

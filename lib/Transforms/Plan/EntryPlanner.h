// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places the values of one entry point in the arena of its program.

#ifndef PIPER_LIB_TRANSFORMS_PLAN_ENTRYPLANNER_H
#define PIPER_LIB_TRANSFORMS_PLAN_ENTRYPLANNER_H

#include "Piper/Target/AssignOffsets.h"
#include "Piper/Target/PlanBody.h"
#include "Piper/Target/ValueNumbers.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::piper {

/// A body as the tasks that call it see it.
struct PlannedBody {
  int64_t workspaceBytes = 0;
  SmallVector<InPlacePair> inPlace;
};
using PlannedBodies = llvm::StringMap<PlannedBody>;

/// The state of all entry points: it lies first in the arena.
struct StateLayout {
  struct Slot {
    int64_t offset;
    int64_t bytes;
    StringRef category;
  };
  /// Gives all state of an entry point its place, unless it has one.
  void add(EntryOp entry);
  /// The name of an argument that is state; null for others.
  static StringAttr nameOf(EntryOp entry, unsigned argument);

  llvm::MapVector<StringAttr, Slot> slots;
  int64_t bytes = 0;
};

/// The steps of run() are those of the file.
class EntryPlanner {
public:
  EntryPlanner(EntryOp entry, const PlannedBodies &bodies,
               const StateLayout &state);
  /// Returns the end of the last byte used.
  FailureOr<int64_t> run();

private:
  /// Memory that one or more values share.
  struct Buffer {
    Lifetime lifetime;
    /// State lies at an offset of its own and is never packed.
    bool isState = false;
    StringRef category;
    /// The last op that reads one of its values.
    int64_t lastRead = -1;
    /// Until when sends and reduces before the op in hand may read it.
    int64_t lastSent = -1;
  };
  struct ValueInfo {
    int buffer = -1;
    int64_t lastRead = -1;
    /// The end of its lifetime: later where a send or reduce reads it.
    int64_t end = -1;
    StringRef category;
  };
  /// A result that is made over an operand.
  struct Join {
    Value result, operand;
  };

  void listOps();
  void findLastUses();
  void findNextValues();
  void placeArguments();
  void placeOp(int64_t step);
  int addBuffer(Value value, int64_t begin);
  int joinOperand(int64_t step, OpResult result, Value &operand);
  bool mayTakeOver(int64_t step, OpResult result, Value operand);
  StringRef categoryOf(OpResult value);
  void spreadGradients();
  LogicalResult verifyNextValues();
  OffsetsSummary assign();
  LogicalResult setWaits();
  LogicalResult setWaits(int64_t step, ArrayRef<int32_t> waits);
  void record(const OffsetsSummary &summary);
  void recordCategories(const OffsetsSummary &summary);

  int64_t offsetOf(Value value);
  ValueInfo &infoOf(Value value) { return info[numbers.of(value)]; }
  const Buffer &bufferOf(Value value) { return buffers[infoOf(value).buffer]; }

  EntryOp entry;
  const PlannedBodies &bodies;
  const StateLayout &state;
  Block &block;
  /// All ops but views, which are no steps, and their streams.
  std::vector<Operation *> ops;
  std::vector<rt::Stream> streams;
  /// The task before and after each op: its number itself if it is a task, 0
  /// or the number of ops if there is none.
  std::vector<int64_t> taskBefore, taskAfter;
  DenseMap<Operation *, int64_t> stepOf;
  ValueNumbers numbers;
  /// By number of the value.
  std::vector<ValueInfo> info;
  /// The state that a returned value becomes.
  DenseMap<Value, Value> next;
  std::vector<Buffer> buffers;
  /// The workspace of each op, -1 for none.
  std::vector<int> workspaces;
  std::vector<Join> joins;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_PLAN_ENTRYPLANNER_H

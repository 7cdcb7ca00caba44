// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `piper-split` finds out about an entry point before it changes it: the
// layout of every value, and how often each task runs.

#ifndef PIPER_LIB_TRANSFORMS_SPLIT_SPLITBODIES_H
#define PIPER_LIB_TRANSFORMS_SPLIT_SPLITBODIES_H

#include "Piper/Sharding/BodySplit.h"
#include "Piper/Transforms/BodyTable.h"

#include <map>

namespace mlir::piper {

/// A body for given layouts of its operands, and wanted ones of its results.
struct SplitVariant {
  SplitVariant(func::FuncOp whole, const SplitAxis &axis)
      : whole(whole), split(whole, axis) {}

  func::FuncOp whole;
  /// The function of the first part and that of every other, once they are
  /// built: one function in nearly all cases.
  func::FuncOp first, later;
  BodySplit split;
  SmallVector<SplitLayout> results;
  /// Where each result of `whole` is among those of the part: what is
  /// accumulated comes last, and once.
  SmallVector<unsigned> position;
  unsigned numResults = 0, numAccumulated = 0;
  /// Something of it is in parts.
  bool isCut = false;
};

/// The bodies of a module in parts, each once for all entry points.
class SplitBodies {
public:
  explicit SplitBodies(ModuleOp module) : module(module), bodies(module) {}

  /// Sets `variant`, or `demand` if an operand is needed in parts (see
  /// BodySplit). Emits an error.
  LogicalResult follow(TaskOp task, const SplitAxis &axis,
                       ArrayRef<SplitLayout> operands,
                       ArrayRef<SplitLayout> wanted, SplitVariant *&variant,
                       std::optional<BodySplit::Demand> &demand);

  /// The function of a part, with its results in the order of `position`.
  func::FuncOp part(SplitVariant &variant, bool isFirst);
  /// `body` for operands that are step inputs with their micro-batches:
  /// `splits` has the dimension that was split for each operand, or -1.
  func::FuncOp ofInputs(func::FuncOp body, ArrayRef<int64_t> splits,
                        int64_t parts);
  /// A step input with its micro-batches, as it was before.
  func::FuncOp join(Location loc, Type type, int64_t dim);
  /// The parts of a value of this type, put together.
  func::FuncOp concat(Location loc, RankedTensorType whole,
                      const SplitLayout &layout, int64_t parts);

  /// Drops bodies that no task calls, and gives the others the names of those
  /// they replace.
  void finish();

private:
  void arrange(SplitVariant &variant);
  func::FuncOp buildPart(SplitVariant &variant, bool isFirst);

  ModuleOp module;
  BodyTable bodies;
  std::map<std::string, std::unique_ptr<SplitVariant>> variants;
  /// By body, then number of parts and splits.
  std::map<std::pair<Operation *, std::vector<int64_t>>, func::FuncOp> wholes;
  /// What was built, and the name of the body that it replaces.
  SmallVector<std::pair<func::FuncOp, std::string>> names;
};

/// The type of a step input that was split: micro-batches first.
RankedTensorType splitInputType(Type type, int64_t dim, int64_t parts);

/// One task of the entry point as it was.
struct TaskSplit {
  TaskOp task;
  /// Of the task's body in parts.
  SplitVariant *variant = nullptr;
  /// Layouts that other tasks need of results that would be whole.
  SmallVector<SplitLayout> wanted;
  /// It runs once for each micro-batch.
  bool perMicroBatch = false;
  /// It needs what is complete only after all micro-batches, or what one of
  /// them has made.
  bool isLate = false;

  bool isOnce() {
    return task.getPass() == PassKind::Once || task.getPass() == PassKind::U;
  }
};

class TaskLayouts {
public:
  TaskLayouts(func::FuncOp entry, SplitBodies &bodies, const SplitAxis &axis)
      : entry(entry), bodies(bodies), axis(axis) {}

  /// `inputs` has the split dimension of each argument, or -1. Emits an error
  /// for whatever cannot be split.
  LogicalResult run(ArrayRef<int64_t> inputs);

  SplitLayout layout(Value value) const { return layouts.lookup(value); }
  SmallVector<TaskSplit> tasks;

private:
  LogicalResult visit(TaskSplit &split,
                      std::optional<BodySplit::Demand> &demand);
  LogicalResult verifyTogether(TaskSplit &split, Value sum, Value sample);
  FailureOr<unsigned> ask(TaskSplit &split, const BodySplit::Demand &demand);
  TaskSplit *producer(Value value);

  func::FuncOp entry;
  SplitBodies &bodies;
  const SplitAxis &axis;
  DenseMap<Value, SplitLayout> layouts;
  DenseMap<Operation *, unsigned> indexOf;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_SPLIT_SPLITBODIES_H

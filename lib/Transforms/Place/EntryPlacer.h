// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placing one entry point: where each task runs (PlaceDemand.cpp), then the
// types and what moves values (PlaceRewrite.cpp, PlaceNorm.cpp).

#ifndef PIPER_LIB_TRANSFORMS_PLACE_ENTRYPLACER_H
#define PIPER_LIB_TRANSFORMS_PLACE_ENTRYPLACER_H

#include "CoordinateSets.h"

#include "Directives/Directive.h"
#include "Piper/Transforms/BodyTable.h"

namespace mlir::piper {

/// What a body is to the end of a step.
enum class BodyKind { Other, Add, NormTable, Check, Concat };

/// What the entry points of a module share: a parameter is stored on the
/// coordinates that use it in any of them.
class ModulePlacement {
public:
  using Set = CoordinateSets::Set;

  ModulePlacement(ModuleOp module, StagePlan plan);

  BodyKind kindOf(TaskOp task);

  const StagePlan plan;
  CoordinateSets sets;
  const Set all;
  BodyTable bodies;
  /// Where each parameter is used, by name.
  llvm::StringMap<Set> uses;

private:
  DenseMap<Attribute, BodyKind> kinds;
};

class EntryPlacer {
public:
  using Set = CoordinateSets::Set;

  EntryPlacer(func::FuncOp entry, ModulePlacement &shared);

  // In this order, each for all entry points before the next.

  /// Gives body tasks their copy, and parameters the coordinates of the body.
  LogicalResult placeBody();
  /// Finds what the other tasks are, and where those run that have a place of
  /// their own.
  void classifySteps();
  /// Moves and reduces values; gives each its type.
  LogicalResult rewrite();

private:
  /// How the coordinates of a task are found.
  enum class Kind {
    Free,       ///< depends on inputs and counters: wherever it is used
    Stage,      ///< of a stage but no micro-batch: where it is used, of these
    Home,       ///< of values of the body: where the first of them is
    Everywhere, ///< of the norm, or an update: wherever it is used
    Sum,        ///< adds two values of the body
    Check,      ///< of an update: where its parameter is, once
    Table       ///< the norm, the counts of checks: one for each coordinate
  };
  struct Step {
    Kind kind = Kind::Home;
    /// A coordinate that has or can have its results; -1: any.
    int64_t home = -1;
    Set on = CoordinateSets::kNone;
  };
  /// What an argument of the entry point is.
  struct Argument {
    enum { Input, Counter, Parameter } kind = Input;
    /// Of a parameter, and of its moments, which lie with it.
    Set *uses = nullptr;
  };

  // PlaceDemand.cpp
  LogicalResult checkBody(TaskOp task);
  std::optional<Kind> kindOf(Value value) const;
  Kind classify(TaskOp task, int64_t home);
  int64_t findHome(TaskOp task, bool argumentsFirst);
  bool isCheckTable(TaskOp task);
  int64_t homeOf(Value value);
  bool isInput(Value value) const;
  /// Where a state is stored.
  Set ofState(unsigned argument);
  void addUses(TaskOp task, Set on);
  void findDemands();
  void need(Value value, Set set);
  Set decide(TaskOp task, const Step &step);
  /// Of a task of a stage: its coordinate, or those of the copies.
  Set stageSet(TaskOp task);
  bool isPinned(TaskOp task) const {
    return task.getStage() >= 0 && (!hasCopies || task.getMb() >= 0);
  }
  /// The coordinates that need `value`, or its home where none does.
  Set target(Value value);

  // PlaceRewrite.cpp
  LogicalResult rewriteTask(TaskOp task, Set on);
  LogicalResult cutChain(TaskOp task);
  void rewriteSum(TaskOp task, Set on);
  void rewriteResults();
  /// `value` as one that is on all of `set`.
  Value read(Value value, Set set);
  Value deliver(Value value, Set set, Value source);
  Value transfer(Value value, int64_t coordinate);
  Value reduce(Value value, ArrayRef<Value> parts);
  /// The values that `value` is the sum of; itself in most cases.
  SmallVector<Value> partsOf(Value value);
  bool covers(Value value, Set set) {
    return sets.covers(sets.of(value.getType()), set);
  }

  // PlaceNorm.cpp
  void splitTable(TaskOp task);

  func::FuncOp entry;
  ModulePlacement &shared;
  CoordinateSets &sets;
  const StagePlan &plan;
  /// Whether micro-batches of this step run through both copies.
  bool hasCopies;
  SmallVector<Argument> arguments;
  /// By name, the argument.
  llvm::StringMap<unsigned> states;

  /// All tasks but those with one coordinate.
  DenseMap<Operation *, Step> steps;
  /// Where values are needed. Complete for values of the tasks in `steps`; for
  /// others it has what these tasks need.
  DenseMap<Value, Set> demands;

  /// The op before which new ops go.
  Operation *cursor = nullptr;
  /// Sums that have no task.
  DenseMap<Value, SmallVector<Value>> sums;
  /// Of an accumulator with a copy: that of the other copy so far.
  DenseMap<Value, Value> otherCopy;
  /// What has been moved already, and the last op moved for each producer.
  DenseMap<Value, Value> reduced;
  DenseMap<std::pair<Value, int64_t>, Value> transferred;
  DenseMap<Operation *, Operation *> lastTransfer;
  SmallVector<Operation *> replaced;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_PLACE_ENTRYPLACER_H

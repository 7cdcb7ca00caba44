// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry point of a step becomes one of each program.

#ifndef PIPER_LIB_TRANSFORMS_PLAN_ENTRYPARTITIONER_H
#define PIPER_LIB_TRANSFORMS_PLAN_ENTRYPARTITIONER_H

#include "Accumulators.h"

namespace mlir::piper {

/// Distributes the ops of one entry function over the programs of all
/// coordinates, in one sweep.
///
/// Values keep their types with coordinates until the end of the sweep. Each is
/// known by its first value, that of its first coordinate; those of the others
/// are in `copies`. Ops on one coordinate are moved, not copied.
class EntryPartitioner {
public:
  /// `programs`: by coordinate. `placed`: values have coordinates; otherwise
  /// there is one program, which has everything.
  EntryPartitioner(func::FuncOp source, ArrayRef<ProgramOp> programs,
                   bool placed, AccumulatorBodies &accumulators)
      : source(source), programs(programs), placed(placed),
        accumulators(accumulators) {}

  /// Makes the entries and erases the source. Emits an error for values that
  /// are at no coordinate of the mesh.
  LogicalResult run();

private:
  /// The entry point of one program.
  struct Part {
    Block *block = nullptr;
    SmallVector<Attribute> argumentAttrs, resultAttrs;
    SmallVector<Value> results;
    EntryOp entry;
  };
  using Copies = SmallVector<std::pair<int64_t, Value>, 1>;

  void makeEntries();
  LogicalResult moveArguments();
  FailureOr<SmallVector<int64_t>> coordinatesOf(BlockArgument argument);
  SmallVector<int64_t> findReaders(BlockArgument input);
  LogicalResult moveOp(Operation &op);
  LogicalResult moveTask(TaskOp task);
  void moveTransfer(TransferOp transfer);
  void moveAllReduce(AllReduceOp reduce);
  LogicalResult returnResults();
  void finish();

  LogicalResult checkRange(Operation *op, Type type);
  ArrayRef<int64_t> coordinatesOf(Operation *op);
  /// The value that coordinate `at` has of `value`; null if it has none. Makes
  /// the view of a micro-batch where it is first needed.
  Value getLocal(Value value, int64_t at);
  OpBuilder atEnd(int64_t coordinate) {
    return OpBuilder::atBlockEnd(parts[coordinate].block);
  }

  func::FuncOp source;
  ArrayRef<ProgramOp> programs;
  bool placed;
  AccumulatorBodies &accumulators;
  SmallVector<Part> parts;
  DenseMap<Value, Copies> copies;
  /// The coordinates of each parameter and state tensor.
  DenseMap<StringAttr, SmallVector<int64_t>> stateCoordinates;
  int64_t numOps = 0;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_PLAN_ENTRYPARTITIONER_H

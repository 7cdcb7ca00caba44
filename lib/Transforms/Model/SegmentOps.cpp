// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drops the ops of a model that nothing needs, and checks random ones.

#include "SegmentOps.h"

#include "Piper/Dialect/PiperDialect.h"

using namespace mlir;
using namespace mlir::piper;

namespace {
/// Ops with equal tags, one after another.
struct Run {
  Operation *first = nullptr;
  TagsAttr tags;
  bool isNeeded = false;
};
} // namespace

/// The runs of a model as it was written. Constants and random keys, which are
/// made where they are used, belong to none.
static SmallVector<Run> findRuns(Block &block,
                                 const DenseSet<Operation *> &needed) {
  SmallVector<Run> runs;
  for (Operation &op : block.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>() || isa<RandomKeyOp>(op))
      continue;
    auto own =
        op.getAttrOfType<TagsAttr>(PiperDialect::TagsAttrHelper::getNameStr());
    if (runs.empty() || (own && runs.back().tags && own != runs.back().tags))
      runs.push_back({&op, own, false});
    if (own)
      runs.back().tags = own;
    runs.back().isNeeded |= needed.contains(&op);
  }
  return runs;
}

void mlir::piper::dropDeadOps(func::FuncOp function) {
  Block &block = function.front();
  DenseSet<Operation *> needed;
  SmallVector<Operation *> dead;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isNeeded = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return user == block.getTerminator() || needed.contains(user);
    });
    if (isNeeded)
      needed.insert(&op);
    else
      dead.push_back(&op);
  }
  if (function.getSymName() == "train")
    for (const Run &run : findRuns(block, needed))
      if (!run.isNeeded && run.tags)
        run.first->emitRemark()
            << "no result of 'train' needs what begins here, tags <"
            << run.tags.text() << ">: it is left out";
  for (Operation *op : dead)
    op->erase();
}

LogicalResult mlir::piper::verifyRandomIndices(ArrayRef<Operation *> segment) {
  llvm::SmallDenseMap<int64_t, Operation *> known;
  for (Operation *op : segment) {
    auto dropout = dyn_cast<DropoutOp>(op);
    auto attention = dyn_cast<AttentionOp>(op);
    if (!dropout && !(attention && attention.getKey()))
      continue;
    int64_t index = dropout ? dropout.getIndex() : attention.getIndex();
    auto [found, isNew] = known.try_emplace(index, op);
    if (isNew)
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "expects an index of its own among the random ops "
                             "of its segment but got "
                          << index << " again";
    diagnostic.attachNote(found->second->getLoc()) << "this op has it too";
    return diagnostic;
  }
  return success();
}

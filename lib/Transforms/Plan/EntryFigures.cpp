// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets, the peak of an entry point, and what its bytes are.

#include "EntryPlanner.h"

using namespace mlir;
using namespace mlir::piper;

static bool isBackward(Operation *op) {
  auto task = dyn_cast_or_null<TaskOp>(op);
  return task &&
         (task.getPass() == PassKind::B || task.getPass() == PassKind::BI ||
          task.getPass() == PassKind::BW);
}

/// What a value is, from who makes and who reads it.
StringRef EntryPlanner::categoryOf(OpResult value) {
  if (isa<ReceiveOp>(value.getOwner()))
    return "messages";
  bool backward = false, ownWeights = false, updates = false, ends = false;
  for (Operation *user : value.getUsers()) {
    auto reader = dyn_cast<TaskOp>(user);
    backward |= isBackward(user);
    ownWeights |= reader && reader.getPass() == PassKind::BW;
    updates |= reader && reader.getPass() == PassKind::U;
    ends |=
        isa<ReduceOp>(user) || (reader && reader.getPass() == PassKind::Once);
  }
  auto task = dyn_cast<TaskOp>(value.getOwner());
  PassKind pass = task ? task.getPass() : PassKind::Once;
  bool isForward = pass == PassKind::F || pass == PassKind::R;
  if ((isForward && backward) || (pass == PassKind::BI && ownWeights))
    return "activations";
  bool isTensor = cast<RankedTensorType>(value.getType()).getRank() > 0;
  if (isTensor && !isForward &&
      (updates || (ends && isBackward(value.getOwner()))))
    return "gradients";
  return "temporaries";
}

/// What a gradient is added to is one, too.
void EntryPlanner::spreadGradients() {
  for (const Join &join : llvm::reverse(joins)) {
    ValueInfo &operand = infoOf(join.operand);
    if (infoOf(join.result).category == "gradients" &&
        isBackward(join.result.getDefiningOp()) &&
        isBackward(join.operand.getDefiningOp())) {
      operand.category = "gradients";
      if (buffers[operand.buffer].category == "temporaries")
        buffers[operand.buffer].category = "gradients";
    }
  }
}

int64_t EntryPlanner::offsetOf(Value value) {
  return bufferOf(value).lifetime.offset;
}

void EntryPlanner::recordCategories(const OffsetsSummary &summary) {
  spreadGradients();
  // A buffer is what lies in it at the peak.
  for (int64_t step = 0, count = ops.size();
       step <= summary.peakStep && step < count; ++step)
    for (Value value : ops[step]->getResults())
      buffers[infoOf(value).buffer].category = infoOf(value).category;
  llvm::MapVector<StringRef, int64_t> categories;
  // All of it lies in the arena, whatever this entry point takes.
  for (auto &[name, slot] : state.slots)
    categories[slot.category] += slot.bytes;
  for (const Buffer &buffer : buffers)
    if (!buffer.isState && buffer.lifetime.begin <= summary.peakStep &&
        summary.peakStep <= buffer.lifetime.end)
      categories[buffer.category] +=
          llvm::alignTo(buffer.lifetime.bytes, rt::kAlignment);
  Builder builder(entry.getContext());
  SmallVector<NamedAttribute> named;
  for (auto [category, bytes] : categories)
    named.push_back(
        builder.getNamedAttr(category, builder.getI64IntegerAttr(bytes)));
  entry.setCategoriesAttr(builder.getDictionaryAttr(named));
}

/// Writes offsets and figures to the ops.
void EntryPlanner::record(const OffsetsSummary &summary) {
  auto offsetsOf = [&](auto values) {
    SmallVector<int64_t> offsets;
    for (Value value : values)
      offsets.push_back(offsetOf(value));
    return offsets;
  };
  entry.setOffsets(offsetsOf(block.getArguments()));
  for (auto [step, op] : llvm::enumerate(ops)) {
    if (auto task = dyn_cast<TaskOp>(op)) {
      task.setOffsets(offsetsOf(op->getResults()));
      int workspace = workspaces[step];
      task.setWorkspace(workspace < 0 ? -1
                                      : buffers[workspace].lifetime.offset);
    } else if (auto receive = dyn_cast<ReceiveOp>(op)) {
      receive.setOffsets(offsetsOf(op->getResults()));
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (!op->getResults().empty())
        reduce.setOffsets(offsetsOf(op->getResults()));
    }
  }
  recordCategories(summary);
  entry.setPeak(state.bytes + summary.bytes);
  entry.setLive(state.bytes + summary.live);
  entry.setPeakOp(std::max<int64_t>(summary.peakStep, 0));
}

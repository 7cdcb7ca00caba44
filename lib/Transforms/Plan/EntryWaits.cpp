// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The waits of an entry point whose values have places.

#include "EntryPlanner.h"
#include "StreamWaits.h"

using namespace mlir;
using namespace mlir::piper;

static int64_t idOf(Operation *op) {
  if (auto task = dyn_cast<TaskOp>(op))
    return task.getId();
  if (auto send = dyn_cast<SendOp>(op))
    return send.getId();
  if (auto receive = dyn_cast<ReceiveOp>(op))
    return receive.getId();
  return cast<ReduceOp>(op).getId();
}

/// Sets `waits` of an op to ids.
LogicalResult EntryPlanner::setWaits(int64_t step, ArrayRef<int32_t> waits) {
  Operation *op = ops[step];
  SmallVector<int64_t> ids;
  for (int32_t wait : waits) {
    ids.push_back(idOf(ops[wait]));
    if (ids.back() >= 0)
      continue;
    InFlightDiagnostic diagnostic =
        ops[wait]->emitOpError() << "expects an id, as another op waits for it";
    diagnostic.attachNote(op->getLoc()) << "this one does";
    return diagnostic;
  }
  auto attribute = ids.empty() ? DenseI64ArrayAttr()
                               : DenseI64ArrayAttr::get(op->getContext(), ids);
  if (auto task = dyn_cast<TaskOp>(op))
    task.setWaitsAttr(attribute);
  else if (auto send = dyn_cast<SendOp>(op))
    send.setWaitsAttr(attribute);
  else if (auto receive = dyn_cast<ReceiveOp>(op))
    receive.setWaitsAttr(attribute);
  else
    cast<ReduceOp>(op).setWaitsAttr(attribute);
  return success();
}

LogicalResult EntryPlanner::setWaits() {
  StreamClocks clocks(ops.size());
  MemoryUses uses(buffers.size());
  std::vector<bool> begun(buffers.size());
  auto take = [&](int buffer, StreamTimes &needs) {
    const Buffer &taken = buffers[buffer];
    begun[buffer] = true;
    // No buffer is made over state.
    if (!taken.isState)
      uses.take(buffer, taken.lifetime.offset,
                taken.lifetime.offset +
                    llvm::alignTo(taken.lifetime.bytes, rt::kAlignment),
                needs);
  };
  for (BlockArgument argument : block.getArguments()) {
    StreamTimes none = kNone;
    take(infoOf(argument).buffer, none);
  }
  for (auto [step, op] : llvm::enumerate(ops)) {
    rt::Stream stream = streams[step];
    StreamTimes needs = kNone;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && !isa<MicroBatchOp>(producer)) {
        int64_t made = stepOf.lookup(producer);
        int32_t &need = needs[static_cast<int>(streams[made])];
        need = std::max<int32_t>(need, made);
      }
    for (Value operand : op->getOperands())
      uses.read(infoOf(operand).buffer, stream, step);
    SmallVector<int> written;
    for (Value result : op->getResults())
      written.push_back(infoOf(result).buffer);
    if (workspaces[step] >= 0)
      written.push_back(workspaces[step]);
    for (int buffer : written) {
      if (!begun[buffer])
        take(buffer, needs);
      uses.write(buffer, stream, step, needs);
    }
    // What the op itself does is no reason to wait.
    needs[static_cast<int>(stream)] = -1;
    if (failed(setWaits(step, clocks.add(stream, needs))))
      return failure();
  }
  return success();
}

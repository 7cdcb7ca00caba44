// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the program of each place: with one place, the entry points as they
// are.

#include "Accumulators.h"
#include "Piper/Transforms/Passes.h"
#include "Piper/Transforms/Verify.h"

#include <thread>

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPARTITION
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// Moves the block of a function into a new entry point.
static void makeEntry(func::FuncOp function, OpBuilder &builder) {
  OperationState state(function.getLoc(), EntryOp::getOperationName());
  auto &properties = state.getOrAddProperties<EntryOp::Properties>();
  properties.setSymName(function.getSymNameAttr());
  properties.setFunctionType(TypeAttr::get(function.getFunctionType()));
  properties.setArgAttrs(function.getArgAttrsAttr());
  properties.setResAttrs(function.getResAttrsAttr());
  state.addRegion()->takeBody(function.getBody());
  auto entry = cast<EntryOp>(builder.create(state));
  Operation *terminator = entry.getBody().front().getTerminator();
  OpBuilder inside(terminator);
  ReturnOp::create(inside, terminator->getLoc(), terminator->getOperands());
  terminator->erase();
  function.erase();
}

namespace {
class PiperPartitionPass
    : public mlir::piper::impl::PiperPartitionBase<PiperPartitionPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    int64_t count = threads;
    if (count == 0)
      count = std::max(1u, std::thread::hardware_concurrency());
    if (count < 1 || count > 1024) {
      module.emitError()
          << "option 'threads' expects 1 to 1024, or 0 for all cores, but got "
          << count;
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> entries = getEntryFunctions(module);
    OpBuilder builder(&getContext());
    OperationState state(module.getLoc(), ProgramOp::getOperationName());
    auto &properties = state.getOrAddProperties<ProgramOp::Properties>();
    properties.setSymName(builder.getStringAttr("main"));
    properties.setTarget(
        TargetAttr::get(&getContext(), builder.getStringAttr("cpu"), count));
    state.addRegion()->emplaceBlock();
    // A body may have the program's name: the table makes it unique.
    auto program = cast<ProgramOp>(Operation::create(state));
    SymbolTable(module).insert(program, module.getBody()->begin());
    builder.setInsertionPointToEnd(&program.getBody().front());
    AccumulatorBodies accumulators(module);
    for (func::FuncOp entry : entries) {
      for (auto task : entry.front().getOps<TaskOp>())
        if (failed(accumulators.lower(task)))
          return signalPassFailure();
      makeEntry(entry, builder);
    }
    BodyTable(module).eraseUnused();
    setLevel(module, Level::Programs);
  }
};
} // namespace

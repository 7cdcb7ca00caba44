// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the program of each coordinate of the mesh, or the only one of a step
// that was not placed.

#include "Directives/Directive.h"
#include "EntryPartitioner.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

#include <thread>

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPARTITION
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

/// The number of coordinates of a placed step.
static FailureOr<int64_t> findMeshSize(ModuleOp module) {
  SmallVector<MeshOp> meshes(module.getOps<MeshOp>());
  if (meshes.size() != 1)
    return emitProgramError(module)
           << "expects one 'piper.mesh' in a placed step but got "
           << meshes.size();
  MeshOp mesh = meshes.front();
  if (mesh.getAxes().size() != 1 || cast<StringAttr>(mesh.getAxes()[0]) != "pp")
    return mesh.emitOpError()
           << "expects the axes [\"pp\"] but got " << mesh.getAxes();
  if (mesh.getSizes()[0] > 1024)
    return mesh.emitOpError()
           << "expects at most 1024 coordinates but got " << mesh.getSizes()[0];
  return mesh.getSizes()[0];
}

namespace {
class PiperPartitionPass
    : public mlir::piper::impl::PiperPartitionBase<PiperPartitionPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    Level level = getLevel(module);
    placed = level == Level::Placed;
    if (!placed && level != Level::DAG)
      return emitProgramError(module)
             << "'" << getArgument()
             << "' expects level 'dag' or 'placed' but got '"
             << stringifyLevel(level) << "'";
    if (failed(verifyTasks(module)))
      return failure();
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return failure();
    FailureOr<SmallVector<ProgramOp>> programs =
        makePrograms(module, directives->options.buffering);
    if (failed(programs))
      return failure();
    AccumulatorBodies accumulators(module);
    for (func::FuncOp entry : getEntryFunctions(module))
      if (failed(
              EntryPartitioner(entry, *programs, placed, accumulators).run()))
        return failure();
    // A body whose every call has accumulators is not called itself.
    BodyTable(module).eraseUnused();
    setLevel(module, Level::Programs);
    return success();
  }

  FailureOr<SmallVector<ProgramOp>> makePrograms(ModuleOp module,
                                                 int64_t buffering) {
    int64_t count = threads;
    if (count == 0)
      count = std::max(1u, std::thread::hardware_concurrency());
    if (count < 1 || count > 1024)
      return emitProgramError(module)
             << "option 'threads' expects 1 to 1024, or 0 for all cores, but "
                "got "
             << count;
    int64_t coordinates = 1;
    if (placed) {
      FailureOr<int64_t> size = findMeshSize(module);
      if (failed(size))
        return failure();
      coordinates = *size;
    }
    Builder builder(&getContext());
    auto target =
        TargetAttr::get(&getContext(), builder.getStringAttr("cpu"), count);
    SymbolTable symbols(module);
    // Before the first function: after the mesh, if there is one.
    auto functions = module.getOps<func::FuncOp>();
    Block::iterator place = functions.empty()
                                ? module.getBody()->end()
                                : (*functions.begin())->getIterator();
    SmallVector<ProgramOp> programs;
    for (int64_t coordinate = 0; coordinate < coordinates; ++coordinate) {
      OperationState state(module.getLoc(), ProgramOp::getOperationName());
      auto &properties = state.getOrAddProperties<ProgramOp::Properties>();
      std::string name = placed ? "p" + std::to_string(coordinate) : "main";
      properties.setSymName(builder.getStringAttr(name));
      properties.setTarget(target);
      properties.setCoordinate(placed ? coordinate : -1);
      properties.setBuffering(placed ? buffering : 0);
      state.addRegion()->emplaceBlock();
      programs.push_back(cast<ProgramOp>(Operation::create(state)));
      // A body may have the program's name: the table makes it unique.
      symbols.insert(programs.back(), place);
    }
    return programs;
  }

  bool placed = false;
};
} // namespace

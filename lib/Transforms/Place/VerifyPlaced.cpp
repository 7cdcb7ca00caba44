// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a placed step: the wall between the passes that place and order it and
// those that cut it into programs. The types of operands are the business of
// the ops' own verifiers.

#include "Directives/Directive.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERVERIFYPLACED
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

class PlacedVerifier {
public:
  PlacedVerifier(ModuleOp module, std::optional<StagePlan> plan)
      : module(module), plan(std::move(plan)) {}
  LogicalResult run();

private:
  LogicalResult verifyMesh();
  LogicalResult verifyEntry(func::FuncOp entry);
  LogicalResult verifyArgument(func::FuncOp entry, unsigned index);
  LogicalResult verifyAgreement(func::FuncOp entry, unsigned index,
                                StringRef name);
  LogicalResult verifyState(func::FuncOp entry, StateAttr state, Type type);
  LogicalResult verifyStage(TaskOp task);

  ModuleOp module;
  std::optional<StagePlan> plan;
  int64_t coordinates = 1;
  /// The type of each state, and the entry point that has it first.
  llvm::StringMap<std::pair<Type, func::FuncOp>> states;
};

} // namespace

LogicalResult PlacedVerifier::verifyMesh() {
  SmallVector<MeshOp> meshes(module.getOps<MeshOp>());
  if (meshes.size() != 1)
    return emitProgramError(module)
           << "expects one 'piper.mesh' in a placed step but got "
           << meshes.size();
  MeshOp mesh = meshes.front();
  if (mesh.getAxes().size() != 1 || cast<StringAttr>(mesh.getAxes()[0]) != "pp")
    return mesh.emitOpError()
           << "expects the axes [\"pp\"] but got " << mesh.getAxes();
  coordinates = mesh.getSizes().front();
  if (plan && plan->coordinates != coordinates)
    return mesh.emitOpError()
           << "expects " << plan->coordinates
           << " coordinates, as the 'place' directives say, but got "
           << coordinates;
  return success();
}

/// All entry points have a state on the same coordinates.
LogicalResult PlacedVerifier::verifyAgreement(func::FuncOp entry,
                                              unsigned index, StringRef name) {
  Type type = entry.getArgumentTypes()[index];
  auto [found, isNew] = states.try_emplace(name, type, entry);
  if (!isNew && found->second.first != type) {
    func::FuncOp first = found->second.second;
    InFlightDiagnostic diagnostic =
        entry.emitOpError()
        << "expects '" << name << "' to be " << found->second.first
        << ", as in '" << first.getSymName() << "', but got " << type;
    diagnostic.attachNote(first.getLoc()) << "the other entry point is here";
    return diagnostic;
  }
  return success();
}

/// A moment lies with its parameter, a counter everywhere.
LogicalResult PlacedVerifier::verifyState(func::FuncOp entry, StateAttr state,
                                          Type type) {
  StringRef name = state.getName();
  if (!state.getParameter()) {
    if (static_cast<int64_t>(getCoordinates(type).size()) == coordinates)
      return success();
    return entry.emitOpError()
           << "expects counter '" << name << "' on all " << coordinates
           << " coordinates but got " << type;
  }
  auto owner = states.find(state.getParameter());
  if (owner == states.end())
    return success();
  Type own = owner->second.first;
  if (getCoordinates(own) == getCoordinates(type))
    return success();
  return entry.emitOpError()
         << "expects '" << name << "' on the coordinates of '"
         << state.getParameter().getValue() << "', which is " << own
         << ", but got " << type;
}

LogicalResult PlacedVerifier::verifyArgument(func::FuncOp entry,
                                             unsigned index) {
  Type type = entry.getArgumentTypes()[index];
  auto param = entry.getArgAttrOfType<ParamAttr>(
      index, PiperDialect::ParamAttrHelper::getNameStr());
  auto state = entry.getArgAttrOfType<StateAttr>(
      index, PiperDialect::StateAttrHelper::getNameStr());
  bool hasCoordinates = isa<DistType>(type);
  if (hasCoordinates != (param || state))
    return entry.emitOpError()
           << "expects argument #" << index << " to have "
           << (hasCoordinates ? "no " : "") << "coordinates, as it is "
           << (hasCoordinates ? "a step input" : "state") << ", but got "
           << type;
  if (!hasCoordinates)
    return success();
  if (getCoordinates(type).back() >= coordinates)
    return entry.emitOpError()
           << "expects argument #" << index << " on coordinates below "
           << coordinates << " but got " << type;
  return verifyAgreement(entry, index,
                         param ? param.getName() : state.getName());
}

/// A task of a stage runs on the coordinate of its copy; without a micro-batch
/// it may run for both copies.
LogicalResult PlacedVerifier::verifyStage(TaskOp task) {
  if (task.getPass() == PassKind::Once || task.getPass() == PassKind::U)
    return success();
  int64_t stage = task.getStage(), copy = task.getCopy();
  if (stage < 0 || stage >= plan->stages)
    return task.emitOpError() << "expects a stage from 0 to "
                              << plan->stages - 1 << " but got " << stage;
  if (copy < 0 || copy >= plan->copies)
    return task.emitOpError() << "expects a copy from 0 to " << plan->copies - 1
                              << " but got " << copy;
  ArrayRef<int64_t> devices = plan->devices[stage];
  bool isSingle = plan->copies == 1 || task.getMb() >= 0;
  if (isSingle)
    devices = devices.slice(copy, 1);
  for (OpResult result : task->getResults()) {
    ArrayRef<int64_t> on = getCoordinates(result.getType());
    bool isThere = llvm::all_of(
        on, [&](int64_t c) { return llvm::is_contained(devices, c); });
    if (isThere)
      continue;
    InFlightDiagnostic diagnostic =
        task.emitOpError() << "expects stage " << stage << " to run on pp = ";
    llvm::interleave(
        devices, [&](int64_t c) { diagnostic << c; },
        [&] { diagnostic << " or "; });
    return diagnostic << " but result #" << result.getResultNumber() << " is "
                      << result.getType();
  }
  return success();
}

LogicalResult PlacedVerifier::verifyEntry(func::FuncOp entry) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (failed(verifyArgument(entry, i)))
      return failure();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto state = entry.getArgAttrOfType<StateAttr>(
            i, PiperDialect::StateAttrHelper::getNameStr());
        state && failed(verifyState(entry, state, entry.getArgumentTypes()[i])))
      return failure();
  for (Operation &op : entry.front().without_terminator()) {
    if (isa<MicroBatchOp>(op))
      continue;
    if (op.getNumResults() == 0)
      return op.emitOpError()
             << "expects a result, without which it runs nowhere";
    for (OpResult result : op.getResults()) {
      ArrayRef<int64_t> on = getCoordinates(result.getType());
      if (on.empty())
        return op.emitOpError()
               << "expects result #" << result.getResultNumber()
               << " to have coordinates but got " << result.getType();
      if (on.back() >= coordinates)
        return op.emitOpError()
               << "expects result #" << result.getResultNumber()
               << " on coordinates below " << coordinates << " but got "
               << result.getType();
    }
    if (auto task = dyn_cast<TaskOp>(op);
        task && plan && failed(verifyStage(task)))
      return failure();
  }
  return success();
}

LogicalResult PlacedVerifier::run() {
  if (failed(verifyTasks(module)) || failed(verifyMesh()))
    return failure();
  for (func::FuncOp entry : getEntryFunctions(module)) {
    if (failed(verifyEntry(entry)))
      return failure();
    if (entry.getSymName() == "train" &&
        failed(mlir::piper::verifyState(entry)))
      return failure();
  }
  return success();
}

namespace {
class PiperVerifyPlacedPass
    : public mlir::piper::impl::PiperVerifyPlacedBase<PiperVerifyPlacedPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return signalPassFailure();
    // A step without places stays on level 1.
    if (getLevel(module) == Level::DAG && directives->place.empty())
      return;
    if (failed(expectLevel(module, getArgument(), Level::Placed)))
      return signalPassFailure();
    FailureOr<std::optional<StagePlan>> plan =
        getStagePlan(module, *directives);
    if (failed(plan) || failed(PlacedVerifier(module, *plan).run()))
      return signalPassFailure();
  }
};
} // namespace

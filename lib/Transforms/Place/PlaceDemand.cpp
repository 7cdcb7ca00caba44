// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tasks of an entry point run.
//
// 1. A task of the body has the coordinate of its stage and copy. With two
//    copies, one without a micro-batch runs on those of its coordinates that
//    need it.
// 2. Any other task runs where its results are needed, if every coordinate can
//    run it: it depends on step inputs and counters, or on the norm of all
//    gradients. Otherwise it runs where the first of its operands is.
// 3. Needs are found from the end of the step backward. They begin with the
//    next values of the state, which every coordinate of the state needs.

#include "EntryPlacer.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

EntryPlacer::EntryPlacer(func::FuncOp entry, ModulePlacement &shared)
    : entry(entry), shared(shared), sets(shared.sets), plan(shared.plan),
      hasCopies(plan.copies == 2 && getMicroBatches(entry) > 1),
      arguments(entry.getNumArguments()) {
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    StringAttr parameter;
    if (auto param = entry.getArgAttrOfType<ParamAttr>(
            index, PiperDialect::ParamAttrHelper::getNameStr())) {
      parameter = param.getName();
      states[parameter] = index;
    } else if (auto state = entry.getArgAttrOfType<StateAttr>(
                   index, PiperDialect::StateAttrHelper::getNameStr())) {
      parameter = state.getParameter();
      argument.kind = Argument::Counter;
      states[state.getName()] = index;
    }
    if (!parameter)
      continue;
    argument.kind = Argument::Parameter;
    argument.uses = &shared.uses[parameter];
  }
}

/// A step input or a view of one: every rank has it.
bool EntryPlacer::isInput(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? arguments[argument.getArgNumber()].kind == Argument::Input
                  : value.getDefiningOp<MicroBatchOp>() != nullptr;
}

CoordinateSets::Set EntryPlacer::ofState(unsigned argument) {
  if (arguments[argument].kind != Argument::Parameter)
    return shared.all;
  Set on = *arguments[argument].uses;
  return on == CoordinateSets::kNone ? sets.get(0) : on;
}

void EntryPlacer::addUses(TaskOp task, Set on) {
  for (Value operand : task.getOperands())
    if (auto argument = dyn_cast<BlockArgument>(operand))
      if (Set *uses = arguments[argument.getArgNumber()].uses)
        *uses = sets.unite(*uses, on);
}

//===----------------------------------------------------------------------===//
// Tasks of the body
//===----------------------------------------------------------------------===//

static bool isBody(TaskOp task) {
  return task.getPass() != PassKind::Once && task.getPass() != PassKind::U;
}

/// The passes before may not have run, and any number may be written by hand.
LogicalResult EntryPlacer::checkBody(TaskOp task) {
  int64_t stage = task.getStage();
  if (task->getNumResults() == 0)
    return task.emitOpError()
           << "expects a result, without which it runs nowhere";
  if (!isBody(task) && stage >= 0)
    return task.emitOpError()
           << "expects no stage outside the body of the step but got " << stage;
  if (!isBody(task))
    return success();
  if (stage < 0)
    return task.emitOpError()
           << "expects a stage, which 'piper-pipeline' sets, but has none";
  if (stage >= plan.stages)
    return task.emitOpError()
           << "expects a stage below " << plan.stages << " but got " << stage;
  if (entry.getSymName() != "train")
    return success();
  auto found = plan.stageOfSegment.find(task.getSegment());
  if (found == plan.stageOfSegment.end())
    return task.emitOpError() << "expects a segment of the forward of 'train' "
                                 "but got "
                              << task.getSegment();
  if (found->second != stage)
    return task.emitOpError() << "expects stage " << found->second
                              << ", where 'place' puts segment "
                              << task.getSegment() << ", but got " << stage;
  return success();
}

CoordinateSets::Set EntryPlacer::stageSet(TaskOp task) {
  const auto &devices = plan.devices[task.getStage()];
  if (isPinned(task))
    return sets.get(devices[task.getCopy()]);
  return sets.unite(sets.get(devices[0]), sets.get(devices[1]));
}

LogicalResult EntryPlacer::placeBody() {
  int64_t microBatches = getMicroBatches(entry);
  // Of an odd number, which evaluation may have, the first copies have more.
  int64_t firstHalf = (microBatches + 1) / 2;
  if (hasCopies && microBatches % 2 != 0 && entry.getSymName() == "train")
    return entry.emitOpError()
           << "expects an even number of micro-batches for two copies of each "
              "stage but got "
           << microBatches;
  for (auto task : entry.front().getOps<TaskOp>()) {
    if (failed(checkBody(task)))
      return failure();
    if (!isBody(task))
      continue;
    // The chains of two-way schedules: the second half runs through the second
    // copies.
    task.setCopy(hasCopies && task.getMb() >= firstHalf ? 1 : 0);
    Set on = stageSet(task);
    if (!isPinned(task))
      steps[task] = {Kind::Stage, plan.devices[task.getStage()][0], on};
    addUses(task, on);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Other tasks
//===----------------------------------------------------------------------===//

/// A coordinate that has or can have `value`; -1: any.
int64_t EntryPlacer::homeOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return arguments[argument.getArgNumber()].kind == Argument::Parameter
               ? sets[ofState(argument.getArgNumber())].front()
               : -1;
  auto task = value.getDefiningOp<TaskOp>();
  if (!task)
    return -1;
  if (isPinned(task))
    return plan.devices[task.getStage()][task.getCopy()];
  return steps.lookup(task).home;
}

/// That of the first operand of the body, else of the first parameter; or the
/// other way round.
int64_t EntryPlacer::findHome(TaskOp task, bool argumentsFirst) {
  for (bool argument : {argumentsFirst, !argumentsFirst})
    for (Value operand : task.getOperands())
      if (isa<BlockArgument>(operand) == argument)
        if (int64_t home = homeOf(operand); home >= 0)
          return home;
  return -1;
}

std::optional<EntryPlacer::Kind> EntryPlacer::kindOf(Value value) const {
  auto found = steps.find(value.getDefiningOp());
  if (found == steps.end())
    return std::nullopt;
  return found->second.kind;
}

/// The counts of checks, one after another.
bool EntryPlacer::isCheckTable(TaskOp task) {
  return shared.kindOf(task) == BodyKind::Concat &&
         llvm::all_of(task.getOperands(), [&](Value operand) {
           return kindOf(operand) == Kind::Check;
         });
}

EntryPlacer::Kind EntryPlacer::classify(TaskOp task, int64_t home) {
  if (shared.kindOf(task) == BodyKind::Check && home >= 0)
    return Kind::Check;
  if (isCheckTable(task))
    return Kind::Table;
  bool ofNorm = llvm::any_of(task.getOperands(), [&](Value operand) {
    return kindOf(operand) == Kind::Table ||
           kindOf(operand) == Kind::Everywhere;
  });
  if (task.getPass() == PassKind::U || ofNorm)
    return Kind::Everywhere;
  if (home < 0)
    return Kind::Free;
  // What a stage made, or what was made of that.
  auto isPlaced = [&](Value operand) {
    return operand.getDefiningOp<TaskOp>() && homeOf(operand) >= 0;
  };
  BodyKind body = shared.kindOf(task);
  bool isSplit = body == BodyKind::Add || body == BodyKind::NormTable;
  if (!isSplit || !task.getInto().empty() ||
      !llvm::all_of(task.getOperands(), isPlaced))
    return Kind::Home;
  return body == BodyKind::Add ? Kind::Sum : Kind::Table;
}

void EntryPlacer::classifySteps() {
  for (auto task : entry.front().getOps<TaskOp>()) {
    if (isBody(task))
      continue;
    bool isCheck = shared.kindOf(task) == BodyKind::Check;
    int64_t home = findHome(task, /*argumentsFirst=*/isCheck);
    Kind kind = classify(task, home);
    steps[task] = {kind, home, CoordinateSets::kNone};
    if (kind == Kind::Home)
      addUses(task, sets.get(home));
  }
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

void EntryPlacer::need(Value value, Set set) {
  if (isInput(value))
    return;
  Set &known = demands[value];
  known = sets.unite(known, set);
}

CoordinateSets::Set EntryPlacer::target(Value value) {
  if (Set known = demands.lookup(value); known != CoordinateSets::kNone)
    return known;
  return sets.get(std::max<int64_t>(homeOf(value), 0));
}

CoordinateSets::Set EntryPlacer::decide(TaskOp task, const Step &step) {
  Set needed = CoordinateSets::kNone;
  for (Value result : task.getResults())
    needed = sets.unite(needed, demands.lookup(result));
  if (step.kind == Kind::Stage)
    needed = sets.intersect(needed, step.on);
  if (step.kind == Kind::Home || step.kind == Kind::Check ||
      needed == CoordinateSets::kNone)
    return sets.get(std::max<int64_t>(step.home, 0));
  return needed;
}

void EntryPlacer::findDemands() {
  Block &block = entry.front();
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands()))
    if (auto next = entry.getResultAttrOfType<StringAttr>(
            index, PiperDialect::NextAttrHelper::getNameStr()))
      if (auto found = states.find(next); found != states.end())
        need(value, ofState(found->second));

  for (Operation &op : llvm::reverse(block.without_terminator())) {
    auto task = dyn_cast<TaskOp>(op);
    if (!task)
      continue;
    if (isPinned(task)) {
      // Other tasks of one coordinate run where they are, whatever is needed.
      for (Value operand : task.getOperands())
        if (auto producer = operand.getDefiningOp<TaskOp>();
            producer && !isPinned(producer))
          need(operand, stageSet(task));
      continue;
    }
    Step &step = steps[task];
    // The norm reads each gradient where it is, and so with checks.
    if (step.kind == Kind::Table)
      continue;
    step.on = decide(task, step);
    for (Value operand : task.getOperands())
      need(operand, step.on);
  }
}

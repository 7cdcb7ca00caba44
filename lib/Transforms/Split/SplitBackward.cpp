// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts backward tasks into the gradient of the input and of the weights.
//
// 1. Find the tasks: all of pass B, or those whose halves the schedule or an
//    `order` directive names.
// 2. Of each, the results that other backward tasks read are the input
//    gradients. With none of them the task is all BW, with no other all BI.
// 3. Else cut its body (once for each body) and replace the task by two. The
//    accumulators of `into` go to the second.

#include "CutBackward.h"
#include "Directives/Directive.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/BodySlice.h"
#include "Tasks/VerifyTasks.h"

#include <set>

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERSPLITBACKWARD
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;

//===----------------------------------------------------------------------===//
// Which tasks
//===----------------------------------------------------------------------===//

namespace {
/// Stage of the model and micro-batch.
using StageMicroBatch = std::pair<int64_t, int64_t>;
} // namespace

/// What the schedule of the module runs in halves. The second copies of stages
/// come after all first ones in a schedule; the micro-batch tells the copy.
static FailureOr<std::set<StageMicroBatch>>
findScheduled(ModuleOp module, const Directives &directives) {
  std::set<StageMicroBatch> halves;
  FailureOr<std::optional<StagePlan>> placed = getStagePlan(module, directives);
  if (failed(placed))
    return failure();
  StagePlan plan = placed->value_or(StagePlan());
  auto made = getSchedule(module, directives, plan, getMicroBatches(module));
  if (failed(made))
    return failure();
  if (!*made)
    return halves;
  for (const std::vector<schedule::Action> &rank : (*made)->ranks)
    for (const schedule::Action &action : rank)
      if (action.pass == schedule::Pass::BI)
        halves.insert({action.stage % plan.stages, action.microBatch});
  return halves;
}

/// What is left of a filter without its terms PASS, if it names a half.
static std::optional<Filter> namesHalf(const Filter &filter) {
  Filter rest;
  bool isHalf = false;
  for (const auto &term : filter.terms) {
    const auto &[tag, value] = term;
    if (tag != "PASS") {
      rest.terms.push_back(term);
      continue;
    }
    auto *text = value ? std::get_if<std::string>(&*value) : nullptr;
    isHalf |= text && (*text == "BI" || *text == "BW");
  }
  return isHalf ? std::optional(rest) : std::nullopt;
}

static SmallVector<Filter> findOrdered(const Directives &directives) {
  SmallVector<Filter> filters;
  for (const OrderDirective &order : directives.order)
    for (const SmallVector<Filter> &group : order.groups)
      for (const Filter &filter : group)
        if (std::optional<Filter> rest = namesHalf(filter))
          filters.push_back(std::move(*rest));
  return filters;
}

/// The tasks of pass B that are to be cut, in program order.
static FailureOr<SmallVector<TaskOp>> findTasks(ModuleOp module,
                                                func::FuncOp train, bool all) {
  SmallVector<TaskOp> tasks;
  FailureOr<Directives> directives = readDirectives(module);
  if (failed(directives))
    return failure();
  auto scheduled = findScheduled(module, *directives);
  if (failed(scheduled))
    return failure();
  SmallVector<Filter> ordered = findOrdered(*directives);
  std::string tag = directives->microBatchTag();
  for (auto task : train.getOps<TaskOp>()) {
    if (task.getPass() != PassKind::B)
      continue;
    StageMicroBatch key(std::max<int64_t>(task.getStage(), 0),
                        std::max<int64_t>(task.getMb(), 0));
    if (all || scheduled->count(key) ||
        llvm::any_of(ordered, [&](const Filter &filter) {
          return filter.matches(task, tag);
        }))
      tasks.push_back(task);
  }
  return tasks;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

namespace {

class Splitter {
public:
  Splitter(func::FuncOp train, BodyTable &bodies)
      : train(train), bodies(bodies) {}
  LogicalResult split(TaskOp task);

private:
  llvm::BitVector findInputGradients(TaskOp task);
  llvm::BitVector findParameters(TaskOp task);
  FailureOr<const BackwardHalves *> cut(TaskOp task,
                                        const llvm::BitVector &inputGradients);
  void replace(TaskOp task, const llvm::BitVector &inputGradients,
               const BackwardHalves &halves);

  func::FuncOp train;
  BodyTable &bodies;
  /// By the name of the body, its input gradients and its parameters.
  llvm::StringMap<BackwardHalves> known;
};

} // namespace

/// The results that a backward task reads as an operand. An accumulated result
/// is complete only after the last micro-batch: whoever reads it, no input
/// waits for it.
llvm::BitVector Splitter::findInputGradients(TaskOp task) {
  unsigned numResults = task.getOuts().size();
  llvm::BitVector result(numResults);
  for (unsigned i = 0; i < numResults - task.getInto().size(); ++i)
    result[i] = llvm::any_of(task.getResult(i).getUses(), [](OpOperand &use) {
      auto reader = dyn_cast<TaskOp>(use.getOwner());
      return reader && isBackward(reader) &&
             use.getOperandNumber() < reader.getInputs().size();
    });
  return result;
}

llvm::BitVector Splitter::findParameters(TaskOp task) {
  llvm::BitVector parameters(task.getInputs().size());
  for (auto [index, operand] : llvm::enumerate(task.getInputs()))
    if (auto argument = dyn_cast<BlockArgument>(operand))
      parameters[index] = !!train.getArgAttr(
          argument.getArgNumber(), PiperDialect::ParamAttrHelper::getNameStr());
  return parameters;
}

/// What the cut requires of a body that a user may have written.
static LogicalResult verifyResults(TaskOp task, func::FuncOp body) {
  DenseSet<Value> seen;
  for (auto [index, value] :
       llvm::enumerate(body.front().getTerminator()->getOperands())) {
    if (isa<BlockArgument>(value) || !seen.insert(value).second)
      return body.emitOpError()
             << "expects each result to be a value of its own but result #"
             << index << " is an operand or another result";
    if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
      return task.emitOpError()
             << "expects gradients of floating point but result #" << index
             << " is " << value.getType();
  }
  return success();
}

FailureOr<const BackwardHalves *>
Splitter::cut(TaskOp task, const llvm::BitVector &inputGradients) {
  const llvm::BitVector parameters = findParameters(task);
  std::string key = task.getCallee().str() + "(";
  for (const llvm::BitVector *bits : {&inputGradients, &parameters}) {
    for (unsigned i = 0; i < bits->size(); ++i)
      key += bits->test(i) ? '1' : '0';
    key += ';';
  }
  auto [found, isNew] = known.try_emplace(key);
  if (isNew) {
    func::FuncOp body = bodies.lookup(task);
    if (failed(verifyResults(task, body)))
      return failure();
    found->second = cutBackward(bodies, body, inputGradients, parameters);
  }
  return &found->second;
}

void Splitter::replace(TaskOp task, const llvm::BitVector &inputGradients,
                       const BackwardHalves &halves) {
  OpBuilder builder(task);
  SmallVector<Value> operands;
  for (unsigned index : halves.inputOperands)
    operands.push_back(task.getInputs()[index]);
  TaskOp input =
      createTaskLike(builder, task, halves.input, operands, PassKind::BI);
  operands.clear();
  for (unsigned index : halves.passed)
    operands.push_back(input.getResult(index));
  for (unsigned index : halves.weightOperands)
    operands.push_back(task.getInputs()[index]);
  TaskOp weight =
      createTaskLike(builder, task, halves.weight, operands, PassKind::BW);
  weight.getIntoMutable().assign(task.getInto());
  unsigned nextInput = 0, nextWeight = 0;
  for (auto [index, result] : llvm::enumerate(task.getOuts()))
    result.replaceAllUsesWith(inputGradients[index]
                                  ? input.getResult(nextInput++)
                                  : weight.getResult(nextWeight++));
  task.erase();
}

LogicalResult Splitter::split(TaskOp task) {
  llvm::BitVector inputGradients = findInputGradients(task);
  if (inputGradients.none() || inputGradients.all()) {
    task.setPass(inputGradients.none() ? PassKind::BW : PassKind::BI);
    return success();
  }
  FailureOr<const BackwardHalves *> halves = cut(task, inputGradients);
  if (failed(halves))
    return failure();
  replace(task, inputGradients, **halves);
  return success();
}

namespace {
class PiperSplitBackwardPass
    : public mlir::piper::impl::PiperSplitBackwardBase<PiperSplitBackwardPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    for (func::FuncOp train : getEntryFunctions(module)) {
      if (train.getSymName() != "train")
        continue;
      FailureOr<SmallVector<TaskOp>> tasks = findTasks(module, train, all);
      if (failed(tasks))
        return signalPassFailure();
      if (tasks->empty())
        return;
      BodyTable bodies(module);
      Splitter splitter(train, bodies);
      for (TaskOp task : *tasks)
        if (failed(splitter.split(task)))
          return signalPassFailure();
      bodies.eraseUnused();
    }
  }
};
} // namespace

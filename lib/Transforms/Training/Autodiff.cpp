// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the backward tasks to `train`.
//
// 1. Find the values that depend on a trainable parameter.
// 2. From the loss backward, for each task that has a gradient to give:
// differentiate its
//    body (once for each combination of gradients), call the form that saves,
//    and append the backward task. The epilogue comes first; its gradients, the
//    seeds of the backward, go before the body where nothing of that makes
//    them.
// 3. A value with several gradients gets their sum; a parameter only at the
//    end, in the order of the segments that use it.
// 4. Return the gradients of the parameters.

#include "AddGradients.h"
#include "DifferentiateBody.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/BodySlice.h"
#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERAUTODIFF
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

class Differentiator {
public:
  Differentiator(func::FuncOp function, BodyTable &bodies)
      : function(function), bodies(bodies), block(function.front()) {}
  LogicalResult run();

private:
  LogicalResult findLoss();
  void findVaried();
  void findInsertionPoints();
  const SmallVector<BitVector> &dependences(func::FuncOp body);
  FailureOr<Derivative *> derive(TaskOp task, ArrayRef<ResultGradient> results,
                                 ArrayRef<bool> wanted);
  LogicalResult differentiate(TaskOp task);
  void appendBackward(TaskOp task, const Derivative &derivative,
                      ArrayRef<Value> resultGradients);
  bool isLate(Value value);
  void moveIntoBody(TaskOp task);
  SmallVector<Value> appendSeeds(TaskOp task, const Derivative &derivative,
                                 ArrayRef<Value> operands);
  Value sum(ArrayRef<Value> parts, TaskOp like, Operation *before);
  void returnGradients();

  ParamAttr getParam(unsigned argument) {
    return function.getArgAttrOfType<ParamAttr>(
        argument, PiperDialect::ParamAttrHelper::getNameStr());
  }

  func::FuncOp function;
  BodyTable &bodies;
  Block &block;
  Value loss;
  DenseSet<Value> varied;
  /// The gradients that have arrived for each value, last user first.
  DenseMap<Value, SmallVector<Value>> gradients;
  llvm::StringMap<SmallVector<BitVector>> dependencesOf;
  llvm::StringMap<Derivative> derivatives;
  /// Where seeds, backward tasks and sums of parameters go.
  Operation *beforeBody = nullptr;
  Operation *beforeEpilogue = nullptr;
  Operation *terminator = nullptr;
};

} // namespace

const SmallVector<BitVector> &Differentiator::dependences(func::FuncOp body) {
  auto [found, isNew] = dependencesOf.try_emplace(body.getSymName());
  if (isNew)
    found->second = findDependences(body);
  return found->second;
}

void Differentiator::findVaried() {
  for (BlockArgument argument : block.getArguments()) {
    ParamAttr param = getParam(argument.getArgNumber());
    if (param && !param.getFrozen())
      varied.insert(argument);
  }
  for (auto task : block.getOps<TaskOp>())
    for (auto [result, depends] :
         llvm::zip_equal(task.getOuts(), dependences(bodies.lookup(task))))
      for (unsigned operand : depends.set_bits())
        if (varied.contains(task.getInputs()[operand]))
          varied.insert(result);
}

void Differentiator::findInsertionPoints() {
  terminator = block.getTerminator();
  beforeEpilogue = terminator;
  for (auto task : block.getOps<TaskOp>()) {
    bool isBody = task.getPass() != PassKind::Once;
    if (isBody && !beforeBody)
      beforeBody = task;
    if (isBody)
      beforeEpilogue = task->getNextNode();
  }
  if (!beforeBody)
    beforeBody = beforeEpilogue;
}

/// Adds up gradients, first to last.
Value Differentiator::sum(ArrayRef<Value> parts, TaskOp like,
                          Operation *before) {
  Value total = parts.front();
  for (Value part : parts.drop_front()) {
    Type type = total.getType();
    func::FuncOp add = bodies.build(
        "add", function.getLoc(), {type, type},
        [&](OpBuilder &builder, ValueRange operands) -> SmallVector<Value> {
          return {AddOp::create(builder, function.getLoc(), type, operands[0],
                                operands[1])};
        });
    OpBuilder builder(before);
    TaskOp task = createTask(builder, part.getLoc(), add, {total, part},
                             like ? PassKind::B : PassKind::Once,
                             like ? like.getTagsAttr() : TagsAttr());
    if (like)
      task.setSegment(like.getSegment());
    total = task.getResult(0);
  }
  return total;
}

FailureOr<Derivative *> Differentiator::derive(TaskOp task,
                                               ArrayRef<ResultGradient> results,
                                               ArrayRef<bool> wanted) {
  std::string key = task.getCallee().str() + "(";
  for (ResultGradient result : results)
    key += '0' + static_cast<int>(result);
  key += ")(";
  for (bool want : wanted)
    key += want ? '1' : '0';
  auto [found, isNew] = derivatives.try_emplace(key);
  if (isNew) {
    FailureOr<Derivative> derivative =
        differentiateBody(bodies, bodies.lookup(task), results, wanted);
    if (failed(derivative))
      return failure();
    found->second = std::move(*derivative);
  }
  return &found->second;
}

/// Whether the body or what follows it makes a value.
bool Differentiator::isLate(Value value) {
  auto definition = value.getDefiningOp<TaskOp>();
  return definition && !(definition.getPass() == PassKind::Once &&
                         definition->isBeforeInBlock(beforeBody));
}

/// Where the gradients of the epilogue are not linear in the sums over the
/// batch, it is a part of the body: its backward runs behind its forward. Such
/// a batch cannot be split (TaskLayouts.cpp).
void Differentiator::moveIntoBody(TaskOp task) {
  TaskOp last;
  for (auto other : block.getOps<TaskOp>())
    if (other.getPass() == PassKind::F)
      last = other;
  task.setPass(PassKind::F);
  task.setTagsAttr(last.getTagsAttr());
  task.setSegment(last.getSegment());
  beforeEpilogue = task->getNextNode();
}

/// The backward of the epilogue. Gradients that depend on nothing of the body,
/// the seeds of its backward, come before it. Of the others, those of
/// parameters wait for the end; those of values of the body stand in it.
SmallVector<Value> Differentiator::appendSeeds(TaskOp task,
                                               const Derivative &derivative,
                                               ArrayRef<Value> operands) {
  func::FuncOp body = derivative.backward;
  llvm::BitVector isOfBody(body.getNumResults());
  for (auto [operand, gradient] :
       llvm::zip_equal(task.getInputs(), derivative.gradients))
    if (gradient.kind == Derivative::Gradient::BackwardResult &&
        operand.getDefiningOp())
      isOfBody.set(gradient.index);
  struct Group {
    Operation *before;
    PassKind pass;
    SmallVector<unsigned> results;
  };
  Group seeds{beforeBody, PassKind::Once, {}};
  Group atEnd{terminator, PassKind::Once, {}};
  SmallVector<Group> groups;
  for (unsigned i = 0; i < body.getNumResults(); ++i) {
    bool waits = llvm::any_of(sliceOperands(body, i), [&](unsigned operand) {
      return isLate(operands[operand]);
    });
    // A task for each that stands in the body: one may wait for less.
    if (waits && isOfBody[i])
      groups.push_back({nullptr, PassKind::B, {i}});
    else
      (waits ? atEnd : seeds).results.push_back(i);
  }
  if (!groups.empty())
    moveIntoBody(task);
  groups.push_back(seeds);
  groups.push_back(atEnd);
  SmallVector<Value> made(body.getNumResults());
  for (const auto &[before, pass, results] : groups) {
    if (results.empty())
      continue;
    BodyPart part = sliceBody(bodies, body, results, body.getSymName());
    SmallVector<Value> own = llvm::map_to_vector(
        part.operands, [&](unsigned index) { return operands[index]; });
    OpBuilder builder(before ? before : beforeEpilogue);
    TaskOp backward = createTask(builder, task.getLoc(), part.body, own, pass,
                                 task.getTagsAttr(), task.getSalt());
    if (pass == PassKind::B)
      backward.setSegment(task.getSegment());
    for (auto [index, result] : llvm::zip_equal(results, backward.getOuts()))
      made[index] = result;
  }
  return made;
}

void Differentiator::appendBackward(TaskOp task, const Derivative &derivative,
                                    ArrayRef<Value> resultGradients) {
  SmallVector<Value> operands;
  for (const Derivative::Source &source : derivative.operands)
    operands.push_back(source.kind == Derivative::Source::ResultGradient
                           ? resultGradients[source.index]
                       : source.kind == Derivative::Source::Operand
                           ? task.getInputs()[source.index]
                           : task.getOuts()[source.index]);
  SmallVector<Value> made;
  if (derivative.backward && task.getPass() == PassKind::Once) {
    made = appendSeeds(task, derivative, operands);
  } else if (derivative.backward) {
    OpBuilder builder(beforeEpilogue);
    TaskOp backward =
        createTask(builder, task.getLoc(), derivative.backward, operands,
                   PassKind::B, task.getTagsAttr(), task.getSalt());
    backward.setSegment(task.getSegment());
    llvm::append_range(made, backward.getOuts());
  }
  for (auto [operand, gradient] :
       llvm::zip_equal(task.getInputs(), derivative.gradients)) {
    if (gradient.kind == Derivative::Gradient::BackwardResult)
      gradients[operand].push_back(made[gradient.index]);
    if (gradient.kind == Derivative::Gradient::ResultGradient)
      gradients[operand].push_back(resultGradients[gradient.index]);
  }
}

LogicalResult Differentiator::differentiate(TaskOp task) {
  SmallVector<ResultGradient> kinds;
  SmallVector<Value> resultGradients;
  bool any = false;
  for (Value result : task.getOuts()) {
    auto found = gradients.find(result);
    bool given = found != gradients.end() && varied.contains(result);
    kinds.push_back(result == loss ? ResultGradient::One
                    : given        ? ResultGradient::Given
                                   : ResultGradient::None);
    any |= kinds.back() != ResultGradient::None;
    SmallVector<Value> parts = given ? found->second : SmallVector<Value>();
    resultGradients.push_back(parts.empty() ? Value()
                                            : sum(parts, task, beforeEpilogue));
  }
  SmallVector<bool> wanted =
      llvm::map_to_vector(task.getInputs(), [&](Value operand) {
        return varied.contains(operand) && isFloat(operand);
      });
  if (!any || !llvm::is_contained(wanted, true))
    return success();
  FailureOr<Derivative *> derivative = derive(task, kinds, wanted);
  if (failed(derivative))
    return failure();
  // Call the form that saves.
  OpBuilder builder(task);
  TaskOp forward = createTask(builder, task.getLoc(), (*derivative)->forward,
                              task.getInputs(), task.getPass(),
                              task.getTagsAttr(), task.getSalt());
  forward.setSegment(task.getSegment());
  for (auto [from, to] : llvm::zip(task.getOuts(), forward.getOuts()))
    from.replaceAllUsesWith(to);
  if (beforeBody == task)
    beforeBody = forward;
  if (beforeEpilogue == task)
    beforeEpilogue = forward;
  task.erase();
  appendBackward(forward, **derivative, resultGradients);
  return success();
}

void Differentiator::returnGradients() {
  OpBuilder builder(function.getContext());
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  // So many unreached parameters are named.
  constexpr int kNamed = 8;
  int unreached = 0;
  for (BlockArgument argument : block.getArguments()) {
    ParamAttr param = getParam(argument.getArgNumber());
    if (!param || param.getFrozen())
      continue;
    auto found = gradients.find(argument);
    if (found == gradients.end()) {
      if (++unreached <= kNamed)
        function.emitRemark()
            << "parameter '" << param.getName().getValue()
            << "' is not reached by the loss: it has no gradient and "
               "is left alone";
      continue;
    }
    SmallVector<Value> parts(llvm::reverse(found->second));
    results.push_back(sum(parts, {}, terminator));
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        PiperDialect::GradientAttrHelper::getNameStr(), param.getName())));
  }
  if (unreached > kNamed)
    function.emitRemark() << "nor does the loss reach " << unreached - kNamed
                          << " more parameters";
  unsigned index = function.getNumResults();
  (void)function.insertResults(SmallVector<unsigned>(results.size(), index),
                               ValueRange(results).getTypes(), attributes);
  terminator->insertOperands(index, results);
}

LogicalResult Differentiator::findLoss() {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (function.getResultAttr(i,
                               PiperDialect::GradientAttrHelper::getNameStr()))
      return function.emitOpError()
             << "expects a loss to differentiate but has gradients already";
    if (auto name = function.getResultAttrOfType<StringAttr>(
            i, PiperDialect::OutputAttrHelper::getNameStr()))
      if (name == "loss")
        loss = block.getTerminator()->getOperand(i);
  }
  if (!loss)
    return function.emitOpError()
           << "expects a result {piper.output = \"loss\"}";
  if (!isFloat(loss) || cast<RankedTensorType>(loss.getType()).getRank() != 0)
    return function.emitOpError()
           << "expects the loss to be tensor<f32> or tensor<f64> but got "
           << loss.getType();
  return success();
}

LogicalResult Differentiator::run() {
  if (failed(findLoss()))
    return failure();
  findInsertionPoints();
  findVaried();
  SmallVector<TaskOp> tasks(block.getOps<TaskOp>());
  for (TaskOp task : llvm::reverse(tasks))
    if (failed(differentiate(task)))
      return failure();
  returnGradients();
  return success();
}

namespace {
class PiperAutodiffPass
    : public mlir::piper::impl::PiperAutodiffBase<PiperAutodiffPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    BodyTable bodies(module);
    for (func::FuncOp entry : getEntryFunctions(module))
      if (entry.getSymName() == "train" &&
          failed(Differentiator(entry, bodies).run()))
        return signalPassFailure();
    bodies.eraseUnused();
  }
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differentiates one body.
//
// 1. In a copy of the body, append the gradient ops, last op first; ops that
//    can save statistics are replaced by the form that does.
// 2. Drop gradient ops without a use.
// 3. Decide, in program order, for each value of the forward that the gradient
//    ops use: an operand, a result, made again from those, or saved.
// 4. Build the two functions.

#include "DifferentiateBody.h"
#include "AddGradients.h"
#include "Tasks/BodySlice.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::piper;

namespace {

class BodyDifferentiator {
public:
  BodyDifferentiator(BodyTable &bodies, func::FuncOp body,
                     ArrayRef<ResultGradient> results, ArrayRef<bool> wanted)
      : bodies(bodies), original(body), resultKinds(results), wanted(wanted),
        copy(body.clone()), block(copy->front()) {}

  FailureOr<Derivative> run();

private:
  LogicalResult appendGradients();
  LogicalResult differentiate(Operation *op);
  Operation *withSavedResults(Operation *op);
  void addGradient(Value value, Value gradient);
  void describeGradients();
  void dropUnused();
  bool isAvailable(Value value);
  bool canRemake(Value value);
  void chooseSaved();
  void buildForward();
  void buildBackward();
  void remake(OpBuilder &builder, IRMapping &mapping, Value value);

  bool isForward(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getArgNumber() < original.getNumArguments();
    return forwardOps.contains(value.getDefiningOp());
  }

  BodyTable &bodies;
  func::FuncOp original;
  ArrayRef<ResultGradient> resultKinds;
  ArrayRef<bool> wanted;
  OwningOpRef<func::FuncOp> copy;
  Block &block;

  llvm::SetVector<Operation *> forwardOps;
  SmallVector<Operation *> gradientOps;
  SmallVector<Value> results;
  /// The results whose gradients are the arguments after those of the body.
  SmallVector<int> given;
  DenseMap<Value, Value> gradients;
  DenseSet<Value> varied;
  llvm::SetVector<Value> saved;
  DenseMap<Value, bool> remakable;
  /// The values that the backward returns.
  llvm::SetVector<Value> returned;
  Derivative derivative;
};

} // namespace

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

void BodyDifferentiator::addGradient(Value value, Value gradient) {
  Value &sum = gradients[value];
  OpBuilder builder(block.getTerminator());
  sum = sum ? addGradients(builder, sum, gradient) : gradient;
}

/// Replaces an op by the same op with the further results that its gradient
/// needs.
Operation *BodyDifferentiator::withSavedResults(Operation *op) {
  SmallVector<Type> types;
  cast<DifferentiableOpInterface>(op).getSavedTypes(types);
  if (types.empty())
    return op;
  Operation *replacement = cloneWithResults(op, types);
  for (auto [from, to] :
       llvm::zip(op->getResults(), replacement->getResults())) {
    from.replaceAllUsesWith(to);
    llvm::replace(results, Value(from), Value(to));
    // A later value may get the address of an erased one.
    if (varied.erase(from))
      varied.insert(to);
    if (Value gradient = gradients.lookup(from)) {
      gradients.erase(from);
      gradients[to] = gradient;
    }
  }
  op->erase();
  return replacement;
}

LogicalResult BodyDifferentiator::differentiate(Operation *op) {
  auto active = [&](Value value) { return gradients.lookup(value) != Value(); };
  auto isVaried = [&](Value value) { return varied.contains(value); };
  if (llvm::none_of(op->getResults(), active) ||
      llvm::none_of(op->getOperands(), isVaried))
    return success();
  if (!isa<DifferentiableOpInterface>(op))
    return op->emitOpError() << "has no gradient but the loss depends on a "
                                "parameter through it";
  op = withSavedResults(op);
  auto interface = cast<DifferentiableOpInterface>(op);
  SmallVector<Value> resultGradients = llvm::map_to_vector(
      op->getResults(), [&](Value result) { return gradients.lookup(result); });
  SmallVector<bool> operandWanted =
      llvm::map_to_vector(op->getOperands(), isVaried);
  SmallVector<Value> operandGradients(op->getNumOperands());
  OpBuilder builder(block.getTerminator());
  interface.buildGradient(builder, resultGradients, operandWanted,
                          operandGradients);
  for (auto [operand, gradient] :
       llvm::zip_equal(op->getOperands(), operandGradients))
    if (gradient)
      addGradient(operand, gradient);
  return success();
}

LogicalResult BodyDifferentiator::appendGradients() {
  Operation *terminator = block.getTerminator();
  llvm::append_range(results, terminator->getOperands());
  for (auto [argument, isWanted] :
       llvm::zip_equal(block.getArguments(), wanted))
    if (isWanted)
      varied.insert(argument);
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
    if (!isa<StopGradientOp>(op) &&
        llvm::any_of(op.getOperands(),
                     [&](Value operand) { return varied.contains(operand); }))
      for (Value result : op.getResults())
        if (isFloat(result))
          varied.insert(result);
  }
  OpBuilder builder(terminator);
  for (auto [index, kind] : llvm::enumerate(resultKinds)) {
    Value result = results[index];
    if (kind == ResultGradient::Given) {
      given.push_back(index);
      addGradient(result, block.addArgument(result.getType(), result.getLoc()));
    }
    if (kind == ResultGradient::One) {
      auto type = cast<RankedTensorType>(result.getType());
      auto one = builder.getFloatAttr(type.getElementType(), 1.0);
      addGradient(result,
                  ConstantOp::create(
                      builder, result.getLoc(),
                      cast<ElementsAttr>(DenseElementsAttr::get(type, one))));
    }
  }
  Operation *lastForward = ops.empty() ? nullptr : ops.back();
  for (Operation *op : llvm::reverse(ops)) {
    bool last = op == lastForward;
    Operation *previous = op->getPrevNode();
    if (failed(differentiate(op)))
      return failure();
    if (last)
      lastForward = previous ? previous->getNextNode() : &block.front();
  }
  bool forward = lastForward != nullptr;
  for (Operation &op : block.without_terminator()) {
    if (forward)
      forwardOps.insert(&op);
    else
      gradientOps.push_back(&op);
    if (&op == lastForward)
      forward = false;
  }
  return success();
}

/// Notes for each operand where its gradient comes from.
void BodyDifferentiator::describeGradients() {
  OpBuilder builder(block.getTerminator());
  derivative.gradients.resize(original.getNumArguments());
  for (unsigned i = 0; i < original.getNumArguments(); ++i) {
    Value gradient =
        wanted[i] ? gradients.lookup(block.getArgument(i)) : Value();
    if (!gradient)
      continue;
    auto argument = dyn_cast<BlockArgument>(gradient);
    if (argument && argument.getArgNumber() >= original.getNumArguments()) {
      derivative.gradients[i] = {
          Derivative::Gradient::ResultGradient,
          given[argument.getArgNumber() - original.getNumArguments()]};
      continue;
    }
    // A body never returns its operand, nor a value of the forward: copy it.
    if (isForward(gradient)) {
      gradient = ScaleOp::create(builder, gradient.getLoc(), gradient.getType(),
                                 gradient, APFloat(1.0));
      gradientOps.push_back(gradient.getDefiningOp());
    }
    returned.insert(gradient);
    int index = std::distance(returned.begin(), llvm::find(returned, gradient));
    derivative.gradients[i] = {Derivative::Gradient::BackwardResult, index};
  }
}

void BodyDifferentiator::dropUnused() {
  SmallVector<Operation *> kept;
  for (Operation *op : llvm::reverse(gradientOps)) {
    bool used = llvm::any_of(op->getResults(), [&](Value result) {
      return !result.use_empty() || returned.contains(result);
    });
    if (used)
      kept.push_back(op);
    else
      op->erase();
  }
  gradientOps.assign(kept.rbegin(), kept.rend());
}

//===----------------------------------------------------------------------===//
// What is saved
//===----------------------------------------------------------------------===//

bool BodyDifferentiator::isAvailable(Value value) {
  return isa<BlockArgument>(value) || saved.contains(value) ||
         llvm::is_contained(results, value);
}

/// Whether `value` can be made again from available values by cheap ops.
bool BodyDifferentiator::canRemake(Value value) {
  if (isAvailable(value))
    return true;
  auto known = remakable.find(value);
  if (known != remakable.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  auto interface = dyn_cast<DifferentiableOpInterface>(op);
  bool cheap = op->hasTrait<OpTrait::ConstantLike>() ||
               (interface && interface.isCheapToRecompute());
  bool can = cheap && llvm::all_of(op->getOperands(), [&](Value operand) {
               return canRemake(operand);
             });
  return remakable[value] = can;
}

void BodyDifferentiator::chooseSaved() {
  DenseSet<Value> needed;
  for (Operation *op : gradientOps)
    for (Value operand : op->getOperands())
      if (isForward(operand))
        needed.insert(operand);
  for (Operation *op : forwardOps)
    for (Value result : op->getResults()) {
      // Decided in program order, so that a value after this one may be made
      // again from it.
      bool can = canRemake(result);
      if (!needed.contains(result) || can)
        continue;
      saved.insert(result);
      remakable.erase(result);
    }
}

//===----------------------------------------------------------------------===//
// The two functions
//===----------------------------------------------------------------------===//

void BodyDifferentiator::buildForward() {
  SmallVector<Value> values(results);
  llvm::append_range(values, saved);
  ValueRange operands =
      block.getArguments().take_front(original.getNumArguments());
  derivative.forward =
      bodies.build((original.getSymName() + ".fw").str(), original.getLoc(),
                   operands.getTypes(),
                   [&](OpBuilder &builder, ValueRange arguments) {
                     IRMapping mapping;
                     mapping.map(operands, arguments);
                     for (Operation *op : forwardOps)
                       builder.clone(*op, mapping);
                     return llvm::map_to_vector(values, [&](Value value) {
                       return mapping.lookup(value);
                     });
                   },
                   /*share=*/false);
}

/// Clones what makes `value` again.
void BodyDifferentiator::remake(OpBuilder &builder, IRMapping &mapping,
                                Value value) {
  // With a stack of its own: a chain may be long.
  SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    Value top = stack.back();
    size_t depth = stack.size();
    if (!mapping.contains(top))
      for (Value operand : llvm::reverse(top.getDefiningOp()->getOperands()))
        if (!mapping.contains(operand))
          stack.push_back(operand);
    if (stack.size() > depth)
      continue;
    if (!mapping.contains(top))
      builder.clone(*top.getDefiningOp(), mapping);
    stack.pop_back();
  }
}

void BodyDifferentiator::buildBackward() {
  if (returned.empty())
    return;
  // The operands, in the order of first use: gradients of results, saved
  // values, then operands of the forward.
  llvm::SetVector<Value> used;
  DenseSet<Value> seen;
  auto require = [&](Value value) {
    SmallVector<Value> stack = {value};
    while (!stack.empty()) {
      Value top = stack.pop_back_val();
      if (!seen.insert(top).second)
        continue;
      if (isAvailable(top))
        used.insert(top);
      else
        llvm::append_range(stack,
                           llvm::reverse(top.getDefiningOp()->getOperands()));
    }
  };
  for (Operation *op : gradientOps)
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand) || isForward(operand))
        require(operand);

  SmallVector<Value> operands;
  unsigned numArguments = original.getNumArguments();
  auto add = [&](Value value, Derivative::Source source) {
    operands.push_back(value);
    derivative.operands.push_back(source);
  };
  for (Value value : used)
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (argument.getArgNumber() >= numArguments)
        add(value, {Derivative::Source::ResultGradient,
                    given[argument.getArgNumber() - numArguments]});
  SmallVector<Value> forwardResults(results);
  llvm::append_range(forwardResults, saved);
  for (auto [index, value] : llvm::enumerate(forwardResults))
    if (used.contains(value))
      add(value, {Derivative::Source::Result, static_cast<int>(index)});
  for (Value value : used)
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (argument.getArgNumber() < numArguments)
        add(value, {Derivative::Source::Operand,
                    static_cast<int>(argument.getArgNumber())});

  derivative.backward =
      bodies.build((original.getSymName() + ".bw").str(), original.getLoc(),
                   ValueRange(operands).getTypes(),
                   [&](OpBuilder &builder, ValueRange arguments) {
                     IRMapping mapping;
                     mapping.map(ValueRange(operands), arguments);
                     for (Operation *op : gradientOps) {
                       for (Value operand : op->getOperands())
                         remake(builder, mapping, operand);
                       builder.clone(*op, mapping);
                     }
                     return llvm::map_to_vector(returned, [&](Value value) {
                       return mapping.lookup(value);
                     });
                   },
                   /*share=*/false);
}

FailureOr<Derivative> BodyDifferentiator::run() {
  if (failed(appendGradients()))
    return failure();
  describeGradients();
  dropUnused();
  chooseSaved();
  buildForward();
  buildBackward();
  return derivative;
}

FailureOr<Derivative>
mlir::piper::differentiateBody(BodyTable &bodies, func::FuncOp body,
                               ArrayRef<ResultGradient> results,
                               ArrayRef<bool> wanted) {
  return BodyDifferentiator(bodies, body, results, wanted).run();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the layout of every value of a body.
//
// A value starts whole; once it is split or partial it stays so. An op with a
// split operand or result is cut along the factor of that dimension; its other
// operands must then be cut along it too, and what makes them is asked for
// their parts. Sweeps over the ops, forward for what follows from operands,
// backward for what is asked for, end when nothing changes.

#include "Piper/Sharding/BodySplit.h"
#include "SplitConstant.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::piper;

const ShardingRule &BodySplit::ruleOf(Operation *op) {
  auto [found, isNew] = rules.try_emplace(op);
  if (isNew)
    found->second = cast<ShardingRuleOpInterface>(op).getShardingRule();
  return found->second;
}

bool BodySplit::set(Value value, SplitLayout layout) {
  SplitLayout &known = layouts[value];
  bool changed = known != layout;
  known = layout;
  return changed;
}

SplitLayout BodySplit::resultLayout(unsigned result) const {
  return results[result];
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

InFlightDiagnostic BodySplit::mixes(Operation *op, bool isOperand,
                                    unsigned index, int64_t dim) {
  return op->emitOpError() << "mixes the samples of '" << axis.name
                           << "', which are in dimension " << dim << " of "
                           << (isOperand ? "operand #" : "result #") << index
                           << ": ";
}

/// "2 x 4": the factors of a dimension.
static std::string factorText(const ShardingRule &rule, ArrayRef<int> factors) {
  std::string text;
  for (int factor : factors)
    text +=
        (text.empty() ? "" : " x ") + std::to_string(rule.factors[factor].size);
  return text;
}

//===----------------------------------------------------------------------===//
// Ops that are cut
//===----------------------------------------------------------------------===//

FailureOr<FactorSplit> BodySplit::findFactorOf(Operation *op, bool isOperand,
                                               unsigned index,
                                               const SplitLayout &layout) {
  const ShardingRule &rule = ruleOf(op);
  const ShardingRule::Dims &dims =
      isOperand ? rule.operands[index] : rule.results[index];
  if (auto split = findFactor(rule, dims, layout, axis.parts)) {
    const ShardingRule::Factor &factor = rule.factors[split->factor];
    if (factor.splittable)
      return *split;
    mixes(op, isOperand, index, layout.dim) << factor.reason;
    return failure();
  }
  mixes(op, isOperand, index, layout.dim)
      << "it takes this dimension as " << factorText(rule, dims[layout.dim])
      << " and " << axis.parts << " parts of runs of " << layout.period
      << " cut through that";
  return failure();
}

/// The factor along which an op is cut, by all operands and results that are
/// split; none if there are none.
FailureOr<std::optional<FactorSplit>> BodySplit::findSplit(Operation *op) {
  std::optional<FactorSplit> split;
  auto join = [&](bool isOperand, unsigned index, Value value) {
    SplitLayout own = layout(value);
    if (!own.isSplit())
      return success();
    auto found = findFactorOf(op, isOperand, index, own);
    if (failed(found))
      return failure();
    if (!split)
      split = *found;
    if (*split == *found)
      return success();
    mixes(op, isOperand, index, own.dim)
        << (split->factor == found->factor
                ? "another operand has them in another order"
                : "it pairs them with those of another operand or dimension");
    return failure();
  };
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (failed(join(true, index, operand)))
      return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (failed(join(false, index, result)))
      return failure();
  return split;
}

/// Parts of an op whose results depend on positions must lie side by side.
LogicalResult BodySplit::checkPosition(Operation *op, FactorSplit split) {
  auto position = dyn_cast<PositionOpInterface>(op);
  if (!position)
    return success();
  const ShardingRule &rule = ruleOf(op);
  for (ArrayRef<int> factors : position.getPositionDims(rule)) {
    if (!llvm::is_contained(factors, split.factor))
      continue;
    if (position.getOrigin() || position.getGlobalShape())
      return op->emitOpError()
             << "has a piece of a whole tensor already: expects no origin and "
                "no 'global_shape' before '"
             << axis.name << "' is split";
    if (factors.front() != split.factor ||
        split.period != rule.factors[split.factor].size)
      return op->emitOpError()
             << "draws random numbers by position, and the samples of '"
             << axis.name << "' do not lie side by side in its operand";
  }
  return success();
}

/// Makes an operand have the parts that the op needs of it.
BodySplit::Step BodySplit::require(Operation *op, unsigned operand,
                                   SplitLayout needed) {
  Value value = op->getOperand(operand);
  SplitLayout known = layout(value);
  if (known.isPartial()) {
    op->emitOpError() << "uses a sum over '" << axis.name << "', operand #"
                      << operand
                      << ", for each sample: it is complete only after all "
                         "micro-batches";
    return Step::Failed;
  }
  if (!needed.isSplit() || known.isSplit())
    return Step::Same;
  if (isConstant(value)) {
    if (isEqualAlong(value, needed.dim))
      return Step::Same;
    mixes(op, true, operand, needed.dim)
        << "the elements of this constant differ between them";
    return Step::Failed;
  }
  if (isa<BlockArgument>(value)) {
    demand = {cast<BlockArgument>(value).getArgNumber(), needed, op};
    return Step::Demanded;
  }
  return set(value, needed) ? Step::Changed : Step::Same;
}

BodySplit::Step BodySplit::visitSplit(Operation *op, FactorSplit split) {
  wholeTerms.erase(op);
  const ShardingRule &rule = ruleOf(op);
  splits.insert_or_assign(op, split);
  if (failed(checkPosition(op, split)))
    return Step::Failed;
  bool changed = false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    SplitLayout needed = layoutOf(rule, rule.operands[i], split);
    Step step = require(op, i, needed);
    if (step == Step::Failed || step == Step::Demanded)
      return step;
    changed |= step == Step::Changed;
  }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    SplitLayout own = layoutOf(rule, rule.results[index], split);
    if (own.isWhole()) {
      if (rule.factors[split.factor].reduce == ShardingRule::Reduce::Max) {
        op->emitOpError() << "takes the maximum over the samples of '"
                          << axis.name
                          << "': only sums add up over micro-batches";
        return Step::Failed;
      }
      own = SplitLayout::partial();
    }
    changed |= set(result, own);
  }
  return changed ? Step::Changed : Step::Same;
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

/// An op that is not cut and has a partial operand: linear ops pass it on. A
/// whole value that is added to one stands for itself alone (the gradient of a
/// value that all samples share, made of nothing that differs between them).
BodySplit::Step BodySplit::visitPartial(Operation *op) {
  wholeTerms.erase(op);
  SmallVector<int> partial;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (layout(operand).isPartial())
      partial.push_back(index);
  if (partial.empty())
    return Step::Same;
  for (ArrayRef<int> set : ruleOf(op).linear) {
    bool overlaps = llvm::all_of(
        partial, [&](int operand) { return llvm::is_contained(set, operand); });
    if (!overlaps)
      continue;
    for (int operand : set)
      if (!llvm::is_contained(partial, operand))
        wholeTerms[op].push_back(operand);
    bool changed = false;
    for (Value result : op->getResults())
      changed |= this->set(result, SplitLayout::partial());
    return changed ? Step::Changed : Step::Same;
  }
  op->emitOpError() << "is not linear in a sum over '" << axis.name
                    << "', operand #" << partial.front()
                    << ": it is complete only after all micro-batches";
  return Step::Failed;
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

BodySplit::Step BodySplit::visit(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return Step::Same;
  auto split = findSplit(op);
  if (failed(split))
    return Step::Failed;
  return *split ? visitSplit(op, **split) : visitPartial(op);
}

LogicalResult BodySplit::follow(ArrayRef<SplitLayout> operands,
                                ArrayRef<SplitLayout> wanted) {
  Block &block = body.front();
  for (auto [argument, layout] :
       llvm::zip_equal(block.getArguments(), operands))
    layouts[argument] = layout;
  auto returned = block.getTerminator()->getOperands();
  for (auto [value, layout] : llvm::zip_equal(returned, wanted))
    if (layout.isSplit() && !isConstant(value) && !isa<BlockArgument>(value))
      set(value, layout);

  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  bool changed = true;
  auto sweep = [&](auto &&order) {
    for (Operation *op : order) {
      Step step = visit(op);
      if (step == Step::Failed || step == Step::Demanded)
        return step == Step::Demanded ? WalkResult::interrupt()
                                      : WalkResult::skip();
      changed |= step == Step::Changed;
    }
    return WalkResult::advance();
  };
  while (changed) {
    changed = false;
    WalkResult result = sweep(ops);
    if (!result.wasInterrupted() && !result.wasSkipped())
      result = sweep(llvm::reverse(ops));
    if (result.wasSkipped())
      return failure();
    if (result.wasInterrupted())
      return success();
  }
  for (auto [value, layout] : llvm::zip_equal(returned, wanted))
    results.push_back(isConstant(value) ? layout : this->layout(value));
  return success();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the body of one part: the same ops on local types. What an op says of
// its shapes follows from these, but for constants, which are made anew, and
// for positions in the whole, which are the micro-batch's.

#include "Piper/Sharding/BodySplit.h"
#include "SplitConstant.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::piper;

namespace mlir::piper {

class PartBuilder {
public:
  PartBuilder(const BodySplit &split, OpBuilder &builder, bool isFirst)
      : split(split), parts(split.axis.parts), builder(builder),
        isFirst(isFirst) {}

  void map(Value whole, Value part) { values[whole] = part; }
  void clone(Operation *op);
  /// The part of a value, which a constant has in any layout.
  Value part(Value whole, const SplitLayout &layout);

private:
  void setPosition(Operation *part, Operation *op, FactorSplit factor);
  Value origin(Location loc, ArrayRef<int64_t> step);
  Value zeros(Location loc, Type type);

  const BodySplit &split;
  int64_t parts;
  OpBuilder &builder;
  /// Whether it is the part that has the terms of a sum which are of no part.
  bool isFirst;
  DenseMap<Value, Value> values;
  /// Constants already made, by the whole one.
  DenseMap<Value, SmallVector<std::pair<SplitLayout, Value>, 1>> constants;
  SmallVector<OriginOp> origins;
};

} // namespace mlir::piper

Value PartBuilder::part(Value whole, const SplitLayout &layout) {
  if (!isConstant(whole))
    return values.lookup(whole);
  auto &made = constants[whole];
  for (auto &[known, value] : made)
    if (known == layout)
      return value;
  Operation *op = whole.getDefiningOp();
  Value value;
  if (layout.isSplit())
    value = ConstantOp::create(
        builder, op->getLoc(),
        cast<ElementsAttr>(partOfConstant(whole, layout, parts)));
  else
    value = builder.clone(*op)->getResult(0);
  made.push_back({layout, value});
  return value;
}

Value PartBuilder::origin(Location loc, ArrayRef<int64_t> step) {
  for (OriginOp known : origins)
    if (known.getStep() == step)
      return known;
  auto type = RankedTensorType::get({static_cast<int64_t>(step.size())},
                                    builder.getI64Type());
  origins.push_back(OriginOp::create(builder, loc, type, step));
  return origins.back();
}

/// Tells an op whose results depend on positions where its part lies.
void PartBuilder::setPosition(Operation *part, Operation *op,
                              FactorSplit factor) {
  auto position = dyn_cast<PositionOpInterface>(op);
  if (!position)
    return;
  const ShardingRule &rule = split.rules.find(op)->second;
  SmallVector<int64_t> step, shape;
  bool differs = false;
  for (ArrayRef<int> factors : position.getPositionDims(rule)) {
    int64_t size = 1;
    for (int index : factors)
      size *= rule.factors[index].size;
    bool isCut = llvm::is_contained(factors, factor.factor);
    differs |= isCut;
    shape.push_back(size);
    step.push_back(isCut ? size / parts : 0);
  }
  if (!differs)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(part);
  cast<PositionOpInterface>(part).setPosition(origin(op->getLoc(), step),
                                              shape);
}

Value PartBuilder::zeros(Location loc, Type type) {
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(builder.getZeroAttr(type)));
}

void PartBuilder::clone(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return;
  auto factor = split.splits.find(op);
  bool isCut = factor != split.splits.end();
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    SplitLayout layout;
    if (isCut) {
      const ShardingRule &rule = split.rules.find(op)->second;
      layout = layoutOf(rule, rule.operands[index], factor->second);
    }
    operands.push_back(part(operand, layout));
  }
  if (auto whole = split.wholeTerms.find(op);
      !isFirst && whole != split.wholeTerms.end())
    for (unsigned index : whole->second)
      operands[index] = zeros(op->getLoc(), operands[index].getType());
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(split.layout(result).localType(
        cast<RankedTensorType>(result.getType()), parts));
  Operation *copy = Operation::create(
      op->getLoc(), op->getName(), types, operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage());
  builder.insert(copy);
  if (isCut)
    setPosition(copy, op, factor->second);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    map(from, to);
}

SmallVector<Value> BodySplit::build(OpBuilder &builder, ValueRange arguments,
                                    bool isFirst) const {
  PartBuilder part(*this, builder, isFirst);
  func::FuncOp whole = body;
  Block &block = whole.front();
  for (auto [from, to] : llvm::zip_equal(block.getArguments(), arguments))
    part.map(from, to);
  for (Operation &op : block.without_terminator())
    part.clone(&op);
  SmallVector<Value> returned;
  for (auto [value, layout] :
       llvm::zip_equal(block.getTerminator()->getOperands(), results))
    returned.push_back(part.part(value, layout));
  return returned;
}

SmallVector<Type> BodySplit::operandTypes() const {
  SmallVector<Type> types;
  func::FuncOp whole = body;
  for (BlockArgument argument : whole.getArguments())
    types.push_back(layout(argument).localType(
        cast<RankedTensorType>(argument.getType()), axis.parts));
  return types;
}

bool BodySplit::usesOrigin() const {
  return llvm::any_of(splits, [&](const auto &entry) {
    auto position = dyn_cast<PositionOpInterface>(entry.first);
    if (!position)
      return false;
    const ShardingRule &rule = rules.find(entry.first)->second;
    return llvm::any_of(
        position.getPositionDims(rule), [&](ArrayRef<int> factors) {
          return llvm::is_contained(factors, entry.second.factor);
        });
  });
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the tasks of a split step call.

#include "SplitBodies.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Bodies in parts
//===----------------------------------------------------------------------===//

static std::string keyOf(TaskOp task, const SplitAxis &axis,
                         ArrayRef<SplitLayout> operands,
                         ArrayRef<SplitLayout> wanted) {
  std::string key = task.getCallee().str() + "|" + std::to_string(axis.parts);
  for (ArrayRef<SplitLayout> layouts : {operands, wanted}) {
    key += '|';
    for (const SplitLayout &layout : layouts)
      key += std::to_string(static_cast<int>(layout.kind)) + "," +
             std::to_string(layout.dim) + "," + std::to_string(layout.period) +
             ";";
  }
  return key;
}

/// Chooses the order of the results.
void SplitBodies::arrange(SplitVariant &variant) {
  ValueRange returned = variant.whole.front().getTerminator()->getOperands();
  variant.position.resize(returned.size());
  DenseMap<Value, unsigned> accumulated;
  for (bool isPartial : {false, true})
    for (auto [index, value] : llvm::enumerate(returned)) {
      if (variant.results[index].isPartial() != isPartial)
        continue;
      auto known = isPartial ? accumulated.find(value) : accumulated.end();
      if (known != accumulated.end()) {
        variant.position[index] = known->second;
        continue;
      }
      if (isPartial)
        accumulated[value] = variant.numResults;
      variant.numAccumulated += isPartial;
      variant.position[index] = variant.numResults++;
    }
}

LogicalResult SplitBodies::follow(TaskOp task, const SplitAxis &axis,
                                  ArrayRef<SplitLayout> operands,
                                  ArrayRef<SplitLayout> wanted,
                                  SplitVariant *&variant,
                                  std::optional<BodySplit::Demand> &demand) {
  std::unique_ptr<SplitVariant> &known =
      variants[keyOf(task, axis, operands, wanted)];
  if (!known) {
    auto made = std::make_unique<SplitVariant>(bodies.lookup(task), axis);
    if (failed(made->split.follow(operands, wanted)))
      return failure();
    if ((demand = made->split.demand))
      return success();
    for (unsigned i = 0; i < wanted.size(); ++i)
      made->results.push_back(made->split.resultLayout(i));
    arrange(*made);
    auto isCut = [](const SplitLayout &layout) { return !layout.isWhole(); };
    made->isCut =
        llvm::any_of(operands, isCut) || llvm::any_of(made->results, isCut);
    known = std::move(made);
  }
  variant = known.get();
  return success();
}

func::FuncOp SplitBodies::buildPart(SplitVariant &variant, bool isFirst) {
  func::FuncOp whole = variant.whole;
  func::FuncOp part = bodies.build(
      whole.getSymName(), whole.getLoc(), variant.split.operandTypes(),
      [&](OpBuilder &builder, ValueRange arguments) {
        SmallVector<Value> made =
            variant.split.build(builder, arguments, isFirst);
        SmallVector<Value> ordered(variant.numResults);
        for (auto [index, value] : llvm::enumerate(made))
          ordered[variant.position[index]] = value;
        return ordered;
      },
      /*share=*/false);
  names.push_back({part, whole.getSymName().str()});
  return part;
}

func::FuncOp SplitBodies::part(SplitVariant &variant, bool isFirst) {
  if (!variant.isCut)
    return variant.whole;
  if (!variant.first)
    variant.first = buildPart(variant, /*isFirst=*/true);
  if (!variant.later)
    variant.later = variant.split.hasWholeTerms()
                        ? buildPart(variant, /*isFirst=*/false)
                        : variant.first;
  return isFirst ? variant.first : variant.later;
}

//===----------------------------------------------------------------------===//
// Whole values
//===----------------------------------------------------------------------===//

RankedTensorType mlir::piper::splitInputType(Type type, int64_t dim,
                                             int64_t parts) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] /= parts;
  shape.insert(shape.begin(), parts);
  return tensor.clone(shape);
}

/// The type before the split of one with its micro-batches first.
static RankedTensorType joinedType(Type type, int64_t dim) {
  auto split = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(split.getShape().drop_front());
  shape[dim] *= split.getDimSize(0);
  return split.clone(shape);
}

/// [M, .., B/M, ..] as [.., B, ..]: micro-batches are moved before the
/// dimension that was split, and both are read as one.
static Value joinInput(OpBuilder &builder, Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType joined = joinedType(type, dim);
  if (dim > 0) {
    SmallVector<int64_t> permutation;
    for (int64_t i = 1; i <= dim; ++i)
      permutation.push_back(i);
    permutation.push_back(0);
    for (int64_t i = dim + 1; i < type.getRank(); ++i)
      permutation.push_back(i);
    SmallVector<int64_t> shape = llvm::map_to_vector(
        permutation, [&](int64_t i) { return type.getDimSize(i); });
    value = TransposeOp::create(builder, value.getLoc(), type.clone(shape),
                                value, permutation);
  }
  return ReshapeOp::create(builder, value.getLoc(), joined, value);
}

func::FuncOp SplitBodies::ofInputs(func::FuncOp body, ArrayRef<int64_t> splits,
                                   int64_t parts) {
  if (llvm::all_of(splits, [](int64_t dim) { return dim < 0; }))
    return body;
  std::vector<int64_t> key = {parts};
  key.insert(key.end(), splits.begin(), splits.end());
  func::FuncOp &whole = wholes[{body, key}];
  if (whole)
    return whole;
  SmallVector<Type> types;
  for (auto [type, dim] : llvm::zip_equal(body.getArgumentTypes(), splits)) {
    auto tensor = cast<RankedTensorType>(type);
    if (dim < 0) {
      types.push_back(tensor);
      continue;
    }
    types.push_back(splitInputType(tensor, dim, parts));
  }
  whole = bodies.build(
      body.getSymName(), body.getLoc(), types,
      [&](OpBuilder &builder, ValueRange arguments) {
        IRMapping mapping;
        for (auto [from, to, dim] :
             llvm::zip_equal(body.getArguments(), arguments, splits))
          mapping.map(Value(from), dim < 0 ? to : joinInput(builder, to, dim));
        for (Operation &op : body.front().without_terminator())
          builder.clone(op, mapping);
        return llvm::map_to_vector(
            body.front().getTerminator()->getOperands(),
            [&](Value value) { return mapping.lookup(value); });
      },
      /*share=*/false);
  names.push_back({whole, body.getSymName().str()});
  return whole;
}

func::FuncOp SplitBodies::join(Location loc, Type type, int64_t dim) {
  return bodies.build(
      "join", loc, type,
      [&](OpBuilder &builder, ValueRange operands) -> SmallVector<Value> {
        return {joinInput(builder, operands[0], dim)};
      });
}

func::FuncOp SplitBodies::concat(Location loc, RankedTensorType whole,
                                 const SplitLayout &layout, int64_t parts) {
  RankedTensorType part = layout.localType(whole, parts);
  int64_t runs = whole.getDimSize(layout.dim) / layout.period;
  // Where a dimension has several runs of samples, their parts are joined run
  // by run.
  auto inRuns = [&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape[layout.dim] /= runs;
    shape.insert(shape.begin() + layout.dim, runs);
    return type.clone(shape);
  };
  SmallVector<Type> types(parts, part);
  return bodies.build(
      "concat", loc, types,
      [&](OpBuilder &builder, ValueRange operands) -> SmallVector<Value> {
        auto join = [&](Type type, ValueRange all, int64_t dim) -> Value {
          return ConcatOp::create(builder, loc, type, all,
                                  builder.getI64IntegerAttr(dim));
        };
        if (runs == 1)
          return {join(whole, operands, layout.dim)};
        SmallVector<Value> inner =
            llvm::map_to_vector(operands, [&](Value value) -> Value {
              return ReshapeOp::create(builder, loc, inRuns(part), value);
            });
        Value joined = join(inRuns(whole), inner, layout.dim + 1);
        return {ReshapeOp::create(builder, loc, whole, joined)};
      });
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void SplitBodies::finish() {
  bodies.eraseUnused();
  DenseSet<Operation *> left;
  for (auto function : module.getOps<func::FuncOp>())
    left.insert(function);
  SymbolTable symbols(module);
  DenseMap<StringAttr, FlatSymbolRefAttr> renamed;
  for (auto &[function, name] : names) {
    if (!left.contains(function) || symbols.lookup(name))
      continue;
    StringAttr old = function.getSymNameAttr();
    symbols.remove(function);
    function.setSymName(name);
    symbols.insert(function);
    renamed[old] = FlatSymbolRefAttr::get(function.getSymNameAttr());
  }
  module.walk([&](TaskOp task) {
    auto found = renamed.find(task.getCalleeAttr().getAttr());
    if (found != renamed.end())
      task.setCalleeAttr(found->second);
  });
}

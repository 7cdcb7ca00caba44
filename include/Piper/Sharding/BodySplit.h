// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The splitting engine: a body of compute ops, of whole tensors, becomes one of
// the parts of a split dimension. It knows no op by name: how an op may be
// split is in its sharding rule.

#ifndef PIPER_SHARDING_BODYSPLIT_H
#define PIPER_SHARDING_BODYSPLIT_H

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Sharding/SplitLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::piper {

class BodySplit {
public:
  /// `body` is a function of one block of ops with sharding rules.
  BodySplit(func::FuncOp body, SplitAxis axis)
      : body(body), axis(std::move(axis)) {}

  /// An operand of the body that is given whole, though an op needs its part.
  struct Demand {
    unsigned operand;
    SplitLayout layout;
    /// The op that needs it.
    Operation *op;
  };

  /// Finds the layout of every value from those of the operands. `wanted` has
  /// an entry for each result: a result that would be whole becomes split as
  /// this says. A value that all parts have whole but an op needs in parts
  /// (zeros of the shape of the batch, a broadcast scalar) is made in parts.
  /// Where that leads to an operand, stops with `demand` set and succeeds.
  /// Emits an error for an op that the split dimension does not pass through.
  LogicalResult follow(ArrayRef<SplitLayout> operands,
                       ArrayRef<SplitLayout> wanted);
  std::optional<Demand> demand;

  SplitLayout resultLayout(unsigned result) const;
  /// Whether the parts differ by where they lie in the whole, so that the body
  /// has a `piper.origin`.
  bool usesOrigin() const;

  /// Whether a sum over the parts has a term that is none of any part's: it is
  /// added in the first part, and the others have zeros for it.
  bool hasWholeTerms() const { return !wholeTerms.empty(); }

  /// Builds the ops of one part at `builder`; `arguments` have the local types.
  /// Returns its results. Requires: `follow` succeeded without a demand.
  SmallVector<Value> build(OpBuilder &builder, ValueRange arguments,
                           bool isFirst = true) const;
  /// The local types of the operands, as `follow` got their layouts.
  SmallVector<Type> operandTypes() const;

private:
  friend class PartBuilder;
  enum class Step { Same, Changed, Failed, Demanded };

  const ShardingRule &ruleOf(Operation *op);
  Step visit(Operation *op);
  Step visitSplit(Operation *op, FactorSplit split);
  Step visitPartial(Operation *op);
  FailureOr<std::optional<FactorSplit>> findSplit(Operation *op);
  FailureOr<FactorSplit> findFactorOf(Operation *op, bool isOperand,
                                      unsigned index,
                                      const SplitLayout &layout);
  Step require(Operation *op, unsigned operand, SplitLayout layout);
  LogicalResult checkPosition(Operation *op, FactorSplit split);
  InFlightDiagnostic mixes(Operation *op, bool isOperand, unsigned index,
                           int64_t dim);
  bool set(Value value, SplitLayout layout);
  /// Whole for a constant, which is made as each use needs it.
  SplitLayout layout(Value value) const { return layouts.lookup(value); }

  func::FuncOp body;
  SplitAxis axis;
  DenseMap<Value, SplitLayout> layouts;
  DenseMap<Operation *, ShardingRule> rules;
  /// The ops that are cut, and along which factor.
  DenseMap<Operation *, FactorSplit> splits;
  /// Of ops that are not cut, the operands that are whole beside partial sums.
  DenseMap<Operation *, SmallVector<unsigned, 1>> wholeTerms;
  SmallVector<SplitLayout> results;
};

} // namespace mlir::piper

#endif // PIPER_SHARDING_BODYSPLIT_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an op may be split: its dimensions named by factors, as in an einsum.

#ifndef PIPER_DIALECT_SHARDINGRULE_H
#define PIPER_DIALECT_SHARDINGRULE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace mlir::piper {

/// The factors of an op. A factor is an index space of `size` positions that
/// dimensions of operands and results share: matmul [M, K] x [K, N] has the
/// factors M, N and K. Splitting a factor into equal parts splits each
/// dimension that has it, and the op on the parts gives the parts of its
/// results; where a result lacks the factor, its parts are combined as `reduce`
/// says.
///
/// A dimension may be made of several factors, major first: in
/// reshape [B, S, K] -> [B S, K] the result's first dimension is {B, S}. Only
/// the major factor of a dimension splits it into contiguous parts.
struct ShardingRule {
  enum class Reduce { None, Sum, Max };

  struct Factor {
    int64_t size = 1;
    /// How results without the factor are combined.
    Reduce reduce = Reduce::None;
    /// False if the op mixes the positions of this factor (the normalised
    /// dimension of a softmax); `reason` then says so to the user: "softmax
    /// normalises over this dimension".
    bool splittable = true;
    std::string reason;
  };

  /// For each dimension of a tensor the factors it is made of, major first;
  /// empty for a dimension of 1 that is broadcast.
  using Dims = SmallVector<SmallVector<int, 1>>;

  SmallVector<Factor> factors;
  SmallVector<Dims> operands;
  SmallVector<Dims> results;
  /// Sets of operands in which the op is jointly linear: {{0, 1}} for add,
  /// {{0}, {1}} for mul and matmul, {} for tanh. A partial sum in exactly the
  /// operands of one set gives a partial sum in every result.
  SmallVector<SmallVector<int>> linear;

  /// Adds a factor and returns its index.
  int add(int64_t size, Reduce reduce = Reduce::None) {
    factors.push_back({size, reduce, true, ""});
    return static_cast<int>(factors.size()) - 1;
  }
  /// Adds a factor that cannot be split.
  int addFixed(int64_t size, std::string reason) {
    factors.push_back({size, Reduce::None, false, std::move(reason)});
    return static_cast<int>(factors.size()) - 1;
  }
  /// Adds one factor per dimension of `shape` and returns the dimensions.
  Dims addDims(ArrayRef<int64_t> shape, Reduce reduce = Reduce::None);
  /// The same with factors that cannot be split.
  Dims addFixedDims(ArrayRef<int64_t> shape, const std::string &reason);
  /// The rule of an op that works element by element with broadcasting: one
  /// factor per dimension of its first result, which all results share.
  static ShardingRule elementwise(Operation *op,
                                  SmallVector<SmallVector<int>> linear = {});

  /// The name for Reduce in tests and remarks: "none", "sum", "max".
  static const char *reduceName(Reduce reduce);
  /// Checks the rule against the shapes of `op`: the factors of a dimension
  /// multiply to its size, indices are in range, a factor that cannot be split
  /// has a reason, and one that can says how results without it are combined.
  /// The message names the first thing that is wrong.
  LogicalResult verify(Operation *op, std::string &message) const;
  /// "([i, k], [k, j]) -> ([i, j]) {i=4, j=8, k=2 sum} linear {0} {1}". A
  /// dimension of several factors is "ij", one without factors "1"; a factor
  /// that cannot be split is followed by its reason: "i=4 fixed (reason)".
  std::string str() const;
};

/// Bytes of all operands and results of an op: the default cost in bytes.
int64_t operandAndResultBytes(Operation *op);

} // namespace mlir::piper

#endif // PIPER_DIALECT_SHARDINGRULE_H

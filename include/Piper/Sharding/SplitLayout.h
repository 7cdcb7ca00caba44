// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a value is cut along a dimension that is split into equal parts.

#ifndef PIPER_SHARDING_SPLITLAYOUT_H
#define PIPER_SHARDING_SPLITLAYOUT_H

#include "Piper/Dialect/ShardingRule.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace mlir::piper {

/// What is split: a named dimension of the step inputs, into equal parts.
struct SplitAxis {
  std::string name = "batch";
  int64_t parts = 1;
};

/// The layout of one value.
///
/// Split: dimension `dim` is a sequence of runs of `period` positions; each
/// run is cut into as many equal consecutive parts as there are, and part k of
/// the value has part k of each run. So position p belongs to part (p mod
/// period) / (period / parts). With one run the parts lie side by side; a
/// dimension made of [seq, batch] has seq runs of batch positions.
struct SplitLayout {
  enum class Kind : uint8_t {
    /// Every part has the whole value, the same in all.
    Whole,
    Split,
    /// Each part has a term of a sum.
    Partial
  };

  Kind kind = Kind::Whole;
  int64_t dim = 0;
  int64_t period = 0;

  static SplitLayout whole() { return {}; }
  static SplitLayout partial() { return {Kind::Partial, 0, 0}; }
  static SplitLayout split(int64_t dim, int64_t period) {
    return {Kind::Split, dim, period};
  }

  bool isWhole() const { return kind == Kind::Whole; }
  bool isSplit() const { return kind == Kind::Split; }
  bool isPartial() const { return kind == Kind::Partial; }
  bool operator==(const SplitLayout &other) const {
    return kind == other.kind && dim == other.dim && period == other.period;
  }
  bool operator!=(const SplitLayout &other) const { return !(*this == other); }

  /// "whole", "partial", "split 0", or "split 0 in runs of 4" where the
  /// dimension of `type` has several runs.
  std::string str(RankedTensorType type) const;
  /// The type of one part.
  RankedTensorType localType(RankedTensorType type, int64_t parts) const;
};

/// A factor of an op that is cut, as SplitLayout cuts a dimension.
struct FactorSplit {
  int factor;
  int64_t period;

  bool operator==(const FactorSplit &other) const {
    return factor == other.factor && period == other.period;
  }
};

/// The factor of an operand or result with `dims` that `layout`, which is
/// split, cuts; nothing where it cuts through several or none.
std::optional<FactorSplit> findFactor(const ShardingRule &rule,
                                      const ShardingRule::Dims &dims,
                                      const SplitLayout &layout, int64_t parts);

/// The layout of an operand or result with `dims` whose op is cut along a
/// factor: whole if it has not the factor.
SplitLayout layoutOf(const ShardingRule &rule, const ShardingRule::Dims &dims,
                     FactorSplit split);

} // namespace mlir::piper

#endif // PIPER_SHARDING_SPLITLAYOUT_H

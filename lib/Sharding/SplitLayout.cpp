// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the layout of a value and the factors of the ops that use it.

#include "Piper/Sharding/SplitLayout.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::piper;

std::string SplitLayout::str(RankedTensorType type) const {
  if (isWhole())
    return "whole";
  if (isPartial())
    return "partial";
  std::string text = "split " + std::to_string(dim);
  if (period != type.getDimSize(dim))
    text += " in runs of " + std::to_string(period);
  return text;
}

RankedTensorType SplitLayout::localType(RankedTensorType type,
                                        int64_t parts) const {
  if (!isSplit())
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  return type.clone(shape);
}

/// Calls `visit` with each factor of a dimension and the product of the factors
/// that are minor to it.
static void walkFactors(const ShardingRule &rule, ArrayRef<int> factors,
                        function_ref<void(int, int64_t)> visit) {
  int64_t minor = 1;
  for (int factor : llvm::reverse(factors)) {
    visit(factor, minor);
    minor *= rule.factors[factor].size;
  }
}

std::optional<FactorSplit>
mlir::piper::findFactor(const ShardingRule &rule,
                        const ShardingRule::Dims &dims,
                        const SplitLayout &layout, int64_t parts) {
  // The part depends on the digits of the position from `block` up to `period`:
  // one factor must have them all.
  int64_t block = layout.period / parts;
  std::optional<FactorSplit> found;
  walkFactors(rule, dims[layout.dim], [&](int factor, int64_t minor) {
    int64_t end = minor * rule.factors[factor].size;
    if (block % minor == 0 && end % layout.period == 0 && minor < end)
      found = FactorSplit{factor, layout.period / minor};
  });
  return found;
}

SplitLayout mlir::piper::layoutOf(const ShardingRule &rule,
                                  const ShardingRule::Dims &dims,
                                  FactorSplit split) {
  SplitLayout layout;
  for (auto [dim, factors] : llvm::enumerate(dims))
    walkFactors(rule, factors, [&, dim = dim](int factor, int64_t minor) {
      if (factor == split.factor)
        layout = SplitLayout::split(dim, split.period * minor);
    });
  return layout;
}

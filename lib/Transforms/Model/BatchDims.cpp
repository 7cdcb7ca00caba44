// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the batch dimension. A dimension may be made of several factors, and
// the batch may be one of them, several, or a part of one.

#include "BatchDims.h"

using namespace mlir;
using namespace mlir::piper;

namespace {

/// The part of a factor that is the batch, as BatchDims::Place within the
/// factor.
struct Part {
  int64_t minor, end;
};

} // namespace

BatchDims::BatchDims(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto input = function.getArgAttrOfType<InputAttr>(
        argument.getArgNumber(), PiperDialect::InputAttrHelper::getNameStr());
    if (!input)
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(argument.getType()).getShape();
    for (auto [dim, name] : llvm::enumerate(input.getDims()))
      if (name == "batch")
        places[argument] = {{dim, 1, shape[dim]}};
  }
  for (Operation &op : function.front().without_terminator())
    follow(&op);
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

void BatchDims::follow(Operation *op) {
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  if (!interface || llvm::none_of(op->getOperands(), [&](Value operand) {
        return isBatched(operand);
      }))
    return;
  ShardingRule rule = interface.getShardingRule();
  DenseMap<int, Part> parts;
  bool unknown = false;
  for (auto [operand, dims] :
       llvm::zip_equal(op->getOperands(), rule.operands)) {
    auto known = places.find(operand);
    if (known == places.end())
      continue;
    unknown |= known->second.empty();
    for (const Place &place : known->second) {
      bool found = false;
      walkFactors(rule, dims[place.dim], [&](int factor, int64_t minor) {
        int64_t size = rule.factors[factor].size, end = minor * size;
        bool single = place.minor == place.end && end == minor;
        if (!single && (place.minor >= end || minor >= place.end))
          return;
        found = true;
        unknown |= !rule.factors[factor].splittable;
        parts[factor] = {std::max<int64_t>(place.minor / minor, 1),
                         std::min(place.end / minor, size)};
      });
      unknown |= !found;
    }
  }
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), rule.results)) {
    Places own;
    for (auto [dim, factors] : llvm::enumerate(dims))
      walkFactors(rule, factors, [&, dim = dim](int factor, int64_t minor) {
        auto part = parts.find(factor);
        if (part != parts.end())
          own.push_back(
              {dim, part->second.minor * minor, part->second.end * minor});
      });
    if (unknown || !own.empty())
      places[result] = std::move(own);
  }
}

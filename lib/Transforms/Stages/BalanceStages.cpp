// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Balances stages: the smallest limit under which filling stages from the back
// needs no more than there are, found by bisection over the bits of a double
// (those of numbers >= 0 ascend as the numbers do), so exact after 64 steps.

#include "BalanceStages.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::piper;

/// Fills stages from the last one on, none above `limit`, and leaves at least
/// one segment for each stage before; empty if that needs more stages.
static std::optional<SmallVector<int64_t>>
fillFromBack(ArrayRef<double> costs, int64_t stages, double limit) {
  SmallVector<int64_t> cuts(stages - 1);
  int64_t end = costs.size();
  for (int64_t stage = stages - 1; stage >= 0; --stage) {
    double sum = 0;
    int64_t first = end;
    while (first > stage && sum + costs[first - 1] <= limit)
      sum += costs[--first];
    if (first == end)
      return std::nullopt; // one segment alone is above the limit
    if (stage > 0)
      cuts[stage - 1] = first;
    end = first;
  }
  return end == 0 ? std::optional(std::move(cuts)) : std::nullopt;
}

SmallVector<int64_t> mlir::piper::balanceStages(ArrayRef<double> costs,
                                                int64_t stages) {
  double total = 0;
  for (double cost : llvm::reverse(costs))
    total += cost;
  uint64_t low = 0, high = llvm::bit_cast<uint64_t>(total);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (fillFromBack(costs, stages, llvm::bit_cast<double>(middle)))
      high = middle;
    else
      low = middle + 1;
  }
  return *fillFromBack(costs, stages, llvm::bit_cast<double>(high));
}

SmallVector<double> mlir::piper::getCostsOfStages(ArrayRef<double> costs,
                                                  ArrayRef<int64_t> cuts) {
  SmallVector<double> result;
  int64_t begin = 0;
  for (size_t stage = 0; stage <= cuts.size(); ++stage) {
    int64_t end = stage < cuts.size() ? cuts[stage] : costs.size();
    double sum = 0;
    for (int64_t i = end - 1; i >= begin; --i)
      sum += costs[i];
    result.push_back(sum);
    begin = end;
  }
  return result;
}

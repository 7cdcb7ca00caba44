// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds up the costs of tasks by segment.

#include "SegmentCosts.h"

#include "Piper/Transforms/BodyTable.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::piper;

/// Calls `visit` with the tasks of the body of `train`.
static void visitBody(ModuleOp module, function_ref<void(TaskOp)> visit) {
  for (func::FuncOp entry : getEntryFunctions(module))
    if (entry.getSymName() == "train")
      for (auto task : entry.getOps<TaskOp>())
        if (task.getSegment() >= 0)
          visit(task);
}

SmallVector<int64_t> mlir::piper::getSegments(ModuleOp module) {
  SmallVector<int64_t> segments;
  visitBody(module, [&](TaskOp task) {
    if (task.getPass() == PassKind::F)
      segments.push_back(task.getSegment());
  });
  llvm::sort(segments);
  segments.erase(llvm::unique(segments), segments.end());
  return segments;
}

SmallVector<double> mlir::piper::getSegmentCosts(ModuleOp module,
                                                 const Directives &directives,
                                                 TaskCostTable &costs) {
  std::string tag = directives.microBatchTag();
  DenseMap<int64_t, double> sums;
  visitBody(module, [&](TaskOp task) {
    bool isTwice =
        task.getPass() == PassKind::F &&
        llvm::any_of(directives.recompute, [&](const RecomputeDirective &d) {
          return d.filter.matches(task, tag);
        });
    sums[task.getSegment()] += costs.of(task) * (isTwice ? 2 : 1);
  });
  return llvm::map_to_vector(getSegments(module), [&](int64_t segment) {
    return sums.lookup(segment);
  });
}

std::string mlir::piper::costText(ArrayRef<double> costs) {
  // A list for a screen, not for a thousand stages.
  constexpr size_t kShown = 64;
  std::string text;
  llvm::raw_string_ostream os(text);
  double largest = 0, total = 0;
  for (auto [index, cost] : llvm::enumerate(costs)) {
    if (index < kShown)
      os << (index ? ", " : "") << llvm::format("%g", cost);
    largest = std::max(largest, cost);
    total += cost;
  }
  os << (costs.size() > kShown ? ", .." : "") << " (largest "
     << llvm::format("%g", largest) << " of " << llvm::format("%g", total)
     << ")";
  return text;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the segments of a step cost, for cutting it into stages. Internal to
// `piper-pipeline`.

#ifndef PIPER_LIB_TRANSFORMS_STAGES_SEGMENTCOSTS_H
#define PIPER_LIB_TRANSFORMS_STAGES_SEGMENTCOSTS_H

#include "Directives/Directive.h"

namespace mlir::piper {

/// The segments of the forward of `train`, ascending.
SmallVector<int64_t> getSegments(ModuleOp module);

/// What each of them costs for the batch, forward and backward; the forward
/// twice where a directive runs it again.
SmallVector<double> getSegmentCosts(ModuleOp module,
                                    const Directives &directives,
                                    TaskCostTable &costs);

/// "2, 4, 4, 4 (largest 4 of 14)".
std::string costText(ArrayRef<double> costs);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_STAGES_SEGMENTCOSTS_H

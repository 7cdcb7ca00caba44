// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cutting a row of segments into stages of even cost.

#ifndef PIPER_LIB_TRANSFORMS_STAGES_BALANCESTAGES_H
#define PIPER_LIB_TRANSFORMS_STAGES_BALANCESTAGES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::piper {

/// The first segment of stages 1.. of the cut whose largest stage costs least.
/// Among those, the last stages have as many segments as they can: the first
/// stages keep most activations. Requires: 1 <= stages <= costs.size(), costs
/// finite and not negative. Near-linear in the number of segments.
SmallVector<int64_t> balanceStages(ArrayRef<double> costs, int64_t stages);

/// The cost of each stage. Requires: cuts ascend within 1..costs.size()-1.
SmallVector<double> getCostsOfStages(ArrayRef<double> costs,
                                     ArrayRef<int64_t> cuts);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_STAGES_BALANCESTAGES_H

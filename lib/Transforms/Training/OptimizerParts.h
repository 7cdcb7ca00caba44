// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pass that adds the end of the step is made of beside the step
// itself: its options, and the two ops of each optimizer.

#ifndef PIPER_LIB_TRANSFORMS_TRAINING_OPTIMIZERPARTS_H
#define PIPER_LIB_TRANSFORMS_TRAINING_OPTIMIZERPARTS_H

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Transforms/Passes.h"

namespace mlir::piper {

/// Each option alone and against the others. Emits an error.
LogicalResult checkOptimizerOptions(ModuleOp module,
                                    const PiperOptimizerOptions &options);

/// The numbers against the type of the state. Emits an error.
LogicalResult checkOptimizerNumbers(ModuleOp module,
                                    const PiperOptimizerOptions &options,
                                    Type element);

/// A parameter, its gradient and its moments.
struct Trained {
  ParamAttr param;
  Value value, gradient;
  SmallVector<Value> moments;
};

/// What all updates of a step read.
struct StepScalars {
  Value lr, update, scale, norm, ok;
};

/// The moments of a parameter, as what stands behind its name.
SmallVector<StringRef> momentSuffixes(const PiperOptimizerOptions &options);

/// The operands of the update op of `trained`, and the op on such operands:
/// results are the next parameter and moments.
SmallVector<Value> updateOperands(const PiperOptimizerOptions &options,
                                  const Trained &trained,
                                  const StepScalars &scalars);
Operation *createUpdate(OpBuilder &builder, Location loc,
                        const PiperOptimizerOptions &options,
                        ValueRange operands);

/// The same of the op that checks what the update would write; `scalars` need
/// no decision.
SmallVector<Value> checkOperands(const PiperOptimizerOptions &options,
                                 const Trained &trained,
                                 const StepScalars &scalars);
Operation *createCheck(OpBuilder &builder, Location loc,
                       const PiperOptimizerOptions &options,
                       ValueRange operands);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TRAINING_OPTIMIZERPARTS_H

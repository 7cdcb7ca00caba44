// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the keys of a strategy to directives. Internal to `piper-pipeline`.

#ifndef PIPER_LIB_TRANSFORMS_STAGES_STRATEGY_H
#define PIPER_LIB_TRANSFORMS_STAGES_STRATEGY_H

#include "Directives/Directive.h"
#include "Piper/Transforms/Passes.h"

namespace mlir::piper {

/// Adds the directives that `keys` ask for to those that are `present`. Emits
/// an error for a value that is not allowed, a key that says what a directive
/// says already, a key without effect, and stages that cannot be made.
LogicalResult expandStrategy(ModuleOp module, const PiperPipelineOptions &keys,
                             const Directives &present);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_STAGES_STRATEGY_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes and the pipeline that runs them.

#ifndef PIPER_TRANSFORMS_PASSES_H
#define PIPER_TRANSFORMS_PASSES_H

#include "Number.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <limits>

namespace mlir::piper {
#define GEN_PASS_DECL
#include "Piper/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

#endif // PIPER_TRANSFORMS_PASSES_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front door: one string of options takes a model to a plan. piper-opt has
// it as --piper-compile, piper-run takes the same string.

#ifndef PIPER_TRANSFORMS_PIPELINES_H
#define PIPER_TRANSFORMS_PIPELINES_H

#include "CompileKeys.h"

#include "mlir/Pass/PassManager.h"

namespace mlir::piper {

/// All passes from a model to a plan, with the keys of the module's strategy
/// where they are not given.
void buildCompilePipeline(OpPassManager &passes, const CompileOptions &options);

/// Registers the passes and --piper-compile.
void registerPiperPasses();

} // namespace mlir::piper

#endif // PIPER_TRANSFORMS_PIPELINES_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front door: one string of options takes a model to a plan. piper-opt has
// it as --piper-compile, piper-run takes the same string.

#ifndef PIPER_TRANSFORMS_PIPELINES_H
#define PIPER_TRANSFORMS_PIPELINES_H

#include "Piper/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace mlir::piper {

struct CompileOptions {
  PiperOptimizerOptions optimizer;
  PiperPartitionOptions partition;

  /// Reads "key=value key=value ...". Returns an empty string, or what is
  /// wrong: an unknown key (with the legal ones), a key given twice, a value
  /// that is no number or not allowed.
  std::string parse(llvm::StringRef text);

  /// A line for each key, with its default and meaning.
  static std::string help();
};

/// All passes from a model to a plan.
void buildCompilePipeline(OpPassManager &passes, const CompileOptions &options);

/// Registers the passes and --piper-compile.
void registerPiperPasses();

} // namespace mlir::piper

#endif // PIPER_TRANSFORMS_PIPELINES_H

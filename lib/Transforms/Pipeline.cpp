// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERPIPELINE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

namespace {
class PiperPipelinePass : public mlir::piper::impl::PiperPipelineBase<PiperPipelinePass> {
public:
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace

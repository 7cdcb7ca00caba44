// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERRECOMPUTE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

namespace {
class PiperRecomputePass : public mlir::piper::impl::PiperRecomputeBase<PiperRecomputePass> {
public:
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERSPLITBACKWARD
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

namespace {
class PiperSplitBackwardPass : public mlir::piper::impl::PiperSplitBackwardBase<PiperSplitBackwardPass> {
public:
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace

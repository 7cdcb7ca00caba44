// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Piper/Transforms/Passes.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERORDER
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

namespace {
class PiperOrderPass : public mlir::piper::impl::PiperOrderBase<PiperOrderPass> {
public:
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace

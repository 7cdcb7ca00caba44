// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the values of a body lie: in its operands, its results, or its
// workspace.

#ifndef PIPER_TARGET_PLANBODY_H
#define PIPER_TARGET_PLANBODY_H

#include "Piper/Target/BuildProgram.h"

namespace mlir::piper {

/// A result of a body that may be written over an operand: nothing reads the
/// operand once the result is being written.
struct InPlacePair {
  int operand;
  int result;
};

/// Gives every value of `function` a place and sets `piper.memory`:
/// 1. a view (reshape, leading slice) lies in its operand;
/// 2. a returned value lies in its result;
/// 3. a result that may overwrite a dying operand does (see
/// KernelEntry::mayAlias);
/// 4. the others get offsets in the workspace.
/// Appends to `inPlace` the pairs of operand and result that may share memory.
/// Requires: no result of the body is one of its operands or another result.
LogicalResult planBody(func::FuncOp function, const rt::Target &target,
                       SmallVectorImpl<InPlacePair> *inPlace = nullptr);

} // namespace mlir::piper

#endif // PIPER_TARGET_PLANBODY_H

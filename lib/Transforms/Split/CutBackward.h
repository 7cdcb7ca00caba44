// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the backward of a body in two: the gradients that earlier backward
// tasks wait for, and the rest.

#ifndef PIPER_LIB_TRANSFORMS_SPLIT_CUTBACKWARD_H
#define PIPER_LIB_TRANSFORMS_SPLIT_CUTBACKWARD_H

#include "Piper/Transforms/BodyTable.h"

#include "llvm/ADT/BitVector.h"

namespace mlir::piper {

/// The halves of a backward body `X.bw`.
struct BackwardHalves {
  /// `X.bi`: first the input gradients, in the order of `X.bw`, then what
  /// `X.dw` reads of it.
  func::FuncOp input;
  /// `X.dw`: the other results of `X.bw`, in order.
  func::FuncOp weight;

  /// The operands of `X.bw` that `X.bi` takes, ascending.
  SmallVector<unsigned> inputOperands;
  /// The results of `X.bi` that `X.dw` takes, ascending: its first operands.
  SmallVector<unsigned> passed;
  /// The operands of `X.bw` that it takes after those, ascending.
  SmallVector<unsigned> weightOperands;
};

/// Cuts `body`. `inputGradients` has a bit for each result, set for at least
/// one but not all; `parameters` one for each operand, set where it is a
/// weight.
///
/// `X.bi` is what the input gradients need, and every op that reads a weight
/// with what it needs; `X.dw` is the rest and reads no weight. So each op of
/// the body is in one half, but for cheap ones (element-wise ops, views,
/// constants) that `X.dw` may run again instead of keeping their result. Which
/// values `X.dw` reads is a minimum cut: those that `X.bi` returns for it and
/// those operands of the body that it reads itself are, together, the fewest
/// bytes, for these are what lives from one half to the other. Among such cuts
/// the one with the fewest ops that run twice is taken. A parameter gradient
/// that is made in `X.bi` (an op with several results that reads a weight) is
/// passed to `X.dw`, which returns a copy, so that all accumulators are those
/// of one task.
///
/// Requires: results are floating point, and none is an operand or another
/// result.
BackwardHalves cutBackward(BodyTable &bodies, func::FuncOp body,
                           const llvm::BitVector &inputGradients,
                           const llvm::BitVector &parameters);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_SPLIT_CUTBACKWARD_H

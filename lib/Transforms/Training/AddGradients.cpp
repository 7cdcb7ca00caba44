// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of two gradients of one value.

#include "AddGradients.h"

using namespace mlir;
using namespace mlir::piper;

/// The sum of two gradients of slices that lie side by side, as one: the sum of
/// pad(a) and pad(b) is pad(concat(a, b)). Null if they do not.
static Value joinPads(OpBuilder &builder, Value first, Value second) {
  auto a = first.getDefiningOp<PadOp>(), b = second.getDefiningOp<PadOp>();
  if (!a || !b)
    return {};
  auto aType = cast<RankedTensorType>(a.getX().getType());
  auto bType = cast<RankedTensorType>(b.getX().getType());
  std::optional<int64_t> dim;
  for (int64_t i = 0; i < aType.getRank(); ++i) {
    if (a.getOffsets()[i] == b.getOffsets()[i] &&
        aType.getDimSize(i) == bType.getDimSize(i))
      continue;
    if (dim)
      return {};
    dim = i;
  }
  if (!dim)
    return {};
  if (b.getOffsets()[*dim] < a.getOffsets()[*dim]) {
    std::swap(a, b);
    std::swap(aType, bType);
  }
  if (a.getOffsets()[*dim] + aType.getDimSize(*dim) != b.getOffsets()[*dim])
    return {};
  // Pieces that are concatenations along this dimension themselves are joined.
  SmallVector<Value> parts;
  for (Value part : {a.getX(), b.getX()}) {
    auto concat = part.getDefiningOp<ConcatOp>();
    if (concat && concat.getDim() == static_cast<uint64_t>(*dim))
      llvm::append_range(parts, concat.getParts());
    else
      parts.push_back(part);
  }
  SmallVector<int64_t> shape(aType.getShape());
  shape[*dim] += bType.getDimSize(*dim);
  Value joined = ConcatOp::create(builder, first.getLoc(), aType.clone(shape),
                                  parts, builder.getI64IntegerAttr(*dim));
  return builder.createOrFold<PadOp>(first.getLoc(), first.getType(), joined,
                                     a.getOffsets());
}

Value mlir::piper::addGradients(OpBuilder &builder, Value first, Value second) {
  if (Value joined = joinPads(builder, first, second))
    return joined;
  return AddOp::create(builder, second.getLoc(), first.getType(), first,
                       second);
}

Operation *mlir::piper::cloneWithResults(Operation *op, TypeRange types) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addTypes(types);
  state.addAttributes(op->getAttrs());
  OpBuilder builder(op);
  return builder.create(state);
}

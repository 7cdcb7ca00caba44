// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharding rules of constants, arithmetic, activations, reductions, shape ops
// and the matrix product.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/Shapes.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::piper;

using Dims = ShardingRule::Dims;
using Reduce = ShardingRule::Reduce;

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

/// A constant of equal elements can be made in any size (the engine writes the
/// value anew with the local type); of another each part has its own value.
ShardingRule ConstantOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = shapeOf(getResult());
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  rule.results.push_back(
      dense && dense.isSplat()
          ? rule.addDims(shape)
          : rule.addFixedDims(shape, "the elements of a constant differ"));
  return rule;
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

/// The dimensions of an operand of a matrix product: its batch dimensions,
/// aligned with those of the result at the last one, then two factors.
static Dims matrixDims(Value operand, const Dims &batch,
                       ArrayRef<int64_t> batchShape, int rows, int columns,
                       bool transposed) {
  ArrayRef<int64_t> shape = shapeOf(operand).drop_back(2);
  Dims dims(batch.end() - shape.size(), batch.end());
  for (auto [dim, size, whole] :
       llvm::zip_equal(dims, shape, batchShape.take_back(shape.size())))
    if (size != whole)
      dim.clear();
  if (transposed)
    std::swap(rows, columns);
  dims.push_back({rows});
  dims.push_back({columns});
  return dims;
}

ShardingRule MatmulOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = shapeOf(getY());
  ArrayRef<int64_t> batchShape = shape.drop_back(2);
  Dims batch = rule.addDims(batchShape);
  int m = rule.add(shape[shape.size() - 2]);
  int n = rule.add(shape.back());
  int k = rule.add(shapeOf(getA()).drop_back(getTransposeA() ? 1 : 0).back(),
                   Reduce::Sum);
  rule.operands = {
      matrixDims(getA(), batch, batchShape, m, k, getTransposeA()),
      matrixDims(getB(), batch, batchShape, k, n, getTransposeB())};
  rule.results = {matrixDims(getY(), batch, batchShape, m, n, false)};
  rule.linear = {{0}, {1}};
  return rule;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// Defines the rule of an element-wise op; the rest are its linear sets.
#define PIPER_ELEMENTWISE(Op, ...)                                             \
  ShardingRule Op::getShardingRule() {                                         \
    return ShardingRule::elementwise(*this, {__VA_ARGS__});                    \
  }

PIPER_ELEMENTWISE(AddOp, {0, 1})
PIPER_ELEMENTWISE(SubOp, {0, 1})
PIPER_ELEMENTWISE(MulOp, {0}, {1})
PIPER_ELEMENTWISE(DivOp, {0})
PIPER_ELEMENTWISE(SelectOp, {1, 2})
PIPER_ELEMENTWISE(ScaleOp, {0})
PIPER_ELEMENTWISE(NegOp, {0})
PIPER_ELEMENTWISE(ExpOp)
PIPER_ELEMENTWISE(LogOp)
PIPER_ELEMENTWISE(RsqrtOp)
PIPER_ELEMENTWISE(SquareOp)
PIPER_ELEMENTWISE(TanhOp)
PIPER_ELEMENTWISE(SigmoidOp)
PIPER_ELEMENTWISE(ReluOp)
PIPER_ELEMENTWISE(SiluOp)
PIPER_ELEMENTWISE(GeluOp)
PIPER_ELEMENTWISE(StopGradientOp, {0})
PIPER_ELEMENTWISE(TanhGradOp, {0})
PIPER_ELEMENTWISE(SigmoidGradOp, {0})
PIPER_ELEMENTWISE(ReluGradOp, {0})
PIPER_ELEMENTWISE(SiluGradOp, {0})
PIPER_ELEMENTWISE(GeluGradOp, {0})
PIPER_ELEMENTWISE(BroadcastOp, {0})

#undef PIPER_ELEMENTWISE

/// A cast is linear where it does not round: to a float type at least as wide.
ShardingRule CastOp::getShardingRule() {
  ShardingRule rule = ShardingRule::elementwise(*this);
  auto from = dyn_cast<FloatType>(elementTypeOf(getX()));
  auto to = dyn_cast<FloatType>(elementTypeOf(getY()));
  if (from && to && from.getWidth() <= to.getWidth())
    rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// `dims` as the result of a reduction has them.
static Dims reducedDims(const Dims &dims, ArrayRef<int64_t> reduced,
                        bool keepDims) {
  Dims result;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(reduced, static_cast<int64_t>(index)))
      result.push_back(dim);
    else if (keepDims)
      result.push_back({});
  }
  return result;
}

static ShardingRule reductionRule(Value x, ArrayRef<int64_t> reduced,
                                  bool keepDims, Reduce reduce) {
  ShardingRule rule;
  Dims dims = rule.addDims(shapeOf(x));
  for (int64_t dim : reduced)
    rule.factors[dims[dim].front()].reduce = reduce;
  rule.operands = {dims};
  rule.results = {reducedDims(dims, reduced, keepDims)};
  return rule;
}

ShardingRule ReduceSumOp::getShardingRule() {
  ShardingRule rule =
      reductionRule(getX(), getDims(), getKeepDims(), Reduce::Sum);
  rule.linear = {{0}};
  return rule;
}

ShardingRule ReduceMaxOp::getShardingRule() {
  return reductionRule(getX(), getDims(), getKeepDims(), Reduce::Max);
}

ShardingRule ReduceMaxGradOp::getShardingRule() {
  ShardingRule rule;
  Dims dims = rule.addDims(shapeOf(getX()));
  for (int64_t dim : getDims()) {
    ShardingRule::Factor &factor = rule.factors[dims[dim].front()];
    factor.splittable = false;
    factor.reason =
        "reduce_max_grad counts equal maxima over this whole dimension";
  }
  Dims reduced = reducedDims(dims, getDims(), getKeepDims());
  rule.operands = {reduced, dims, reduced};
  rule.results = {dims};
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

namespace {
/// Walks two shapes with the same number of elements from their first
/// dimensions on and factors both. A block ends where the products of the
/// dimensions so far agree; inside a block common factors are taken as long as
/// one of the two current dimensions is used up by it. From the first place
/// where neither divides the other to the end of the block there is nothing to
/// split: a contiguous part of one dimension is no box of the other shape.
class ReshapeFactors {
public:
  ReshapeFactors(ShardingRule &rule, ArrayRef<int64_t> from,
                 ArrayRef<int64_t> to)
      : rule(rule), sides{{from, Dims(from.size())}, {to, Dims(to.size())}} {}

  void run() {
    while (advance(sides[0]) && advance(sides[1])) {
      int64_t common = std::gcd(sides[0].rest, sides[1].rest);
      if (common > 1)
        take(common);
      if (sides[0].rest > 1 && sides[1].rest > 1)
        finishBlock();
    }
    rule.operands = {sides[0].dims};
    rule.results = {sides[1].dims};
  }

private:
  struct Side {
    ArrayRef<int64_t> shape;
    Dims dims;
    /// The dimension the walk is at, and what its factors do not cover yet.
    size_t dim = 0;
    int64_t rest = 1;
    bool started = false;
  };

  /// Moves on to a dimension with something left. False at the end.
  static bool advance(Side &side) {
    while (side.rest == 1) {
      if (side.started)
        ++side.dim;
      side.started = true;
      if (side.dim >= side.shape.size())
        return false;
      side.rest = side.shape[side.dim];
    }
    return true;
  }

  void take(int64_t size) {
    int factor = rule.add(size);
    for (Side &side : sides) {
      side.dims[side.dim].push_back(factor);
      side.rest /= size;
    }
  }

  /// Adds what is left of the current dimension as a factor of this side alone.
  int64_t fix(Side &side) {
    int64_t size = side.rest;
    side.dims[side.dim].push_back(rule.addFixed(
        size, "reshape mixes this dimension with its neighbours"));
    side.rest = 1;
    return size;
  }

  void finishBlock() {
    int64_t products[2] = {fix(sides[0]), fix(sides[1])};
    while (products[0] != products[1]) {
      int behind = products[0] < products[1] ? 0 : 1;
      if (!advance(sides[behind]))
        return;
      products[behind] *= fix(sides[behind]);
    }
  }

  ShardingRule &rule;
  Side sides[2];
};
} // namespace

ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getY());
  if (llvm::is_contained(from, 0)) {
    std::string reason = "a tensor without elements has no parts";
    rule.operands = {rule.addFixedDims(from, reason)};
    rule.results = {rule.addFixedDims(to, reason)};
  } else {
    ReshapeFactors(rule, from, to).run();
  }
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// Other shape ops
//===----------------------------------------------------------------------===//

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  Dims dims = rule.addDims(shapeOf(getX()));
  Dims permuted;
  for (int64_t dim : getPermutation())
    permuted.push_back(dims[dim]);
  rule.operands = {dims};
  rule.results = {permuted};
  rule.linear = {{0}};
  return rule;
}

/// Dimensions of equal size are shared; any other is fixed on both sides.
static ShardingRule windowRule(Value x, Value y, const std::string &reason) {
  ShardingRule rule;
  Dims from, to;
  for (auto [fromSize, toSize] : llvm::zip_equal(shapeOf(x), shapeOf(y))) {
    bool shared = fromSize == toSize;
    int factor = shared ? rule.add(fromSize) : rule.addFixed(fromSize, reason);
    from.push_back({factor});
    to.push_back({shared ? factor : rule.addFixed(toSize, reason)});
  }
  rule.operands = {from};
  rule.results = {to};
  rule.linear = {{0}};
  return rule;
}

ShardingRule SliceOp::getShardingRule() {
  return windowRule(getX(), getY(), "slice takes a part of this dimension");
}

ShardingRule PadOp::getShardingRule() {
  return windowRule(getX(), getY(), "pad adds zeros to this dimension");
}

ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule;
  const std::string reason = "concat joins its operands along this dimension";
  Dims dims = rule.addDims(shapeOf(getY()));
  rule.factors[dims[getDim()].front()].splittable = false;
  rule.factors[dims[getDim()].front()].reason = reason;
  rule.results = {dims};
  SmallVector<int> all;
  for (auto [index, part] : llvm::enumerate(getParts())) {
    dims[getDim()] = {rule.addFixed(shapeOf(part)[getDim()], reason)};
    rule.operands.push_back(dims);
    all.push_back(index);
  }
  rule.linear = {all};
  return rule;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of arithmetic, activations, reductions, shape ops and the matrix
// product, as vector-Jacobian products made of the dialect's ops.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/Shapes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::piper;

/// Opens the definition of an op's gradient: see DifferentiableOpInterface.
#define PIPER_GRADIENT(Op)                                                     \
  void Op::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,      \
                         ArrayRef<bool> wanted,                                \
                         MutableArrayRef<Value> operandGrads)

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                       ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value).clone(shape);
  if (type == value.getType())
    return value;
  return ReshapeOp::create(builder, loc, type, value);
}

/// Sums `grad` over the dimensions along which an operand of shape `shape` was
/// repeated, so that the sum has that shape.
static Value sumTo(OpBuilder &builder, Location loc, Value grad,
                   ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims = repeatedDims(shape, shapeOf(grad));
  if (dims.empty())
    return grad;
  // Where every summed dimension stays as 1 no reshape is needed.
  bool keepDims = shape.size() == shapeOf(grad).size();
  RankedTensorType type =
      typeOf(grad).clone(reducedShape(shapeOf(grad), dims, keepDims));
  Value sum = ReduceSumOp::create(builder, loc, type, grad, dims, keepDims);
  return reshapeTo(builder, loc, sum, shape);
}

static Value mul(OpBuilder &builder, Location loc, Value a, Value b) {
  return MulOp::create(builder, loc, a.getType(), a, b);
}

static Value scale(OpBuilder &builder, Location loc, Value x, double factor) {
  return ScaleOp::create(builder, loc, x.getType(), x,
                         builder.getF64FloatAttr(factor));
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

/// A matrix product of the last two dimensions, with the batch dimensions of
/// `like`, which has all of them.
static Value matmul(OpBuilder &builder, Location loc, Value a, Value b,
                    bool transposeA, bool transposeB, Value like) {
  SmallVector<int64_t> shape(shapeOf(like).drop_back(2));
  shape.push_back(shapeOf(a).drop_back(transposeA ? 0 : 1).back());
  shape.push_back(shapeOf(b).drop_back(transposeB ? 1 : 0).back());
  return MatmulOp::create(builder, loc, typeOf(a).clone(shape), a, b,
                          transposeA, transposeB);
}

static int64_t batchSize(Value matrix) {
  return computeProduct(shapeOf(matrix).drop_back(2));
}

/// The matrices of `x` one below the other: [.., M, N] -> [.. M, N]. Reads the
/// last two dimensions in the other order if `transposed`.
static Value stackRows(OpBuilder &builder, Location loc, Value x,
                       bool transposed) {
  if (transposed) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(shapeOf(x).size()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    auto type = typeOf(x).clone(applyPermutation(shapeOf(x), order));
    x = TransposeOp::create(builder, loc, type, x, order);
  }
  int64_t columns = shapeOf(x).back();
  int64_t rows = computeProduct(shapeOf(x).drop_back());
  return reshapeTo(builder, loc, x, {rows, columns});
}

/// The gradient of an operand that all matrices of a batch share: the sum of
/// p^T q over the batch, one product of the stacked rows. `swapped` returns its
/// transpose.
static Value sharedGradient(OpBuilder &builder, Location loc, Value p, Value q,
                            bool swapped) {
  if (swapped)
    std::swap(p, q);
  return matmul(builder, loc, p, q, /*transposeA=*/true, /*transposeB=*/false,
                p);
}

/// dA = dY B^T, stored as A is.
static Value gradientOfA(OpBuilder &builder, MatmulOp op, Value dy) {
  Location loc = op.getLoc();
  Value a = op.getA(), b = op.getB();
  bool ta = op.getTransposeA(), tb = op.getTransposeB();
  Value da;
  if (batchSize(a) == 1 && batchSize(dy) > 1)
    da = sharedGradient(builder, loc, stackRows(builder, loc, dy, true),
                        stackRows(builder, loc, b, !tb), ta);
  else if (ta)
    da = matmul(builder, loc, b, dy, tb, true, dy);
  else
    da = matmul(builder, loc, dy, b, false, !tb, dy);
  if (batchSize(a) == 1)
    return reshapeTo(builder, loc, da, shapeOf(a));
  return sumTo(builder, loc, da, shapeOf(a));
}

/// dB = A^T dY, stored as B is.
static Value gradientOfB(OpBuilder &builder, MatmulOp op, Value dy) {
  Location loc = op.getLoc();
  Value a = op.getA(), b = op.getB();
  bool ta = op.getTransposeA(), tb = op.getTransposeB();
  Value db;
  if (batchSize(b) == 1 && batchSize(dy) > 1)
    db = sharedGradient(builder, loc, stackRows(builder, loc, a, ta),
                        stackRows(builder, loc, dy, false), tb);
  else if (tb)
    db = matmul(builder, loc, dy, a, true, ta, dy);
  else
    db = matmul(builder, loc, a, dy, !ta, false, dy);
  if (batchSize(b) == 1)
    return reshapeTo(builder, loc, db, shapeOf(b));
  return sumTo(builder, loc, db, shapeOf(b));
}

PIPER_GRADIENT(MatmulOp) {
  if (wanted[0])
    operandGrads[0] = gradientOfA(builder, *this, resultGrads[0]);
  if (wanted[1])
    operandGrads[1] = gradientOfB(builder, *this, resultGrads[0]);
}

//===----------------------------------------------------------------------===//
// Arithmetic with broadcasting
//===----------------------------------------------------------------------===//

PIPER_GRADIENT(AddOp) {
  if (wanted[0])
    operandGrads[0] = sumTo(builder, getLoc(), resultGrads[0], shapeOf(getA()));
  if (wanted[1])
    operandGrads[1] = sumTo(builder, getLoc(), resultGrads[0], shapeOf(getB()));
}

PIPER_GRADIENT(SubOp) {
  if (wanted[0])
    operandGrads[0] = sumTo(builder, getLoc(), resultGrads[0], shapeOf(getA()));
  if (wanted[1]) {
    Value sum = sumTo(builder, getLoc(), resultGrads[0], shapeOf(getB()));
    operandGrads[1] = NegOp::create(builder, getLoc(), sum.getType(), sum);
  }
}

PIPER_GRADIENT(MulOp) {
  Location loc = getLoc();
  Value dy = resultGrads[0];
  if (wanted[0])
    operandGrads[0] =
        sumTo(builder, loc, mul(builder, loc, dy, getB()), shapeOf(getA()));
  if (wanted[1])
    operandGrads[1] =
        sumTo(builder, loc, mul(builder, loc, dy, getA()), shapeOf(getB()));
}

PIPER_GRADIENT(DivOp) {
  if (!wanted[0] && !wanted[1])
    return;
  Location loc = getLoc();
  // dA = dY / B and dB = -dY A / B^2 = -(dY / B) Y share the quotient.
  Value quotient =
      DivOp::create(builder, loc, getType(), resultGrads[0], getB());
  if (wanted[0])
    operandGrads[0] = sumTo(builder, loc, quotient, shapeOf(getA()));
  if (wanted[1]) {
    Value sum = sumTo(builder, loc, mul(builder, loc, quotient, getY()),
                      shapeOf(getB()));
    operandGrads[1] = NegOp::create(builder, loc, sum.getType(), sum);
  }
}

PIPER_GRADIENT(SelectOp) {
  if (!wanted[1] && !wanted[2])
    return;
  Location loc = getLoc();
  Value dy = resultGrads[0];
  auto scalarType = RankedTensorType::get({}, getType().getElementType());
  Value zero = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          scalarType, builder.getFloatAttr(scalarType.getElementType(), 0)));
  auto masked = [&](Value ifTrue, Value ifFalse, Value operand) {
    Value grad =
        SelectOp::create(builder, loc, getType(), getMask(), ifTrue, ifFalse);
    return sumTo(builder, loc, grad, shapeOf(operand));
  };
  if (wanted[1])
    operandGrads[1] = masked(dy, zero, getA());
  if (wanted[2])
    operandGrads[2] = masked(zero, dy, getB());
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

PIPER_GRADIENT(ScaleOp) {
  if (wanted[0])
    operandGrads[0] = ScaleOp::create(builder, getLoc(), getType(),
                                      resultGrads[0], getFactorAttr());
}

PIPER_GRADIENT(NegOp) {
  if (wanted[0])
    operandGrads[0] =
        NegOp::create(builder, getLoc(), getType(), resultGrads[0]);
}

PIPER_GRADIENT(ExpOp) {
  if (wanted[0])
    operandGrads[0] = mul(builder, getLoc(), resultGrads[0], getY());
}

PIPER_GRADIENT(LogOp) {
  if (wanted[0])
    operandGrads[0] =
        DivOp::create(builder, getLoc(), getType(), resultGrads[0], getX());
}

PIPER_GRADIENT(RsqrtOp) {
  if (!wanted[0])
    return;
  // d x^(-1/2) = -1/2 x^(-3/2) = -1/2 y^3. Factor by factor: y^3 alone may
  // overflow or underflow where the gradient does not.
  Location loc = getLoc();
  Value grad = scale(builder, loc, resultGrads[0], -0.5);
  for (int factor = 0; factor < 3; ++factor)
    grad = mul(builder, loc, grad, getY());
  operandGrads[0] = grad;
}

PIPER_GRADIENT(SquareOp) {
  if (wanted[0])
    operandGrads[0] = scale(
        builder, getLoc(), mul(builder, getLoc(), resultGrads[0], getX()), 2.0);
}

PIPER_GRADIENT(TanhOp) {
  if (wanted[0])
    operandGrads[0] = TanhGradOp::create(builder, getLoc(), getType(),
                                         resultGrads[0], getY());
}

PIPER_GRADIENT(SigmoidOp) {
  if (wanted[0])
    operandGrads[0] = SigmoidGradOp::create(builder, getLoc(), getType(),
                                            resultGrads[0], getY());
}

PIPER_GRADIENT(ReluOp) {
  if (wanted[0])
    operandGrads[0] = ReluGradOp::create(builder, getLoc(), getType(),
                                         resultGrads[0], getX());
}

PIPER_GRADIENT(SiluOp) {
  if (wanted[0])
    operandGrads[0] = SiluGradOp::create(builder, getLoc(), getType(),
                                         resultGrads[0], getX());
}

PIPER_GRADIENT(GeluOp) {
  if (wanted[0])
    operandGrads[0] = GeluGradOp::create(
        builder, getLoc(), getType(), resultGrads[0], getX(), getApproximate());
}

PIPER_GRADIENT(StopGradientOp) {}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

PIPER_GRADIENT(ReduceSumOp) {
  if (!wanted[0])
    return;
  Value dy = reshapeTo(builder, getLoc(), resultGrads[0],
                       reducedShape(shapeOf(getX()), getDims(), true));
  if (dy.getType() != getX().getType())
    dy = BroadcastOp::create(builder, getLoc(), getX().getType(), dy);
  operandGrads[0] = dy;
}

PIPER_GRADIENT(ReduceMaxOp) {
  if (wanted[0])
    operandGrads[0] = ReduceMaxGradOp::create(
        builder, getLoc(), getX().getType(), resultGrads[0], getX(), getY(),
        getDims(), getKeepDims());
}

//===----------------------------------------------------------------------===//
// Shapes and element types
//===----------------------------------------------------------------------===//

PIPER_GRADIENT(ReshapeOp) {
  if (wanted[0])
    operandGrads[0] =
        reshapeTo(builder, getLoc(), resultGrads[0], shapeOf(getX()));
}

PIPER_GRADIENT(TransposeOp) {
  if (wanted[0])
    operandGrads[0] =
        TransposeOp::create(builder, getLoc(), getX().getType(), resultGrads[0],
                            invertPermutationVector(getPermutation()));
}

PIPER_GRADIENT(SliceOp) {
  if (wanted[0])
    operandGrads[0] = PadOp::create(builder, getLoc(), getX().getType(),
                                    resultGrads[0], getOffsets());
}

PIPER_GRADIENT(PadOp) {
  if (wanted[0])
    operandGrads[0] = SliceOp::create(builder, getLoc(), getX().getType(),
                                      resultGrads[0], getOffsets());
}

PIPER_GRADIENT(ConcatOp) {
  SmallVector<int64_t> offsets(getType().getRank(), 0);
  for (auto [index, part] : llvm::enumerate(getParts())) {
    if (wanted[index])
      operandGrads[index] = SliceOp::create(builder, getLoc(), part.getType(),
                                            resultGrads[0], offsets);
    offsets[getDim()] += shapeOf(part)[getDim()];
  }
}

PIPER_GRADIENT(BroadcastOp) {
  if (wanted[0])
    operandGrads[0] = sumTo(builder, getLoc(), resultGrads[0], shapeOf(getX()));
}

PIPER_GRADIENT(CastOp) {
  bool floats = isa<FloatType>(elementTypeOf(getX())) &&
                isa<FloatType>(elementTypeOf(getY()));
  if (wanted[0] && floats)
    operandGrads[0] =
        CastOp::create(builder, getLoc(), getX().getType(), resultGrads[0]);
}

#undef PIPER_GRADIENT

//===----------------------------------------------------------------------===//
// What the backward computes again
//===----------------------------------------------------------------------===//

bool AddOp::isCheapToRecompute() { return true; }
bool SubOp::isCheapToRecompute() { return true; }
bool MulOp::isCheapToRecompute() { return true; }
bool DivOp::isCheapToRecompute() { return true; }
bool SelectOp::isCheapToRecompute() { return true; }
bool ScaleOp::isCheapToRecompute() { return true; }
bool NegOp::isCheapToRecompute() { return true; }
bool ExpOp::isCheapToRecompute() { return true; }
bool LogOp::isCheapToRecompute() { return true; }
bool RsqrtOp::isCheapToRecompute() { return true; }
bool SquareOp::isCheapToRecompute() { return true; }
bool TanhOp::isCheapToRecompute() { return true; }
bool SigmoidOp::isCheapToRecompute() { return true; }
bool ReluOp::isCheapToRecompute() { return true; }
bool SiluOp::isCheapToRecompute() { return true; }
bool GeluOp::isCheapToRecompute() { return true; }
bool StopGradientOp::isCheapToRecompute() { return true; }
bool ReshapeOp::isCheapToRecompute() { return true; }
bool TransposeOp::isCheapToRecompute() { return true; }
bool SliceOp::isCheapToRecompute() { return true; }
bool PadOp::isCheapToRecompute() { return true; }
bool ConcatOp::isCheapToRecompute() { return true; }
bool BroadcastOp::isCheapToRecompute() { return true; }
bool CastOp::isCheapToRecompute() { return true; }

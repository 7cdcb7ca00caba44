// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each op costs: floating point operations and bytes, from shapes alone.
// They compare ops and price schedules; they need not count instructions.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::piper;

/// Operations of one exponential, logarithm, hyperbolic tangent or error
/// function: a range reduction and a polynomial.
static constexpr int64_t kFunction = 8;

static int64_t elements(Value value) {
  return elementCount(shapeOf(value))
      .value_or(std::numeric_limits<int64_t>::max());
}

/// A product and a sum that stay at the largest int64_t instead of overflowing.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max()
                                          : product;
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max()
                                      : sum;
}

/// As the runtime stores it: an i1 takes one byte.
static int64_t bytes(Value value) {
  unsigned bits = elementTypeOf(value).getIntOrFloatBitWidth();
  return times(elements(value), llvm::divideCeil(bits, 8));
}

int64_t piper::operandAndResultBytes(Operation *op) {
  int64_t sum = 0;
  auto add = [&](Value value) { sum = plus(sum, bytes(value)); };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return sum;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

int64_t MatmulOp::getFlops() {
  int64_t inner = shapeOf(getA()).drop_back(getTransposeA() ? 1 : 0).back();
  return times(times(2, elements(getY())), inner);
}

/// Two products of [queries, head size] and [keys, head size] per head. A
/// causal mask leaves half of the scores (exactly so for long sequences).
static int64_t attentionFlops(Value q, Value k, bool causal) {
  int64_t all = times(times(4, elements(q)), shapeOf(k)[1]);
  return causal ? all / 2 : all;
}

int64_t AttentionOp::getFlops() {
  return attentionFlops(getQ(), getK(), getCausal());
}

/// Five products where the forward has two: the scores again, and one product
/// each for the gradients of the scores, q, k and v.
int64_t AttentionGradOp::getFlops() {
  return times(attentionFlops(getQ(), getK(), getCausal()), 5) / 2;
}

//===----------------------------------------------------------------------===//
// So many operations per element of a value
//===----------------------------------------------------------------------===//

#define PIPER_FLOPS(Op, value, perElement)                                     \
  int64_t Op::getFlops() { return times(elements(value), perElement); }

// Arithmetic.
PIPER_FLOPS(AddOp, getY(), 1)
PIPER_FLOPS(SubOp, getY(), 1)
PIPER_FLOPS(MulOp, getY(), 1)
PIPER_FLOPS(DivOp, getY(), 1)
PIPER_FLOPS(SelectOp, getY(), 1)
PIPER_FLOPS(ScaleOp, getY(), 1)
PIPER_FLOPS(NegOp, getY(), 1)
PIPER_FLOPS(SquareOp, getY(), 1)
PIPER_FLOPS(RsqrtOp, getY(), 2)
PIPER_FLOPS(CastOp, getY(), 1)

// Activations and their gradients.
PIPER_FLOPS(ExpOp, getY(), kFunction)
PIPER_FLOPS(LogOp, getY(), kFunction)
PIPER_FLOPS(TanhOp, getY(), kFunction)
PIPER_FLOPS(SigmoidOp, getY(), kFunction + 2)
PIPER_FLOPS(ReluOp, getY(), 1)
PIPER_FLOPS(SiluOp, getY(), kFunction + 3)
PIPER_FLOPS(GeluOp, getY(), kFunction + (getApproximate() ? 8 : 4))
PIPER_FLOPS(TanhGradOp, getDx(), 3)
PIPER_FLOPS(SigmoidGradOp, getDx(), 3)
PIPER_FLOPS(ReluGradOp, getDx(), 1)
PIPER_FLOPS(SiluGradOp, getDx(), kFunction + 7)
PIPER_FLOPS(GeluGradOp, getDx(),
            getApproximate() ? kFunction + 16 : 2 * kFunction + 9)

// Reductions.
PIPER_FLOPS(ReduceSumOp, getX(), 1)
PIPER_FLOPS(ReduceMaxOp, getX(), 1)
PIPER_FLOPS(ReduceMaxGradOp, getX(), 2)

// Data movement.
PIPER_FLOPS(ConstantOp, getResult(), 0)
PIPER_FLOPS(StopGradientOp, getY(), 0)
PIPER_FLOPS(ReshapeOp, getY(), 0)
PIPER_FLOPS(TransposeOp, getY(), 0)
PIPER_FLOPS(SliceOp, getY(), 0)
PIPER_FLOPS(PadOp, getY(), 0)
PIPER_FLOPS(ConcatOp, getY(), 0)
PIPER_FLOPS(BroadcastOp, getY(), 0)
PIPER_FLOPS(EmbeddingOp, getY(), 0)
PIPER_FLOPS(EmbeddingGradOp, getDy(), 1)

// Blocks of a transformer.
PIPER_FLOPS(LayerNormOp, getX(), 8)
PIPER_FLOPS(LayerNormGradOp, getX(), 13)
PIPER_FLOPS(SoftmaxOp, getY(), kFunction + 4)
PIPER_FLOPS(SoftmaxGradOp, getDx(), 4)
PIPER_FLOPS(DropoutOp, getY(), 1)
PIPER_FLOPS(CrossEntropyOp, getLogits(), kFunction + 3)
PIPER_FLOPS(CrossEntropyGradOp, getLogits(), kFunction + 2)
PIPER_FLOPS(DivideOp, getMean(), 1)
PIPER_FLOPS(ReciprocalOp, getY(), 1)

// Of integers.
PIPER_FLOPS(RandomKeyOp, getKey(), 0)
PIPER_FLOPS(OriginOp, getOrigin(), 0)
PIPER_FLOPS(CountValidOp, getLabels(), 0)
PIPER_FLOPS(AdvanceOp, getNextUpdate(), 0)

// The end of a step.
PIPER_FLOPS(LearningRateOp, getY(), kFunction)
PIPER_FLOPS(ClipOp, getSum(), 2)
PIPER_FLOPS(SgdOp, getParam(), getVelocity() ? 7 : 5)
PIPER_FLOPS(AdamWOp, getParam(), 16)
PIPER_FLOPS(SgdCheckOp, getParam(), getVelocity() ? 7 : 5)
PIPER_FLOPS(AdamWCheckOp, getParam(), 16)

#undef PIPER_FLOPS

int64_t NormTableOp::getFlops() {
  int64_t sum = 0;
  for (Value gradient : getGradients())
    sum = plus(sum, times(2, elements(gradient)));
  return sum;
}

//===----------------------------------------------------------------------===//
// Bytes, where they are not all operands and results
//===----------------------------------------------------------------------===//

/// The same memory under another type.
int64_t ReshapeOp::getBytes() { return 0; }

int64_t SliceOp::getBytes() { return times(2, bytes(getY())); }

/// Reads as many elements of the table as it writes.
int64_t EmbeddingOp::getBytes() {
  return plus(times(2, bytes(getY())), bytes(getIds()));
}

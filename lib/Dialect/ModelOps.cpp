// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and folds of the blocks of a transformer: embedding, norm, softmax,
// attention, dropout, loss.

#include "Checks.h"

#include "Piper/Dialect/PiperDialect.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

/// `shape` with one dimension more at its end.
static SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t last) {
  SmallVector<int64_t> longer(shape);
  longer.push_back(last);
  return longer;
}

//===----------------------------------------------------------------------===//
// embedding
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  if (failed(expectRank(*this, "operand 'table'", getTable(), 2,
                        "[rows, columns]")))
    return failure();
  return expectType(*this, "result 'y'", getY(),
                    withLast(shapeOf(getIds()), shapeOf(getTable())[1]),
                    elementTypeOf(getTable()), "one row of 'table' per id");
}

LogicalResult EmbeddingGradOp::verify() {
  if (failed(expectRank(*this, "result 'dtable'", getDtable(), 2,
                        "[rows, columns]")))
    return failure();
  return expectType(*this, "operand 'dy'", getDy(),
                    withLast(shapeOf(getIds()), shapeOf(getDtable())[1]),
                    elementTypeOf(getDtable()), "one row of 'dtable' per id");
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

/// One number per row of `x`, or the gain or shift of its columns.
static LogicalResult expectPerRow(Operation *op, StringRef what, Value value,
                                  Value x) {
  return expectType(op, what, value, shapeOf(x).drop_back(),
                    statisticsType(elementTypeOf(x)),
                    "one number per row of 'x'");
}
static LogicalResult expectPerColumn(Operation *op, StringRef what, Value value,
                                     Value x) {
  return expectType(op, what, value, shapeOf(x).take_back(), elementTypeOf(x),
                    "one number per column of 'x'");
}

LogicalResult LayerNormOp::verify() {
  if (failed(expectRankAtLeast(*this, "operand 'x'", getX(), 1)) ||
      failed(expectPerColumn(*this, "operand 'gamma'", getGamma(), getX())) ||
      failed(expectPerColumn(*this, "operand 'beta'", getBeta(), getX())) ||
      failed(expectPositive(*this, "eps", getEps().convertToDouble())) ||
      failed(expectNumberOf(*this, "eps", getEps().convertToDouble(),
                            elementTypeOf(getX()))) ||
      failed(expectTypeOf(*this, "result 'y'", getY(), "operand 'x'", getX())))
    return failure();
  if (getSaved().empty())
    return success();
  if (getSaved().size() != 2)
    return emitOpError() << "expects 0 or 2 saved results (the mean and "
                            "1/sqrt(var + eps) of each row) but got "
                         << getSaved().size();
  if (failed(expectPerRow(*this, "saved result #0", getSaved()[0], getX())))
    return failure();
  return expectPerRow(*this, "saved result #1", getSaved()[1], getX());
}

LogicalResult LayerNormGradOp::verify() {
  if (failed(expectRankAtLeast(*this, "operand 'x'", getX(), 1)) ||
      failed(expectTypeOf(*this, "operand 'dy'", getDy(), "operand 'x'",
                          getX())) ||
      failed(expectPerColumn(*this, "operand 'gamma'", getGamma(), getX())) ||
      failed(expectPerRow(*this, "operand 'mean'", getMean(), getX())) ||
      failed(expectPerRow(*this, "operand 'rstd'", getRstd(), getX())) ||
      failed(
          expectTypeOf(*this, "result 'dx'", getDx(), "operand 'x'", getX())) ||
      failed(expectPerColumn(*this, "result 'dgamma'", getDgamma(), getX())))
    return failure();
  return expectPerColumn(*this, "result 'dbeta'", getDbeta(), getX());
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  return expectRankAtLeast(*this, "operand 'x'", getX(), 1);
}
LogicalResult SoftmaxGradOp::verify() {
  return expectRankAtLeast(*this, "operand 'saved'", getSaved(), 1);
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

static LogicalResult expectKey(Operation *op, Value key) {
  return expectType(op, "operand 'key'", key, {2},
                    IntegerType::get(op->getContext(), 64), "seed and update");
}

/// Checks the shapes of `q`, `k` and `v`, the same for an attention and its
/// gradient.
static LogicalResult verifyHeads(Operation *op, Value q, Value k, Value v) {
  if (failed(expectRank(op, "operand 'q'", q, 4,
                        "[batch, queries, heads, head size]")) ||
      failed(expectRank(op, "operand 'k'", k, 4,
                        "[batch, keys, key heads, head size]")))
    return failure();
  ArrayRef<int64_t> qShape = shapeOf(q), kShape = shapeOf(k);
  if (failed(expectType(op, "operand 'k'", k,
                        {qShape[0], kShape[1], kShape[2], qShape[3]},
                        elementTypeOf(q), "batch and head size of 'q'")) ||
      failed(expectTypeOf(op, "operand 'v'", v, "operand 'k'", k)))
    return failure();
  if (kShape[2] > 0 && qShape[2] % kShape[2] == 0)
    return success();
  return op->emitOpError() << "expects the key heads of operand 'k' to divide "
                              "the "
                           << qShape[2] << " heads of operand 'q' but got "
                           << kShape[2];
}

/// Checks where a piece of shape `part` lies in the whole tensor: an origin,
/// which may be null, and the shape of the whole.
static LogicalResult verifyPlace(Operation *op, Value origin,
                                 ArrayRef<int64_t> part,
                                 std::optional<ArrayRef<int64_t>> global,
                                 StringRef dims, StringRef what) {
  int64_t rank = part.size();
  if (origin && failed(expectType(op, "operand 'origin'", origin, {rank},
                                  elementTypeOf(origin), dims)))
    return failure();
  ArrayRef<int64_t> whole = global.value_or(part);
  bool holds = whole.size() == part.size();
  for (int64_t dim = 0; holds && dim < rank; ++dim)
    holds = whole[dim] >= part[dim];
  if (!holds)
    return op->emitOpError()
           << "expects 'global_shape' to hold the shape " << shapeText(part)
           << " of " << what << " but got " << shapeText(whole);
  // Elements are numbered with 64 bits.
  if (!elementCount(whole))
    return op->emitOpError() << "expects the whole tensor to have fewer than "
                                "2^63 elements but got "
                             << shapeText(whole);
  return success();
}

/// Checks the key of an attention with dropout, and where its scores lie.
template <typename OpTy> static LogicalResult verifyRandom(OpTy op) {
  if (op.getRandom().size() > 2)
    return op.emitOpError() << "expects a key and an origin at most in operand "
                               "'random' but got "
                            << op.getRandom().size() << " values";
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  if (failed(expectKey(op, op.getKey())))
    return failure();
  return verifyPlace(
      op, op.getOrigin(), {q[0], q[2], q[1], shapeOf(op.getK())[1]},
      op.getGlobalShape(), "one number for batch, heads, queries and keys",
      "the scores");
}

/// Checks scale, mask, dropout and the random numbers.
template <typename OpTy> static LogicalResult verifyScores(OpTy op) {
  double scale = op.getScale().convertToDouble();
  if (!std::isfinite(scale))
    return op.emitOpError()
           << "expects 'scale' to be finite but got " << numberText(scale);
  if (failed(expectNumberOf(op, "scale", scale, elementTypeOf(op.getQ()))))
    return failure();
  int64_t queries = shapeOf(op.getQ())[1], keys = shapeOf(op.getK())[1];
  if (op.getCausal() && keys < queries)
    return op.emitOpError()
           << "expects at least as many keys as the " << queries
           << " queries with 'causal' but got " << keys;
  double dropout = op.getDropout().convertToDouble();
  if (failed(expectInRange(op, "dropout", dropout, 0, 1)) ||
      failed(
          expectNumberOf(op, "dropout", dropout, elementTypeOf(op.getQ()))) ||
      failed(expectNotNegative(op, "index", op.getIndexAttr().getInt())))
    return failure();
  if (dropout > 0 && !op.getKey())
    return op.emitOpError() << "expects an operand 'key' with 'dropout' = "
                            << numberText(dropout)
                            << " but got none; take it from 'piper.random_key'";
  if (dropout == 0 && op.getKey())
    return op.emitOpError() << "expects no operand 'key' without 'dropout' but "
                               "got one; remove it or set 'dropout'";
  if (dropout == 0 && op.getGlobalShape())
    return op.emitOpError() << "expects no 'global_shape' without 'dropout'";
  return op.getKey() ? verifyRandom(op) : success();
}

/// A statistic of the scores: [batch, heads, queries].
static LogicalResult expectPerQuery(Operation *op, StringRef what, Value value,
                                    Value q) {
  ArrayRef<int64_t> shape = shapeOf(q);
  return expectType(op, what, value, {shape[0], shape[2], shape[1]},
                    statisticsType(elementTypeOf(q)),
                    "one number per sequence, head and query");
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyHeads(*this, getQ(), getK(), getV())) ||
      failed(verifyScores(*this)) ||
      failed(expectTypeOf(*this, "result 'y'", getY(), "operand 'q'", getQ())))
    return failure();
  if (getSaved().empty())
    return success();
  if (getSaved().size() != 2)
    return emitOpError() << "expects 0 or 2 saved results (the largest score "
                            "of each query and the sum of its weights) but got "
                         << getSaved().size();
  if (failed(expectPerQuery(*this, "saved result #0", getSaved()[0], getQ())))
    return failure();
  return expectPerQuery(*this, "saved result #1", getSaved()[1], getQ());
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyHeads(*this, getQ(), getK(), getV())) ||
      failed(verifyScores(*this)) ||
      failed(expectTypeOf(*this, "operand 'dy'", getDy(), "operand 'q'",
                          getQ())) ||
      failed(expectPerQuery(*this, "operand 'top'", getTop(), getQ())) ||
      failed(expectPerQuery(*this, "operand 'total'", getTotal(), getQ())) ||
      failed(
          expectTypeOf(*this, "result 'dq'", getDq(), "operand 'q'", getQ())) ||
      failed(
          expectTypeOf(*this, "result 'dk'", getDk(), "operand 'k'", getK())))
    return failure();
  return expectTypeOf(*this, "result 'dv'", getDv(), "operand 'v'", getV());
}

//===----------------------------------------------------------------------===//
// random_key, origin, dropout
//===----------------------------------------------------------------------===//

LogicalResult RandomKeyOp::verify() {
  if (!getCounters().empty() && getCounters().size() != 2)
    return emitOpError()
           << "expects no operands or 2 (seed and update) but got "
           << getCounters().size();
  return expectType(*this, "result 'key'", getKey(), {2},
                    IntegerType::get(getContext(), 64), "seed and update");
}

LogicalResult OriginOp::verify() {
  int64_t rank = getStep().size();
  if (rank == 0)
    return emitOpError() << "expects a 'step' for each dimension but got none";
  for (int64_t step : getStep())
    if (failed(expectNotNegative(*this, "step", step)))
      return failure();
  return expectType(*this, "result 'origin'", getOrigin(), {rank},
                    IntegerType::get(getContext(), 64),
                    "one number per element of 'step'");
}

LogicalResult DropoutOp::verify() {
  if (failed(expectKey(*this, getKey())) ||
      failed(expectInRange(*this, "p", getP().convertToDouble(), 0, 1)) ||
      failed(expectNumberOf(*this, "p", getP().convertToDouble(),
                            elementTypeOf(getX()))) ||
      failed(expectNotNegative(*this, "index", getIndexAttr().getInt())) ||
      failed(verifyPlace(*this, getOrigin(), shapeOf(getX()), getGlobalShape(),
                         "one number per dimension of 'x'", "operand 'x'")))
    return failure();
  return expectTypeOf(*this, "result 'y'", getY(), "operand 'x'", getX());
}

OpFoldResult DropoutOp::fold(FoldAdaptor adaptor) {
  return getP().isZero() ? getX() : Value();
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

/// One label per row of `logits`.
static LogicalResult verifyLabels(Operation *op, Value logits, Value labels) {
  if (failed(expectRankAtLeast(op, "operand 'logits'", logits, 1)))
    return failure();
  return expectType(op, "operand 'labels'", labels, shapeOf(logits).drop_back(),
                    elementTypeOf(labels), "one label per row of 'logits'");
}
static LogicalResult expectPerLogitsRow(Operation *op, StringRef what,
                                        Value value, Value logits) {
  return expectType(op, what, value, shapeOf(logits).drop_back(),
                    statisticsType(elementTypeOf(logits)),
                    "one number per row of 'logits'");
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyLabels(*this, getLogits(), getLabels())) ||
      failed(expectType(*this, "result 'sum'", getSum(), {},
                        statisticsType(elementTypeOf(getLogits())),
                        "the sum over all rows")))
    return failure();
  if (getSaved().empty())
    return success();
  if (getSaved().size() != 2)
    return emitOpError() << "expects 0 or 2 saved results (the largest logit "
                            "of each row and the sum of its weights) but got "
                         << getSaved().size();
  if (failed(expectPerLogitsRow(*this, "saved result #0", getSaved()[0],
                                getLogits())))
    return failure();
  return expectPerLogitsRow(*this, "saved result #1", getSaved()[1],
                            getLogits());
}

LogicalResult CrossEntropyGradOp::verify() {
  if (failed(verifyLabels(*this, getLogits(), getLabels())) ||
      failed(expectType(*this, "operand 'dsum'", getDsum(), {},
                        statisticsType(elementTypeOf(getLogits())),
                        "the gradient of the sum")) ||
      failed(
          expectPerLogitsRow(*this, "operand 'top'", getTop(), getLogits())) ||
      failed(expectPerLogitsRow(*this, "operand 'total'", getTotal(),
                                getLogits())))
    return failure();
  return expectTypeOf(*this, "result 'dlogits'", getDlogits(),
                      "operand 'logits'", getLogits());
}

LogicalResult DivideOp::verify() {
  if (failed(expectType(*this, "operand 'sum'", getSum(), {},
                        elementTypeOf(getSum()), "a scalar")))
    return failure();
  return expectTypeOf(*this, "result 'mean'", getMean(), "operand 'sum'",
                      getSum());
}

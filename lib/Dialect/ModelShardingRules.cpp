// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharding rules of the larger blocks of a transformer and of the ops at the
// end of a step.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/Shapes.h"

using namespace mlir;
using namespace mlir::piper;

using Dims = ShardingRule::Dims;
using Reduce = ShardingRule::Reduce;

/// The dimension of a random key.
static Dims keyDims(ShardingRule &rule, Value key) {
  return rule.addFixedDims(shapeOf(key), "a random key is a pair of numbers");
}

static Dims originDims(ShardingRule &rule, Value origin) {
  return rule.addFixedDims(shapeOf(origin),
                           "an origin has one number per dimension");
}

/// `rows` with one more dimension at the end.
static Dims withLast(Dims rows, int factor) {
  rows.push_back({factor});
  return rows;
}

//===----------------------------------------------------------------------===//
// embedding
//===----------------------------------------------------------------------===//

ShardingRule EmbeddingOp::getShardingRule() {
  ShardingRule rule;
  Dims positions = rule.addDims(shapeOf(getIds()));
  int columns = rule.add(shapeOf(getTable())[1]);
  int rows = rule.addFixed(shapeOf(getTable())[0],
                           "embedding looks up rows of the whole table");
  rule.operands = {Dims{{rows}, {columns}}, positions};
  rule.results = {withLast(positions, columns)};
  rule.linear = {{0}};
  return rule;
}

ShardingRule EmbeddingGradOp::getShardingRule() {
  ShardingRule rule;
  Dims positions = rule.addDims(shapeOf(getIds()), Reduce::Sum);
  int columns = rule.add(shapeOf(getDtable())[1]);
  int rows = rule.addFixed(shapeOf(getDtable())[0],
                           "embedding_grad adds to rows of the whole table");
  rule.operands = {withLast(positions, columns), positions};
  rule.results = {Dims{{rows}, {columns}}};
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

/// Without saved statistics, which do not depend on them, the result is
/// linear in gamma and beta together.
ShardingRule LayerNormOp::getShardingRule() {
  ShardingRule rule;
  Dims rows = rule.addDims(shapeOf(getX()).drop_back());
  int columns = rule.addFixed(shapeOf(getX()).back(),
                              "layer_norm normalises over this dimension");
  Dims x = withLast(rows, columns);
  rule.operands = {x, Dims{{columns}}, Dims{{columns}}};
  rule.results.assign(getNumResults(), rows);
  rule.results.front() = x;
  if (getSaved().empty())
    rule.linear = {{1, 2}};
  return rule;
}

ShardingRule LayerNormGradOp::getShardingRule() {
  ShardingRule rule;
  Dims rows = rule.addDims(shapeOf(getX()).drop_back(), Reduce::Sum);
  int columns = rule.addFixed(shapeOf(getX()).back(),
                              "layer_norm normalises over this dimension");
  Dims x = withLast(rows, columns), perColumn{{columns}};
  rule.operands = {x, x, perColumn, rows, rows};
  rule.results = {x, perColumn, perColumn};
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

static ShardingRule softmaxRule(Operation *op) {
  ShardingRule rule = ShardingRule::elementwise(op);
  rule.factors.back().splittable = false;
  rule.factors.back().reason = "softmax normalises over this dimension";
  return rule;
}

ShardingRule SoftmaxOp::getShardingRule() { return softmaxRule(*this); }

ShardingRule SoftmaxGradOp::getShardingRule() {
  ShardingRule rule = softmaxRule(*this);
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

namespace {
/// The factors that attention and its gradient share. Query heads are {key
/// head, member of its group}: head h reads key head h / (heads / key heads).
struct AttentionFactors {
  Dims q, k, perQuery;
};
} // namespace

/// `reduce` says how results without a factor (the gradients
/// of k and v) are combined.
static AttentionFactors addAttentionFactors(ShardingRule &rule, Value q,
                                            Value k, bool causal,
                                            Reduce reduce) {
  ArrayRef<int64_t> qShape = shapeOf(q), kShape = shapeOf(k);
  int batch = rule.add(qShape[0]);
  int queries = rule.add(qShape[1], reduce);
  if (causal) {
    rule.factors[queries].splittable = false;
    rule.factors[queries].reason =
        "causal attention compares the positions of queries and keys";
  }
  SmallVector<int, 1> keyHeads = {rule.add(kShape[2])};
  SmallVector<int, 1> heads = keyHeads;
  if (int64_t group = qShape[2] / kShape[2]; group > 1)
    heads.push_back(rule.add(group, reduce));
  int keys = rule.addFixed(kShape[1], "attention normalises over the keys");
  int size = rule.addFixed(
      qShape[3], "attention multiplies queries and keys over the head size");
  return {{{batch}, {queries}, heads, {size}},
          {{batch}, {keys}, keyHeads, {size}},
          {{batch}, heads, {queries}}};
}

/// Adds the operands `random`. A score is kept or dropped by its position in
/// the whole tensor, which the engine writes as for dropout. The members of a
/// group of heads that stay with each part do not lie side by side.
static void addRandom(ShardingRule &rule, ValueRange random,
                      const AttentionFactors &factors) {
  if (random.empty())
    return;
  rule.operands.push_back(keyDims(rule, random[0]));
  if (random.size() > 1)
    rule.operands.push_back(originDims(rule, random[1]));
  ArrayRef<int> heads = factors.q[2];
  if (heads.size() == 1)
    return;
  rule.factors[heads.back()].splittable = false;
  rule.factors[heads.back()].reason =
      "attention with dropout draws by position in the whole tensor";
}

ShardingRule AttentionOp::getShardingRule() {
  ShardingRule rule;
  auto factors =
      addAttentionFactors(rule, getQ(), getK(), getCausal(), Reduce::None);
  rule.operands = {factors.q, factors.k, factors.k};
  addRandom(rule, getRandom(), factors);
  rule.results.assign(getNumResults(), factors.perQuery);
  rule.results.front() = factors.q;
  if (getSaved().empty())
    rule.linear = {{2}};
  return rule;
}

ShardingRule AttentionGradOp::getShardingRule() {
  ShardingRule rule;
  auto factors =
      addAttentionFactors(rule, getQ(), getK(), getCausal(), Reduce::Sum);
  rule.operands = {factors.q, factors.q,        factors.k,
                   factors.k, factors.perQuery, factors.perQuery};
  addRandom(rule, getRandom(), factors);
  rule.results = {factors.q, factors.k, factors.k};
  rule.linear = {{0}};
  return rule;
}

/// The scores: [batch, heads, queries, keys].
static Dims scoreDims(const ShardingRule &rule, ValueRange random, size_t q) {
  if (random.empty())
    return {};
  const Dims &query = rule.operands[q], &key = rule.operands[q + 1];
  return {query[0], query[2], query[1], key[1]};
}

Dims AttentionOp::getPositionDims(const ShardingRule &rule) {
  return scoreDims(rule, getRandom(), 0);
}

Dims AttentionGradOp::getPositionDims(const ShardingRule &rule) {
  return scoreDims(rule, getRandom(), 1);
}

template <typename OpTy>
static void setScorePosition(OpTy op, Value origin, ArrayRef<int64_t> global) {
  Value key = op.getKey();
  op.getRandomMutable().assign({key, origin});
  op.setGlobalShape(global);
}

void AttentionOp::setPosition(Value origin, ArrayRef<int64_t> globalShape) {
  setScorePosition(*this, origin, globalShape);
}

void AttentionGradOp::setPosition(Value origin, ArrayRef<int64_t> globalShape) {
  setScorePosition(*this, origin, globalShape);
}

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

ShardingRule RandomKeyOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(getCounters().size());
  rule.results = {keyDims(rule, getKey())};
  return rule;
}

ShardingRule OriginOp::getShardingRule() {
  ShardingRule rule;
  rule.results = {originDims(rule, getOrigin())};
  return rule;
}

/// Every dimension can be split as long as the engine writes `origin` and
/// `global_shape` of the parts: an element is kept or dropped by its position
/// in the whole tensor.
ShardingRule DropoutOp::getShardingRule() {
  ShardingRule rule;
  Dims dims = rule.addDims(shapeOf(getX()));
  rule.operands = {dims, keyDims(rule, getKey())};
  if (Value origin = getOrigin())
    rule.operands.push_back(originDims(rule, origin));
  rule.results = {dims};
  rule.linear = {{0}};
  return rule;
}

Dims DropoutOp::getPositionDims(const ShardingRule &rule) {
  return rule.results.front();
}

void DropoutOp::setPosition(Value origin, ArrayRef<int64_t> globalShape) {
  getOriginMutable().assign(origin);
  setGlobalShape(globalShape);
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRule rule;
  Dims rows = rule.addDims(shapeOf(getLabels()), Reduce::Sum);
  int classes = rule.addFixed(shapeOf(getLogits()).back(),
                              "cross_entropy normalises over this dimension");
  rule.operands = {withLast(rows, classes), rows};
  rule.results.assign(getNumResults(), rows);
  rule.results.front() = {};
  return rule;
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  ShardingRule rule;
  Dims rows = rule.addDims(shapeOf(getLabels()));
  int classes = rule.addFixed(shapeOf(getLogits()).back(),
                              "cross_entropy_grad compares labels with "
                              "positions in this whole dimension");
  Dims logits = withLast(rows, classes);
  rule.operands = {Dims{}, logits, rows, rows, rows};
  rule.results = {logits};
  rule.linear = {{0}};
  return rule;
}

ShardingRule CountValidOp::getShardingRule() {
  ShardingRule rule;
  rule.operands = {rule.addDims(shapeOf(getLabels()), Reduce::Sum)};
  rule.results = {Dims{}};
  return rule;
}

ShardingRule DivideOp::getShardingRule() {
  return ShardingRule::elementwise(*this, {{0}});
}

ShardingRule ReciprocalOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

//===----------------------------------------------------------------------===//
// The end of a step
//===----------------------------------------------------------------------===//

ShardingRule LearningRateOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

ShardingRule NormTableOp::getShardingRule() {
  ShardingRule rule;
  for (Value gradient : getGradients())
    rule.operands.push_back(rule.addFixedDims(
        shapeOf(gradient),
        "norm_table adds blocks of 64 elements of the whole tensor"));
  for (Value result : getResults())
    rule.results.push_back(rule.addFixedDims(
        shapeOf(result), "a table of sums is exact only as a whole"));
  return rule;
}

ShardingRule ClipOp::getShardingRule() {
  ShardingRule rule;
  for (Value operand : getOperands())
    rule.operands.push_back(rule.addFixedDims(
        shapeOf(operand), "a table of sums is exact only as a whole"));
  rule.results.resize(getNumResults());
  return rule;
}

ShardingRule SgdOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

ShardingRule AdamWOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

/// As the update, but the elements are counted.
static ShardingRule checkRule(Operation *op) {
  ShardingRule rule;
  Dims dims = rule.addDims(shapeOf(op->getOperand(0)), Reduce::Sum);
  for (Value operand : op->getOperands())
    rule.operands.push_back(shapeOf(operand).empty() ? Dims{} : dims);
  rule.results = {rule.addFixedDims({1}, "a count is one number")};
  return rule;
}

ShardingRule SgdCheckOp::getShardingRule() { return checkRule(*this); }

ShardingRule AdamWCheckOp::getShardingRule() { return checkRule(*this); }

ShardingRule AdvanceOp::getShardingRule() {
  return ShardingRule::elementwise(*this);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The splitting engine: bodies run in parts and put together again are the
// bodies, and layouts are those worked out by hand.

#include "Interpreter.h"
#include "OpCase.h"

#include "Piper/Sharding/BodySplit.h"
#include "Piper/Target/BuildProgram.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir::piper;
using namespace piper::test;

namespace {

constexpr int64_t kParts = 3;

/// A body, how its operands are filled and cut, and what its results become.
struct BodyCase {
  const char *name;
  /// The function after "func.func @f".
  const char *text;
  std::vector<const char *> fills;
  std::vector<SplitLayout> operands;
  std::vector<const char *> results;
  /// Layouts that are asked for; empty: none.
  std::vector<SplitLayout> wanted = {};
};

const SplitLayout kWhole = SplitLayout::whole();
SplitLayout split(int64_t dim, int64_t period) {
  return SplitLayout::split(dim, period);
}
const char *const kKey = "row 42 3";

const std::vector<BodyCase> &bodyCases() {
  static const std::vector<BodyCase> cases = {
      {"Broadcasts",
       R"((%x: tensor<6x4xf64>, %b: tensor<4xf64>, %s: tensor<f64>) -> (tensor<6x4xf64>, tensor<4xf64>) {
         %0 = piper.add %x, %b : (tensor<6x4xf64>, tensor<4xf64>) -> tensor<6x4xf64>
         %1 = piper.mul %s, %0 : (tensor<f64>, tensor<6x4xf64>) -> tensor<6x4xf64>
         %2 = piper.tanh %b : tensor<4xf64>
         return %1, %2 : tensor<6x4xf64>, tensor<4xf64>
       })",
       {"", "", ""},
       {split(0, 6), kWhole, kWhole},
       {"split 0", "whole"}},
      {"SumsOverTheBatch",
       R"((%x: tensor<6x4xf64>, %y: tensor<6x5xf64>, %w: tensor<5xf64>) -> (tensor<4x5xf64>, tensor<f64>) {
         %0 = piper.matmul %x, %y {transpose_a} : (tensor<6x4xf64>, tensor<6x5xf64>) -> tensor<4x5xf64>
         %1 = piper.mul %0, %w : (tensor<4x5xf64>, tensor<5xf64>) -> tensor<4x5xf64>
         %2 = piper.scale %0 {factor = 0.5 : f64} : tensor<4x5xf64>
         %3 = piper.add %1, %2 : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
         %4 = piper.reduce_sum %3 {dims = array<i64: 0, 1>} : (tensor<4x5xf64>) -> tensor<f64>
         return %3, %4 : tensor<4x5xf64>, tensor<f64>
       })",
       {"", "", ""},
       {split(0, 6), split(0, 6), kWhole},
       {"partial", "partial"}},
      {"RunsOfTheBatch",
       R"((%x: tensor<2x6x5xf64>, %g: tensor<5xf64>) -> (tensor<12x5xf64>, tensor<5x2x6xf64>) {
         %0 = piper.reshape %x : (tensor<2x6x5xf64>) -> tensor<12x5xf64>
         %1 = piper.layer_norm %0, %g, %g {eps = 0.1 : f64} : (tensor<12x5xf64>, tensor<5xf64>, tensor<5xf64>) -> tensor<12x5xf64>
         %2 = piper.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<12x5xf64>) -> tensor<5x12xf64>
         %3 = piper.reshape %2 : (tensor<5x12xf64>) -> tensor<5x2x6xf64>
         return %1, %3 : tensor<12x5xf64>, tensor<5x2x6xf64>
       })",
       {"", ""},
       {split(1, 6), kWhole},
       {"split 0 in runs of 6", "split 2"}},
      // [12] as [4, 3]: thirds are rows of it only if they have whole rows.
      {"PartOfADimension",
       R"((%x: tensor<12xf64>) -> (tensor<6x2xf64>, tensor<12xf64>) {
         %0 = piper.reshape %x : (tensor<12xf64>) -> tensor<6x2xf64>
         %1 = piper.square %0 : tensor<6x2xf64>
         %2 = piper.reshape %1 : (tensor<6x2xf64>) -> tensor<12xf64>
         return %1, %2 : tensor<6x2xf64>, tensor<12xf64>
       })",
       {""},
       {split(0, 12)},
       {"split 0", "split 0"}},
      // From nowhere, because an op needs it: two steps back.
      {"AskedFor",
       R"((%x: tensor<6x4xf64>, %seed: tensor<f64>) -> (tensor<6x4xf64>, tensor<4xf64>) {
         %0 = piper.broadcast %seed : (tensor<f64>) -> tensor<6x1xf64>
         %1 = piper.scale %0 {factor = 2.0 : f64} : tensor<6x1xf64>
         %2 = piper.broadcast %1 : (tensor<6x1xf64>) -> tensor<6x4xf64>
         %3 = piper.mul %2, %x : (tensor<6x4xf64>, tensor<6x4xf64>) -> tensor<6x4xf64>
         %4 = piper.reduce_sum %2 {dims = array<i64: 0>} : (tensor<6x4xf64>) -> tensor<4xf64>
         return %3, %4 : tensor<6x4xf64>, tensor<4xf64>
       })",
       {"", ""},
       {split(0, 6), kWhole},
       {"split 0", "partial"}},
      {"WantedByAnother",
       R"((%seed: tensor<f64>, %w: tensor<4xf64>) -> (tensor<6x4xf64>, tensor<4xf64>, tensor<6xf64>) {
         %0 = piper.broadcast %seed : (tensor<f64>) -> tensor<6x4xf64>
         %1 = piper.mul %0, %w : (tensor<6x4xf64>, tensor<4xf64>) -> tensor<6x4xf64>
         %2 = piper.square %w : tensor<4xf64>
         %3 = piper.constant dense<2.5> : tensor<6xf64>
         return %1, %2, %3 : tensor<6x4xf64>, tensor<4xf64>, tensor<6xf64>
       })",
       {"", ""},
       {kWhole, kWhole},
       {"split 0", "whole", "split 0"},
       {split(0, 6), kWhole, split(0, 6)}},
      // One constant, whole for the square matrix and in parts for the batch.
      {"Constants",
       R"((%x: tensor<6x6xf64>, %w: tensor<6x6xf64>) -> (tensor<6x6xf64>, tensor<6x6xf64>, tensor<6x6xf64>) {
         %0 = piper.constant dense<0.5> : tensor<6x6xf64>
         %1 = piper.add %x, %0 : (tensor<6x6xf64>, tensor<6x6xf64>) -> tensor<6x6xf64>
         %2 = piper.add %w, %0 : (tensor<6x6xf64>, tensor<6x6xf64>) -> tensor<6x6xf64>
         %3 = piper.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<1x6xf64>
         %4 = piper.mul %1, %3 : (tensor<6x6xf64>, tensor<1x6xf64>) -> tensor<6x6xf64>
         %5 = piper.constant dense<[[1.0], [1.0], [1.0], [1.0], [1.0], [1.0]]> : tensor<6x1xf64>
         %6 = piper.add %4, %5 : (tensor<6x6xf64>, tensor<6x1xf64>) -> tensor<6x6xf64>
         return %1, %2, %6 : tensor<6x6xf64>, tensor<6x6xf64>, tensor<6x6xf64>
       })",
       {"", ""},
       {split(0, 6), kWhole},
       {"split 0", "whole", "split 0"}},
      {"ConstantsAlongOtherDimensions",
       R"((%x: tensor<2x6x2xi64>) -> (tensor<2x6x2xf64>) {
         %0 = piper.constant dense<[[[1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2]], [[3, 4], [3, 4], [3, 4], [3, 4], [3, 4], [3, 4]]]> : tensor<2x6x2xi64>
         %1 = piper.cast %x : (tensor<2x6x2xi64>) -> tensor<2x6x2xf64>
         %2 = piper.cast %0 : (tensor<2x6x2xi64>) -> tensor<2x6x2xf64>
         %3 = piper.mul %1, %2 : (tensor<2x6x2xf64>, tensor<2x6x2xf64>) -> tensor<2x6x2xf64>
         return %3 : tensor<2x6x2xf64>
       })",
       {"index 5"},
       {split(1, 6)},
       {"split 1"}},
      {"ConstantMasks",
       R"((%x: tensor<6x3xf64>) -> (tensor<6x3xf64>) {
         %0 = piper.constant dense<[[true, false, true], [true, false, true], [true, false, true], [true, false, true], [true, false, true], [true, false, true]]> : tensor<6x3xi1>
         %1 = piper.square %x : tensor<6x3xf64>
         %2 = piper.select %0, %x, %1 : (tensor<6x3xi1>, tensor<6x3xf64>, tensor<6x3xf64>) -> tensor<6x3xf64>
         return %2 : tensor<6x3xf64>
       })",
       {""},
       {split(0, 6)},
       {"split 0"}},
      {"WindowsOfOtherDimensions",
       R"((%x: tensor<6x5xf64>, %m: tensor<6x1xi1>) -> (tensor<6x7xf64>, tensor<6xf64>) {
         %0 = piper.slice %x {offsets = array<i64: 0, 1>} : (tensor<6x5xf64>) -> tensor<6x3xf64>
         %1 = piper.pad %0 {offsets = array<i64: 0, 1>} : (tensor<6x3xf64>) -> tensor<6x5xf64>
         %2 = piper.select %m, %x, %1 : (tensor<6x1xi1>, tensor<6x5xf64>, tensor<6x5xf64>) -> tensor<6x5xf64>
         %3 = piper.slice %2 {offsets = array<i64: 0, 3>} : (tensor<6x5xf64>) -> tensor<6x2xf64>
         %4 = piper.concat %3, %x {dim = 1 : i64} : (tensor<6x2xf64>, tensor<6x5xf64>) -> tensor<6x7xf64>
         %5 = piper.softmax %4 : tensor<6x7xf64>
         %6 = piper.reduce_max %4 {dims = array<i64: 1>} : (tensor<6x7xf64>) -> tensor<6xf64>
         return %5, %6 : tensor<6x7xf64>, tensor<6xf64>
       })",
       {"", "bool"},
       {split(0, 6), split(0, 6)},
       {"split 0", "split 0"}},
      {"Loss",
       R"((%t: tensor<7x4xf64>, %ids: tensor<6x2xi32>, %labels: tensor<6x2xi32>, %seed: tensor<f64>) -> (tensor<f64>, tensor<7x4xf64>, tensor<6x2xf64>) {
         %x = piper.embedding %t, %ids : (tensor<7x4xf64>, tensor<6x2xi32>) -> tensor<6x2x4xf64>
         %z = piper.matmul %x, %t {transpose_b} : (tensor<6x2x4xf64>, tensor<7x4xf64>) -> tensor<6x2x7xf64>
         %s, %top, %total = piper.cross_entropy %z, %labels : (tensor<6x2x7xf64>, tensor<6x2xi32>) -> (tensor<f64>, tensor<6x2xf64>, tensor<6x2xf64>)
         %dz = piper.cross_entropy_grad %seed, %z, %labels, %top, %total : (tensor<f64>, tensor<6x2x7xf64>, tensor<6x2xi32>, tensor<6x2xf64>, tensor<6x2xf64>) -> tensor<6x2x7xf64>
         %dx = piper.matmul %dz, %t : (tensor<6x2x7xf64>, tensor<7x4xf64>) -> tensor<6x2x4xf64>
         %dt = piper.embedding_grad %dx, %ids : (tensor<6x2x4xf64>, tensor<6x2xi32>) -> tensor<7x4xf64>
         return %s, %dt, %top : tensor<f64>, tensor<7x4xf64>, tensor<6x2xf64>
       })",
       {"", "index 7", "label 7", ""},
       {kWhole, split(0, 6), split(0, 6), kWhole},
       {"partial", "partial", "split 0"}},
      {"Dropout",
       R"((%x: tensor<6x5xf64>, %key: tensor<2xi64>) -> (tensor<6x5xf64>, tensor<5xf64>, tensor<5x6xf64>) {
         %0 = piper.dropout %x, %key {p = 0.4 : f64} : (tensor<6x5xf64>, tensor<2xi64>) -> tensor<6x5xf64>
         %1 = piper.dropout %0, %key {p = 0.2 : f64, index = 1 : i64} : (tensor<6x5xf64>, tensor<2xi64>) -> tensor<6x5xf64>
         %2 = piper.reduce_sum %1 {dims = array<i64: 0>} : (tensor<6x5xf64>) -> tensor<5xf64>
         %3 = piper.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<6x5xf64>) -> tensor<5x6xf64>
         %4 = piper.dropout %3, %key {p = 0.3 : f64, index = 2 : i64} : (tensor<5x6xf64>, tensor<2xi64>) -> tensor<5x6xf64>
         return %1, %2, %4 : tensor<6x5xf64>, tensor<5xf64>, tensor<5x6xf64>
       })",
       {"", kKey},
       {split(0, 6), kWhole},
       {"split 0", "partial", "split 1"}},
      // Of a whole value, all micro-batches draw the same.
      {"DropoutOfAParameter",
       R"((%x: tensor<6x5xf64>, %w: tensor<5xf64>, %key: tensor<2xi64>) -> (tensor<6x5xf64>) {
         %0 = piper.dropout %w, %key {p = 0.4 : f64} : (tensor<5xf64>, tensor<2xi64>) -> tensor<5xf64>
         %1 = piper.mul %x, %0 : (tensor<6x5xf64>, tensor<5xf64>) -> tensor<6x5xf64>
         return %1 : tensor<6x5xf64>
       })",
       {"", "", kKey},
       {split(0, 6), kWhole, kWhole},
       {"split 0"}},
      {"AttentionWithDropout",
       R"((%q: tensor<6x4x4x3xf64>, %k: tensor<6x5x2x3xf64>, %key: tensor<2xi64>, %dy: tensor<6x4x4x3xf64>) -> (tensor<6x4x4x3xf64>, tensor<6x4x4x3xf64>, tensor<6x5x2x3xf64>) {
         %y, %top, %total = piper.attention %q, %k, %k, %key {causal, scale = 0.5 : f64, dropout = 0.3 : f64, index = 4 : i64}
             : (tensor<6x4x4x3xf64>, tensor<6x5x2x3xf64>, tensor<6x5x2x3xf64>, tensor<2xi64>) -> (tensor<6x4x4x3xf64>, tensor<6x4x4xf64>, tensor<6x4x4xf64>)
         %dq, %dk, %dv = piper.attention_grad %dy, %q, %k, %k, %top, %total, %key {causal, scale = 0.5 : f64, dropout = 0.3 : f64, index = 4 : i64}
             : (tensor<6x4x4x3xf64>, tensor<6x4x4x3xf64>, tensor<6x5x2x3xf64>, tensor<6x5x2x3xf64>, tensor<6x4x4xf64>, tensor<6x4x4xf64>, tensor<2xi64>) -> (tensor<6x4x4x3xf64>, tensor<6x5x2x3xf64>, tensor<6x5x2x3xf64>)
         %d = piper.add %dk, %dv : (tensor<6x5x2x3xf64>, tensor<6x5x2x3xf64>) -> tensor<6x5x2x3xf64>
         return %y, %dq, %d : tensor<6x4x4x3xf64>, tensor<6x4x4x3xf64>, tensor<6x5x2x3xf64>
       })",
       {"", "", kKey, ""},
       {split(0, 6), split(0, 6), kWhole, split(0, 6)},
       {"split 0", "split 0", "split 0"}},
      // A sum that comes in as parts goes on through linear ops.
      {"PartsOfASum",
       R"((%p: tensor<4xf64>, %w: tensor<4xf64>) -> (tensor<4xf64>, tensor<f64>) {
         %0 = piper.div %p, %w : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
         %1 = piper.sub %0, %p : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
         %2 = piper.reduce_sum %1 {dims = array<i64: 0>} : (tensor<4xf64>) -> tensor<f64>
         return %1, %2 : tensor<4xf64>, tensor<f64>
       })",
       {"", "positive"},
       {SplitLayout::partial(), kWhole},
       {"partial", "partial"}},
  };
  return cases;
}

mlir::OwningOpRef<mlir::ModuleOp> parseBody(const char *text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      std::string("func.func @f") + text, &testContext());
  EXPECT_TRUE(bool(module)) << text;
  return module;
}

/// Element `i` of part `part` of a tensor: its index in the whole.
int64_t wholeIndex(const ::piper::rt::TensorType &whole,
                   const SplitLayout &layout, int64_t part, int64_t i) {
  int64_t after = 1;
  for (size_t d = size_t(layout.dim) + 1; d < whole.shape.size(); ++d)
    after *= whole.shape[d];
  int64_t size = whole.shape[size_t(layout.dim)],
          block = layout.period / kParts;
  int64_t position = i / after % (size / kParts);
  int64_t before = i / after / (size / kParts);
  int64_t at =
      position / block * layout.period + part * block + position % block;
  return (before * size + at) * after + i % after;
}

/// What part `part` has of an operand. The parts of a sum are multiples of the
/// first one.
HostTensor cut(const HostTensor &whole, const SplitLayout &layout,
               int64_t part) {
  ::piper::rt::TensorType type = whole.type();
  if (layout.isSplit())
    type.shape[size_t(layout.dim)] /= kParts;
  HostTensor result(type);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (layout.isSplit())
      result.set(i, whole.get(wholeIndex(whole.type(), layout, part, i)));
    else
      result.set(i, whole.get(i) *
                        (layout.isPartial() ? double(part + 1) / 6 : 1));
  }
  return result;
}

/// Adds what part `part` has of a result to `whole`.
void combine(HostTensor &whole, const HostTensor &result,
             const SplitLayout &layout, int64_t part) {
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t at = i;
    if (layout.isSplit())
      at = wholeIndex(whole.type(), layout, part, i);
    if (layout.isWhole() && part > 0)
      EXPECT_EQ(whole.get(i), result.get(i));
    bool adds = layout.isPartial() && part > 0;
    whole.set(at, result.get(i) + (adds ? whole.get(at) : 0));
  }
}

class BodySplitTest : public testing::TestWithParam<size_t> {
protected:
  const BodyCase &body = bodyCases()[GetParam()];
};

TEST_P(BodySplitTest, PartsMakeTheWhole) {
  auto module = parseBody(body.text);
  ASSERT_TRUE(bool(module));
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  BodySplit split(function, {"batch", kParts});
  std::vector<SplitLayout> wanted = body.wanted;
  wanted.resize(function.getNumResults());
  ASSERT_TRUE(succeeded(split.follow(body.operands, wanted)));
  ASSERT_FALSE(split.demand);
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    EXPECT_EQ(
        split.resultLayout(index).str(mlir::cast<mlir::RankedTensorType>(type)),
        body.results[index])
        << "result " << index;

  mlir::OpBuilder builder(&testContext());
  auto local = mlir::func::FuncOp::create(
      function.getLoc(), "part",
      builder.getFunctionType(split.operandTypes(), {}));
  module->push_back(local);
  mlir::Block *block = local.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  auto returned = split.build(builder, block->getArguments());
  mlir::func::ReturnOp::create(builder, function.getLoc(), returned);
  local.setFunctionType(builder.getFunctionType(
      block->getArgumentTypes(), mlir::ValueRange(returned).getTypes()));
  ASSERT_TRUE(succeeded(mlir::verify(local)));

  std::vector<HostTensor> operands;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    operands.emplace_back(convertType(type));
    fill(operands.back(), body.fills[index], unsigned(index));
  }
  std::vector<HostTensor> expected = Interpreter(function).run(operands), got;
  for (mlir::Type type : function.getResultTypes())
    got.emplace_back(convertType(type));
  Interpreter interpreter(local);
  for (int64_t part = 0; part < kParts; ++part) {
    std::vector<HostTensor> own;
    for (auto [index, operand] : llvm::enumerate(operands))
      own.push_back(cut(operand, body.operands[index], part));
    std::vector<HostTensor> results = interpreter.run(own, part);
    for (size_t i = 0; i < got.size(); ++i)
      combine(got[i], results[i], split.resultLayout(unsigned(i)), part);
  }
  for (size_t r = 0; r < got.size(); ++r)
    for (int64_t i = 0; i < got[r].size(); ++i)
      ASSERT_NEAR(got[r].get(i), expected[r].get(i),
                  1e-12 * std::max(1.0, expected[r].largest()))
          << "result " << r << ", element " << i;
}

std::vector<size_t> allBodies() {
  std::vector<size_t> indices(bodyCases().size());
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = i;
  return indices;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Bodies, BodySplitTest, testing::ValuesIn(allBodies()),
                         [](const auto &info) {
                           return std::string(bodyCases()[info.param].name);
                         });

TEST(BodySplit, AnOperandThatIsNeededInPartsIsADemand) {
  auto module = parseBody(
      R"((%x: tensor<6x4xf64>, %w: tensor<4x6xf64>) -> (tensor<6x4xf64>) {
        %0 = piper.square %w : tensor<4x6xf64>
        %1 = piper.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x6xf64>) -> tensor<6x4xf64>
        %2 = piper.mul %x, %1 : (tensor<6x4xf64>, tensor<6x4xf64>) -> tensor<6x4xf64>
        return %2 : tensor<6x4xf64>
      })");
  ASSERT_TRUE(bool(module));
  BodySplit body(*module->getOps<mlir::func::FuncOp>().begin(),
                 {"batch", kParts});
  ASSERT_TRUE(succeeded(body.follow({split(0, 6), kWhole}, {kWhole})));
  ASSERT_TRUE(body.demand);
  EXPECT_EQ(body.demand->operand, 1u);
  EXPECT_TRUE(body.demand->layout == split(1, 6));
  EXPECT_EQ(body.demand->op->getName().getStringRef(), "piper.square");
}

// Position p of a dimension of [seq, batch] has the sample p mod batch.
TEST(BodySplit, LayoutsAndFactors) {
  ShardingRule rule;
  int seq = rule.add(2), batch = rule.add(6), other = rule.add(5);
  ShardingRule::Dims dims{{seq, batch}, {other}};
  auto inner = findFactor(rule, dims, split(0, 6), 3);
  ASSERT_TRUE(inner);
  EXPECT_TRUE((*inner == FactorSplit{batch, 6}));
  EXPECT_TRUE(layoutOf(rule, dims, *inner) == split(0, 6));
  // Halves of all twelve positions are the two of seq.
  auto outer = findFactor(rule, dims, split(0, 12), 2);
  ASSERT_TRUE(outer);
  EXPECT_TRUE((*outer == FactorSplit{seq, 2}));
  EXPECT_TRUE(layoutOf(rule, dims, *outer) == split(0, 12));
  // Thirds of them are not, nor are runs of four.
  EXPECT_FALSE(findFactor(rule, dims, split(0, 12), 3));
  EXPECT_FALSE(findFactor(rule, dims, split(0, 4), 2));
  // Runs of three within the batch are.
  EXPECT_TRUE(
      (*findFactor(rule, dims, split(0, 3), 3) == FactorSplit{batch, 3}));
  EXPECT_TRUE(layoutOf(rule, {{other}}, *inner).isWhole());
}

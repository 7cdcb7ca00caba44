// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharding rules as text, worked out by hand, and each message of their check.

#include "OpCase.h"

#include "Piper/Dialect/PiperDialect.h"

#include "gtest/gtest.h"

using namespace mlir::piper;
using namespace piper::test;

static std::string ruleOf(const OpCase &row) {
  CaseModule module(row);
  if (!module.op())
    return "";
  return mlir::cast<ShardingRuleOpInterface>(module.op())
      .getShardingRule()
      .str();
}

TEST(ShardingRule, OfMatmul) {
  EXPECT_EQ(ruleOf({"matmul", "", {"4x2xf32", "2x8xf32"}, {"4x8xf32"}}),
            "([i, k], [k, j]) -> ([i, j]) {i=4, j=8, k=2 sum} linear {0} {1}");
  EXPECT_EQ(ruleOf({"matmul",
                    "transpose_a, transpose_b",
                    {"3x1x2x4xf32", "5x8x2xf32"},
                    {"3x5x4x8xf32"}}),
            "([i, 1, m, k], [j, l, m]) -> ([i, j, k, l]) {i=3, j=5, k=4, l=8, "
            "m=2 sum} linear {0} {1}");
}

TEST(ShardingRule, OfElementwiseOps) {
  EXPECT_EQ(ruleOf({"add", "", {"4x1xf32", "8xf32"}, {"4x8xf32"}}),
            "([i, 1], [j]) -> ([i, j]) {i=4, j=8} linear {0, 1}");
  EXPECT_EQ(ruleOf({"mul", "", {"1x8xf32", "f32"}, {"1x8xf32"}}),
            "([i, j], []) -> ([i, j]) {i=1, j=8} linear {0} {1}");
  EXPECT_EQ(ruleOf({"tanh", "", {"4xf32"}, {"4xf32"}}), "([i]) -> ([i]) {i=4}");
  EXPECT_EQ(ruleOf({"cast", "", {"4xbf16"}, {"4xf32"}}),
            "([i]) -> ([i]) {i=4} linear {0}");
  // Rounding a sum is not the sum of the rounded.
  EXPECT_EQ(ruleOf({"cast", "", {"4xf32"}, {"4xbf16"}}),
            "([i]) -> ([i]) {i=4}");
}

TEST(ShardingRule, OfReductions) {
  EXPECT_EQ(
      ruleOf({"reduce_sum", "dims = array<i64: 0>", {"4x8xf32"}, {"8xf32"}}),
      "([i, j]) -> ([j]) {i=4 sum, j=8} linear {0}");
  EXPECT_EQ(ruleOf({"reduce_max",
                    "dims = array<i64: 1>, keep_dims",
                    {"4x8xf32"},
                    {"4x1xf32"}}),
            "([i, j]) -> ([i, 1]) {i=4, j=8 max}");
}

TEST(ShardingRule, OfReshapes) {
  auto reshape = [](const char *from, const char *to) {
    return ruleOf({"reshape", "", {from}, {to}});
  };
  const std::string mixed = " fixed (reshape mixes this dimension with its "
                            "neighbours)";
  EXPECT_EQ(reshape("2x3x5xf32", "6x5xf32"),
            "([i, j, k]) -> ([ij, k]) {i=2, j=3, k=5} linear {0}");
  EXPECT_EQ(reshape("8x3xf32", "2x4x3xf32"),
            "([ij, k]) -> ([i, j, k]) {i=2, j=4, k=3} linear {0}");
  EXPECT_EQ(reshape("4x6xf32", "2x12xf32"),
            "([ij, k]) -> ([i, jk]) {i=2, j=2, k=6} linear {0}");
  EXPECT_EQ(reshape("1x6xf32", "6x1xf32"),
            "([1, i]) -> ([i, 1]) {i=6} linear {0}");
  // Halves of 6 and of 4 rows are the same 12 elements; thirds are not.
  EXPECT_EQ(reshape("6x4xf32", "4x6xf32"),
            "([ij, m]) -> ([ik, l]) {i=2, j=3" + mixed + ", k=2" + mixed +
                ", l=6" + mixed + ", m=4" + mixed + "} linear {0}");
  // What comes before and after such a block can be split.
  EXPECT_EQ(reshape("7x5x3x2xf32", "7x3x5x2xf32"),
            "([i, j, m, n]) -> ([i, k, l, n]) {i=7, j=5" + mixed + ", k=3" +
                mixed + ", l=5" + mixed + ", m=3" + mixed +
                ", n=2} linear {0}");
  EXPECT_EQ(reshape("0x4xf32", "4x0xf32"),
            "([i, j]) -> ([k, l]) {i=0 fixed (a tensor without elements has "
            "no parts), j=4 fixed (a tensor without elements has no parts), "
            "k=4 fixed (a tensor without elements has no parts), l=0 fixed (a "
            "tensor without elements has no parts)} linear {0}");
}

TEST(ShardingRule, OfWindows) {
  const std::string part = " fixed (slice takes a part of this dimension)",
                    zeros = " fixed (pad adds zeros to this dimension)",
                    joined = " fixed (concat joins its operands along this "
                             "dimension)";
  EXPECT_EQ(
      ruleOf({"slice", "offsets = array<i64: 0, 4>", {"4x8xf32"}, {"4x2xf32"}}),
      "([i, j]) -> ([i, k]) {i=4, j=8" + part + ", k=2" + part +
          "} linear {0}");
  EXPECT_EQ(
      ruleOf({"pad", "offsets = array<i64: 1, 0>", {"4x8xf32"}, {"6x8xf32"}}),
      "([i, k]) -> ([j, k]) {i=4" + zeros + ", j=6" + zeros +
          ", k=8} linear {0}");
  EXPECT_EQ(
      ruleOf({"concat", "dim = 1 : i64", {"4x2xf32", "4x6xf32"}, {"4x8xf32"}}),
      "([i, k], [i, l]) -> ([i, j]) {i=4, j=8" + joined + ", k=2" + joined +
          ", l=6" + joined + "} linear {0, 1}");
}

TEST(ShardingRule, OfBlocks) {
  EXPECT_EQ(
      ruleOf(
          {"embedding", "", {"256x64xf32", "16x128xi32"}, {"16x128x64xf32"}}),
      "([l, k], [i, j]) -> ([i, j, k]) {i=16, j=128, k=64, l=256 fixed "
      "(embedding looks up rows of the whole table)} linear {0}");
  EXPECT_EQ(ruleOf({"layer_norm_grad",
                    "",
                    {"4x8xf32", "4x8xf32", "8xf32", "4xf32", "4xf32"},
                    {"4x8xf32", "8xf32", "8xf32"}}),
            "([i, j], [i, j], [j], [i], [i]) -> ([i, j], [j], [j]) {i=4 sum, "
            "j=8 fixed (layer_norm normalises over this dimension)} linear "
            "{0}");
  EXPECT_EQ(
      ruleOf({"cross_entropy",
              "",
              {"4x8xf32", "4xi32"},
              {"f32", "4xf32", "4xf32"}}),
      "([i, j], [i]) -> ([], [i], [i]) {i=4 sum, j=8 fixed (cross_entropy "
      "normalises over this dimension)}");
}

TEST(ShardingRule, OfAttention) {
  const std::string keys = "attention normalises over the keys",
                    size = "attention multiplies queries and keys over the "
                           "head size",
                    causal = "causal attention compares the positions of "
                             "queries and keys";
  OpCase row{"attention_grad",
             "scale = 1.0 : f64, causal",
             {"2x5x6x3xf32", "2x5x6x3xf32", "2x5x2x3xf32", "2x5x2x3xf32",
              "2x6x5xf32", "2x6x5xf32"},
             {"2x5x6x3xf32", "2x5x2x3xf32", "2x5x2x3xf32"}};
  EXPECT_EQ(ruleOf(row),
            "([i, j, kl, n], [i, j, kl, n], [i, m, k, n], [i, m, k, n], "
            "[i, kl, j], [i, kl, j]) -> ([i, j, kl, n], [i, m, k, n], "
            "[i, m, k, n]) {i=2, j=5 sum fixed (" +
                causal + "), k=2, l=3 sum, m=5 fixed (" + keys +
                "), n=3 fixed (" + size + ")} linear {0}");
  // Without a mask each query is on its own.
  row.attributes = "scale = 1.0 : f64";
  EXPECT_NE(ruleOf(row).find("j=5 sum, k=2"), std::string::npos);
  // With dropout the heads of a part lie side by side in the whole tensor.
  EXPECT_EQ(
      ruleOf({"attention",
              "scale = 1.0 : f64, dropout = 0.1 : f64",
              {"2x5x6x3xf32", "2x5x2x3xf32", "2x5x2x3xf32", "2xi64", "4xi64"},
              {"2x5x6x3xf32"}}),
      "([i, j, kl, n], [i, m, k, n], [i, m, k, n], [o], [p]) -> "
      "([i, j, kl, n]) {i=2, j=5, k=2, l=3 fixed (attention with dropout "
      "draws by position in the whole tensor), m=5 fixed (" +
          keys + "), n=3 fixed (" + size +
          "), o=2 fixed (a random key is a pair of numbers), p=4 fixed "
          "(an origin has one number per dimension)} linear {2}");
}

// A model has the key alone; the counters come with the optimizer.
TEST(ShardingRule, OfRandomKeys) {
  EXPECT_EQ(ruleOf({"random_key", "", {}, {"2xi64"}}),
            "() -> ([i]) {i=2 fixed (a random key is a pair of numbers)}");
  EXPECT_EQ(ruleOf({"random_key", "", {"i64", "i64"}, {"2xi64"}}),
            "([], []) -> ([i]) {i=2 fixed (a random key is a pair of "
            "numbers)}");
}

TEST(ShardingRule, OfOrigins) {
  EXPECT_EQ(ruleOf({"origin", "step = array<i64: 2, 0>", {}, {"2xi64"}}),
            "() -> ([i]) {i=2 fixed (an origin has one number per dimension)}");
}

TEST(ShardingRule, NamesOfManyFactors) {
  ShardingRule rule;
  rule.results.push_back(rule.addDims(llvm::SmallVector<int64_t>(28, 1)));
  EXPECT_EQ(rule.str().substr(0, 96),
            "() -> ([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a, "
            "b, c, d, e, f, g, h, i1, j1]) {");
}

TEST(ShardingRule, ReduceNames) {
  EXPECT_STREQ(ShardingRule::reduceName(ShardingRule::Reduce::None), "none");
  EXPECT_STREQ(ShardingRule::reduceName(ShardingRule::Reduce::Sum), "sum");
  EXPECT_STREQ(ShardingRule::reduceName(ShardingRule::Reduce::Max), "max");
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

/// What the check says about the rule of a matmul after `change`.
template <typename Fn> static std::string messageAfter(Fn change) {
  CaseModule module({"matmul", "", {"4x2xf32", "2x8xf32"}, {"4x8xf32"}});
  ShardingRule rule =
      mlir::cast<ShardingRuleOpInterface>(module.op()).getShardingRule();
  change(rule);
  std::string message = "not set";
  bool fits = succeeded(rule.verify(module.op(), message));
  EXPECT_EQ(fits, message.empty());
  return message;
}

TEST(ShardingRule, CheckNamesWhatIsWrong) {
  EXPECT_EQ(messageAfter([](ShardingRule &) {}), "");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.operands.pop_back(); }),
            "expects 2 operands but got 1");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.results.clear(); }),
            "expects 1 results but got 0");
  EXPECT_EQ(
      messageAfter([](ShardingRule &rule) { rule.operands[1].pop_back(); }),
      "operand 1: expects 2 dimensions but got 1");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.results[0][1] = {3}; }),
            "result 0, dimension 1: expects a factor below 3 but got 3");
  EXPECT_EQ(
      messageAfter([](ShardingRule &rule) { rule.operands[0][1] = {-1}; }),
      "operand 0, dimension 1: expects a factor below 3 but got -1");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.operands[0][1] = {0}; }),
            "operand 0, dimension 1: expects each factor once but got factor 0 "
            "again");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.operands[0][0] = {1}; }),
            "operand 0, dimension 0: expects factors of 4 positions but got 8");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.results[0][0] = {}; }),
            "result 0, dimension 0: expects factors of 4 positions but got 1");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.add(7); }),
            "factor 3: expects a dimension that has it");
  EXPECT_EQ(messageAfter(
                [](ShardingRule &rule) { rule.factors[0].splittable = false; }),
            "factor 0: expects a reason if and only if it cannot be split");
  EXPECT_EQ(
      messageAfter([](ShardingRule &rule) { rule.factors[0].reason = "why"; }),
      "factor 0: expects a reason if and only if it cannot be split");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) {
              rule.factors[2].reduce = ShardingRule::Reduce::None;
            }),
            "factor 2: expects a reduction, as a result lacks the factor");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) { rule.linear = {{2}}; }),
            "linear set: expects an operand below 2 but got 2");
  EXPECT_EQ(messageAfter([](ShardingRule &rule) {
              rule.linear.clear();
              rule.linear.emplace_back();
            }),
            "expects operands in each linear set");
}

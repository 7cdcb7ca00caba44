// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharding rules against the ops: an op split along a factor and put together
// again is the op, and it is linear where its rule says so.

#include "Interpreter.h"
#include "SplitOp.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::piper;
using namespace piper::test;

/// Equal, bit for bit if integers, else up to 1e-12 of the largest element.
static void expectClose(const HostTensor &got, const HostTensor &expected,
                        const std::string &what) {
  ASSERT_TRUE(got.type() == expected.type()) << what;
  if (!expected.isFloat()) {
    EXPECT_TRUE(got.sameBits(expected)) << what;
    return;
  }
  double tolerance = 1e-12 * std::max(1.0, expected.largest());
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.get(i), expected.get(i), tolerance)
        << what << ", element " << i;
}

class ShardingTest : public testing::TestWithParam<size_t> {
protected:
  const OpCase &row = allOpCases()[GetParam()];
};

TEST_P(ShardingTest, RuleFitsTheOp) {
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  ShardingRule rule =
      mlir::cast<ShardingRuleOpInterface>(module.op()).getShardingRule();
  std::string message;
  EXPECT_TRUE(succeeded(rule.verify(module.op(), message)))
      << row.str() << ": " << message;
}

TEST_P(ShardingTest, PartsMakeTheWhole) {
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  ShardingRule rule =
      mlir::cast<ShardingRuleOpInterface>(module.op()).getShardingRule();
  std::vector<HostTensor> operands = makeOperands(row, module);
  std::vector<HostTensor> whole = Interpreter(module.function()).run(operands);
  for (int factor = 0; factor < int(rule.factors.size()); ++factor) {
    if (!rule.factors[factor].splittable || rule.factors[factor].size == 1)
      continue;
    std::vector<HostTensor> joined =
        runInParts(row, module, rule, factor, operands);
    ASSERT_EQ(joined.size(), whole.size());
    for (auto [index, result] : llvm::enumerate(joined))
      expectClose(result, whole[index],
                  row.str() + ", rule " + rule.str() + ", factor " +
                      std::to_string(factor) + ", result " +
                      std::to_string(index));
  }
}

/// a + b, element by element.
static HostTensor add(const HostTensor &a, const HostTensor &b) {
  HostTensor sum(a.type());
  for (int64_t i = 0; i < a.size(); ++i)
    sum.set(i, a.get(i) + b.get(i));
  return sum;
}

TEST_P(ShardingTest, LinearInItsSets) {
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  ShardingRule rule =
      mlir::cast<ShardingRuleOpInterface>(module.op()).getShardingRule();
  Interpreter interpreter(module.function());
  std::vector<HostTensor> a = makeOperands(row, module, 0);
  std::vector<HostTensor> other = makeOperands(row, module, 1);
  for (llvm::ArrayRef<int> set : rule.linear) {
    std::vector<HostTensor> b = a, sum = a;
    bool masks = false;
    for (int operand : set) {
      b[operand] = other[operand];
      sum[operand] = add(a[operand], other[operand]);
      masks |= a[operand].type().element == ::piper::rt::ElementType::I1;
    }
    // There are no sums of masks.
    if (masks)
      continue;
    std::vector<HostTensor> ofA = interpreter.run(a), ofB = interpreter.run(b),
                            ofSum = interpreter.run(sum);
    for (size_t i = 0; i < ofA.size(); ++i)
      expectClose(ofSum[i], add(ofA[i], ofB[i]), row.str());
  }
}

static std::vector<size_t> allRows() {
  std::vector<size_t> rows(allOpCases().size());
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = i;
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, ShardingTest, testing::ValuesIn(allRows()),
                         [](const auto &info) { return caseName(info.param); });

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs against numbers worked out by hand, and that the table of ops has all
// ops of the dialect.

#include "OpCase.h"

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <limits>
#include <set>

using namespace mlir::piper;
using namespace piper::test;

TEST(Costs, OfTheTable) {
  for (const OpCase &row : allOpCases()) {
    if (row.flops < 0)
      continue;
    CaseModule module(row);
    ASSERT_TRUE(module.op()) << row.str();
    auto op = mlir::cast<CostOpInterface>(module.op());
    EXPECT_EQ(op.getFlops(), row.flops) << row.str();
    EXPECT_EQ(op.getBytes(), row.bytes) << row.str();
  }
}

TEST(Costs, Saturate) {
  // 2 * (2^32 * 2^20) * 2^20 operations exceed an int64_t.
  CaseModule product({"matmul",
                      "",
                      {"4294967296x1048576xf64", "1048576x1048576xf64"},
                      {"4294967296x1048576xf64"}});
  ASSERT_TRUE(product.op());
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(mlir::cast<CostOpInterface>(product.op()).getFlops(), kMax);
  CaseModule sum(
      {"exp", "", {"4611686018427387904xf64"}, {"4611686018427387904xf64"}});
  ASSERT_TRUE(sum.op());
  EXPECT_EQ(mlir::cast<CostOpInterface>(sum.op()).getBytes(), kMax);
}

/// The ops of the dialect for which `wanted` holds.
template <typename Fn> static std::set<std::string> opsWhere(Fn wanted) {
  std::set<std::string> names;
  for (mlir::RegisteredOperationName name :
       testContext().getRegisteredOperationsByDialect("piper"))
    if (wanted(name))
      names.insert(name.stripDialect().str());
  return names;
}

/// The ops of plans: they hold, call and move, and compute nothing.
static std::set<std::string> planOps() {
  return {"all_reduce", "entry",  "mesh", "micro_batch", "program", "receive",
          "reduce",     "return", "send", "task",        "transfer"};
}

TEST(Table, HasEveryOp) {
  std::set<std::string> priced;
  for (const OpCase &row : allOpCases())
    if (row.flops >= 0 && row.bytes >= 0)
      priced.insert(row.op);
  std::set<std::string> compute =
      opsWhere([](mlir::RegisteredOperationName name) {
        return planOps().count(name.stripDialect().str()) == 0;
      });
  EXPECT_EQ(compute, priced);
}

TEST(Table, ComputeOpsHaveRulesAndCosts) {
  auto lacksOne = [](mlir::RegisteredOperationName name) {
    return !name.hasInterface<ShardingRuleOpInterface>() ||
           !name.hasInterface<CostOpInterface>();
  };
  EXPECT_EQ(opsWhere(lacksOne), planOps());
}

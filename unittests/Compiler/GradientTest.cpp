// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of all rows of the table against central differences, and what
// they are made of.

#include "GradientFunction.h"
#include "Interpreter.h"

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir::piper;
using namespace piper::test;

/// Ops whose operands have no gradient by definition.
static bool stopsGradients(CaseModule &module) {
  return mlir::isa<StopGradientOp>(module.op()) ||
         !isFloatTensor(module.op()->getResult(0));
}

/// The gradient of operand `number` of sum(dy * f), by central differences.
static std::vector<double> centralDifferences(const Interpreter &interpreter,
                                              std::vector<HostTensor> operands,
                                              size_t number,
                                              const HostTensor &dy,
                                              double step) {
  std::vector<double> gradient;
  HostTensor &x = operands[number];
  for (int64_t i = 0; i < x.size(); ++i) {
    double value = x.get(i);
    x.set(i, value + step);
    double above = x.get(i);
    HostTensor yAbove = interpreter.run(operands)[0];
    x.set(i, value - step);
    double below = x.get(i);
    HostTensor yBelow = interpreter.run(operands)[0];
    x.set(i, value);
    // The distance that the numbers really have.
    double sum = 0;
    for (int64_t j = 0; j < dy.size(); ++j)
      sum += dy.get(j) * (yAbove.get(j) - yBelow.get(j));
    gradient.push_back(sum / (above - below));
  }
  return gradient;
}

/// |a - b| / max(|a|, |b|), in the Euclidean norm.
static double relativeError(const HostTensor &a, const std::vector<double> &b) {
  double difference = 0, normA = 0, normB = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    difference += std::pow(a.get(i) - b[i], 2);
    normA += a.get(i) * a.get(i);
    normB += b[i] * b[i];
  }
  // Where the true gradient is zero what differences leave is noise.
  double norm = std::sqrt(std::max(normA, normB));
  return norm < 1e-8 ? 0 : std::sqrt(difference) / norm;
}

/// Differences leave about 1e-10. A gradient computed in f32 would be off by
/// 1e-7.
static constexpr double kTolerance = 1e-8;

class GradientTest : public testing::TestWithParam<size_t> {
protected:
  const OpCase &row = allOpCases()[GetParam()];
};

TEST_P(GradientTest, EqualsCentralDifferences) {
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  if (!isFloatTensor(module.op()->getResult(0)))
    return;
  GradientFunction gradient = buildGradientFunction(module);
  std::vector<int> expected;
  for (auto [index, operand] : llvm::enumerate(module.op()->getOperands()))
    if (isFloatTensor(operand) && !stopsGradients(module))
      expected.push_back(int(index));
  ASSERT_EQ(gradient.operands, expected) << row.str();

  Interpreter forward(module.function()), backward(gradient.function);
  std::vector<HostTensor> operands = makeOperands(row, module);
  HostTensor dy(forward.run(operands)[0].type());
  fill(dy, row.hasNarrowFloats() ? "grid" : "", 1000);
  std::vector<HostTensor> all = operands;
  all.push_back(dy);
  std::vector<HostTensor> grads = backward.run(all);
  // Steps and numbers on a grid are exact in narrow types; in f64 the best
  // step is about the cube root of its precision.
  double step = row.hasNarrowFloats() ? 0.125 : 6e-6;
  for (auto [grad, operand] : llvm::zip_equal(grads, gradient.operands))
    EXPECT_LT(relativeError(grad, centralDifferences(forward, operands, operand,
                                                     dy, step)),
              kTolerance)
        << row.str() << ", operand " << operand;
}

TEST_P(GradientTest, OnlyOfWantedOperands) {
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  if (!isFloatTensor(module.op()->getResult(0)))
    return;
  GradientFunction whole = buildGradientFunction(module);
  std::vector<HostTensor> operands = makeOperands(row, module);
  operands.emplace_back(Interpreter(module.function()).run(operands)[0].type());
  fill(operands.back(), "grid", 1000);
  std::vector<HostTensor> grads = Interpreter(whole.function).run(operands);
  for (auto [grad, operand] : llvm::zip_equal(grads, whole.operands)) {
    std::vector<bool> wanted(row.operands.size(), false);
    wanted[operand] = true;
    GradientFunction one = buildGradientFunction(module, wanted);
    ASSERT_EQ(one.operands, std::vector<int>{operand});
    EXPECT_TRUE(grad.sameBits(Interpreter(one.function).run(operands)[0]))
        << row.str() << ", operand " << operand;
  }
  std::vector<bool> none(row.operands.size(), false);
  GradientFunction empty = buildGradientFunction(module, none);
  // The op itself and the return.
  EXPECT_EQ(empty.function.front().getOperations().size(), 2u) << row.str();
}

static std::vector<size_t> differentiableRows() {
  std::vector<size_t> rows;
  for (auto [index, row] : llvm::enumerate(allOpCases())) {
    auto name = mlir::RegisteredOperationName::lookup("piper." + row.op,
                                                      &testContext());
    if (name && name->hasInterface<DifferentiableOpInterface>())
      rows.push_back(index);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, GradientTest,
                         testing::ValuesIn(differentiableRows()),
                         [](const auto &info) { return caseName(info.param); });

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

TEST(Gradients, EveryDifferentiableOpHasARow) {
  std::set<std::string> tested, differentiable;
  for (size_t row : differentiableRows())
    tested.insert(allOpCases()[row].op);
  for (mlir::RegisteredOperationName name :
       testContext().getRegisteredOperationsByDialect("piper"))
    if (name.hasInterface<DifferentiableOpInterface>())
      differentiable.insert(name.stripDialect().str());
  EXPECT_EQ(differentiable, tested);
}

// The ops of a gradient have to fit the types of a program in f32 and bf16,
// too: sums and statistics of bf16 are f32.
TEST(Gradients, FitOtherElementTypes) {
  for (size_t index : differentiableRows()) {
    OpCase row = allOpCases()[index];
    for (std::vector<std::string> *list : {&row.operands, &row.results})
      for (std::string &type : *list)
        if (size_t at = type.find("f64"); at != std::string::npos)
          type.replace(at, 3, "f32");
    CaseModule module(row);
    ASSERT_TRUE(module.op());
    if (isFloatTensor(module.op()->getResult(0)))
      buildGradientFunction(module);
  }
  const std::string scale = "scale = 1.0 : f64";
  const OpCase rows[] = {
      {"matmul", "", {"2x3x4xbf16", "4x5xbf16"}, {"2x3x5xbf16"}},
      {"mul", "", {"3x4xbf16", "4xbf16"}, {"3x4xbf16"}},
      {"select", "", {"3x4xi1", "4xbf16", "bf16"}, {"3x4xbf16"}},
      {"layer_norm",
       "eps = 1.0e-05 : f64",
       {"3x4xbf16", "4xbf16", "4xbf16"},
       {"3x4xbf16"}},
      {"attention",
       scale,
       {"2x5x4x3xbf16", "2x5x2x3xbf16", "2x5x2x3xbf16"},
       {"2x5x4x3xbf16"}},
      {"cross_entropy", "", {"3x4xbf16", "3xi32"}, {"f32"}},
      {"divide", "", {"bf16", "i64"}, {"bf16"}}};
  for (const OpCase &row : rows) {
    CaseModule module(row);
    ASSERT_TRUE(module.op());
    EXPECT_FALSE(buildGradientFunction(module).operands.empty());
  }
}

TEST(Gradients, WhatTheBackwardKeeps) {
  std::set<std::string> kept;
  for (size_t index : differentiableRows()) {
    CaseModule module(allOpCases()[index]);
    ASSERT_TRUE(module.op());
    auto op = mlir::cast<DifferentiableOpInterface>(module.op());
    if (!op.isCheapToRecompute())
      kept.insert(allOpCases()[index].op);
  }
  EXPECT_EQ(kept,
            (std::set<std::string>{"attention", "cross_entropy", "divide",
                                   "embedding", "layer_norm", "matmul",
                                   "reduce_max", "reduce_sum", "softmax"}));
}

TEST(Gradients, SavedResults) {
  auto savedTypes = [](const OpCase &row) {
    CaseModule module(row);
    llvm::SmallVector<mlir::Type> types;
    mlir::cast<DifferentiableOpInterface>(module.op()).getSavedTypes(types);
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(types, stream);
    return text;
  };
  const std::string eps = "eps = 1.0e-05 : f64", scale = "scale = 1.0 : f64";
  EXPECT_EQ(savedTypes({"layer_norm",
                        eps,
                        {"2x3x7xbf16", "7xbf16", "7xbf16"},
                        {"2x3x7xbf16"}}),
            "tensor<2x3xf32>, tensor<2x3xf32>");
  EXPECT_EQ(savedTypes({"attention",
                        scale,
                        {"2x5x6x3xf32", "2x7x2x3xf32", "2x7x2x3xf32"},
                        {"2x5x6x3xf32"}}),
            "tensor<2x6x5xf32>, tensor<2x6x5xf32>");
  EXPECT_EQ(
      savedTypes({"cross_entropy", "", {"2x3x7xf64", "2x3xi32"}, {"f64"}}),
      "tensor<2x3xf64>, tensor<2x3xf64>");
  // They are there already, or nothing is saved.
  EXPECT_EQ(savedTypes({"cross_entropy",
                        "",
                        {"2x3x7xf64", "2x3xi32"},
                        {"f64", "2x3xf64", "2x3xf64"}}),
            "");
  EXPECT_EQ(savedTypes({"exp", "", {"3xf32"}, {"3xf32"}}), "");
}

/// How often each op stands in the gradient of a row.
static std::map<std::string, int> opsOfGradient(const OpCase &row) {
  CaseModule module(row);
  std::map<std::string, int> counts;
  buildGradientFunction(module).function.walk([&](mlir::Operation *op) {
    if (mlir::isa<PiperDialect>(op->getDialect()))
      ++counts[op->getName().stripDialect().str()];
  });
  return counts;
}

using Counts = std::map<std::string, int>;

// A weight that all rows of a batch share has one product, over all rows, and
// no sum of products.
TEST(Gradients, OfASharedMatrixIsOneProduct) {
  EXPECT_EQ(opsOfGradient(
                {"matmul", "", {"2x3x5x7xf64", "7x4xf64"}, {"2x3x5x4xf64"}}),
            (Counts{{"matmul", 3}, {"reshape", 2}}));
  EXPECT_EQ(opsOfGradient({"matmul",
                           "transpose_b",
                           {"2x3x5x7xf64", "4x7xf64"},
                           {"2x3x5x4xf64"}}),
            (Counts{{"matmul", 3}, {"reshape", 2}}));
  // Rows that lie as columns are turned first.
  EXPECT_EQ(
      opsOfGradient(
          {"matmul", "transpose_a", {"3x7x5xf64", "7x4xf64"}, {"3x5x4xf64"}}),
      (Counts{{"matmul", 3}, {"reshape", 2}, {"transpose", 1}}));
}

TEST(Gradients, OfPlainProductsNeedNoOtherOp) {
  for (const char *attributes :
       {"", "transpose_a", "transpose_b", "transpose_a, transpose_b"})
    EXPECT_EQ(
        opsOfGradient(
            {"matmul", attributes, {"3x5x5xf64", "3x5x5xf64"}, {"3x5x5xf64"}}),
        (Counts{{"matmul", 3}}));
}

TEST(Gradients, OfBroadcastsSumOnce) {
  // [5, 1] keeps the summed dimension, [3] drops it, [1] needs both.
  EXPECT_EQ(opsOfGradient({"add", "", {"5x3xf64", "5x1xf64"}, {"5x3xf64"}}),
            (Counts{{"add", 1}, {"reduce_sum", 1}}));
  EXPECT_EQ(opsOfGradient({"add", "", {"5x3xf64", "3xf64"}, {"5x3xf64"}}),
            (Counts{{"add", 1}, {"reduce_sum", 1}}));
  EXPECT_EQ(opsOfGradient({"add", "", {"5x3xf64", "1xf64"}, {"5x3xf64"}}),
            (Counts{{"add", 1}, {"reduce_sum", 1}, {"reshape", 1}}));
}

// The formula has no derivative where two elements are largest: the rule is
// stated by the op.
TEST(Gradients, OfATiedMaximumGoesInEqualParts) {
  OpCase row{"reduce_max",
             "dims = array<i64: 1>",
             {"2x3xf64 row 4 1 4 2 3 1"},
             {"2xf64"}};
  CaseModule module(row);
  std::vector<HostTensor> operands = makeOperands(row, module);
  operands.emplace_back(
      ::piper::rt::TensorType{::piper::rt::ElementType::F64, {2}});
  fill(operands.back(), "row 6 5", 0);
  HostTensor dx =
      Interpreter(buildGradientFunction(module).function).run(operands)[0];
  const double expected[] = {3, 0, 3, 0, 5, 0};
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(dx.get(i), expected[i]) << i;
}

// No valid label: the mean is NaN, the step is skipped, the gradient is zero.
TEST(Gradients, OfAMeanOfNothingIsZero) {
  OpCase row{"divide", "", {"f64 row 0", "i64 row 0"}, {"f64"}};
  CaseModule module(row);
  std::vector<HostTensor> operands = makeOperands(row, module);
  EXPECT_TRUE(
      std::isnan(Interpreter(module.function()).run(operands)[0].get(0)));
  operands.emplace_back(
      ::piper::rt::TensorType{::piper::rt::ElementType::F64, {}});
  fill(operands.back(), "row 1", 0);
  HostTensor dsum =
      Interpreter(buildGradientFunction(module).function).run(operands)[0];
  EXPECT_EQ(dsum.get(0), 0);
}

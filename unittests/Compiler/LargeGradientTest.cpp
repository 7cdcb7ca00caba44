// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients at sizes beyond a vector and a block of a kernel, along random
// directions: one difference instead of one per element.

#include "GradientFunction.h"
#include "Interpreter.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace piper::test;

static const OpCase kRows[] = {
    {"matmul", "", {"103x70xf64", "70x131xf64"}, {"103x131xf64"}},
    {"matmul",
     "transpose_a, transpose_b",
     {"5x37x103xf64", "67x37xf64"},
     {"5x103x67xf64"}},
    {"mul", "", {"67x1x19xf64", "83x1xf64"}, {"67x83x19xf64"}},
    {"div", "", {"83x19xf64", "19xf64 positive"}, {"83x19xf64"}},
    {"select", "", {"83x1xi1 bool", "83x19xf64", "19xf64"}, {"83x19xf64"}},
    {"exp", "", {"83x19xf64"}, {"83x19xf64"}},
    {"rsqrt", "", {"83x19xf64 positive"}, {"83x19xf64"}},
    {"tanh", "", {"83x19xf64"}, {"83x19xf64"}},
    {"sigmoid", "", {"83x19xf64"}, {"83x19xf64"}},
    {"relu", "", {"83x19xf64 apart"}, {"83x19xf64"}},
    {"silu", "", {"83x19xf64"}, {"83x19xf64"}},
    {"gelu", "", {"83x19xf64"}, {"83x19xf64"}},
    {"gelu", "approximate", {"83x19xf64"}, {"83x19xf64"}},
    {"reduce_sum", "dims = array<i64: 0, 2>", {"67x5x83xf64"}, {"5xf64"}},
    {"reduce_max", "dims = array<i64: 1>", {"67x83xf64 apart"}, {"67xf64"}},
    {"reduce_max", "dims = array<i64: 0>", {"67x83xf64 apart"}, {"83xf64"}},
    {"transpose",
     "permutation = array<i64: 2, 0, 1>",
     {"37x19x67xf64"},
     {"67x37x19xf64"}},
    {"slice", "offsets = array<i64: 9, 40>", {"67x83xf64"}, {"33x37xf64"}},
    {"concat", "dim = 1 : i64", {"67x19xf64", "67x83xf64"}, {"67x102xf64"}},
    {"embedding", "", {"131x37xf64", "5x67xi32 index 131"}, {"5x67x37xf64"}},
    {"layer_norm",
     "eps = 1.0e-05 : f64",
     {"67x83xf64", "83xf64", "83xf64"},
     {"67x83xf64"}},
    {"softmax", "", {"67x83xf64"}, {"67x83xf64"}},
    {"attention",
     "scale = 0.5 : f64",
     {"2x75x6x19xf64", "2x131x2x19xf64", "2x131x2x19xf64"},
     {"2x75x6x19xf64"}},
    {"attention",
     "scale = 0.5 : f64, causal",
     {"1x530x2x3xf64", "1x601x1x3xf64", "1x601x1x3xf64"},
     {"1x530x2x3xf64"}},
    {"attention",
     "scale = 0.5 : f64, causal, dropout = 0.2 : f64",
     {"2x131x3x5xf64", "2x131x3x5xf64", "2x131x3x5xf64", "2xi64 row 42 3"},
     {"2x131x3x5xf64"}},
    {"dropout",
     "p = 0.3 : f64",
     {"67x83xf64", "2xi64 row 42 3"},
     {"67x83xf64"}},
    {"cross_entropy", "", {"67x83xf64", "67xi32 label 83"}, {"f64"}},
};

/// `tensor` moved by `step` along `direction`.
static HostTensor moved(const HostTensor &tensor,
                        const std::vector<int> &direction, double step) {
  HostTensor result = tensor;
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.set(i, tensor.get(i) + step * direction[size_t(i)]);
  return result;
}

class LargeGradientTest : public testing::TestWithParam<size_t> {};

TEST_P(LargeGradientTest, EqualsDirectionalDifferences) {
  const OpCase &row = kRows[GetParam()];
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  GradientFunction gradient = buildGradientFunction(module);
  Interpreter forward(module.function());
  std::vector<HostTensor> operands = makeOperands(row, module);
  HostTensor dy(forward.run(operands)[0].type());
  fill(dy, "", 1000);
  std::vector<HostTensor> all = operands;
  all.push_back(dy);
  std::vector<HostTensor> grads = Interpreter(gradient.function).run(all);

  std::mt19937 random(7);
  constexpr double kStep = 6e-6;
  for (auto [grad, number] : llvm::zip_equal(grads, gradient.operands))
    for (int trial = 0; trial < 3; ++trial) {
      std::vector<int> direction(size_t(grad.size()));
      for (int &sign : direction)
        sign = random() % 2 ? 1 : -1;
      std::vector<HostTensor> above = operands, below = operands;
      above[number] = moved(operands[number], direction, kStep);
      below[number] = moved(operands[number], direction, -kStep);
      HostTensor yAbove = forward.run(above)[0], yBelow = forward.run(below)[0];
      double measured = 0, expected = 0, norm = 0;
      for (int64_t i = 0; i < dy.size(); ++i)
        measured += dy.get(i) * (yAbove.get(i) - yBelow.get(i)) / (2 * kStep);
      for (int64_t i = 0; i < grad.size(); ++i) {
        expected += grad.get(i) * direction[size_t(i)];
        norm += grad.get(i) * grad.get(i);
      }
      // An error e of the gradient shows as about |e| along such a direction.
      EXPECT_LT(std::fabs(measured - expected), 1e-8 * std::sqrt(norm))
          << row.str() << ", operand " << number;
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, LargeGradientTest,
                         testing::Range<size_t>(0, std::size(kRows)),
                         [](const auto &info) {
                           return kRows[info.param].op +
                                  std::to_string(info.param);
                         });

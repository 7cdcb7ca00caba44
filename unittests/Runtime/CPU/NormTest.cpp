// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// norm_table and clip: exact sums, whatever the split, and the decision.

#include "KernelTester.h"

#include <cmath>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

static Call tableOf(const std::vector<Tensor> &gradients) {
  return {"norm_table",
          gradients,
          {{I64, {68}}, {I64, {int64_t(gradients.size())}}},
          {}};
}

static Call clipOf(const std::vector<Tensor> &table, double maxNorm,
                   int64_t count = 1, ElementType type = F64) {
  Call call{"clip",
            {table[0], table[1], Tensor::scalar(I64, double(count))},
            {{type, {}}, {type, {}}, {I1, {}}},
            {}};
  return call.with("max_norm", number(maxNorm));
}

static double normOf(const std::vector<Tensor> &gradients) {
  return runOk(clipOf(runOk(tableOf(gradients)), INFINITY))[0][0];
}

/// Numbers of many magnitudes.
static Tensor wide(ElementType element, int64_t n, int seed, double decades) {
  Tensor x = Tensor::random({element, {n}}, seed, -1, 1);
  std::mt19937 generator{unsigned(seed)};
  std::uniform_real_distribution<double> power(-decades, decades);
  for (int64_t i = 0; i < n; ++i)
    x.set(i, x[i] * std::pow(10, power(generator)));
  return x;
}

static long double referenceNorm(const std::vector<Tensor> &gradients) {
  long double sum = 0;
  for (const Tensor &gradient : gradients)
    for (double v : gradient.values())
      sum += static_cast<long double>(v) * v;
  return std::sqrt(sum);
}

TEST(NormTable, TheNormEqualsALongDoubleSum) {
  forReals([](ElementType element) {
    for (int64_t n : {1, 3, 63, 64, 65, 1000, 9000}) {
      double decades = element == F32 ? 15 : 100;
      std::vector<Tensor> gradients = {wide(element, n, 1, decades),
                                       wide(element, 17, 2, decades)};
      double reference = double(referenceNorm(gradients));
      EXPECT_NEAR(normOf(gradients) / reference, 1, 2e-15) << n;
    }
  });
}

TEST(NormTable, ExtremesOfTheRange) {
  for (double v :
       {4.9e-324, 1e-310, 2.3e-308, 1e-154, 1.5e-154, 1.3e154, 1e-20, 1.0}) {
    // v^2 is denormal or 0 for the smallest: the square, not the element, is
    // summed.
    double square = v * v;
    EXPECT_NEAR(normOf({Tensor({F64, {1}}, {v})}), std::sqrt(square), 1e-15 * v)
        << v;
  }
  EXPECT_EQ(normOf({Tensor({F64, {3}}, {3e-160, 0, 0})}),
            std::sqrt(3e-160 * 3e-160));
  EXPECT_EQ(normOf({Tensor({F64, {2}}, {3, 4})}), 5);
  EXPECT_EQ(normOf({Tensor({F32, {2}}, {0, 0})}), 0);
  // Many blocks near the largest f64: their sum is beyond it, the norm is not.
  Tensor large({F64, {64 * 100}}, std::vector<double>(6400, 0));
  for (int64_t i = 0; i < 100; ++i)
    large.set(64 * i, 1.3e154);
  EXPECT_NEAR(normOf({large}) / 1.3e155, 1, 2e-15);
}

TEST(NormTable, AnySplitAtMultiplesOf64GivesTheSameDigits) {
  forReals([](ElementType element) {
    Tensor x = wide(element, 5000, 7, element == F32 ? 18 : 90);
    Tensor whole = runOk(tableOf({x}))[0];
    std::mt19937 generator{3};
    for (int trial = 0; trial < 10; ++trial) {
      std::vector<Tensor> pieces;
      for (int64_t at = 0; at < x.size();) {
        int64_t n =
            std::min<int64_t>(64 * (1 + generator() % 20), x.size() - at);
        Tensor piece({element, {n}});
        for (int64_t i = 0; i < n; ++i)
          piece.set(i, x[at + i]);
        pieces.push_back(piece);
        at += n;
      }
      // As operands of one table, with several threads.
      EXPECT_TRUE(runOk(tableOf(pieces), 1 + trial % 3)[0].sameBytes(whole));
      // As tables of several ranks, added digit by digit.
      std::vector<double> sum(68, 0);
      for (const Tensor &piece : pieces) {
        Tensor table = runOk(tableOf({piece}))[0];
        for (int64_t d = 0; d < 68; ++d)
          sum[size_t(d)] += table[d];
      }
      EXPECT_TRUE(Tensor({I64, {68}}, sum).sameBytes(whole));
    }
  });
}

TEST(NormTable, DigitsHoldTheSumOfSquares) {
  // 3^2 = 9 * 2^0: digit 34 has weight 2^(32 * 34 - 1088) = 1.
  std::vector<double> digits(68, 0);
  digits[34] = 9;
  expectResults(tableOf({Tensor({F32, {1}}, {3})}), {digits, {0}}, {});
  digits[34] = 0;
  digits[35] = 1;
  expectResults(tableOf({Tensor({F64, {1}}, {65536})}), {digits, {0}}, {});
}

TEST(NormTable, CountsBlocksThatAreNotFinite) {
  Tensor x({F32, {200}}, std::vector<double>(200, 1));
  x.set(3, NAN);
  x.set(4, INFINITY);
  x.set(199, -INFINITY);
  std::vector<double> digits(68, 0);
  digits[34] = 128 + 5;
  // Blocks 0 and 3 of x; the squares of the second are beyond f64 together.
  Tensor huge({F64, {2}}, {1.2e154, 1.2e154});
  expectResults(tableOf({x, huge, Tensor({F32, {5}}, {1, 1, 1, 1, 1})}),
                {digits, {2, 1, 0}}, {});
}

TEST(Clip, ScalesToTheMaximalNorm) {
  std::vector<Tensor> table = runOk(tableOf({Tensor({F32, {2}}, {3, 4})}));
  for (ElementType type : {F32, F64}) {
    Tolerance tolerance =
        type == F32 ? Tolerance{1e-7, 0} : Tolerance{1e-15, 0};
    expectResults(clipOf(table, 1, 1, type), {{5}, {1 / (5 + 1e-6)}, {1}},
                  tolerance);
    expectResults(clipOf(table, 10, 1, type), {{5}, {1}, {1}}, tolerance);
    expectResults(clipOf(table, INFINITY, 1, type), {{5}, {1}, {1}}, tolerance);
  }
}

TEST(Clip, DecidesNotToUpdate) {
  std::vector<Tensor> good = runOk(tableOf({Tensor({F32, {2}}, {3, 4})}));
  EXPECT_EQ(runOk(clipOf(good, 1, 0))[2][0], 0);
  EXPECT_EQ(runOk(clipOf(good, 1, -1))[2][0], 0);
  std::vector<Tensor> bad = runOk(tableOf({Tensor({F32, {2}}, {3, NAN})}));
  expectResults(clipOf(bad, 1), {{NAN}, {NAN}, {0}}, {});
  // Finite gradients whose norm is beyond f32.
  std::vector<Tensor> large = runOk(tableOf({Tensor({F64, {1}}, {1e60})}));
  expectResults(clipOf(large, 1, 1, F32), {{INFINITY}, {0}, {0}}, {});
  expectResults(clipOf(large, 1, 1, F64), {{1e60}, {1e-60}, {1}}, {1e-14, 0});
  // No count: ok does not need one.
  Call call = clipOf(good, 1);
  call.operands.pop_back();
  EXPECT_EQ(runOk(call)[2][0], 1);
}

TEST(Clip, DigitsThatNoTableHas) {
  Tensor digits({I64, {68}}, std::vector<double>(68, 0)), zero({I64, {1}}, {0});
  digits.set(67, 0x1p40);
  EXPECT_EQ(runOk(clipOf({digits, zero}, 1))[2][0], 0);
  digits.set(67, -1);
  expectResults(clipOf({digits, zero}, 1), {{NAN}, {NAN}, {0}}, {});
}

TEST(Clip, Errors) {
  Tensor digits({I64, {68}}), zero({I64, {1}});
  EXPECT_EQ(errorOf(clipOf({digits, zero}, 0)),
            "kernel 'clip' expects a positive float attribute 'max_norm' but "
            "got 0.000000");
  EXPECT_EQ(errorOf(clipOf({digits, zero}, NAN)),
            "kernel 'clip' expects a positive float attribute 'max_norm' but "
            "got nan");
  EXPECT_EQ(errorOf(clipOf({zero, zero}, 1)),
            "kernel 'clip' expects tensor<68xi64> for operand 0 but got "
            "tensor<1xi64>");
  EXPECT_EQ(errorOf(clipOf({digits, zero}, 1, 1, I64)),
            "kernel 'clip' expects f32 or f64 for result 0 but got i64");
  EXPECT_EQ(errorOf({"norm_table", {}, {digits.type(), zero.type()}, {}}),
            "kernel 'norm_table' expects 1 or more operands but got 0");
  EXPECT_EQ(
      errorOf({"norm_table",
               {Tensor({BF16, {4}})},
               {digits.type(), zero.type()},
               {}}),
      "kernel 'norm_table' expects f32 or f64 for operand 0 but got bf16");
  EXPECT_EQ(errorOf({"norm_table",
                     {Tensor({F32, {4}})},
                     {digits.type(), {I64, {2}}},
                     {}}),
            "kernel 'norm_table' expects tensor<1xi64> for result 1 but got "
            "tensor<2xi64>");
}

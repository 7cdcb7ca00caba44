// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// N05: gradients that are made of several ops, at the ends of the range of f32,
// against the formulas in long double. A factor that overflows or underflows by
// itself must not show where the gradient does neither.

#include "GradientFunction.h"
#include "Interpreter.h"

#include "gtest/gtest.h"

#include <cfloat>
#include <cmath>

using namespace piper::test;

typedef long double Real;

namespace {
struct Slope {
  const char *op;
  Real (*formula)(Real);
};
} // namespace

static const Slope kSlopes[] = {
    {"neg", [](Real) { return -1.0L; }},
    {"exp", [](Real x) { return std::exp(x); }},
    {"log", [](Real x) { return 1 / x; }},
    {"rsqrt", [](Real x) { return -0.5L * std::pow(1 / std::sqrt(x), 3); }},
    {"square", [](Real x) { return 2 * x; }},
    {"relu", [](Real x) { return x > 0    ? 1
                                 : x <= 0 ? 0
                                          : x; }},
    {"silu", [](Real x) {
       x = std::fmin(std::fmax(x, -1e6L), 1e6L);
       Real s = 1 / (1 + std::exp(-x));
       return s * (1 + x / (1 + std::exp(x)));
     }}};

TEST(ExtremeGradients, AreWhatHigherPrecisionGives) {
  const double numbers[] = {0,    FLT_TRUE_MIN, 1e-35,   1e-30, 1e-20, 1e-5,
                            1,    30,           87,      1e4,   1e10,  1e30,
                            2e19, 3e38,         INFINITY};
  for (const Slope &slope : kSlopes)
    for (float dy : {1.0f, -1e-10f, 1e10f})
      for (double number : numbers)
        for (float x : {float(number), -float(number)}) {
          Real wanted = dy * slope.formula(x);
          // Zero times inf, and roots of negative numbers.
          if (std::isnan(wanted))
            continue;
          OpCase row{slope.op, "", {"3xf32"}, {"3xf32"}};
          CaseModule module(row);
          ASSERT_TRUE(module.op());
          GradientFunction gradient = buildGradientFunction(module);
          std::vector<HostTensor> operands = makeOperands(row, module);
          operands.push_back(operands[0]);
          for (int64_t i = 0; i < 3; ++i) {
            operands[0].set(i, x);
            operands[1].set(i, dy);
          }
          HostTensor dx = Interpreter(gradient.function).run(operands)[0];
          double rounded = float(wanted);
          for (int64_t i = 0; i < 3; ++i) {
            if (std::isinf(rounded))
              EXPECT_EQ(dx.get(i), rounded)
                  << slope.op << " " << x << " " << dy;
            else
              EXPECT_NEAR(dx.get(i), rounded,
                          1e-5 * std::abs(rounded) + FLT_MIN)
                  << slope.op << " at " << x << ", dy = " << dy;
          }
        }
}

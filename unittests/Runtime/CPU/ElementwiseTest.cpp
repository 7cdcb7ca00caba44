// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise kernels against the C library in f64.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
struct UnaryCase {
  const char *name;
  double (*formula)(double);
  double low, high;
  bool approximate = false;
};
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double geluTanh(double x) {
  // In the left tail 1 + tanh loses digits: more of them are needed.
  long double u = std::sqrt(2 / M_PIl) * (x + 0.044715L * x * x * x);
  return double(0.5L * x * (1 + std::tanh(u)));
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kUnaryCases[] = {
    {"neg", [](double x) { return -x; }, -5, 5},
    {"exp", [](double x) { return std::exp(x); }, -90, 88},
    {"log", [](double x) { return std::log(x); }, 1e-6, 3},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-3, 50},
    {"square", [](double x) { return x * x; }, -9, 9},
    {"tanh", [](double x) { return std::tanh(x); }, -4, 4},
    {"sigmoid", logistic, -20, 20},
    {"relu", [](double x) { return x > 0 ? x : 0; }, -3, 3},
    {"silu", [](double x) { return x * logistic(x); }, -20, 20},
    {"gelu", gelu, -8, 8},
    {"gelu", geluTanh, -4, 8, true}};
} // namespace

TEST(Elementwise, UnaryOpsEqualTheCLibrary) {
  forReals([](ElementType element) {
    for (const UnaryCase &c : kUnaryCases)
      for (int64_t n : {1, 3, 17, 65, 20000}) {
        Tensor x = Tensor::random({element, {n}}, int(n), c.low, c.high);
        std::vector<double> y;
        for (double v : x.values())
          y.push_back(c.formula(v));
        Call call{c.name, {x}, {x.type()}, {}};
        if (c.approximate)
          call.with("approximate", integer(1));
        // Relative even near zero and in the tails, where the tanh form makes
        // more of a rounding.
        Tolerance tolerance = toleranceOf(element, c.approximate ? 4e-6 : 1e-6);
        tolerance.absolute = 1e-37;
        expectResults(call, {y}, tolerance);
      }
  });
}

TEST(Elementwise, ScaleMultipliesByItsFactor) {
  forReals([](ElementType element) {
    Tensor x = Tensor::random({element, {3, 7}}, 1);
    std::vector<double> y;
    for (double v : x.values())
      y.push_back(0.3 * v);
    expectResults(
        Call{"scale", {x}, {x.type()}, {}}.with("factor", number(0.3)), {y},
        toleranceOf(element, 3e-7));
  });
}

TEST(Elementwise, LogNearOneAndSmallTanhAreRelative) {
  Tensor x = Tensor::random({F32, {4096}}, 5, 0.999, 1.001);
  std::vector<double> logs, tanhs, tiny;
  for (double v : x.values()) {
    logs.push_back(std::log(v));
    tiny.push_back((v - 1) * 1e-3);
  }
  expectResults({"log", {x}, {x.type()}, {}}, {logs}, {4e-7, 1e-37});
  Tensor small({F32, {4096}}, tiny);
  for (double v : small.values())
    tanhs.push_back(std::tanh(v));
  expectResults({"tanh", {small}, {small.type()}, {}}, {tanhs}, {4e-7, 1e-37});
}

TEST(Elementwise, SpecialValuesPropagate) {
  double inf = INFINITY, nan = NAN;
  forReals([=](ElementType element) {
    // Long enough to reach vector body and tail.
    auto check = [&](const char *name, double x, double y,
                     bool approximate = false) {
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(x));
      Call call{name,
                {Tensor({element, {37}}, std::vector<double>(37, x))},
                {{element, {37}}},
                {}};
      if (approximate)
        call.with("approximate", integer(1));
      expectResults(call, {std::vector<double>(37, y)}, {1e-6, 0});
    };
    for (const UnaryCase &c : kUnaryCases)
      check(c.name, nan, nan, c.approximate);
    check("exp", inf, inf);
    check("exp", -inf, 0);
    check("exp", 1000, inf);
    check("exp", -1000, 0);
    check("log", inf, inf);
    check("log", 0, -inf);
    check("log", -1, nan);
    check("log", -inf, nan);
    check("rsqrt", 0, inf);
    check("rsqrt", inf, 0);
    check("rsqrt", -1, nan);
    check("tanh", inf, 1);
    check("tanh", -inf, -1);
    check("sigmoid", inf, 1);
    check("sigmoid", -inf, 0);
    check("relu", inf, inf);
    check("relu", -inf, 0);
    check("silu", inf, inf);
    check("gelu", inf, inf);
    check("gelu", inf, inf, true);
    check("neg", inf, -inf);
    check("square", -inf, inf);
  });
  // Numbers below the smallest normal f32.
  Tensor tiny({F32, {3}}, {1e-40, 1e-44, 1.2e-38});
  std::vector<double> logs;
  for (double v : tiny.values())
    logs.push_back(std::log(v));
  expectResults({"log", {tiny}, {tiny.type()}, {}}, {logs}, {1e-6, 0});
  Tensor low({F32, {2}}, {-90, -100});
  expectResults({"exp", {low}, {low.type()}, {}},
                {{std::exp(-90.0), std::exp(-100.0)}}, {1e-6, 2e-45});
}

TEST(Elementwise, GradientsEqualTheDerivative) {
  struct GradientCase {
    const char *name;
    double (*slope)(double saved);
    double low, high;
    bool approximate = false;
  };
  const GradientCase cases[] = {
      {"tanh_grad", [](double y) { return 1 - y * y; }, -1, 1},
      {"sigmoid_grad", [](double y) { return y * (1 - y); }, 0, 1},
      {"relu_grad", [](double x) { return double(x > 0); }, -2, 2},
      {"silu_grad",
       [](double x) {
         double s = logistic(x);
         return s * (1 + x * (1 - s));
       },
       -9, 9},
      {"gelu_grad",
       [](double x) {
         return 0.5 * std::erfc(-x / std::sqrt(2.0)) +
                x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
       },
       -6, 6},
      {"gelu_grad",
       [](double x) {
         double t = std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
         return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) *
                                    (1 + 3 * 0.044715 * x * x);
       },
       -6, 6, true}};
  forReals([&](ElementType element) {
    for (const GradientCase &c : cases)
      for (int64_t n : {1, 33, 17000}) {
        Tensor dy = Tensor::random({element, {n}}, 1);
        Tensor saved = Tensor::random({element, {n}}, 2, c.low, c.high);
        std::vector<double> dx;
        for (int64_t i = 0; i < n; ++i)
          dx.push_back(dy[i] * c.slope(saved[i]));
        Call call{c.name, {dy, saved}, {dy.type()}, {}};
        if (c.approximate)
          call.with("approximate", integer(1));
        expectResults(call, {dx}, toleranceOf(element, 2e-6));
      }
  });
}

TEST(Elementwise, BinaryOpsBroadcast) {
  const std::pair<Shape, Shape> shapes[] = {
      {{4, 8}, {4, 8}},       {{4, 8}, {8}},
      {{8}, {4, 8}},          {{4, 1}, {4, 8}},
      {{4, 8}, {4, 1}},       {{}, {3, 5}},
      {{3, 5}, {}},           {{}, {}},
      {{1}, {1, 1}},          {{3, 1, 65}, {17, 1}},
      {{2, 3, 1, 5}, {4, 1}}, {{5, 1}, {1, 7}},
      {{200, 300}, {300}},    {{200, 300}, {200, 1}},
      {{2, 1, 3}, {2, 4, 3}}, {{1, 1, 9}, {33, 3, 1}}};
  struct BinaryCase {
    const char *name;
    double (*formula)(double, double);
  };
  const BinaryCase cases[] = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div", [](double a, double b) { return a / b; }}};
  forReals([&](ElementType element) {
    for (auto &[shapeA, shapeB] : shapes) {
      Shape result(std::max(shapeA.size(), shapeB.size()), 1);
      for (const Shape &shape : {shapeA, shapeB})
        for (size_t i = 0; i < shape.size(); ++i) {
          int64_t &dim = result[result.size() - shape.size() + i];
          dim = std::max(dim, shape[i]);
        }
      Tensor a = Tensor::random({element, shapeA}, 1);
      Tensor b = Tensor::random({element, shapeB}, 2, 0.5, 2);
      for (const BinaryCase &c : cases) {
        std::vector<double> y;
        for (int64_t i = 0; i < elementsOf(result); ++i)
          y.push_back(c.formula(a[broadcastIndex(i, result, shapeA)],
                                b[broadcastIndex(i, result, shapeB)]));
        expectResults({c.name, {a, b}, {{element, result}}, {}}, {y},
                      toleranceOf(element, 2e-7));
      }
    }
  });
}

TEST(Elementwise, BinarySpecialValues) {
  Tensor a({F32, {4}}, {NAN, INFINITY, 1, INFINITY});
  Tensor b({F32, {4}}, {1, 2, 0, INFINITY});
  expectResults({"add", {a, b}, {a.type()}, {}}, {{NAN, INFINITY, 1, INFINITY}},
                {});
  expectResults({"sub", {a, b}, {a.type()}, {}}, {{NAN, INFINITY, 1, NAN}}, {});
  expectResults({"div", {a, b}, {a.type()}, {}},
                {{NAN, INFINITY, INFINITY, NAN}}, {});
}

TEST(Elementwise, IntegersAreAddedAndNothingElse) {
  for (ElementType element : {I32, I64}) {
    Tensor a({element, {2, 3}}, {1, -2, 3, 40000, 5, 6});
    Tensor b({element, {3}}, {10, 20, -30});
    expectResults({"add", {a, b}, {a.type()}, {}},
                  {{11, 18, -27, 40010, 25, -24}}, {});
    EXPECT_EQ(errorOf({"sub", {a, a}, {a.type()}, {}}),
              "kernel 'sub' expects f32 or f64 for result 0 but got " +
                  std::string(element == I32 ? "i32" : "i64"));
  }
}

TEST(Elementwise, RepeatedOperandsAreNeverWrittenOver) {
  const KernelEntry *add = findKernel("add");
  KernelSpec spec{"add", {{F32, {4, 8}}, {F32, {8}}}, {{F32, {4, 8}}}, {}};
  EXPECT_TRUE(add->mayAlias(spec, 0, 0));
  EXPECT_FALSE(add->mayAlias(spec, 1, 0));
  EXPECT_FALSE(add->mayAlias(spec, 2, 0));
}

TEST(Elementwise, Errors) {
  Tensor x({F32, {2, 3}}), y({F64, {2, 3}});
  EXPECT_EQ(errorOf({"exp", {x, x}, {x.type()}, {}}),
            "kernel 'exp' expects 1 operands but got 2");
  EXPECT_EQ(errorOf({"exp", {x}, {}, {}}),
            "kernel 'exp' expects 1 results but got 0");
  EXPECT_EQ(errorOf({"exp", {x}, {y.type()}, {}}),
            "kernel 'exp' expects tensor<2x3xf32> for result 0 but got "
            "tensor<2x3xf64>");
  EXPECT_EQ(errorOf({"exp", {Tensor({BF16, {2}})}, {{BF16, {2}}}, {}}),
            "kernel 'exp' expects f32 or f64 for operand 0 but got bf16");
  EXPECT_EQ(errorOf({"scale", {x}, {x.type()}, {}}),
            "kernel 'scale' expects a finite float attribute 'factor' but got "
            "none");
  EXPECT_EQ(
      errorOf(Call{"scale", {x}, {x.type()}, {}}.with("factor", integer(1))),
      "kernel 'scale' expects a finite float attribute 'factor' but got "
      "another kind");
  EXPECT_EQ(errorOf(Call{"scale", {x}, {x.type()}, {}}.with("factor",
                                                            number(INFINITY))),
            "kernel 'scale' expects a finite float attribute 'factor' but got "
            "inf");
  EXPECT_EQ(errorOf({"add", {x, Tensor({F32, {2}})}, {x.type()}, {}}),
            "kernel 'add' expects operands that broadcast to tensor<2x3xf32> "
            "but got tensor<2x3xf32> and tensor<2xf32>");
  EXPECT_EQ(
      errorOf({"add", {Tensor({F32, {}}), Tensor({F32, {}})}, {x.type()}, {}}),
      "kernel 'add' expects operands that broadcast to tensor<2x3xf32> "
      "but got tensor<f32> and tensor<f32>");
  EXPECT_EQ(errorOf({"add", {x, y}, {x.type()}, {}}),
            "kernel 'add' expects f32 for operand 1 but got f64");
}

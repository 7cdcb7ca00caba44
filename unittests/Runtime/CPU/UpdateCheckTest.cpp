// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of updates count the elements that the updates would make inf or
// NaN: against plain loops, and against what the updates write, on numbers of
// every size.

#include "KernelTester.h"

#include <cmath>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
/// Numbers with exponents over the whole range of T, zeros and, where asked
/// for, inf and NaN.
template <typename T> class Extremes {
public:
  explicit Extremes(unsigned seed) : random(seed) {}

  double next(bool isSigned, bool finite) {
    unsigned choice = random() % 64;
    if (choice < 2)
      return isSigned && choice ? -0.0 : 0.0;
    if (!finite && choice < 4)
      return choice == 2 ? INFINITY : NAN;
    if (choice < 8)
      return double(std::numeric_limits<T>::max());
    if (choice < 10)
      return double(std::numeric_limits<T>::denorm_min());
    constexpr int top = std::numeric_limits<T>::max_exponent;
    int exponent = int(random() % unsigned(2 * top - 4)) - top + 4;
    double x = std::ldexp(0.5 + double(random() % 1024) / 2048, exponent);
    return double(T(isSigned && random() % 2 ? -x : x));
  }

  Tensor tensor(int64_t n, bool isSigned, bool finite) {
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i)
      values.push_back(next(isSigned, finite));
    ElementType element = sizeof(T) == 4 ? F32 : F64;
    return Tensor({element, {n}}, values);
  }

private:
  std::mt19937 random;
};
} // namespace

/// At least as large as every element, as the norm of a step; NaN where one is
/// not finite.
static double normOf(const Tensor &gradient) {
  double norm = 0;
  for (int64_t i = 0; i < gradient.size(); ++i)
    norm = std::isfinite(gradient[i]) && !std::isnan(norm)
               ? std::max(norm, std::abs(gradient[i]))
               : NAN;
  return norm;
}

static const double kScales[] = {1, 0.5, 1e-20, 1e20};
static const double kRates[] = {0, 1e-3, 10, 1e30};

template <typename T> static void checkAdamW(ElementType element) {
  for (unsigned trial = 0; trial < 48; ++trial) {
    Extremes<T> extremes(trial);
    int64_t n = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 37 : 20000;
    bool finite = trial % 2;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = trial % 5 ? 0 : 0.1;
    T scale = T(kScales[trial % 4]), lr = T(kRates[trial / 4 % 4]);
    int64_t steps = trial % 7 ? int64_t(trial) : 0;
    Call check{
        "adamw_check",
        {extremes.tensor(n, true, true), extremes.tensor(n, true, finite),
         extremes.tensor(n, true, true), extremes.tensor(n, !finite, true),
         Tensor::scalar(element, lr), Tensor::scalar(I64, double(steps)),
         Tensor::scalar(element, scale), Tensor::scalar(element, 0)},
        {{I64, {1}}},
        {}};
    check.operands[7] = Tensor::scalar(element, normOf(check.operands[1]));
    check.with("beta1", number(beta1))
        .with("beta2", number(beta2))
        .with("eps", number(eps))
        .with("weight_decay", number(decay));

    double t = double(steps) + 1;
    T c1 = T(1 / (1 - std::pow(beta1, t))),
      c2 = T(1 / (1 - std::pow(beta2, t)));
    int64_t bad = 0;
    for (int64_t i = 0; i < n; ++i) {
      T p = T(check.operands[0][i]), g = T(check.operands[1][i]) * scale;
      T m = T(beta1) * T(check.operands[2][i]) + T(1 - beta1) * g;
      T v = T(beta2) * T(check.operands[3][i]) + T(1 - beta2) * (g * g);
      T root = std::sqrt(v * c2) + T(eps);
      T next = p - lr * (m * c1 / root + T(decay) * p);
      bad += !(std::isfinite(m) && std::isfinite(v) && std::isfinite(root) &&
               std::isfinite(next));
    }
    expectResults(check, {{double(bad)}}, {});

    // What the update writes is finite wherever nothing is counted.
    Call update = check;
    update.name = "adamw";
    update.operands[7] = Tensor::scalar(I1, 1);
    TensorType type{element, {n}};
    update.results = {type, type, type};
    std::vector<Tensor> written = runOk(update, 1);
    int64_t infinite = 0;
    for (int64_t i = 0; i < n; ++i)
      infinite +=
          !(std::isfinite(written[0][i]) && std::isfinite(written[1][i]) &&
            std::isfinite(written[2][i]));
    // Elements that only divide by an infinite root are counted too.
    EXPECT_LE(infinite, bad);
  }
}

TEST(UpdateCheck, AdamWCountsWhatIsNotFinite) {
  checkAdamW<float>(F32);
  checkAdamW<double>(F64);
}

template <typename T> static void checkSgd(ElementType element) {
  for (unsigned trial = 0; trial < 48; ++trial) {
    Extremes<T> extremes(100 + trial);
    int64_t n = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 37 : 20000;
    bool finite = trial % 2, hasVelocity = trial / 2 % 2;
    double momentum = hasVelocity ? 0.9 : 0, decay = trial % 5 ? 0 : 0.1;
    T scale = T(kScales[trial % 4]), lr = T(kRates[trial / 4 % 4]);
    Call check{"sgd_check",
               {extremes.tensor(n, true, true),
                extremes.tensor(n, true, finite), Tensor::scalar(element, lr),
                Tensor::scalar(element, scale), Tensor::scalar(element, 0)},
               {{I64, {1}}},
               {}};
    check.operands[4] = Tensor::scalar(element, normOf(check.operands[1]));
    check.with("momentum", number(momentum))
        .with("weight_decay", number(decay));
    Tensor velocity = extremes.tensor(n, true, true);
    if (hasVelocity)
      check.operands.push_back(velocity);
    int64_t bad = 0;
    for (int64_t i = 0; i < n; ++i) {
      T p = T(check.operands[0][i]);
      T g = T(check.operands[1][i]) * scale + T(decay) * p;
      if (hasVelocity)
        g = T(momentum) * T(velocity[i]) + g;
      bad += !(std::isfinite(g) && std::isfinite(p - lr * g));
    }
    expectResults(check, {{double(bad)}}, {});
  }
}

TEST(UpdateCheck, SgdCountsWhatIsNotFinite) {
  checkSgd<float>(F32);
  checkSgd<double>(F64);
}

TEST(UpdateCheck, AnInfiniteRootCounts) {
  // The parameter would stay at 1 with every number finite that is written.
  Tensor one({F32, {1}}, {1});
  Call check{"adamw_check",
             {one, one, one, Tensor({F32, {1}}, {3e38}),
              Tensor::scalar(F32, 0.1), Tensor::scalar(I64, 0),
              Tensor::scalar(F32, 1), Tensor::scalar(F32, 1)},
             {{I64, {1}}},
             {}};
  check.with("beta1", number(0.9))
      .with("beta2", number(0.999))
      .with("eps", number(1e-8))
      .with("weight_decay", number(0));
  expectResults(check, {{1}}, {});
}

TEST(UpdateCheck, Errors) {
  TensorType type{F32, {4}};
  Tensor x(type), scalar({F32, {}});
  EXPECT_EQ(errorOf({"sgd_check", {x, x, scalar, scalar, scalar}, {type}, {}}),
            "kernel 'sgd_check' expects tensor<1xi64> for result 0 but got "
            "tensor<4xf32>");
  EXPECT_EQ(errorOf({"sgd_check",
                     {x, x, scalar, scalar, scalar, Tensor({F32, {5}})},
                     {{I64, {1}}},
                     {}}),
            "kernel 'sgd_check' expects tensor<4xf32> for operand 5 but got "
            "tensor<5xf32>");
  EXPECT_EQ(errorOf({"adamw_check", {x, x}, {{I64, {1}}}, {}}),
            "kernel 'adamw_check' expects 8 operands but got 2");
}

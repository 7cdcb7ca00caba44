// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// N05: unary ops and their gradients at the ends of the range of numbers, and
// at every position of short rows, against the formulas in long double.

#include "KernelTester.h"

#include <cfloat>
#include <cmath>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::test;

typedef long double Real;

/// At inf the activations have their limits, which they have reached long
/// before.
static Real bounded(Real x) { return x < -1e6L ? -1e6L : x > 1e6L ? 1e6L : x; }
static Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }
static Real normalCdf(Real x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
/// (1 + tanh(u)) / 2 = logistic(2 u), with the argument of gelu's second form.
static Real geluArgument(Real x) {
  return 2 * std::sqrt(2 / M_PIl) * (x + 0.044715L * x * x * x);
}

namespace {
struct ExtremeCase {
  const char *name;
  Real (*formula)(Real);
  bool approximate = false;
};
} // namespace

static const ExtremeCase kOps[] = {
    {"neg", [](Real x) { return -x; }},
    {"exp", [](Real x) { return std::exp(x); }},
    {"log", [](Real x) { return std::log(x); }},
    {"rsqrt", [](Real x) { return 1 / std::sqrt(x); }},
    {"square", [](Real x) { return x * x; }},
    {"tanh", [](Real x) { return std::tanh(x); }},
    {"sigmoid", logistic},
    {"relu", [](Real x) { return x <= 0 ? 0 : x; }},
    {"silu", [](Real x) { return std::fmax(x, -1e6L) * logistic(x); }},
    {"gelu", [](Real x) { return std::fmax(x, -1e6L) * normalCdf(x); }},
    {"gelu",
     [](Real x) { return std::fmax(x, -1e6L) * logistic(geluArgument(x)); },
     true}};

/// The slopes, from what the op saves: the operand, or the result of tanh and
/// sigmoid.
static const ExtremeCase kGradients[] = {
    {"tanh_grad", [](Real y) { return (1 - y) * (1 + y); }},
    {"sigmoid_grad", [](Real y) { return y * (1 - y); }},
    {"relu_grad", [](Real x) { return x > 0    ? 1
                                      : x <= 0 ? 0
                                               : x; }},
    {"silu_grad",
     [](Real x) {
       x = bounded(x);
       return logistic(x) * (1 + x * logistic(-x));
     }},
    {"gelu_grad",
     [](Real x) {
       x = bounded(x);
       return normalCdf(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PIl);
     }},
    {"gelu_grad",
     [](Real x) {
       x = bounded(x);
       Real u = geluArgument(x);
       return logistic(u) * (1 + x * logistic(-u) * 2 * std::sqrt(2 / M_PIl) *
                                     (1 + 3 * 0.044715L * x * x));
     },
     true}};

/// Zero, the smallest number, some in between and the largest, both signs; NaN.
static std::vector<double> extremes(ElementType element) {
  std::vector<double> list;
  double smallest = element == F32 ? double(FLT_TRUE_MIN) : DBL_TRUE_MIN;
  for (double x : {0.0, smallest, 1e-20, 0.3, 1.0, 3.0, 20.0, 88.5, 89.0, 90.0,
                   95.0, 1e4, 2e19, 3e38, double(INFINITY)})
    for (double sign : {1, -1})
      list.push_back(sign * x);
  if (element == F64)
    list.insert(list.end(),
                {1e200, -1e200, 1.7e308, -1.7e308, 740, -740, 709.9, -709.9});
  list.push_back(NAN);
  return list;
}

/// A reference as the type holds it: it may round to inf.
static double rounded(ElementType element, Real x) {
  return element == F32 ? double(float(x)) : double(x);
}

static bool isNear(ElementType element, double x, double wanted) {
  if (std::isnan(wanted))
    return std::isnan(x);
  if (std::isinf(wanted))
    return x == wanted;
  // The tanh form of gelu makes the most of its roundings. Below the smallest
  // normal number a relative error has no meaning.
  double relative = element == F32 ? 2e-6 : 1e-12;
  double smallest = element == F32 ? double(FLT_MIN) : DBL_MIN;
  return std::abs(x - wanted) <= relative * std::abs(wanted) + smallest;
}

/// Runs `call` on rows of 1 to 40 elements in which each of `values` comes to
/// stand at every position. The last operand takes them; one value has one
/// result, bit for bit, wherever it stands.
static void sweep(Call call, ElementType element,
                  const std::vector<double> &values,
                  const std::vector<double> &wanted) {
  std::vector<double> found(values.size());
  std::vector<bool> isFound(values.size(), false);
  for (int64_t n = 1; n <= 40; ++n)
    for (size_t shift = 0; shift < values.size(); ++shift) {
      Tensor x({element, {n}});
      for (int64_t i = 0; i < n; ++i)
        x.set(i, values[(size_t(i) + shift) % values.size()]);
      if (call.operands.size() == 2)
        call.operands[0] =
            Tensor({element, {n}}, std::vector<double>(size_t(n), -3));
      call.operands.back() = x;
      call.results = {x.type()};
      Tensor y = runOk(call)[0];
      for (int64_t i = 0; i < n; ++i) {
        size_t at = (size_t(i) + shift) % values.size();
        double value = y[i];
        ASSERT_TRUE(isNear(element, value, wanted[at]))
            << call.name << " of " << values[at] << " is " << value
            << ", expected " << wanted[at] << ", at " << i << " of " << n;
        if (!isFound[at])
          found[at] = value;
        isFound[at] = true;
        // NaN has a sign that nobody reads.
        ASSERT_TRUE(std::isnan(value) ||
                    std::memcmp(&found[at], &value, sizeof(value)) == 0)
            << call.name << " of " << values[at] << " is " << value << " at "
            << i << " of " << n << " and " << found[at] << " elsewhere";
      }
    }
}

static Call makeCall(const ExtremeCase &c, size_t operands) {
  Call call{c.name, std::vector<Tensor>(operands), {}, {}};
  if (c.approximate)
    call.with("approximate", integer(1));
  return call;
}

TEST(ExtremeValues, UnaryOpsAreRightAtEveryPosition) {
  forReals([](ElementType element) {
    std::vector<double> values = extremes(element);
    for (const ExtremeCase &c : kOps) {
      std::vector<double> wanted;
      for (double x : values)
        wanted.push_back(rounded(element, c.formula(rounded(element, x))));
      sweep(makeCall(c, 1), element, values, wanted);
    }
  });
}

TEST(ExtremeValues, GradientsAreRightAtEveryPosition) {
  forReals([](ElementType element) {
    for (const ExtremeCase &c : kGradients) {
      std::vector<double> values = extremes(element), wanted;
      std::string name = c.name;
      bool savesResult = name == "tanh_grad" || name == "sigmoid_grad";
      for (double &x : values) {
        if (savesResult)
          x = double(name == "tanh_grad" ? std::tanh(x) : logistic(x));
        x = rounded(element, x);
        wanted.push_back(rounded(element, -3 * c.formula(x)));
      }
      sweep(makeCall(c, 2), element, values, wanted);
    }
  });
}

TEST(ExtremeValues, ScaleAndSoftmaxOfALargestNumber) {
  forReals([](ElementType element) {
    std::vector<double> values = extremes(element), wanted;
    for (double x : values)
      wanted.push_back(rounded(element, Real(rounded(element, x)) * 0.25L));
    sweep(makeCall({"scale", nullptr}, 1).with("factor", number(0.25)), element,
          values, wanted);
    // One element, and one that stands above all others, take everything.
    for (int64_t n = 1; n <= 40; ++n) {
      std::vector<double> row(size_t(n), -3e38), one(size_t(n), 0);
      row[size_t(n / 2)] = 3e38;
      one[size_t(n / 2)] = 1;
      Tensor x({element, {n}}, row), y({element, {n}}, one);
      expectResults({"softmax", {x}, {x.type()}, {}}, {one}, {});
      Tensor dy({element, {n}}, std::vector<double>(size_t(n), 1e38));
      expectResults({"softmax_grad", {dy, y}, {x.type()}, {}},
                    {std::vector<double>(size_t(n), 0)}, {});
    }
  });
}

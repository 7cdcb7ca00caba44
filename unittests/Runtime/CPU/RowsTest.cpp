// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// layer_norm and softmax with their gradients; gradients against central
// differences in f64.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

static const std::vector<Shape> kShapes = {
    {1}, {3}, {4, 8}, {5, 17}, {3, 1}, {2, 3, 65}, {100, 130}, {2, 513}};

TEST(LayerNorm, EqualsItsDefinition) {
  forReals([](ElementType element) {
    for (const Shape &shape : kShapes) {
      int64_t n = shape.back(), rows = elementsOf(shape) / n;
      Shape lead(shape.begin(), shape.end() - 1);
      Tensor x = Tensor::random({element, shape}, 1, 90, 95);
      Tensor gamma = Tensor::random({element, {n}}, 2);
      Tensor beta = Tensor::random({element, {n}}, 3);
      std::vector<double> y, means, rstds;
      for (int64_t r = 0; r < rows; ++r) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < n; ++i)
          mean += x[r * n + i] / double(n);
        for (int64_t i = 0; i < n; ++i)
          variance += std::pow(x[r * n + i] - mean, 2) / double(n);
        means.push_back(mean);
        rstds.push_back(1 / std::sqrt(variance + 1e-3));
        for (int64_t i = 0; i < n; ++i)
          y.push_back((x[r * n + i] - mean) * rstds.back() * gamma[i] +
                      beta[i]);
      }
      Call call{"layer_norm", {x, gamma, beta}, {x.type()}, {}};
      call.with("eps", number(1e-3));
      // Numbers near 90 have 7e-6 of rounding in f32.
      expectResults(call, {y}, toleranceOf(element, 1e-4));
      call.results.push_back({element, lead});
      call.results.push_back({element, lead});
      expectResults(call, {y, means, rstds}, toleranceOf(element, 1e-4));
    }
  });
}

/// The loss sum(dy * y) of a layer norm, in f64.
static double layerNormLoss(const std::vector<double> &x,
                            const std::vector<double> &gamma,
                            const std::vector<double> &beta,
                            const std::vector<double> &dy, double eps) {
  size_t n = gamma.size();
  double loss = 0;
  for (size_t r = 0; r < x.size() / n; ++r) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; ++i)
      mean += x[r * n + i] / double(n);
    for (size_t i = 0; i < n; ++i)
      variance += std::pow(x[r * n + i] - mean, 2) / double(n);
    for (size_t i = 0; i < n; ++i)
      loss += dy[r * n + i] *
              ((x[r * n + i] - mean) / std::sqrt(variance + eps) * gamma[i] +
               beta[i]);
  }
  return loss;
}

/// Central differences of `loss` in `at`.
static std::vector<double> differences(std::vector<double> &at,
                                       const std::function<double()> &loss) {
  std::vector<double> gradient;
  for (double &value : at) {
    double old = value, h = 1e-4;
    value = old + h;
    double up = loss();
    value = old - h;
    double down = loss();
    value = old;
    gradient.push_back((up - down) / (2 * h));
  }
  return gradient;
}

TEST(LayerNorm, GradientEqualsCentralDifferences) {
  forReals([](ElementType element) {
    for (const Shape &shape :
         std::vector<Shape>{{3}, {4, 8}, {5, 17}, {40, 3}, {2, 2, 33}}) {
      int64_t n = shape.back();
      Shape lead(shape.begin(), shape.end() - 1);
      Tensor x = Tensor::random({element, shape}, 1);
      Tensor dy = Tensor::random({element, shape}, 2);
      Tensor gamma = Tensor::random({element, {n}}, 3);
      Tensor beta = Tensor::random({element, {n}}, 4);
      Call forward{"layer_norm",
                   {x, gamma, beta},
                   {x.type(), {element, lead}, {element, lead}},
                   {}};
      forward.with("eps", number(1e-5));
      std::vector<Tensor> saved = runOk(forward);
      auto vx = x.values(), vg = gamma.values(), vb = beta.values(),
           vd = dy.values();
      auto loss = [&] { return layerNormLoss(vx, vg, vb, vd, 1e-5); };
      Call call{"layer_norm_grad",
                {dy, x, gamma, saved[1], saved[2]},
                {x.type(), gamma.type(), gamma.type()},
                {}};
      double bound = element == F64 ? 1e-6 : 1e-4;
      expectResults(
          call,
          {differences(vx, loss), differences(vg, loss), differences(vb, loss)},
          {bound, bound});
    }
  });
}

TEST(LayerNorm, GradientsOfManyRowsDoNotDependOnThreads) {
  Tensor x = Tensor::random({F32, {700, 40}}, 1),
         dy = Tensor::random({F32, {700, 40}}, 2);
  Tensor gamma = Tensor::random({F32, {40}}, 3),
         mean = Tensor::random({F32, {700}}, 4, 0, 1),
         rstd = Tensor::random({F32, {700}}, 5, 1, 2);
  std::vector<double> dgamma(40, 0), dbeta(40, 0);
  for (int64_t i = 0; i < x.size(); ++i) {
    dgamma[size_t(i % 40)] += dy[i] * (x[i] - mean[i / 40]) * rstd[i / 40];
    dbeta[size_t(i % 40)] += dy[i];
  }
  Call call{"layer_norm_grad",
            {dy, x, gamma, mean, rstd},
            {x.type(), gamma.type(), gamma.type()},
            {}};
  std::vector<Tensor> one = runOk(call, 1);
  for (int threads : {2, 3}) {
    std::vector<Tensor> many = runOk(call, threads);
    for (size_t r = 0; r < 3; ++r)
      EXPECT_TRUE(many[r].sameBytes(one[r]));
  }
  for (int64_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(one[1][i], dgamma[size_t(i)], 2e-4);
    EXPECT_NEAR(one[2][i], dbeta[size_t(i)], 2e-4);
  }
}

TEST(LayerNorm, SpecialValuesStayInTheirRow) {
  Tensor x({F32, {2, 2}}, {NAN, 1, 1, 3}), ones({F32, {2}}, {1, 1}),
      zeros({F32, {2}}, {0, 0});
  Call call{"layer_norm", {x, ones, zeros}, {x.type()}, {}};
  call.with("eps", number(0));
  expectResults(call, {{NAN, NAN, -1, 1}}, {1e-6, 0});
}

TEST(LayerNorm, Errors) {
  Tensor x({F32, {4, 8}}), row({F32, {8}}), other({F32, {4}});
  auto call = [&](std::vector<Tensor> operands,
                  std::vector<TensorType> results) {
    return Call{"layer_norm", operands, results, {}}.with("eps", number(1e-5));
  };
  EXPECT_EQ(errorOf(call({x, row, other}, {x.type()})),
            "kernel 'layer_norm' expects tensor<8xf32> for operand 2 but got "
            "tensor<4xf32>");
  EXPECT_EQ(errorOf(call({x, row, row}, {x.type(), other.type()})),
            "kernel 'layer_norm' expects 1 or 3 results but got 2");
  EXPECT_EQ(errorOf(call({x, row, row}, {x.type(), other.type(), row.type()})),
            "kernel 'layer_norm' expects tensor<4xf32> for result 2 but got "
            "tensor<8xf32>");
  EXPECT_EQ(errorOf(call({Tensor({F32, {}}), row, row}, {x.type()})),
            "kernel 'layer_norm' expects 1 or more dimensions of operand 0 but "
            "got tensor<f32>");
  EXPECT_EQ(errorOf({"layer_norm", {x, row, row}, {x.type()}, {}}),
            "kernel 'layer_norm' expects a finite float attribute 'eps' but "
            "got none");
  EXPECT_EQ(errorOf({"layer_norm_grad",
                     {x, x, row, other, row},
                     {x.type(), row.type(), row.type()},
                     {}}),
            "kernel 'layer_norm_grad' expects tensor<4xf32> for operand 4 but "
            "got tensor<8xf32>");
}

TEST(Softmax, EqualsItsDefinitionAndGradient) {
  forReals([](ElementType element) {
    for (const Shape &shape : kShapes) {
      int64_t n = shape.back();
      // Far from zero: exp of them alone would overflow.
      Tensor x = Tensor::random({element, shape}, 1, 995, 1005);
      Tensor dy = Tensor::random({element, shape}, 2);
      std::vector<double> y, dx;
      for (int64_t r = 0; r < x.size() / n; ++r) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
          sum += std::exp(x[r * n + i] - 1000);
        for (int64_t i = 0; i < n; ++i)
          y.push_back(std::exp(x[r * n + i] - 1000) / sum);
      }
      Tensor result({element, shape}, y);
      for (int64_t r = 0; r < x.size() / n; ++r) {
        double dot = 0;
        for (int64_t i = 0; i < n; ++i)
          dot += dy[r * n + i] * result[r * n + i];
        for (int64_t i = 0; i < n; ++i)
          dx.push_back(result[r * n + i] * (dy[r * n + i] - dot));
      }
      expectResults({"softmax", {x}, {x.type()}, {}}, {y},
                    {element == F64 ? 1e-12 : 2e-6, 1e-37});
      expectResults({"softmax_grad", {dy, result}, {x.type()}, {}}, {dx},
                    toleranceOf(element, 2e-6));
    }
  });
}

TEST(Softmax, SpecialValuesStayInTheirRow) {
  Tensor x({F32, {4, 3}},
           {NAN, 1, 2, -INFINITY, 0, 0, INFINITY, 0, 0, 1, 1, 1});
  double third = 1.0 / 3;
  expectResults(
      {"softmax", {x}, {x.type()}, {}},
      {{NAN, NAN, NAN, 0, 0.5, 0.5, NAN, NAN, NAN, third, third, third}},
      {1e-6, 0});
}

TEST(Softmax, Errors) {
  Tensor x({F32, {}});
  EXPECT_EQ(errorOf({"softmax", {x}, {x.type()}, {}}),
            "kernel 'softmax' expects 1 or more dimensions of operand 0 but "
            "got tensor<f32>");
}

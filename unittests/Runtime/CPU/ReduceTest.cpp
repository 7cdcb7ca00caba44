// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reduce_sum, reduce_max and its gradient against plain loops.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

/// The shape of the result, and for each element of x the element it goes to.
static std::vector<int64_t> targets(const Shape &shape, const Shape &dims,
                                    Shape &kept, Shape &result, bool keepDims) {
  std::vector<bool> reduced(shape.size(), false);
  for (int64_t dim : dims)
    reduced[size_t(dim)] = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    kept.push_back(reduced[i] ? 1 : shape[i]);
    if (!reduced[i] || keepDims)
      result.push_back(kept.back());
  }
  std::vector<int64_t> to;
  for (int64_t i = 0; i < elementsOf(shape); ++i)
    to.push_back(broadcastIndex(i, shape, kept));
  return to;
}

static const std::pair<Shape, Shape> kCases[] = {{{4, 8}, {0}},
                                                 {{4, 8}, {1}},
                                                 {{4, 8}, {0, 1}},
                                                 {{4, 8}, {}},
                                                 {{}, {}},
                                                 {{1, 1}, {0}},
                                                 {{3, 17, 5}, {1}},
                                                 {{3, 17, 5}, {0, 2}},
                                                 {{3, 17, 5}, {0, 1}},
                                                 {{3, 1, 5}, {1}},
                                                 {{65, 1, 33}, {0, 1}},
                                                 {{200, 130}, {0}},
                                                 {{130, 200}, {1}},
                                                 {{9000}, {0}},
                                                 {{2, 9001}, {1}},
                                                 {{2, 3, 4, 5}, {1, 3}},
                                                 {{2, 3, 4, 5}, {0, 2}},
                                                 {{300, 1}, {0}},
                                                 {{70, 2, 70}, {0, 2}},
                                                 {{3, 100, 300}, {0, 1}}};

TEST(Reduce, SumOverAnyDimensions) {
  forReals([](ElementType element) {
    for (auto &[shape, dims] : kCases)
      for (bool keepDims : {false, true}) {
        Tensor x = Tensor::random({element, shape}, 3);
        Shape kept, result;
        std::vector<int64_t> to = targets(shape, dims, kept, result, keepDims);
        std::vector<double> y(size_t(elementsOf(result)), 0);
        for (int64_t i = 0; i < x.size(); ++i)
          y[size_t(to[size_t(i)])] += x[i];
        Call call{"reduce_sum", {x}, {{element, result}}, {}};
        call.with("dims", list(dims));
        if (keepDims)
          call.with("keep_dims", integer(1));
        Tolerance tolerance = toleranceOf(element, 2e-6);
        tolerance.absolute *= std::sqrt(double(x.size()));
        expectResults(call, {y}, tolerance);
      }
  });
}

TEST(Reduce, ALongSumKeepsItsDigits) {
  // One after another in f32 the sum would stop growing at 2^24.
  Tensor ones({F32, {20000000}}, std::vector<double>(20000000, 1));
  Call call{"reduce_sum", {ones}, {{F32, {}}}, {}};
  call.with("dims", list({0}));
  EXPECT_EQ(runOk(call)[0][0], 20000000);
}

TEST(Reduce, SumsDoNotDependOnThreads) {
  for (Shape dims : {Shape{0}, Shape{1}, Shape{0, 1}}) {
    Tensor x = Tensor::random({F32, {300, 5000}}, 8);
    Shape kept, result;
    targets(x.shape(), dims, kept, result, false);
    Call call{"reduce_sum", {x}, {{F32, result}}, {}};
    call.with("dims", list(dims));
    Tensor one = runOk(call, 1)[0];
    for (int threads : {2, 3, 4})
      EXPECT_TRUE(runOk(call, threads)[0].sameBytes(one));
  }
}

TEST(Reduce, MaxAndItsGradient) {
  forReals([](ElementType element) {
    for (auto &[shape, dims] : kCases)
      for (bool keepDims : {false, true}) {
        // Few different numbers, so that maxima are shared.
        Tensor x = Tensor::randomIndices({element, shape}, 4, 5);
        Shape kept, result;
        std::vector<int64_t> to = targets(shape, dims, kept, result, keepDims);
        std::vector<double> y(size_t(elementsOf(result)), -INFINITY);
        for (int64_t i = 0; i < x.size(); ++i)
          y[size_t(to[size_t(i)])] = std::fmax(y[size_t(to[size_t(i)])], x[i]);
        Call call{"reduce_max", {x}, {{element, result}}, {}};
        call.with("dims", list(dims));
        if (keepDims)
          call.with("keep_dims", integer(1));
        expectResults(call, {y}, {});

        std::vector<double> count(y.size(), 0), dx;
        for (int64_t i = 0; i < x.size(); ++i)
          count[size_t(to[size_t(i)])] += x[i] == y[size_t(to[size_t(i)])];
        Tensor top({element, result}, y);
        Tensor dy = Tensor::random({element, result}, 5);
        for (int64_t i = 0; i < x.size(); ++i) {
          int64_t at = to[size_t(i)];
          dx.push_back(x[i] == y[size_t(at)] ? dy[at] / count[size_t(at)] : 0);
        }
        Call gradient{
            "reduce_max_grad", {dy, x, top}, {x.type()}, call.attributes};
        expectResults(gradient, {dx}, toleranceOf(element, 1e-7));
      }
  });
}

TEST(Reduce, SpecialValuesPropagate) {
  double inf = INFINITY;
  for (Shape dims : {Shape{0}, Shape{1}}) {
    Tensor x({F32, {3, 3}}, {NAN, 1, 2, 1, inf, 5, 2, 5, -inf});
    Call max{"reduce_max", {x}, {{F32, {3}}}, {}};
    max.with("dims", list(dims));
    expectResults(max, {{NAN, inf, 5}}, {});
    Call sum{"reduce_sum", {x}, {{F32, {3}}}, max.attributes};
    expectResults(sum, {{NAN, inf, -inf}}, {});
    Call gradient{
        "reduce_max_grad",
        {Tensor({F32, {3}}, {1, 1, 1}), x, Tensor({F32, {3}}, {NAN, inf, 5})},
        {x.type()},
        max.attributes};
    expectResults(gradient,
                  {dims[0] == 0
                       ? std::vector<double>{NAN, 0, 0, NAN, 1, 1, NAN, 0, 0}
                       : std::vector<double>{NAN, NAN, NAN, 0, 1, 0, 0, 1, 0}},
                  {});
  }
}

TEST(Reduce, Errors) {
  Tensor x({F32, {4, 8}});
  auto error = [&](const char *name, Shape dims, Shape result) {
    return errorOf(
        Call{name, {x}, {{F32, result}}, {}}.with("dims", list(dims)));
  };
  EXPECT_EQ(error("reduce_sum", {1, 0}, {}),
            "kernel 'reduce_sum' expects 'dims' to be ascending dimensions of "
            "tensor<4x8xf32> but got [1x0]");
  EXPECT_EQ(error("reduce_max", {2}, {4, 8}),
            "kernel 'reduce_max' expects 'dims' to be ascending dimensions of "
            "tensor<4x8xf32> but got [2]");
  EXPECT_EQ(error("reduce_sum", {-1}, {4}),
            "kernel 'reduce_sum' expects 'dims' to be ascending dimensions of "
            "tensor<4x8xf32> but got [-1]");
  EXPECT_EQ(error("reduce_sum", {1}, {8}),
            "kernel 'reduce_sum' expects tensor<4xf32> for result 0 but got "
            "tensor<8xf32>");
}

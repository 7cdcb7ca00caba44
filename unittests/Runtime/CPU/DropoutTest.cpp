// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dropout against the definition of its random numbers, element by element.

#include "KernelTester.h"
#include "Piper/Runtime/Random.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

static Call dropoutOf(const Tensor &x, double p,
                      std::vector<double> key = {7, 3}) {
  Call call{"dropout", {x, Tensor({I64, {2}}, key)}, {x.type()}, {}};
  call.with("p", number(p)).with("index", integer(5));
  call.salt = 11;
  return call;
}

TEST(Dropout, FollowsTheDefinition) {
  RandomStream stream = dropoutStream(7, 3, 11, 5);
  forReals([&](ElementType element) {
    for (const Shape &shape :
         std::vector<Shape>{{}, {1}, {3, 5}, {17, 65}, {40, 1000}}) {
      Tensor x = Tensor::random({element, shape}, 1, 1, 2);
      std::vector<double> y;
      for (int64_t i = 0; i < x.size(); ++i)
        y.push_back(randomWord(stream, uint64_t(i)) < 0.25 * 4294967296.0
                        ? 0
                        : x[i] / 0.75);
      expectResults(dropoutOf(x, 0.25), {y}, toleranceOf(element, 2e-7));
    }
  });
}

TEST(Dropout, APieceDropsWhatTheWholeDrops) {
  Tensor whole = Tensor::random({F32, {6, 10, 7}}, 1, 1, 2);
  Tensor all = runOk(dropoutOf(whole, 0.5))[0];
  for (ElementType originType : {I32, I64}) {
    Tensor piece({F32, {2, 10, 3}});
    std::vector<double> expected;
    for (int64_t i = 0; i < piece.size(); ++i) {
      int64_t at = (i / 30 + 3) * 70 + i / 3 % 10 * 7 + i % 3 + 4;
      piece.set(i, whole[at]);
      expected.push_back(all[at]);
    }
    Call call = dropoutOf(piece, 0.5);
    call.operands.push_back(Tensor({originType, {3}}, {3, 0, 4}));
    call.with("global_shape", list({6, 10, 7}));
    expectResults(call, {expected}, {});
  }
}

TEST(Dropout, DropsTheRightShare) {
  Tensor x({F32, {100000}}, std::vector<double>(100000, 1));
  for (double p : {0.0, 0.1, 0.9}) {
    Tensor y = runOk(dropoutOf(x, p))[0];
    int64_t dropped = 0;
    for (double v : y.values())
      dropped += v == 0;
    // Five standard deviations.
    EXPECT_NEAR(double(dropped), p * 1e5, 5 * std::sqrt(1e5 * p * (1 - p)));
  }
}

TEST(Dropout, DependsOnKeySaltAndIndex) {
  Tensor x({F32, {256}}, std::vector<double>(256, 1));
  Call base = dropoutOf(x, 0.5), salt = base;
  salt.salt = 12;
  Call index{"dropout", base.operands, base.results, {}};
  index.with("p", number(0.5)).with("index", integer(6));
  index.salt = 11;
  Tensor y = runOk(base)[0];
  EXPECT_FALSE(y.sameBytes(runOk(salt)[0]));
  EXPECT_FALSE(y.sameBytes(runOk(index)[0]));
  EXPECT_FALSE(y.sameBytes(runOk(dropoutOf(x, 0.5, {8, 3}))[0]));
  EXPECT_FALSE(y.sameBytes(runOk(dropoutOf(x, 0.5, {7, 4}))[0]));
}

TEST(Dropout, DroppedNaNIsZeroAndKeptNaNStays) {
  Tensor x({F32, {1000}}, std::vector<double>(1000, NAN));
  int64_t zeros = 0, nans = 0;
  for (double v : runOk(dropoutOf(x, 0.5))[0].values()) {
    zeros += v == 0;
    nans += std::isnan(v);
  }
  EXPECT_EQ(zeros + nans, 1000);
  EXPECT_GT(zeros, 300);
  EXPECT_GT(nans, 300);
}

TEST(Dropout, Errors) {
  Tensor x({F32, {2, 3}}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(
      errorOf(dropoutOf(x, 1)),
      "kernel 'dropout' expects 'p' from 0 to less than 1 but got 1.000000");
  EXPECT_EQ(
      errorOf(dropoutOf(x, NAN)),
      "kernel 'dropout' expects a finite float attribute 'p' but got nan");
  EXPECT_EQ(errorOf(dropoutOf(x, 0.5).with("global_shape", list({2, 2}))),
            "kernel 'dropout' expects 'global_shape' to hold tensor<2x3xf32> "
            "but got 2x2");
  Call call = dropoutOf(x, 0.5).with("global_shape", list({4, 3}));
  call.operands.push_back(Tensor({I64, {2}}, {3, 0}));
  EXPECT_EQ(errorOf(call), "kernel 'dropout' expects an origin from 0 to 2 "
                           "along dimension 0 but got 3");
  call.operands[2] = Tensor({I64, {3}});
  EXPECT_EQ(errorOf(call), "kernel 'dropout' expects tensor<2xi64> for operand "
                           "2 but got tensor<3xi64>");
  call.operands = {x, Tensor({I64, {3}})};
  EXPECT_EQ(errorOf(call), "kernel 'dropout' expects tensor<2xi64> for operand "
                           "1 but got tensor<3xi64>");
}

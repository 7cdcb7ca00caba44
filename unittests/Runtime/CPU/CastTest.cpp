// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cast between all element types.

#include "KernelTester.h"

#include <cmath>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::test;

static void expectCast(ElementType from, ElementType to, std::vector<double> x,
                       std::vector<double> y) {
  SCOPED_TRACE(std::string(elementName(from)) + " to " + elementName(to));
  Shape shape = {int64_t(x.size())};
  expectResults({"cast", {Tensor({from, shape}, x)}, {{to, shape}}, {}}, {y},
                {});
}

TEST(Cast, SmallIntegersKeepTheirValue) {
  ElementType types[] = {F32, F64, BF16, I1, I32, I64};
  for (ElementType from : types)
    for (ElementType to : types) {
      bool narrow = from == I1 || to == I1;
      std::vector<double> x(100);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = narrow ? double(i % 2) : double(i) - 50;
      expectCast(from, to, x, x);
    }
}

TEST(Cast, RealsToIntegersTruncateAndSaturate) {
  for (ElementType from : {F32, F64}) {
    expectCast(
        from, I32, {1.75, -1.75, 0.5, 3e9, -3e9, INFINITY, -INFINITY, NAN},
        {1, -1, 0, 2147483647, -2147483648.0, 2147483647, -2147483648.0, 0});
    expectCast(from, I64, {1.75, -1.75, 1e30, -1e30, NAN},
               {1, -1, 0x1p63, -0x1p63, 0});
    expectCast(from, I1, {0, 0.25, -1, NAN}, {0, 1, 1, 1});
  }
}

TEST(Cast, ToF32RoundsToNearestEven) {
  expectCast(F64, F32, {1 + 0x1p-24, 1 + 3 * 0x1p-24, 1e300, NAN, -0.0},
             {1, 1 + 0x1p-22, INFINITY, NAN, -0.0});
  expectCast(I64, F32, {16777217, 16777219}, {16777216, 16777220});
}

TEST(Cast, ToBFloat16RoundsToNearestEvenOnce) {
  double unit = 0x1p-7;
  expectCast(F32, BF16,
             {1 + unit / 2, 1 + 1.5 * unit, 1 + unit / 2 + 0x1p-23, -3.4e38,
              INFINITY, NAN},
             {1, 1 + 2 * unit, 1 + unit, -INFINITY, INFINITY, NAN});
  // By way of f32, rounded to nearest, these would become ties.
  expectCast(F64, BF16,
             {1 + unit / 2 + 0x1p-40, 1 + 1.5 * unit - 0x1p-40, 1 + unit / 2,
              NAN, 1e300},
             {1 + unit, 1 + unit, 1, NAN, INFINITY});
  expectCast(I32, BF16, {16842753, 257, 259, -257}, {16908288, 256, 260, -256});
  // 2^62 + 2^54 + 1: just above the tie between two bf16.
  Tensor x({I64, {1}});
  int64_t value = (int64_t(1) << 62) + (int64_t(1) << 54) + 1;
  std::memcpy(x.data(), &value, sizeof(value));
  expectResults({"cast", {x}, {{BF16, {1}}}, {}}, {{0x1p62 + 0x1p55}}, {});
}

TEST(Cast, NegativeZeroAndSubnormals) {
  Tensor x({F32, {2}}, {-0.0, 0x1p-130});
  Tensor y = runOk({"cast", {x}, {{BF16, {2}}}, {}})[0];
  EXPECT_TRUE(std::signbit(y[0]));
  EXPECT_EQ(y[1], 0x1p-130);
}

TEST(Cast, TheSameTypeIsAView) {
  KernelSpec same{"cast", {{F32, {4}}}, {{F32, {4}}}, {}},
      other{"cast", {{F32, {4}}}, {{I32, {4}}}, {}};
  EXPECT_EQ(findKernel("cast")->viewOffset(same), 0);
  EXPECT_EQ(findKernel("cast")->viewOffset(other), -1);
}

TEST(Cast, Errors) {
  EXPECT_EQ(
      errorOf({"cast", {Tensor({F32, {4}})}, {{F64, {5}}}, {}}),
      "kernel 'cast' expects tensor<4xf64> for result 0 but got tensor<5xf64>");
}

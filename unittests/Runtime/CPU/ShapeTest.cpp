// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that move elements, for element types of every size, and which of
// their calls are views.

#include "KernelTester.h"

using namespace piper::rt;
using namespace piper::rt::test;

static const ElementType kTypes[] = {F32, F64, BF16, I1, I32, I64};

static Tensor sample(ElementType element, const Shape &shape) {
  return Tensor::randomIndices({element, shape}, 3, element == I1 ? 2 : 100);
}

static int64_t viewOf(const Call &call) {
  return findKernel(call.name)->viewOffset(call.spec());
}

TEST(Shape, ReshapeAndStopGradientAreViews) {
  for (ElementType element : kTypes) {
    Tensor x = sample(element, {4, 6});
    Call call{"reshape", {x}, {{element, {3, 8}}}, {}};
    expectResults(call, {x.values()}, {});
    EXPECT_EQ(viewOf(call), 0);
    Call stop{"stop_gradient", {x}, {x.type()}, {}};
    expectResults(stop, {x.values()}, {});
    EXPECT_EQ(viewOf(stop), 0);
  }
}

TEST(Shape, TransposeAnyPermutation) {
  const std::pair<Shape, Shape> cases[] = {{{4, 8}, {1, 0}},
                                           {{1, 5}, {1, 0}},
                                           {{3, 17, 65}, {2, 0, 1}},
                                           {{3, 17, 65}, {2, 1, 0}},
                                           {{3, 17, 65}, {1, 0, 2}},
                                           {{3, 17, 65}, {0, 2, 1}},
                                           {{2, 3, 4, 5}, {0, 2, 1, 3}},
                                           {{2, 3, 4, 5}, {3, 1, 2, 0}},
                                           {{2, 3, 4, 5}, {1, 0, 3, 2}},
                                           {{}, {}},
                                           {{7}, {0}},
                                           {{100, 130}, {1, 0}},
                                           {{2, 1, 3, 1}, {1, 0, 3, 2}},
                                           {{33, 1, 40}, {2, 1, 0}}};
  for (ElementType element : kTypes)
    for (auto &[shape, permutation] : cases) {
      Tensor x = sample(element, shape);
      Shape result, strides = stridesOf(shape);
      for (int64_t dim : permutation)
        result.push_back(shape[size_t(dim)]);
      std::vector<double> y;
      for (int64_t i = 0; i < x.size(); ++i) {
        int64_t rest = i, at = 0;
        for (size_t d = result.size(); d-- > 0;) {
          at += rest % result[d] * strides[size_t(permutation[d])];
          rest /= result[d];
        }
        y.push_back(x[at]);
      }
      Call call{"transpose", {x}, {{element, result}}, {}};
      call.with("permutation", list(permutation));
      expectResults(call, {y}, {});
    }
}

TEST(Shape, TransposeIsAViewWhereOnlyOnesMove) {
  auto view = [](Shape shape, Shape permutation) {
    Shape result;
    for (int64_t dim : permutation)
      result.push_back(shape[size_t(dim)]);
    return viewOf(
        Call{"transpose", {Tensor({F32, shape})}, {{F32, result}}, {}}.with(
            "permutation", list(permutation)));
  };
  EXPECT_EQ(view({1, 5}, {1, 0}), 0);
  EXPECT_EQ(view({3, 1, 5}, {1, 0, 2}), 0);
  EXPECT_EQ(view({4, 5}, {0, 1}), 0);
  EXPECT_EQ(view({2, 5}, {1, 0}), -1);
  EXPECT_EQ(view({2, 1, 5}, {2, 1, 0}), -1);
}

TEST(Shape, SliceAndPad) {
  struct Case {
    Shape whole, offsets, part;
    int64_t view;
  };
  const Case cases[] = {{{4, 8}, {0, 4}, {4, 2}, -1},
                        {{4, 8}, {1, 0}, {2, 8}, 8},
                        {{4, 8}, {0, 0}, {4, 8}, 0},
                        {{4, 8}, {3, 7}, {1, 1}, 31},
                        {{5}, {2}, {3}, 2},
                        {{}, {}, {}, 0},
                        {{3, 5, 7}, {1, 2, 3}, {2, 3, 4}, -1},
                        {{3, 5, 7}, {1, 2, 0}, {1, 3, 7}, 49},
                        {{3, 5, 7}, {1, 2, 3}, {1, 1, 4}, 52},
                        {{3, 1, 7}, {0, 0, 2}, {3, 1, 1}, -1}};
  for (ElementType element : kTypes)
    for (const Case &c : cases) {
      Tensor whole = sample(element, c.whole), part = sample(element, c.part);
      std::vector<double> slice, pad(size_t(whole.size()), 0);
      Shape strides = stridesOf(c.whole);
      for (int64_t i = 0; i < part.size(); ++i) {
        int64_t rest = i, at = 0;
        for (size_t d = c.part.size(); d-- > 0;) {
          at += (rest % c.part[d] + c.offsets[d]) * strides[d];
          rest /= c.part[d];
        }
        slice.push_back(whole[at]);
        pad[size_t(at)] = part[i];
      }
      Call cut{"slice", {whole}, {part.type()}, {}};
      cut.with("offsets", list(c.offsets));
      expectResults(cut, {slice}, {});
      EXPECT_EQ(viewOf(cut), c.view < 0 ? -1 : c.view * elementBytes(element));
      Call put{"pad", {part}, {whole.type()}, cut.attributes};
      expectResults(put, {pad}, {});
    }
}

TEST(Shape, Concat) {
  for (ElementType element : kTypes)
    for (int64_t dim : {0, 1, 2}) {
      Tensor a = sample(element, {2, 3, 4});
      Shape shapeB = {2, 3, 4}, result = {2, 3, 4};
      shapeB[size_t(dim)] = 5;
      result[size_t(dim)] = 13;
      if (dim == 0)
        result[0] = 9;
      Tensor b = sample(element, shapeB);
      if (dim == 0)
        result[0] = 2 + 5 + 2;
      else
        result[size_t(dim)] = a.shape()[size_t(dim)] * 2 + 5;
      std::vector<double> y;
      int64_t inner = elementsOf(Shape(result.begin() + dim + 1, result.end()));
      int64_t outer = elementsOf(Shape(result.begin(), result.begin() + dim));
      for (int64_t o = 0; o < outer; ++o)
        for (const Tensor *part : {&a, &b, &a}) {
          int64_t run = part->shape()[size_t(dim)] * inner;
          for (int64_t i = 0; i < run; ++i)
            y.push_back((*part)[o * run + i]);
        }
      Call call{"concat", {a, b, a}, {{element, result}}, {}};
      call.with("dim", integer(dim));
      expectResults(call, {y}, {});
    }
}

TEST(Shape, Broadcast) {
  const std::pair<Shape, Shape> cases[] = {
      {{8}, {4, 8}},    {{4, 1}, {4, 8}},       {{}, {3, 5}},
      {{4, 8}, {4, 8}}, {{3, 1, 5}, {3, 4, 5}}, {{3, 1, 1}, {2, 3, 4, 5}},
      {{17}, {300, 17}}};
  for (ElementType element : kTypes)
    for (auto &[shape, result] : cases) {
      if (shape.size() > result.size())
        continue;
      Tensor x = sample(element, shape);
      std::vector<double> y;
      for (int64_t i = 0; i < elementsOf(result); ++i)
        y.push_back(x[broadcastIndex(i, result, shape)]);
      Call call{"broadcast", {x}, {{element, result}}, {}};
      expectResults(call, {y}, {});
      EXPECT_EQ(viewOf(call), elementsOf(shape) == elementsOf(result) ? 0 : -1);
    }
}

TEST(Shape, Select) {
  struct Case {
    Shape mask, a, b, result;
  };
  const Case cases[] = {
      {{4, 8}, {4, 8}, {4, 8}, {4, 8}}, {{4, 1}, {4, 8}, {8}, {4, 8}},
      {{8}, {4, 1}, {4, 8}, {4, 8}},    {{}, {3}, {1}, {3}},
      {{3, 1}, {}, {5}, {3, 5}},        {{65}, {2, 65}, {}, {2, 65}}};
  for (ElementType element : {F32, F64, BF16})
    for (const Case &c : cases) {
      Tensor mask = sample(I1, c.mask), a = sample(element, c.a),
             b = sample(element, c.b);
      std::vector<double> y;
      for (int64_t i = 0; i < elementsOf(c.result); ++i)
        y.push_back(mask[broadcastIndex(i, c.result, c.mask)]
                        ? a[broadcastIndex(i, c.result, c.a)]
                        : b[broadcastIndex(i, c.result, c.b)]);
      expectResults({"select", {mask, a, b}, {{element, c.result}}, {}}, {y},
                    {});
    }
}

TEST(Shape, Constant) {
  std::vector<uint8_t> bytes = {1, 0, 0, 0, 255, 255, 255, 255};
  Call call{"constant", {}, {{I32, {2}}}, {}};
  call.attributes.set("value", bytes);
  expectResults(call, {{1, -1}}, {});
  call.results = {{I32, {3}}};
  EXPECT_EQ(
      errorOf(call),
      "kernel 'constant' expects an attribute 'value' of 12 bytes but got 8");
  EXPECT_EQ(
      errorOf({"constant", {}, {{I32, {2}}}, {}}),
      "kernel 'constant' expects an attribute 'value' of 8 bytes but got none");
  EXPECT_EQ(
      errorOf(Call{"constant", {}, {{I32, {2}}}, {}}.with("value", integer(3))),
      "kernel 'constant' expects an attribute 'value' of 8 bytes but got "
      "another kind");
}

TEST(Shape, Errors) {
  Tensor x({F32, {4, 8}});
  EXPECT_EQ(errorOf({"reshape", {x}, {{F32, {31}}}, {}}),
            "kernel 'reshape' expects as many elements as tensor<4x8xf32> but "
            "got tensor<31xf32>");
  EXPECT_EQ(errorOf({"reshape", {x}, {{I32, {32}}}, {}}),
            "kernel 'reshape' expects f32 for result 0 but got i32");
  EXPECT_EQ(errorOf(Call{"transpose", {x}, {{F32, {8, 4}}}, {}}.with(
                "permutation", list({1, 1}))),
            "kernel 'transpose' expects 'permutation' to order the 2 "
            "dimensions of tensor<4x8xf32> but got [1x1]");
  EXPECT_EQ(errorOf(Call{"transpose", {x}, {{F32, {4, 8}}}, {}}.with(
                "permutation", list({1, 0}))),
            "kernel 'transpose' expects tensor<8x4xf32> for result 0 but got "
            "tensor<4x8xf32>");
  EXPECT_EQ(errorOf(Call{"slice", {x}, {{F32, {4, 2}}}, {}}.with("offsets",
                                                                 list({0, 7}))),
            "kernel 'slice' expects dimension 1 of tensor<4x2xf32> inside "
            "tensor<4x8xf32> but got offset 7");
  EXPECT_EQ(
      errorOf(Call{"slice", {x}, {{F32, {4}}}, {}}.with("offsets", list({0}))),
      "kernel 'slice' expects equal ranks and one offset for each dimension of "
      "tensor<4x8xf32> but got "
      "tensor<4xf32> and 1 offsets");
  EXPECT_EQ(errorOf(Call{"pad", {x}, {{F32, {4, 9}}}, {}}.with("offsets",
                                                               list({0, -1}))),
            "kernel 'pad' expects dimension 1 of tensor<4x8xf32> inside "
            "tensor<4x9xf32> but got offset -1");
  EXPECT_EQ(
      errorOf(
          Call{"concat", {x, x}, {{F32, {4, 15}}}, {}}.with("dim", integer(1))),
      "kernel 'concat' expects operands of 15 along dimension 1 but got 16");
  EXPECT_EQ(errorOf({"concat", {x, x}, {{F32, {4, 16}}}, {}}),
            "kernel 'concat' expects 'dim' to be a dimension of "
            "tensor<4x16xf32> but got -1");
  EXPECT_EQ(errorOf({"broadcast", {x}, {{F32, {8, 8}}}, {}}),
            "kernel 'broadcast' expects an operand that broadcasts to "
            "tensor<8x8xf32> but got tensor<4x8xf32>");
  EXPECT_EQ(errorOf({"select", {x, x, x}, {x.type()}, {}}),
            "kernel 'select' expects i1 for operand 0 but got f32");
  EXPECT_EQ(errorOf({"select", {Tensor({I1, {3}}), x, x}, {x.type()}, {}}),
            "kernel 'select' expects operands that broadcast to "
            "tensor<4x8xf32> but got tensor<3xi1>, "
            "tensor<4x8xf32> and tensor<4x8xf32>");
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// matmul against three plain loops.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

/// a and b have the shapes of the op; the batch of the result is `batch`.
static void checkMatmul(ElementType element, Shape batchA, Shape batchB,
                        Shape batch, int64_t m, int64_t n, int64_t k,
                        bool transposeA, bool transposeB) {
  SCOPED_TRACE("m " + std::to_string(m) + " n " + std::to_string(n) + " k " +
               std::to_string(k) + (transposeA ? " transpose_a" : "") +
               (transposeB ? " transpose_b" : ""));
  Shape shapeA = batchA, shapeB = batchB, shapeC = batch;
  shapeA.insert(shapeA.end(), {transposeA ? k : m, transposeA ? m : k});
  shapeB.insert(shapeB.end(), {transposeB ? n : k, transposeB ? k : n});
  shapeC.insert(shapeC.end(), {m, n});
  Tensor a = Tensor::random({element, shapeA}, 1);
  Tensor b = Tensor::random({element, shapeB}, 2);
  std::vector<double> c;
  for (int64_t i = 0; i < elementsOf(batch); ++i) {
    int64_t atA = broadcastIndex(i, batch, batchA) * m * k;
    int64_t atB = broadcastIndex(i, batch, batchB) * k * n;
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += a[atA + (transposeA ? p * m + row : row * k + p)] *
                 b[atB + (transposeB ? column * k + p : p * n + column)];
        c.push_back(sum);
      }
  }
  Call call{"matmul", {a, b}, {{element, shapeC}}, {}};
  if (transposeA)
    call.with("transpose_a", integer(1));
  if (transposeB)
    call.with("transpose_b", integer(1));
  Tolerance tolerance = toleranceOf(element, 1e-6);
  tolerance.absolute *= 4 * double(k);
  expectResults(call, {c}, tolerance);
}

TEST(Matmul, AllTransposesOfOddShapes) {
  forReals([](ElementType element) {
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (auto [m, n, k] :
             {std::tuple(1, 1, 1), std::tuple(3, 17, 5), std::tuple(65, 3, 33),
              std::tuple(16, 64, 16), std::tuple(7, 130, 300),
              std::tuple(101, 67, 129)})
          checkMatmul(element, {}, {}, {}, m, n, k, transposeA, transposeB);
  });
}

TEST(Matmul, Batches) {
  forReals([](ElementType element) {
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true}) {
        checkMatmul(element, {3}, {3}, {3}, 5, 7, 9, transposeA, transposeB);
        checkMatmul(element, {3}, {}, {3}, 5, 7, 9, transposeA, transposeB);
        checkMatmul(element, {}, {3}, {3}, 5, 7, 9, transposeA, transposeB);
        checkMatmul(element, {2, 3}, {1, 3}, {2, 3}, 4, 5, 6, transposeA,
                    transposeB);
        checkMatmul(element, {2, 1}, {1, 3}, {2, 3}, 4, 5, 6, transposeA,
                    transposeB);
        checkMatmul(element, {2, 3}, {2, 1}, {2, 3}, 4, 5, 6, transposeA,
                    transposeB);
        checkMatmul(element, {2, 1, 3}, {4, 1}, {2, 4, 3}, 2, 3, 4, transposeA,
                    transposeB);
        checkMatmul(element, {1, 1}, {1}, {1, 1}, 4, 5, 6, transposeA,
                    transposeB);
      }
  });
}

TEST(Matmul, LargeRowsThatArePacked) {
  for (ElementType element : {F32, F64})
    checkMatmul(element, {}, {}, {}, 70, 1024, 40, false, false);
  checkMatmul(F32, {2}, {}, {2}, 40, 2048, 20, false, false);
}

TEST(Matmul, WorkspaceDependsOnShapesAndThreadsOnly) {
  const KernelEntry *matmul = findKernel("matmul");
  KernelSpec spec{
      "matmul", {{F32, {64, 32}}, {F32, {32, 16}}}, {{F32, {64, 16}}}, {}};
  int64_t one = matmul->workspaceBytes(spec, Target{"cpu", 1});
  EXPECT_GT(one, 0);
  EXPECT_EQ(matmul->workspaceBytes(spec, Target{"cpu", 3}), 3 * one);
  // No more than 2 MiB a thread, whatever the shape.
  KernelSpec large{"matmul",
                   {{F32, {50000, 9000}}, {F32, {9000, 5000}}},
                   {{F32, {50000, 5000}}},
                   {}};
  EXPECT_LE(matmul->workspaceBytes(large, Target{"cpu", 1}), 2 << 20);
}

TEST(Matmul, SpecialValuesPropagate) {
  Tensor a({F32, {2, 2}}, {NAN, 0, 1, INFINITY});
  Tensor b({F32, {2, 1}}, {1, 2});
  expectResults({"matmul", {a, b}, {{F32, {2, 1}}}, {}}, {{NAN, INFINITY}}, {});
}

TEST(Matmul, Errors) {
  Tensor a({F32, {4, 3}}), b({F32, {5, 2}});
  EXPECT_EQ(errorOf({"matmul", {a, b}, {{F32, {4, 2}}}, {}}),
            "kernel 'matmul' expects equal inner dimensions but got 3 and 5");
  EXPECT_EQ(
      errorOf({"matmul", {a, Tensor({F32, {3, 2}})}, {{F32, {4, 3}}}, {}}),
      "kernel 'matmul' expects a result of the product of "
      "tensor<4x3xf32> and tensor<3x2xf32> but got tensor<4x3xf32>");
  EXPECT_EQ(errorOf({"matmul", {a, Tensor({F32, {3}})}, {{F32, {4, 3}}}, {}}),
            "kernel 'matmul' expects 2 or more dimensions of operand 1 but got "
            "tensor<3xf32>");
  EXPECT_EQ(
      errorOf({"matmul", {a, Tensor({BF16, {3, 2}})}, {{F32, {4, 2}}}, {}}),
      "kernel 'matmul' expects f32 for operand 1 but got bf16");
}

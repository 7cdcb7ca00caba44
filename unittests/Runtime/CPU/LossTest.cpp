// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// embedding, cross_entropy and their gradients, against plain loops.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

TEST(Embedding, ReadsRowsAndAddsGradients) {
  forReals([](ElementType element) {
    for (ElementType ids : {I32, I64})
      for (auto [rows, columns, shape] :
           {std::tuple(7, 3, Shape{5}), std::tuple(1, 1, Shape{}),
            std::tuple(65, 17, Shape{3, 65}),
            std::tuple(10, 700, Shape{2, 40})}) {
        Tensor table = Tensor::random({element, {rows, columns}}, 1);
        Tensor tokens = Tensor::randomIndices({ids, shape}, 2, rows);
        Shape result = shape;
        result.push_back(columns);
        Tensor dy = Tensor::random({element, result}, 3);
        std::vector<double> y, dtable(size_t(rows * columns), 0);
        for (int64_t i = 0; i < tokens.size(); ++i)
          for (int64_t c = 0; c < columns; ++c) {
            int64_t at = int64_t(tokens[i]) * columns + c;
            y.push_back(table[at]);
            // In ascending order, each sum rounded as in the kernel.
            double sum = dtable[size_t(at)] + dy[i * columns + c];
            dtable[size_t(at)] = element == F32 ? double(float(sum)) : sum;
          }
        expectResults({"embedding", {table, tokens}, {dy.type()}, {}}, {y}, {});
        expectResults({"embedding_grad", {dy, tokens}, {table.type()}, {}},
                      {dtable}, {});
      }
  });
}

TEST(Embedding, TablesOfBFloat16) {
  Tensor table({BF16, {2, 3}}, {1, 2, 3, 4, 5, 6}), ids({I32, {3}}, {1, 0, 1});
  expectResults({"embedding", {table, ids}, {{BF16, {3, 3}}}, {}},
                {{4, 5, 6, 1, 2, 3, 4, 5, 6}}, {});
}

TEST(Embedding, IdsOutOfRangeAreErrors) {
  Tensor table = Tensor::random({F32, {8, 2}}, 1);
  EXPECT_EQ(errorOf({"embedding",
                     {table, Tensor({I32, {2, 2}}, {0, 7, 8, -1})},
                     {{F32, {2, 2, 2}}},
                     {}}),
            "kernel 'embedding' expects ids from 0 to 7 for a table of 8 rows "
            "but got 8 at position 2 (row 1)");
  EXPECT_EQ(errorOf({"embedding_grad",
                     {table, Tensor({I64, {8}}, {0, 1, 2, 3, 4, -5, 6, 7})},
                     {{F32, {8, 2}}},
                     {}}),
            "kernel 'embedding_grad' expects ids from 0 to 7 for a table of 8 "
            "rows but got -5 at position 5");
}

TEST(Embedding, Errors) {
  Tensor table({F32, {8, 2}}), ids({I32, {4}});
  EXPECT_EQ(
      errorOf({"embedding", {table, Tensor({F32, {4}})}, {{F32, {4, 2}}}, {}}),
      "kernel 'embedding' expects i32 or i64 for operand 1 but got f32");
  EXPECT_EQ(errorOf({"embedding", {table, ids}, {{F32, {4, 3}}}, {}}),
            "kernel 'embedding' expects tensor<4x2xf32> for result 0 but got "
            "tensor<4x3xf32>");
  EXPECT_EQ(
      errorOf({"embedding", {Tensor({F32, {8}}), ids}, {{F32, {4, 3}}}, {}}),
      "kernel 'embedding' expects 2 dimensions of operand 0 but got "
      "tensor<8xf32>");
  EXPECT_EQ(errorOf({"embedding_grad",
                     {Tensor({F32, {4, 3}}), ids},
                     {{F32, {8, 2}}},
                     {}}),
            "kernel 'embedding_grad' expects tensor<4x2xf32> for operand 0 but "
            "got tensor<4x3xf32>");
}

TEST(CrossEntropy, EqualsItsDefinitionAndGradient) {
  forReals([](ElementType element) {
    for (ElementType labelType : {I32, I64})
      for (auto [lead, classes] :
           {std::pair(Shape{}, 5), std::pair(Shape{3}, 1),
            std::pair(Shape{2, 17}, 65), std::pair(Shape{70}, 300)}) {
        Shape shape = lead;
        shape.push_back(classes);
        Tensor logits = Tensor::random({element, shape}, 1, 95, 105);
        Tensor labels = Tensor::randomIndices({labelType, lead}, 2, classes);
        // Some positions are ignored.
        for (int64_t i = 1; i < labels.size(); i += 3)
          labels.set(i, i % 2 ? -1 : -100);
        double sum = 0;
        std::vector<double> tops, totals, dlogits;
        for (int64_t r = 0; r < labels.size(); ++r) {
          double top = logits[r * classes], total = 0;
          for (int64_t c = 0; c < classes; ++c)
            top = std::fmax(top, logits[r * classes + c]);
          for (int64_t c = 0; c < classes; ++c)
            total += std::exp(logits[r * classes + c] - top);
          tops.push_back(top);
          totals.push_back(total);
          if (labels[r] >= 0)
            sum += top + std::log(total) -
                   logits[r * classes + int64_t(labels[r])];
          for (int64_t c = 0; c < classes; ++c)
            dlogits.push_back(
                labels[r] < 0
                    ? 0
                    : 0.25 * (std::exp(logits[r * classes + c] - top) / total -
                              (c == labels[r])));
        }
        Tolerance tolerance = toleranceOf(element, 1e-5);
        tolerance.absolute *= 3 * double(labels.size());
        Call call{"cross_entropy", {logits, labels}, {{element, {}}}, {}};
        expectResults(call, {{sum}}, tolerance);
        call.results.insert(call.results.end(), 2, {element, lead});
        expectResults(call, {{sum}, tops, totals}, tolerance);
        expectResults(
            {"cross_entropy_grad",
             {Tensor::scalar(element, 0.25), logits, labels,
              Tensor({element, lead}, tops), Tensor({element, lead}, totals)},
             {logits.type()},
             {}},
            {dlogits}, toleranceOf(element, 1e-5));
      }
  });
}

TEST(CrossEntropy, SpecialValuesCountWhereTheLabelDoes) {
  Tensor logits({F32, {2, 2}}, {NAN, 1, 3, 3});
  Call call{
      "cross_entropy", {logits, Tensor({I32, {2}}, {-1, 0})}, {{F32, {}}}, {}};
  expectResults(call, {{std::log(2)}}, {1e-6, 0});
  call.operands[1] = Tensor({I32, {2}}, {1, 0});
  expectResults(call, {{NAN}}, {});
  Call gradient{"cross_entropy_grad",
                {Tensor::scalar(F32, 1), logits, Tensor({I32, {2}}, {-1, 0}),
                 Tensor({F32, {2}}, {NAN, 3}), Tensor({F32, {2}}, {NAN, 2})},
                {logits.type()},
                {}};
  expectResults(gradient, {{0, 0, -0.5, 0.5}}, {1e-6, 0});
}

TEST(CrossEntropy, LabelsOutOfRangeAreErrors) {
  Tensor logits = Tensor::random({F32, {3, 5}}, 1),
         labels({I32, {3}}, {-1, 4, 5});
  EXPECT_EQ(errorOf({"cross_entropy", {logits, labels}, {{F32, {}}}, {}}),
            "kernel 'cross_entropy' expects labels below 5, the number of "
            "classes, but got 5 at position 2");
  EXPECT_EQ(errorOf({"cross_entropy_grad",
                     {Tensor::scalar(F32, 1), logits, labels,
                      Tensor({F32, {3}}), Tensor({F32, {3}})},
                     {logits.type()},
                     {}}),
            "kernel 'cross_entropy_grad' expects labels below 5, the number of "
            "classes, but got 5 at position 2");
}

TEST(CrossEntropy, Errors) {
  Tensor logits({F32, {3, 5}}), labels({I32, {3}});
  EXPECT_EQ(
      errorOf({"cross_entropy", {logits, Tensor({I32, {5}})}, {{F32, {}}}, {}}),
      "kernel 'cross_entropy' expects tensor<3xi32> for operand 1 but got "
      "tensor<5xi32>");
  EXPECT_EQ(
      errorOf({"cross_entropy", {logits, labels}, {{F32, {}}, {F32, {3}}}, {}}),
      "kernel 'cross_entropy' expects 1 or 3 results but got 2");
  EXPECT_EQ(errorOf({"cross_entropy",
                     {logits, labels},
                     {{F32, {}}, {F32, {3}}, {F32, {5}}},
                     {}}),
            "kernel 'cross_entropy' expects tensor<3xf32> for result 2 but got "
            "tensor<5xf32>");
  EXPECT_EQ(
      errorOf({"cross_entropy_grad",
               {labels, logits, labels, Tensor({F32, {3}}), Tensor({F32, {3}})},
               {logits.type()},
               {}}),
      "kernel 'cross_entropy_grad' expects tensor<f32> for operand 0 but "
      "got tensor<3xi32>");
}

TEST(CountValid, CountsLabelsThatAreNotNegative) {
  expectResults({"count_valid",
                 {Tensor({I32, {2, 3}}, {0, -1, 5, -100, 7, 0})},
                 {{I64, {}}},
                 {}},
                {{4}}, {});
  expectResults(
      {"count_valid", {Tensor({I64, {2}}, {-1, -1})}, {{I64, {}}}, {}}, {{0}},
      {});
}

TEST(Divide, MakesAMeanOrNaN) {
  forReals([](ElementType element) {
    expectResults({"divide",
                   {Tensor::scalar(element, 6), Tensor::scalar(I64, 4)},
                   {{element, {}}},
                   {}},
                  {{1.5}}, {});
    expectResults({"divide",
                   {Tensor::scalar(element, 6), Tensor::scalar(I64, 0)},
                   {{element, {}}},
                   {}},
                  {{NAN}}, {});
    expectResults({"reciprocal", {Tensor::scalar(I64, 4)}, {{element, {}}}, {}},
                  {{0.25}}, {});
    expectResults({"reciprocal", {Tensor::scalar(I64, 0)}, {{element, {}}}, {}},
                  {{0}}, {});
  });
}

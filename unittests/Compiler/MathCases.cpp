// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the table of ops: matrix product, arithmetic, activations and
// reductions.

#include "OpCase.h"

using namespace piper::test;

/// "2x3x" and {5, 7} -> "2x3x5x7xf64".
static std::string matrix(const std::string &batch, int64_t rows,
                          int64_t columns, bool transposed) {
  if (transposed)
    std::swap(rows, columns);
  return batch + std::to_string(rows) + "x" + std::to_string(columns) + "xf64";
}

/// [m, k] x [k, n] with each combination of transposes.
static void addMatmul(std::vector<OpCase> &cases, const std::string &batchA,
                      const std::string &batchB, const std::string &batchY,
                      int64_t m, int64_t k, int64_t n) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      std::string attributes = ta ? "transpose_a" : "";
      if (tb)
        attributes += ta ? ", transpose_b" : "transpose_b";
      cases.push_back({"matmul",
                       attributes,
                       {matrix(batchA, m, k, ta), matrix(batchB, k, n, tb)},
                       {matrix(batchY, m, n, false)}});
    }
}

static void addMatmuls(std::vector<OpCase> &cases) {
  // 2 * 5 * 7 * 3; 8 * (15 + 21 + 35).
  cases.push_back(
      {"matmul", "", {"5x3xf64", "3x7xf64"}, {"5x7xf64"}, 210, 568});
  // 2 * (2 * 3) * 5 * 7 * 4, whichever way the operands are stored.
  cases.push_back({"matmul",
                   "transpose_a, transpose_b",
                   {"2x3x4x5xf64", "7x4xf64"},
                   {"2x3x5x7xf64"},
                   1680,
                   8 * (120 + 28 + 210)});
  addMatmul(cases, "", "", "", 5, 3, 7);
  addMatmul(cases, "", "", "", 1, 1, 1);
  addMatmul(cases, "", "", "", 1, 7, 3);
  addMatmul(cases, "3x", "3x", "3x", 5, 3, 1);
  // One matrix for all of a batch, on either side.
  addMatmul(cases, "2x3x", "", "2x3x", 5, 3, 7);
  addMatmul(cases, "3x", "1x", "3x", 1, 5, 3);
  addMatmul(cases, "", "2x3x", "2x3x", 5, 3, 7);
  addMatmul(cases, "1x1x", "3x", "1x3x", 3, 5, 1);
  // Some dimensions of the batch repeated, on both sides.
  addMatmul(cases, "2x1x", "3x", "2x3x", 3, 5, 2);
  addMatmul(cases, "", "1x1x", "1x1x", 5, 3, 7);
  addMatmul(cases, "1x3x", "2x1x", "2x3x", 1, 3, 5);
}

/// Operand shapes in all ways of broadcasting, with the result's.
static const char *const kBroadcasts[][3] = {
    {"5x3xf64", "5x3xf64", "5x3xf64"},
    {"5x3xf64", "3xf64", "5x3xf64"},
    {"5x3xf64", "5x1xf64", "5x3xf64"},
    {"1x3xf64", "5x1xf64", "5x3xf64"},
    {"f64", "5x3xf64", "5x3xf64"},
    {"7x1x3xf64", "5x1xf64", "7x5x3xf64"},
    {"1xf64", "1x1xf64", "1x1xf64"},
    {"3xf64", "7x1x1xf64", "7x1x3xf64"},
    {"f64", "f64", "f64"},
    {"1x7xf64", "7xf64", "1x7xf64"}};

static void addArithmetic(std::vector<OpCase> &cases) {
  for (const char *op : {"add", "sub", "mul", "div"}) {
    bool divides = std::string(op) == "div";
    for (const auto &[a, b, y] : kBroadcasts)
      cases.push_back(
          {op, "", {a, b + std::string(divides ? " positive" : "")}, {y}});
    // One operation per element of the result; 8 * (15 + 3 + 15).
    cases.push_back({op,
                     "",
                     {"5x3xf64", divides ? "3xf64 positive" : "3xf64"},
                     {"5x3xf64"},
                     15,
                     264});
  }
  // An i1 takes a byte: 15 + 8 * (15 + 15 + 15).
  cases.push_back({"select",
                   "",
                   {"5x3xi1 bool", "5x3xf64", "5x3xf64"},
                   {"5x3xf64"},
                   15,
                   375});
  cases.push_back(
      {"select", "", {"5x1xi1 bool", "5x3xf64", "3xf64"}, {"5x3xf64"}});
  cases.push_back(
      {"select", "", {"7x5x3xi1 bool", "f64", "5x1xf64"}, {"7x5x3xf64"}});
  cases.push_back(
      {"select", "", {"3xi1 bool", "1x3xf64", "5x1xf64"}, {"5x3xf64"}});
}

namespace {
struct Unary {
  const char *op;
  const char *attributes;
  const char *rule;
  /// Operations for 15 elements.
  int64_t flops;
};
} // namespace

static void addUnary(std::vector<OpCase> &cases) {
  const Unary ops[] = {
      {"scale", "factor = -0.75 : f64", "", 15},
      {"neg", "", "", 15},
      {"exp", "", "", 120},
      {"log", "", " positive", 120},
      {"rsqrt", "", " positive", 30},
      {"square", "", "", 15},
      {"tanh", "", "", 120},
      {"sigmoid", "", "", 150},
      {"relu", "", " apart", 15},
      {"silu", "", "", 165},
      {"gelu", "", "", 180},
      {"gelu", "approximate", "", 240},
      {"stop_gradient", "", "", 0},
  };
  for (const Unary &unary : ops) {
    cases.push_back({unary.op,
                     unary.attributes,
                     {std::string("5x3xf64") + unary.rule},
                     {"5x3xf64"},
                     unary.flops,
                     240});
    for (std::string shape : {"f64", "1xf64", "7x1x5xf64"})
      cases.push_back(
          {unary.op, unary.attributes, {shape + unary.rule}, {shape}});
  }
  const Unary gradients[] = {
      {"tanh_grad", "", "", 45},       {"sigmoid_grad", "", "", 45},
      {"relu_grad", "", " apart", 15}, {"silu_grad", "", "", 225},
      {"gelu_grad", "", "", 375},      {"gelu_grad", "approximate", "", 360},
  };
  for (const Unary &unary : gradients)
    cases.push_back({unary.op,
                     unary.attributes,
                     {"5x3xf64", std::string("5x3xf64") + unary.rule},
                     {"5x3xf64"},
                     unary.flops,
                     360});
}

static void addReductions(std::vector<OpCase> &cases) {
  for (const char *op : {"reduce_sum", "reduce_max"}) {
    std::string x =
        std::string(op) == "reduce_max" ? "5x3x7xf64 apart" : "5x3x7xf64";
    auto add = [&](const char *dims, const char *kept, const char *dropped) {
      std::string attribute = std::string("dims = array<i64: ") + dims + ">";
      cases.push_back({op, attribute, {x}, {dropped}});
      cases.push_back({op, attribute + ", keep_dims", {x}, {kept}});
    };
    add("0", "1x3x7xf64", "3x7xf64");
    add("1", "5x1x7xf64", "5x7xf64");
    add("2", "5x3x1xf64", "5x3xf64");
    add("0, 1", "1x1x7xf64", "7xf64");
    add("0, 2", "1x3x1xf64", "3xf64");
    add("0, 1, 2", "1x1x1xf64", "f64");
    // One operation per element read; 8 * (105 + 21).
    cases.push_back({op, "dims = array<i64: 0>", {x}, {"3x7xf64"}, 105, 1008});
    cases.push_back({op, "dims = array<i64: 0>", {"1xf64"}, {"f64"}});
    cases.push_back({op, "dims = array<i64>", {"3xf64"}, {"3xf64"}});
  }
  // On a grid some elements of x equal y.
  cases.push_back({"reduce_max_grad",
                   "dims = array<i64: 1>",
                   {"5x7xf64", "5x3x7xf64 grid", "5x7xf64 grid"},
                   {"5x3x7xf64"},
                   210,
                   8 * (35 + 105 + 35 + 105)});
  cases.push_back({"reduce_max_grad",
                   "dims = array<i64: 0, 2>, keep_dims",
                   {"1x3x1xf64", "5x3x7xf64 grid", "1x3x1xf64 grid"},
                   {"5x3x7xf64"}});
}

void piper::test::addMathCases(std::vector<OpCase> &cases) {
  addMatmuls(cases);
  addArithmetic(cases);
  addUnary(cases);
  addReductions(cases);
}

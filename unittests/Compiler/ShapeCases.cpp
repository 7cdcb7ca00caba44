// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the table of ops: constants, shape ops and casts.

#include "OpCase.h"

using namespace piper::test;

static void addConstants(std::vector<OpCase> &cases) {
  cases.push_back({"constant",
                   "value = dense<2.5> : tensor<6x5xf64>",
                   {},
                   {"6x5xf64"},
                   0,
                   240});
  cases.push_back({"constant",
                   "value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
                   {},
                   {"2x2xi32"}});
}

static void addReshapes(std::vector<OpCase> &cases) {
  // A reshape moves nothing.
  cases.push_back({"reshape", "", {"2x3x5xf64"}, {"6x5xf64"}, 0, 0});
  const char *const shapes[][2] = {{"6x5xf64", "2x3x5xf64"},
                                   {"30xf64", "5x3x2xf64"},
                                   {"3x1x5xf64", "15xf64"},
                                   {"7xf64", "1x7x1xf64"},
                                   {"f64", "1x1xf64"},
                                   {"8x3xf64", "2x4x3xf64"},
                                   {"4x6xf64", "2x12xf64"},
                                   {"12xf64", "3x4xf64"},
                                   // Only a part of these can be split.
                                   {"6x4xf64", "4x6xf64"},
                                   {"2x6x4xf64", "2x4x6xf64"},
                                   {"6x4x5xf64", "4x6x5xf64"},
                                   {"6x6xf64", "4x9xf64"},
                                   {"5x3xf64", "3x5xf64"},
                                   {"3x10x2xf64", "5x3x4xf64"},
                                   {"4x6xi32 index 9", "24xi32"}};
  for (const auto &[from, to] : shapes)
    cases.push_back({"reshape", "", {from}, {to}});
}

static void addTransposes(std::vector<OpCase> &cases) {
  cases.push_back({"transpose",
                   "permutation = array<i64: 1, 0>",
                   {"5x3xf64"},
                   {"3x5xf64"},
                   0,
                   240});
  auto add = [&](const char *permutation, const char *from, const char *to) {
    cases.push_back(
        {"transpose",
         std::string("permutation = array<i64: ") + permutation + ">",
         {from},
         {to}});
  };
  add("1, 2, 0", "5x3x7xf64", "3x7x5xf64");
  add("2, 0, 1", "5x3x7xf64", "7x5x3xf64");
  add("0, 2, 1, 3", "2x5x3x7xf64", "2x3x5x7xf64");
  add("0", "7xf64", "7xf64");
  add("1, 0", "1x5xf64", "5x1xf64");
  add("1, 0", "5x3xi64 index 9", "3x5xi64");
  add("1, 0", "5x3xi1 bool", "3x5xi1");
}

static void addWindows(std::vector<OpCase> &cases) {
  // The large and the small shape, and where the small one lies in it.
  const char *const windows[][3] = {{"5x7xf64", "3x7xf64", "1, 0"},
                                    {"5x7xf64", "5x3xf64", "0, 4"},
                                    {"5x7x3xf64", "2x3x3xf64", "3, 1, 0"},
                                    {"5x3xf64", "5x3xf64", "0, 0"},
                                    {"7xf64", "1xf64", "6"},
                                    {"3x5x7xf64", "3x1x7xf64", "0, 2, 0"}};
  for (const auto &[large, small, offsets] : windows) {
    std::string attribute =
        std::string("offsets = array<i64: ") + offsets + ">";
    cases.push_back({"slice", attribute, {large}, {small}});
    cases.push_back({"pad", attribute, {small}, {large}});
  }
  // A slice reads what it writes; a pad also writes zeros.
  cases.push_back({"slice",
                   "offsets = array<i64: 1, 0>",
                   {"5x7xf64"},
                   {"3x7xf64"},
                   0,
                   2 * 8 * 21});
  cases.push_back({"pad",
                   "offsets = array<i64: 1, 0>",
                   {"3x7xf64"},
                   {"5x7xf64"},
                   0,
                   8 * (21 + 35)});
}

static void addJoins(std::vector<OpCase> &cases) {
  cases.push_back({"concat",
                   "dim = 1 : i64",
                   {"5x3xf64", "5x1xf64", "5x7xf64"},
                   {"5x11xf64"},
                   0,
                   2 * 8 * 55});
  cases.push_back(
      {"concat", "dim = 0 : i64", {"5x3xf64", "1x3xf64"}, {"6x3xf64"}});
  cases.push_back({"concat", "dim = 0 : i64", {"5x3xf64"}, {"5x3xf64"}});
  cases.push_back(
      {"concat", "dim = 1 : i64", {"3x1x7xf64", "3x2x7xf64"}, {"3x3x7xf64"}});
  cases.push_back({"broadcast", "", {"5x1xf64"}, {"5x3xf64"}, 0, 8 * (5 + 15)});
  const char *const broadcasts[][2] = {
      {"3xf64", "5x3xf64"},   {"f64", "7xf64"},   {"1x3x1xf64", "2x5x3x7xf64"},
      {"3x5xf64", "3x5xf64"}, {"f64", "1x1xf64"}, {"3x1xi1 bool", "3x5xi1"}};
  for (const auto &[from, to] : broadcasts)
    cases.push_back({"broadcast", "", {from}, {to}});
}

static void addCasts(std::vector<OpCase> &cases) {
  cases.push_back(
      {"cast", "", {"5x3xf64 grid"}, {"5x3xf32"}, 15, 8 * 15 + 4 * 15});
  cases.push_back(
      {"cast", "", {"5x3xf32 grid"}, {"5x3xbf16"}, 15, 4 * 15 + 2 * 15});
  const char *const casts[][2] = {
      {"5x3xf32 grid", "5x3xf64"},    {"f64 grid", "bf16"},
      {"5x1xbf16 grid", "5x1xf32"},   {"7xbf16 grid", "7xf64"},
      {"5x3xf64", "5x3xf64"},         {"5x3xf64 apart", "5x3xi32"},
      {"5x3xi64 index 9", "5x3xf64"}, {"5x3xf64 grid", "5x3xi1"},
      {"3xi1 bool", "3xf64"},         {"3xi32 index 9", "3xi64"}};
  for (const auto &[from, to] : casts)
    cases.push_back({"cast", "", {from}, {to}});
}

void piper::test::addShapeCases(std::vector<OpCase> &cases) {
  addConstants(cases);
  addReshapes(cases);
  addTransposes(cases);
  addWindows(cases);
  addJoins(cases);
  addCasts(cases);
}

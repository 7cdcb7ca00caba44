// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the table of ops: the blocks of a transformer.

#include "OpCase.h"

using namespace piper::test;

static const char *const kKey = "2xi64 row 42 3";

static void addEmbeddings(std::vector<OpCase> &cases) {
  // Reads five rows of three, writes them, reads five ids.
  cases.push_back({"embedding",
                   "",
                   {"7x3xf64", "5xi32 index 7"},
                   {"5x3xf64"},
                   0,
                   2 * 120 + 20});
  cases.push_back(
      {"embedding", "", {"5x7xf64", "2x3xi64 index 5"}, {"2x3x7xf64"}});
  cases.push_back({"embedding", "", {"3x1xf64", "i32 index 3"}, {"1xf64"}});
  cases.push_back({"embedding_grad",
                   "",
                   {"5x3xf64", "5xi32 index 7"},
                   {"7x3xf64"},
                   15,
                   120 + 20 + 168});
  cases.push_back(
      {"embedding_grad", "", {"2x3x7xf64", "2x3xi64 index 5"}, {"5x7xf64"}});
}

static void addNorms(std::vector<OpCase> &cases) {
  const char *const eps = "eps = 1.0e-05 : f64";
  cases.push_back({"layer_norm",
                   eps,
                   {"5x7xf64", "7xf64", "7xf64"},
                   {"5x7xf64"},
                   280,
                   280 + 56 + 56 + 280});
  cases.push_back(
      {"layer_norm", eps, {"3x1x5xf64", "5xf64", "5xf64"}, {"3x1x5xf64"}});
  cases.push_back({"layer_norm", eps, {"7xf64", "7xf64", "7xf64"}, {"7xf64"}});
  cases.push_back(
      {"layer_norm", eps, {"3x1xf64", "1xf64", "1xf64"}, {"3x1xf64"}});
  cases.push_back({"layer_norm",
                   "eps = 0.1 : f64",
                   {"2x3x7xf64", "7xf64", "7xf64"},
                   {"2x3x7xf64", "2x3xf64", "2x3xf64"}});
  cases.push_back({"layer_norm_grad",
                   "",
                   {"5x7xf64", "5x7xf64", "7xf64", "5xf64", "5xf64 positive"},
                   {"5x7xf64", "7xf64", "7xf64"},
                   455,
                   280 + 280 + 56 + 40 + 40 + 280 + 56 + 56});
  cases.push_back(
      {"layer_norm_grad",
       "",
       {"2x3x7xf64", "2x3x7xf64", "7xf64", "2x3xf64", "2x3xf64 positive"},
       {"2x3x7xf64", "7xf64", "7xf64"}});
  cases.push_back({"softmax", "", {"5x7xf64"}, {"5x7xf64"}, 420, 560});
  for (const char *shape : {"7xf64", "3x1xf64", "2x3x5xf64"})
    cases.push_back({"softmax", "", {shape}, {shape}});
  cases.push_back({"softmax_grad",
                   "",
                   {"2x3x7xf64", "2x3x7xf64"},
                   {"2x3x7xf64"},
                   4 * 42,
                   3 * 8 * 42});
}

namespace {
/// Shapes of an attention.
struct Attention {
  const char *q, *k, *perQuery;
  const char *attributes;
  /// 4 batch heads queries keys (head size), half with a causal mask; -1 where
  /// no cost is checked. All values of q, k and of one
  /// saved result.
  int64_t flops = -1;
  int64_t qElements = 0, kElements = 0, savedElements = 0;
  bool dropout = false;
  /// Where the scores lie, with `global_shape` among the attributes.
  const char *origin = nullptr;
};
} // namespace

static void addAttention(std::vector<OpCase> &cases, const Attention &shape) {
  std::string attributes =
      std::string("scale = 0.375 : f64") + shape.attributes;
  std::vector<std::string> inputs{shape.q, shape.k, shape.k};
  std::vector<std::string> gradInputs{shape.q, shape.q,        shape.k,
                                      shape.k, shape.perQuery, shape.perQuery};
  int64_t keyBytes = shape.dropout ? 16 : 0;
  if (shape.dropout) {
    inputs.push_back(kKey);
    gradInputs.push_back(kKey);
  }
  if (shape.origin) {
    inputs.push_back(shape.origin);
    gradInputs.push_back(shape.origin);
  }
  bool priced = shape.flops >= 0;
  cases.push_back(
      {"attention",
       attributes,
       inputs,
       {shape.q},
       shape.flops,
       priced ? 8 * (2 * shape.qElements + 2 * shape.kElements) + keyBytes
              : -1});
  cases.push_back({"attention",
                   attributes,
                   inputs,
                   {shape.q, shape.perQuery, shape.perQuery}});
  cases.push_back({"attention_grad",
                   attributes,
                   gradInputs,
                   {shape.q, shape.k, shape.k},
                   priced ? shape.flops * 5 / 2 : -1,
                   priced ? 8 * (3 * shape.qElements + 4 * shape.kElements +
                                 2 * shape.savedElements) +
                                keyBytes
                          : -1});
}

static void addAttentions(std::vector<OpCase> &cases) {
  const char *const square = "2x5x3x7xf64";
  addAttention(cases, {square, square, "2x3x5xf64", "", 4200, 210, 210, 30});
  addAttention(cases,
               {square, square, "2x3x5xf64", ", causal", 2100, 210, 210, 30});
  // Key heads shared by groups of three and of all query heads.
  const char *const grouped = "2x5x6x3xf64", *const keys = "2x7x2x3xf64";
  addAttention(cases, {grouped, keys, "2x6x5xf64", ""});
  addAttention(cases, {grouped, keys, "2x6x5xf64", ", causal"});
  addAttention(cases, {"1x3x4x5xf64", "1x7x1x5xf64", "1x4x3xf64", ", causal"});
  // One of each.
  addAttention(cases, {"1x1x1x1xf64", "1x1x1x1xf64", "1x1x1xf64", ", causal"});
  addAttention(cases, {"3x7x1x1xf64", "3x5x1x1xf64", "3x1x7xf64", ""});
  addAttention(cases, {square, square, "2x3x5xf64",
                       ", causal, dropout = 0.3 : f64, index = 2 : i64", 2100,
                       210, 210, 30, true});
  addAttention(cases,
               {grouped, keys, "2x6x5xf64",
                ", dropout = 0.5 : f64, index = 1 : i64", -1, 0, 0, 0, true});
  addAttention(cases,
               {square, square, "2x3x5xf64",
                ", dropout = 0.3 : f64, global_shape = array<i64: 4, 7, 6, 5>",
                -1, 0, 0, 0, true, "4xi64 row 1 3 0 0"});
}

static void addDropouts(std::vector<OpCase> &cases) {
  cases.push_back(
      {"random_key", "", {"i64 row 42", "i64 row 3"}, {"2xi64"}, 0, 32});
  cases.push_back(
      {"origin", "step = array<i64: 2, 0, 3>", {}, {"3xi64"}, 0, 24});
  cases.push_back({"dropout",
                   "p = 0.3 : f64, index = 1 : i64",
                   {"5x3xf64", kKey},
                   {"5x3xf64"},
                   15,
                   120 + 16 + 120});
  cases.push_back(
      {"dropout", "p = 0.5 : f64", {"3x7x5xf64", kKey}, {"3x7x5xf64"}});
  cases.push_back({"dropout", "p = 0.5 : f64", {"4x6xf64", kKey}, {"4x6xf64"}});
  cases.push_back({"dropout", "p = 0.5 : f64", {"f64", kKey}, {"f64"}});
  cases.push_back({"dropout",
                   "p = 0.4 : f64, global_shape = array<i64: 9, 5>",
                   {"5x3xf64", kKey, "2xi64 row 4 1"},
                   {"5x3xf64"}});
}

static void addLosses(std::vector<OpCase> &cases) {
  cases.push_back({"cross_entropy",
                   "",
                   {"5x7xf64", "5xi32 label 7"},
                   {"f64"},
                   385,
                   280 + 20 + 8});
  cases.push_back(
      {"cross_entropy", "", {"3x2x5xf64", "3x2xi64 label 5"}, {"f64"}});
  cases.push_back({"cross_entropy", "", {"7xf64", "i32 label 7"}, {"f64"}});
  cases.push_back({"cross_entropy", "", {"3x1xf64", "3xi32 label 1"}, {"f64"}});
  cases.push_back({"cross_entropy",
                   "",
                   {"2x3x7xf64", "2x3xi32 label 7"},
                   {"f64", "2x3xf64", "2x3xf64"}});
  cases.push_back({"cross_entropy_grad",
                   "",
                   {"f64", "5x7xf64", "5xi32 label 7", "5xf64", "5xf64"},
                   {"5x7xf64"},
                   350,
                   8 + 280 + 20 + 80 + 280});
  cases.push_back(
      {"cross_entropy_grad",
       "",
       {"f64", "2x3x5xf64", "2x3xi64 label 5", "2x3xf64", "2x3xf64"},
       {"2x3x5xf64"}});
  cases.push_back({"count_valid", "", {"2x3xi32 label 5"}, {"i64"}, 0, 24 + 8});
  cases.push_back({"count_valid", "", {"7xi64 label 5"}, {"i64"}});
  cases.push_back({"divide", "", {"f64", "i64 row 7"}, {"f64"}, 1, 24});
  cases.push_back({"reciprocal", "", {"i64 row 7"}, {"f64"}, 1, 16});
}

void piper::test::addModelCases(std::vector<OpCase> &cases) {
  addEmbeddings(cases);
  addNorms(cases);
  addAttentions(cases);
  addDropouts(cases);
  addLosses(cases);
}

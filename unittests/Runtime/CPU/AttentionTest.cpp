// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention against a plain loop over all scores, its gradient against the
// formulas of the chain rule written out, and against central differences.

#include "KernelTester.h"
#include "Piper/Runtime/Random.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
struct Sizes {
  int64_t batch, queries, keys, heads, keyHeads, size;
  bool causal = false;
  double dropout = 0, scale = 0.3;
};

/// The whole computation in f64, with all scores in memory.
struct Reference {
  Reference(const Sizes &s, const Tensor &q, const Tensor &k, const Tensor &v)
      : s(s), q(q), k(k), v(v) {
    RandomStream stream = dropoutStream(7, 3, 11, 5);
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t i = 0; i < s.queries; ++i)
          addRow(stream, b, h, i);
  }

  int64_t queryAt(int64_t b, int64_t i, int64_t h) const {
    return ((b * s.queries + i) * s.heads + h) * s.size;
  }
  int64_t keyAt(int64_t b, int64_t j, int64_t h) const {
    return ((b * s.keys + j) * s.keyHeads + h / (s.heads / s.keyHeads)) *
           s.size;
  }
  int64_t visible(int64_t i) const {
    return s.causal ? std::max<int64_t>(
                          0, std::min(s.keys, i + 1 + s.keys - s.queries))
                    : s.keys;
  }

  void addRow(const RandomStream &stream, int64_t b, int64_t h, int64_t i) {
    int64_t seen = visible(i);
    std::vector<double> scores;
    double top = -INFINITY, best = top, sum = 0;
    for (int64_t j = 0; j < seen; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < s.size; ++d)
        dot += q[queryAt(b, i, h) + d] * k[keyAt(b, j, h) + d];
      scores.push_back(s.scale * dot);
      if (scores.back() > best)
        top = dot;
      best = std::fmax(best, scores.back());
    }
    for (double score : scores)
      sum += std::exp(score - best);
    tops.push_back(top);
    totals.push_back(sum);
    int64_t first = ((b * s.heads + h) * s.queries + i) * s.keys;
    for (int64_t j = 0; j < s.keys; ++j) {
      weights.push_back(j < seen ? std::exp(scores[size_t(j)] - best) / sum
                                 : 0);
      bool dropped =
          randomWord(stream, uint64_t(first + j)) < s.dropout * 4294967296.0;
      masks.push_back(dropped ? 0 : 1 / (1 - s.dropout));
    }
  }

  std::vector<double> result() const {
    std::vector<double> y(size_t(q.size()), 0);
    forScores([&](int64_t b, int64_t h, int64_t i, int64_t j, size_t at) {
      for (int64_t d = 0; d < s.size; ++d)
        y[size_t(queryAt(b, i, h) + d)] +=
            weights[at] * masks[at] * v[keyAt(b, j, h) + d];
    });
    return y;
  }

  /// dq, dk, dv.
  std::vector<std::vector<double>> gradients(const Tensor &dy) const {
    std::vector<double> y = result(), dq(y.size(), 0), dk(size_t(k.size()), 0),
                        dv(dk);
    forScores([&](int64_t b, int64_t h, int64_t i, int64_t j, size_t at) {
      int64_t query = queryAt(b, i, h), key = keyAt(b, j, h);
      double dw = 0, delta = 0;
      for (int64_t d = 0; d < s.size; ++d) {
        dw += dy[query + d] * v[key + d];
        delta += dy[query + d] * y[size_t(query + d)];
      }
      double ds = s.scale * weights[at] * (dw * masks[at] - delta);
      for (int64_t d = 0; d < s.size; ++d) {
        dq[size_t(query + d)] += ds * k[key + d];
        dk[size_t(key + d)] += ds * q[query + d];
        dv[size_t(key + d)] += weights[at] * masks[at] * dy[query + d];
      }
    });
    return {dq, dk, dv};
  }

  template <typename Body> void forScores(Body body) const {
    size_t at = 0;
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t i = 0; i < s.queries; ++i)
          for (int64_t j = 0; j < s.keys; ++j, ++at)
            if (j < visible(i))
              body(b, h, i, j, at);
  }

  Sizes s;
  const Tensor &q, &k, &v;
  std::vector<double> weights, masks, tops, totals;
};

struct Inputs {
  Inputs(const Sizes &s, ElementType element)
      : q(Tensor::random({element, {s.batch, s.queries, s.heads, s.size}}, 1)),
        k(Tensor::random({element, {s.batch, s.keys, s.keyHeads, s.size}}, 2)),
        v(Tensor::random({element, {s.batch, s.keys, s.keyHeads, s.size}}, 3)),
        dy(Tensor::random({element, {s.batch, s.queries, s.heads, s.size}},
                          4)) {}
  Tensor q, k, v, dy;
};
} // namespace

static void setAttributes(Call &call, const Sizes &s) {
  call.with("scale", number(s.scale));
  if (s.causal)
    call.with("causal", integer(1));
  if (s.dropout > 0) {
    call.operands.push_back(Tensor({I64, {2}}, {7, 3}));
    call.with("dropout", number(s.dropout)).with("index", integer(5));
    call.salt = 11;
  }
}

static void check(const Sizes &s) {
  SCOPED_TRACE("queries " + std::to_string(s.queries) + " keys " +
               std::to_string(s.keys) + " heads " + std::to_string(s.heads) +
               "/" + std::to_string(s.keyHeads) + (s.causal ? " causal" : "") +
               (s.dropout > 0 ? " dropout" : ""));
  forReals([&](ElementType element) {
    Inputs in(s, element);
    Reference reference(s, in.q, in.k, in.v);
    TensorType perQuery{element, {s.batch, s.heads, s.queries}};
    Call call{"attention", {in.q, in.k, in.v}, {in.q.type()}, {}};
    setAttributes(call, s);
    std::vector<double> y = reference.result();
    expectResults(call, {y}, toleranceOf(element, 1e-5));
    call.results.insert(call.results.end(), 2, perQuery);
    expectResults(call, {y, reference.tops, reference.totals},
                  toleranceOf(element, 1e-5));

    Call gradient{"attention_grad",
                  {in.dy, in.q, in.k, in.v, Tensor(perQuery, reference.tops),
                   Tensor(perQuery, reference.totals)},
                  {in.q.type(), in.k.type(), in.v.type()},
                  {}};
    setAttributes(gradient, s);
    Tolerance tolerance = toleranceOf(element, 1e-5);
    tolerance.absolute *= 8;
    expectResults(gradient, reference.gradients(in.dy), tolerance);
  });
}

TEST(Attention, OddShapes) {
  check({1, 1, 1, 1, 1, 1});
  check({2, 3, 5, 2, 2, 7});
  check({1, 17, 65, 3, 3, 16});
  check({2, 65, 17, 1, 1, 33});
  check({1, 130, 130, 2, 2, 8});
}

TEST(Attention, Causal) {
  check({1, 1, 1, 1, 1, 3, true});
  check({2, 5, 5, 2, 2, 4, true});
  check({1, 65, 65, 2, 2, 16, true});
  check({1, 200, 200, 1, 1, 8, true});
  // The last queries of longer keys, and queries before all keys.
  check({1, 7, 70, 2, 2, 5, true});
  check({1, 70, 133, 1, 1, 5, true});
}

TEST(Attention, GroupedQueryHeads) {
  check({2, 17, 17, 6, 2, 5, true});
  check({1, 33, 65, 4, 1, 8});
}

TEST(Attention, Dropout) {
  check({2, 9, 9, 2, 2, 4, false, 0.25});
  check({1, 65, 67, 4, 2, 8, true, 0.5});
  check({1, 3, 301, 1, 1, 4, false, 0.1});
}

/// Batch 1 and head 1 of two, as a piece of its own.
static Tensor pieceOf(const Tensor &whole) {
  Shape shape = whole.type().shape;
  TensorType type{whole.type().element, {1, shape[1], 1, shape[3]}};
  Tensor piece(type);
  for (int64_t i = 0; i < shape[1]; ++i)
    for (int64_t d = 0; d < shape[3]; ++d)
      piece.set(i * shape[3] + d,
                whole[((shape[1] + i) * shape[2] + 1) * shape[3] + d]);
  return piece;
}

TEST(Attention, APieceDropsWhatTheWholeDrops) {
  Sizes s{2, 70, 90, 2, 2, 8, true, 0.4};
  Inputs in(s, F64);
  Reference reference(s, in.q, in.k, in.v);
  std::vector<double> y = reference.result();
  std::vector<std::vector<double>> whole = reference.gradients(in.dy);
  auto place = [&](Call &call) {
    setAttributes(call, s);
    call.operands.push_back(Tensor({I64, {4}}, {1, 1, 0, 0}));
    call.with("global_shape", list({2, 2, 70, 90}));
  };
  auto valuesOf = [](const Tensor &tensor) { return tensor.values(); };
  Tensor q = pieceOf(in.q), k = pieceOf(in.k), v = pieceOf(in.v);
  Call call{"attention", {q, k, v}, {q.type()}, {}};
  place(call);
  std::vector<double> expected = valuesOf(pieceOf(Tensor(in.q.type(), y)));
  expectResults(call, {expected}, toleranceOf(F64, 1e-5));
  // The numbers of batch 1, head 1 are the last of four rows of 70.
  auto lastRow = [](const std::vector<double> &all) {
    return Tensor({F64, {1, 1, 70}},
                  std::vector<double>(all.end() - 70, all.end()));
  };
  Call gradient{"attention_grad",
                {pieceOf(in.dy), q, k, v, lastRow(reference.tops),
                 lastRow(reference.totals)},
                {q.type(), k.type(), v.type()},
                {}};
  place(gradient);
  expectResults(gradient,
                {valuesOf(pieceOf(Tensor(in.q.type(), whole[0]))),
                 valuesOf(pieceOf(Tensor(in.k.type(), whole[1]))),
                 valuesOf(pieceOf(Tensor(in.v.type(), whole[2])))},
                toleranceOf(F64, 1e-5));
  call.operands[4] = Tensor({I64, {4}}, {2, 0, 0, 0});
  EXPECT_EQ(errorOf(call), "kernel 'attention' expects an origin from 0 to 1 "
                           "along dimension 0 but got 2");
  gradient.operands[7] = Tensor({I64, {4}}, {0, 0, 0, -1});
  EXPECT_EQ(errorOf(gradient), "kernel 'attention_grad' expects an origin from "
                               "0 to 0 along dimension 3 but got -1");
  call.operands[4] = Tensor({I64, {3}}, {0, 0, 0});
  EXPECT_EQ(errorOf(call), "kernel 'attention' expects tensor<4xi64> for "
                           "operand 4 but got tensor<3xi64>");
}

TEST(Attention, SeveralChunksOfQueries) { check({1, 1030, 70, 1, 1, 4, true}); }

TEST(Attention, NegativeScale) {
  Sizes s{1, 9, 9, 1, 1, 4};
  s.scale = -0.7;
  check(s);
}

TEST(Attention, QueriesThatSeeNoKeyGetZero) {
  Sizes s{1, 5, 2, 1, 1, 3, true};
  Inputs in(s, F32);
  Call call{"attention",
            {in.q, in.k, in.v},
            {in.q.type(), {F32, {1, 1, 5}}, {F32, {1, 1, 5}}},
            {}};
  setAttributes(call, s);
  std::vector<Tensor> results = runOk(call);
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(results[0][i], 0);
  EXPECT_EQ(results[1][2], -INFINITY);
  EXPECT_EQ(results[2][2], 0);
  EXPECT_EQ(results[2][3], 1);
  // The first query that sees a key sees that one alone.
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(float(results[0][9 + i]), float(in.v[i]));
  Call gradient{"attention_grad",
                {in.dy, in.q, in.k, in.v, results[1], results[2]},
                {in.q.type(), in.k.type(), in.v.type()},
                {}};
  setAttributes(gradient, s);
  std::vector<Tensor> gradients = runOk(gradient);
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(gradients[0][i], 0);
  EXPECT_NEAR(gradients[2][0],
              in.dy[9] + in.dy[12] * (1 - (results[0][12] - in.v[0]) /
                                              (in.v[3] - in.v[0])),
              1e-5);
}

TEST(Attention, GradientEqualsCentralDifferences) {
  Sizes s{1, 4, 6, 2, 1, 3, true, 0.25};
  Inputs in(s, F64);
  Call forward{"attention",
               {in.q, in.k, in.v},
               {in.q.type(), {F64, {1, 2, 4}}, {F64, {1, 2, 4}}},
               {}};
  setAttributes(forward, s);
  std::vector<Tensor> results = runOk(forward);
  Call gradient{"attention_grad",
                {in.dy, in.q, in.k, in.v, results[1], results[2]},
                {in.q.type(), in.k.type(), in.v.type()},
                {}};
  setAttributes(gradient, s);
  std::vector<Tensor> gradients = runOk(gradient);
  auto loss = [&] {
    Tensor y = runOk(forward)[0];
    double sum = 0;
    for (int64_t i = 0; i < y.size(); ++i)
      sum += y[i] * in.dy[i];
    return sum;
  };
  for (size_t operand = 0; operand < 3; ++operand)
    for (int64_t i = 0; i < gradients[operand].size(); ++i) {
      Tensor &x = forward.operands[operand];
      double old = x[i], h = 1e-5;
      x.set(i, old + h);
      double up = loss();
      x.set(i, old - h);
      double down = loss();
      x.set(i, old);
      EXPECT_NEAR(gradients[operand][i], (up - down) / (2 * h), 1e-8);
    }
}

TEST(Attention, ThreadsChangeNoBit) {
  Sizes s{2, 100, 100, 4, 2, 16, true, 0.1};
  Inputs in(s, F32);
  Call call{"attention",
            {in.q, in.k, in.v},
            {in.q.type(), {F32, {2, 4, 100}}, {F32, {2, 4, 100}}},
            {}};
  setAttributes(call, s);
  std::vector<Tensor> one = runOk(call, 1);
  Call gradient{"attention_grad",
                {in.dy, in.q, in.k, in.v, one[1], one[2]},
                {in.q.type(), in.k.type(), in.v.type()},
                {}};
  setAttributes(gradient, s);
  std::vector<Tensor> gradients = runOk(gradient, 1);
  for (int threads : {2, 3}) {
    EXPECT_TRUE(runOk(call, threads)[0].sameBytes(one[0]));
    std::vector<Tensor> again = runOk(gradient, threads);
    for (size_t r = 0; r < 3; ++r)
      EXPECT_TRUE(again[r].sameBytes(gradients[r]));
  }
}

TEST(Attention, SpecialValuesPropagate) {
  Sizes s{1, 3, 3, 1, 1, 2, true};
  Inputs in(s, F32);
  // Query 1 alone is affected by itself; a bad key by those that see it.
  in.q.set(2, NAN);
  Call call{"attention", {in.q, in.k, in.v}, {in.q.type()}, {}};
  setAttributes(call, s);
  Tensor y = runOk(call)[0];
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::isnan(y[i]), i / 2 == 1) << i;
  Inputs other(s, F32);
  other.k.set(2, NAN);
  call.operands = {other.q, other.k, other.v};
  y = runOk(call)[0];
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::isnan(y[i]), i / 2 >= 1) << i;
}

TEST(Attention, WorkspaceHoldsNoMatrixOfScores) {
  const KernelEntry *entry = findKernel("attention"),
                    *gradient = findKernel("attention_grad");
  Tensor dummy;
  TensorType q{F32, {1, 16384, 1, 64}}, perQuery{F32, {1, 1, 16384}};
  Attributes attributes;
  attributes.set("scale", 1.0);
  KernelSpec forward{"attention", {q, q, q}, {q}, attributes};
  KernelSpec backward{"attention_grad",
                      {q, q, q, q, perQuery, perQuery},
                      {q, q, q},
                      attributes};
  int64_t scores = int64_t(16384) * 16384 * 4;
  EXPECT_LT(entry->workspaceBytes(forward, Target{"cpu", 1}), scores / 32);
  EXPECT_LT(gradient->workspaceBytes(backward, Target{"cpu", 1}), scores / 32);
}

TEST(Attention, Errors) {
  Sizes s{1, 4, 4, 4, 2, 8};
  Inputs in(s, F32);
  auto call = [&](std::vector<Tensor> operands) {
    return Call{"attention", operands, {in.q.type()}, {}}.with("scale",
                                                               number(1));
  };
  EXPECT_EQ(errorOf(call({in.q, in.k, in.q})),
            "kernel 'attention' expects tensor<1x4x2x8xf32> for operand 2 but "
            "got tensor<1x4x4x8xf32>");
  EXPECT_EQ(errorOf(call({in.k, in.q, in.q})),
            "kernel 'attention' expects a number of key heads that divides "
            "that of heads but got 4 and 2");
  EXPECT_EQ(errorOf(call({in.q, Tensor({F32, {4}}), in.v})),
            "kernel 'attention' expects 4 dimensions of operand 1 but got "
            "tensor<4xf32>");
  EXPECT_EQ(errorOf(call({in.q, in.k, in.v}).with("dropout", number(0.5))),
            "kernel 'attention' expects a key with 'dropout' but got none");
  EXPECT_EQ(errorOf(call({in.q, in.k, in.v}).with("dropout", number(1))),
            "kernel 'attention' expects 'dropout' from 0 to less than 1 but "
            "got 1.000000");
  EXPECT_EQ(errorOf(call({in.q, in.k, in.v, Tensor({I64, {3}})})),
            "kernel 'attention' expects tensor<2xi64> for operand 3 but got "
            "tensor<3xi64>");
  EXPECT_EQ(errorOf({"attention", {in.q, in.k, in.v}, {in.q.type()}, {}}),
            "kernel 'attention' expects a finite float attribute 'scale' but "
            "got none");
  Tensor good({F32, {1, 4, 4}}), bad({F32, {1, 4, 5}});
  EXPECT_EQ(errorOf(Call{
                "attention_grad",
                {in.q, in.q, in.k, in.v, good, bad},
                {in.q.type(), in.k.type(), in.v.type()},
                {}}.with("scale", number(1))),
            "kernel 'attention_grad' expects tensor<1x4x4xf32> for operand 5 "
            "but got tensor<1x4x5xf32>");
  // Shapes that are right each for itself, and whose product is not.
  TensorType huge{F32, {int64_t(1) << 20, int64_t(1) << 20, 1, 1}},
      keys{F32, {int64_t(1) << 20, int64_t(1) << 30, 1, 1}};
  KernelSpec spec{"attention", {huge, keys, keys}, {huge}, {}};
  spec.attributes.set("scale", 1.0);
  auto made = findKernel("attention")->create(spec, Target{"cpu", 1});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.takeStatus().message().substr(0, 56),
            "kernel 'attention' expects fewer than 2^58 scores but go");
}

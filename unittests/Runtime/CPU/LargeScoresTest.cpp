// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// N04: attention and cross entropy at scores of up to a million and beyond: in
// f32 no worse than the form made of products and softmax, against plain loops
// in f64; exact where exact numbers are due.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
struct Sizes {
  int64_t queries, keys, heads, keyHeads, size;
  bool causal = false;
  double scale = 0.125;

  int64_t group() const { return heads / keyHeads; }
  int64_t seen(int64_t query) const {
    return causal ? query + 1 + keys - queries : keys;
  }
};

/// y, dq, dk and dv.
typedef std::vector<std::vector<double>> Numbers;

struct Inputs {
  Inputs(const Sizes &s, ElementType element)
      : q({element, {1, s.queries, s.heads, s.size}}),
        k({element, {1, s.keys, s.keyHeads, s.size}}), v(k.type()),
        dy(q.type()) {}
  Inputs(const Sizes &s, ElementType element, int seed, double bound)
      : q(Tensor::random({element, {1, s.queries, s.heads, s.size}}, seed,
                         -bound, bound)),
        k(Tensor::random({element, {1, s.keys, s.keyHeads, s.size}}, seed + 1,
                         -bound, bound)),
        v(Tensor::random(k.type(), seed + 2)),
        dy(Tensor::random(q.type(), seed + 3)) {}
  Tensor q, k, v, dy;
};
} // namespace

/// y, dq, dk and dv by the kernels, with a number of threads.
static std::vector<Tensor> fused(const Sizes &s, const Inputs &in,
                                 int threads = 1) {
  TensorType perQuery{in.q.type().element, {1, s.heads, s.queries}};
  Call forward{
      "attention", {in.q, in.k, in.v}, {in.q.type(), perQuery, perQuery}, {}};
  forward.with("scale", number(s.scale));
  if (s.causal)
    forward.with("causal", integer(1));
  std::vector<Tensor> results = runOk(forward, threads);
  Call backward{"attention_grad",
                {in.dy, in.q, in.k, in.v, results[1], results[2]},
                {in.q.type(), in.k.type(), in.v.type()},
                {}};
  backward.attributes = forward.attributes;
  std::vector<Tensor> gradients = runOk(backward, threads);
  gradients.insert(gradients.begin(), results[0]);
  return gradients;
}

/// The rows of one head as a matrix, and back (added to what is there).
static Tensor matrixOf(const Tensor &x, int64_t head) {
  int64_t rows = x.shape()[1], heads = x.shape()[2], size = x.shape()[3];
  Tensor matrix({x.type().element, {rows, size}});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t d = 0; d < size; ++d)
      matrix.set(i * size + d, x[(i * heads + head) * size + d]);
  return matrix;
}
static void addMatrix(const Tensor &matrix, int64_t heads, int64_t head,
                      std::vector<double> &to) {
  int64_t rows = matrix.shape()[0], size = matrix.shape()[1];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t d = 0; d < size; ++d) {
      double &at = to[size_t((i * heads + head) * size + d)];
      at = float(at + matrix[i * size + d]);
    }
}

static Tensor multiply(const Tensor &a, const Tensor &b, bool transposeA,
                       bool transposeB) {
  Call call{"matmul",
            {a, b},
            {{a.type().element,
              {a.shape()[transposeA ? 1 : 0], b.shape()[transposeB ? 0 : 1]}}},
            {}};
  call.with("transpose_a", integer(transposeA))
      .with("transpose_b", integer(transposeB));
  return runOk(call)[0];
}

static Tensor scaled(const Tensor &x, double factor) {
  return runOk(
      Call{"scale", {x}, {x.type()}, {}}.with("factor", number(factor)))[0];
}

/// The same by a product, a softmax and a product, in f32.
static Numbers composed(const Sizes &s, const Inputs &in) {
  Numbers all{std::vector<double>(size_t(in.q.size()), 0),
              std::vector<double>(size_t(in.q.size()), 0),
              std::vector<double>(size_t(in.k.size()), 0),
              std::vector<double>(size_t(in.k.size()), 0)};
  for (int64_t h = 0; h < s.heads; ++h) {
    int64_t keyHead = h / s.group();
    Tensor q = matrixOf(in.q, h), dy = matrixOf(in.dy, h);
    Tensor k = matrixOf(in.k, keyHead), v = matrixOf(in.v, keyHead);
    Tensor scores = scaled(multiply(q, k, false, true), s.scale);
    for (int64_t i = 0; i < s.queries; ++i)
      for (int64_t j = s.seen(i); j < s.keys; ++j)
        scores.set(i * s.keys + j, -INFINITY);
    Tensor p = runOk({"softmax", {scores}, {scores.type()}, {}})[0];
    Tensor dp = multiply(dy, v, false, true);
    Tensor ds = scaled(runOk({"softmax_grad", {dp, p}, {scores.type()}, {}})[0],
                       s.scale);
    addMatrix(multiply(p, v, false, false), s.heads, h, all[0]);
    addMatrix(multiply(ds, k, false, false), s.heads, h, all[1]);
    addMatrix(multiply(ds, q, true, false), s.keyHeads, keyHead, all[2]);
    addMatrix(multiply(p, dy, true, false), s.keyHeads, keyHead, all[3]);
  }
  return all;
}

/// The same by plain loops in f64.
static Numbers reference(const Sizes &s, const Inputs &in) {
  Numbers all{std::vector<double>(size_t(in.q.size()), 0),
              std::vector<double>(size_t(in.q.size()), 0),
              std::vector<double>(size_t(in.k.size()), 0),
              std::vector<double>(size_t(in.k.size()), 0)};
  const std::vector<double> q = in.q.values(), k = in.k.values(),
                            v = in.v.values(), dy = in.dy.values();
  for (int64_t h = 0; h < s.heads; ++h)
    for (int64_t i = 0; i < s.queries; ++i) {
      int64_t seen = s.seen(i);
      size_t query = size_t((i * s.heads + h) * s.size);
      auto key = [&](int64_t j) {
        return size_t((j * s.keyHeads + h / s.group()) * s.size);
      };
      std::vector<double> p, dp;
      double top = -INFINITY, total = 0, delta = 0;
      for (int64_t j = 0; j < seen; ++j) {
        double score = 0, d = 0;
        for (size_t c = 0; c < size_t(s.size); ++c) {
          score += q[query + c] * k[key(j) + c];
          d += dy[query + c] * v[key(j) + c];
        }
        p.push_back(s.scale * score);
        dp.push_back(d);
        top = std::fmax(top, p.back());
      }
      for (double &x : p)
        total += x = std::exp(x - top);
      for (size_t j = 0; j < p.size(); ++j)
        delta += (p[j] /= total) * dp[j];
      for (int64_t j = 0; j < seen; ++j)
        for (size_t c = 0; c < size_t(s.size); ++c) {
          double weight = p[size_t(j)];
          double ds = s.scale * weight * (dp[size_t(j)] - delta);
          all[0][query + c] += weight * v[key(j) + c];
          all[1][query + c] += ds * k[key(j) + c];
          all[2][key(j) + c] += ds * q[query + c];
          all[3][key(j) + c] += weight * dy[query + c];
        }
    }
  return all;
}

static double errorOf(const std::vector<double> &x,
                      const std::vector<double> &wanted) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += std::abs(x[i] - wanted[i]);
  return sum;
}

/// Rounds to multiples of bound / 64, a power of two: products of such numbers
/// add up without rounding, in any order.
static void roundToGrid(Tensor &x, double bound) {
  double unit = std::exp2(std::round(std::log2(bound / 64)));
  for (int64_t i = 0; i < x.size(); ++i)
    x.set(i, std::round(x[i] / unit) * unit);
}

/// Where both forms round q k to f32, a weight near a tie is off by per cents
/// at scores of a million, and which rounding is the larger one is chance. So
/// large scores are exact ones here, and the errors of many rows are compared.
static void compareWithComposed(const Sizes &s, double score, bool exact) {
  SCOPED_TRACE("scores up to " + std::to_string(score) +
               (s.causal ? ", causal" : "") + ", heads " +
               std::to_string(s.heads) + "/" + std::to_string(s.keyHeads));
  const char *const names[] = {"y", "dq", "dk", "dv"};
  double errors[4] = {}, others[4] = {}, norms[4] = {};
  for (int seed = 0; seed < 48; seed += 4) {
    Inputs in(s, F32, 100 + seed, std::sqrt(score));
    for (Tensor *x : {&in.q, &in.k})
      if (exact)
        roundToGrid(*x, std::sqrt(score));
    std::vector<Tensor> found = fused(s, in);
    Numbers wanted = reference(s, in), other = composed(s, in);
    for (size_t r = 0; r < 4; ++r) {
      errors[r] += errorOf(found[r].values(), wanted[r]);
      others[r] += errorOf(other[r], wanted[r]);
      norms[r] += errorOf(std::vector<double>(wanted[r].size(), 0), wanted[r]);
    }
  }
  for (size_t r = 0; r < 4; ++r)
    EXPECT_LE(errors[r], 2 * others[r] + 6e-8 * norms[r]) << names[r];
}

TEST(LargeScores, AttentionIsAsGoodAsTheComposedForm) {
  for (double score : {1.0, 30.0, 1e3, 3e3, 1e4, 1e5, 1e6})
    for (bool exact : {false, true}) {
      if (!exact && score > 3e3)
        continue;
      compareWithComposed({32, 32, 1, 1, 64}, score, exact);
      compareWithComposed({70, 70, 2, 2, 64, true}, score, exact);
      compareWithComposed({33, 65, 4, 2, 48, true}, score, exact);
      compareWithComposed({65, 40, 3, 1, 24, false, 0.3}, score, exact);
    }
}

TEST(LargeScores, EqualKeysShareEqually) {
  forReals([](ElementType element) {
    for (double scale : {1.0, 0.3, -0.7})
      for (double x : {0.01, 1.0, 31.0, 1024.0, 1448.0, 2048.0, 4096.0, 1e5})
        for (auto [length, heads, keyHeads, size] :
             {std::tuple(2, 1, 1, 1), std::tuple(2, 4, 2, 3),
              std::tuple(64, 2, 1, 5), std::tuple(128, 2, 2, 64)}) {
          Sizes s{length, length, heads, keyHeads, size};
          s.scale = scale;
          Inputs in(s, element);
          for (int64_t i = 0; i < in.q.size(); ++i) {
            in.q.set(i, x);
            in.dy.set(i, 1);
          }
          for (int64_t i = 0; i < in.k.size(); ++i) {
            in.k.set(i, x);
            in.v.set(i, double(i / (s.keyHeads * s.size) % 2 + 1));
          }
          std::vector<Tensor> found = fused(s, in);
          for (int64_t i = 0; i < in.q.size(); ++i) {
            ASSERT_EQ(found[0][i], 1.5) << x;
            ASSERT_NEAR(found[1][i], 0, 1e-6 * x * double(size)) << x;
          }
          for (int64_t i = 0; i < in.k.size(); ++i)
            ASSERT_EQ(found[3][i], double(s.group())) << x;
        }
  });
}

/// Keys are multiples of one vector: the last one that a query sees takes it.
TEST(LargeScores, OneHotRowsHaveNoGradient) {
  forReals([](ElementType element) {
    for (double x : {1e3, 1e5, 1e9})
      for (const Sizes &s :
           {Sizes{9, 9, 2, 2, 7}, Sizes{9, 9, 2, 1, 7, true},
            Sizes{70, 133, 1, 1, 33, true}, Sizes{130, 66, 3, 1, 16}}) {
        Inputs in(s, element, 7, 1);
        Tensor u = Tensor::random({element, {s.size}}, 3, 1, 2);
        for (int64_t i = 0; i < in.q.size(); ++i)
          in.q.set(i, x * u[i % s.size]);
        for (int64_t i = 0; i < in.k.size(); ++i)
          in.k.set(i, u[i % s.size] * double(i / (s.keyHeads * s.size) + 1));
        std::vector<Tensor> found = fused(s, in);
        for (size_t r : {1, 2})
          for (int64_t i = 0; i < found[r].size(); ++i)
            ASSERT_EQ(found[r][i], 0) << "result " << r << " at " << i;
        for (int64_t i = 0; i < s.queries; ++i)
          for (int64_t h = 0; h < s.heads; ++h)
            for (int64_t c = 0; c < s.size; ++c)
              ASSERT_EQ(
                  found[0][(i * s.heads + h) * s.size + c],
                  in.v[((s.seen(i) - 1) * s.keyHeads + h / s.group()) * s.size +
                       c]);
      }
  });
}

/// A score that had other bits in the backward would be off by per cents here:
/// with dy = 1 at one query, dv is its weights, which add up to one.
TEST(LargeScores, TheBackwardSeesTheScoresOfTheForward) {
  for (const Sizes &s :
       {Sizes{1, 1, 1, 1, 5}, Sizes{2, 65, 2, 1, 33, true},
        Sizes{65, 65, 2, 2, 64, true}, Sizes{130, 200, 4, 2, 80, true},
        Sizes{97, 301, 1, 1, 129}, Sizes{64, 1030, 1, 1, 16},
        Sizes{513, 520, 2, 1, 8, true}, Sizes{3, 1, 2, 2, 1}})
    for (double score : {1e4, 1e6, 1e7})
      for (int threads : {1, 2, 3}) {
        Inputs in(s, F32, 11, std::sqrt(score));
        for (int64_t query : {int64_t(0), s.queries / 2, s.queries - 1}) {
          for (int64_t i = 0; i < in.dy.size(); ++i)
            in.dy.set(i, i == query * s.heads * s.size);
          Tensor dv = fused(s, in, threads)[3];
          double sum = 0;
          for (int64_t j = 0; j < s.keys; ++j)
            sum += dv[j * s.keyHeads * s.size];
          EXPECT_NEAR(sum, 1, 3e-6) << s.queries << "x" << s.keys << " at "
                                    << query << ", scores " << score;
        }
      }
}

TEST(LargeScores, CrossEntropyIsAsGoodAsTheComposedForm) {
  const int64_t rows = 64, classes = 50;
  for (double score : {1.0, 1e2, 3e3, 1e5, 1e6, 16777216.0})
    for (double spread : {3.0, 1.0 * score}) {
      SCOPED_TRACE(std::to_string(score) + " +- " + std::to_string(spread));
      Tensor z = Tensor::random({F32, {rows, classes}}, 5, score - spread,
                                score + spread);
      Tensor labels = Tensor::randomIndices({I32, {rows}}, 6, classes);
      std::vector<Tensor> loss =
          runOk({"cross_entropy",
                 {z, labels},
                 {{F32, {}}, {F32, {rows}}, {F32, {rows}}},
                 {}});
      Tensor dz = runOk({"cross_entropy_grad",
                         {Tensor::scalar(F32, 1), z, labels, loss[1], loss[2]},
                         {z.type()},
                         {}})[0];
      Tensor p = runOk({"softmax", {z}, {z.type()}, {}})[0];
      std::vector<double> wanted, other;
      double sum = 0;
      for (int64_t r = 0; r < rows; ++r) {
        double top = -INFINITY, total = 0;
        for (int64_t c = 0; c < classes; ++c)
          top = std::fmax(top, z[r * classes + c]);
        for (int64_t c = 0; c < classes; ++c)
          total += std::exp(z[r * classes + c] - top);
        sum += top - z[r * classes + int64_t(labels[r])] + std::log(total);
        for (int64_t c = 0; c < classes; ++c) {
          double hot = c == labels[r];
          wanted.push_back(std::exp(z[r * classes + c] - top) / total - hot);
          other.push_back(float(p[r * classes + c] - hot));
        }
      }
      EXPECT_LE(errorOf(dz.values(), wanted),
                2 * errorOf(other, wanted) + 1e-6);
      EXPECT_NEAR(loss[0][0], sum, 3e-7 * sum);
    }
}

TEST(LargeScores, CrossEntropyOfEqualAndOneHotLogitsIsExact) {
  forReals([](ElementType element) {
    for (double x : {1.0, 3e3, 1e6, 16777216.0, 3e38})
      for (int64_t label : {0, 1}) {
        Tensor z({element, {2, 2}}, {x, x, x, -x - 1000});
        Tensor labels({I32, {2}}, {double(label), 0});
        TensorType perRow{element, {2}};
        std::vector<Tensor> loss = runOk({"cross_entropy",
                                          {z, labels},
                                          {{element, {}}, perRow, perRow},
                                          {}});
        EXPECT_NEAR(loss[0][0], std::log(2), 1e-7);
        Tensor dz =
            runOk({"cross_entropy_grad",
                   {Tensor::scalar(element, 1), z, labels, loss[1], loss[2]},
                   {z.type()},
                   {}})[0];
        double share = label ? 0.5 : -0.5;
        EXPECT_EQ(dz.values(), (std::vector<double>{share, -share, 0, 0}));
      }
  });
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Updates, counters, the learning rate and the random key.

#include "KernelTester.h"

#include <cmath>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
struct AdamWCase {
  double lr = 1e-2, scale = 0.5, beta1 = 0.9, beta2 = 0.999, eps = 1e-5,
         weightDecay = 0.1;
  int64_t update = 4;
};
} // namespace

static Call adamwOf(ElementType element, int64_t n, const AdamWCase &c,
                    bool ok) {
  TensorType type{element, {n}};
  Call call{"adamw",
            {Tensor::random(type, 1), Tensor::random(type, 2),
             Tensor::random(type, 3), Tensor::random(type, 4, 0, 2),
             Tensor::scalar(element, c.lr),
             Tensor::scalar(I64, double(c.update)),
             Tensor::scalar(element, c.scale), Tensor::scalar(I1, ok)},
            {type, type, type},
            {}};
  return call.with("beta1", number(c.beta1))
      .with("beta2", number(c.beta2))
      .with("eps", number(c.eps))
      .with("weight_decay", number(c.weightDecay));
}

TEST(AdamW, FollowsTheAlgorithm) {
  forReals([](ElementType element) {
    for (int64_t update : {0, 4, 100000})
      for (int64_t n : {1, 3, 17, 20000}) {
        AdamWCase c;
        c.update = update;
        Call call = adamwOf(element, n, c, true);
        std::vector<double> w1, m1, v1;
        double t = double(update) + 1;
        for (int64_t i = 0; i < n; ++i) {
          double w = call.operands[0][i], g = c.scale * call.operands[1][i];
          m1.push_back(c.beta1 * call.operands[2][i] + (1 - c.beta1) * g);
          v1.push_back(c.beta2 * call.operands[3][i] + (1 - c.beta2) * g * g);
          double m = m1.back() / (1 - std::pow(c.beta1, t)),
                 v = v1.back() / (1 - std::pow(c.beta2, t));
          w1.push_back(w -
                       c.lr * (m / (std::sqrt(v) + c.eps) + c.weightDecay * w));
        }
        expectResults(call, {w1, m1, v1}, toleranceOf(element, 1e-6));
      }
  });
}

TEST(AdamW, WithoutOkNoBitChanges) {
  forReals([](ElementType element) {
    Call call = adamwOf(element, 1000, {}, false);
    call.operands[0].set(5, NAN);
    call.operands[2].set(6, -0.0);
    call.operands[1].set(7, INFINITY);
    std::vector<Tensor> results = runOk(call, 2);
    EXPECT_TRUE(results[0].sameBytes(call.operands[0]));
    EXPECT_TRUE(results[1].sameBytes(call.operands[2]));
    EXPECT_TRUE(results[2].sameBytes(call.operands[3]));
    expectResults(call,
                  {call.operands[0].values(), call.operands[2].values(),
                   call.operands[3].values()},
                  {});
  });
}

TEST(Sgd, WithAndWithoutMomentum) {
  forReals([](ElementType element) {
    for (bool ok : {true, false})
      for (int64_t n : {1, 17, 20000}) {
        TensorType type{element, {n}};
        Call call{"sgd",
                  {Tensor::random(type, 1), Tensor::random(type, 2),
                   Tensor::scalar(element, 0.1), Tensor::scalar(element, 0.5),
                   Tensor::scalar(I1, ok)},
                  {type},
                  {}};
        call.with("momentum", number(0.9)).with("weight_decay", number(0.01));
        std::vector<double> plain, w1, v1;
        Tensor velocity = Tensor::random(type, 3);
        for (int64_t i = 0; i < n; ++i) {
          double w = call.operands[0][i],
                 g = 0.5 * call.operands[1][i] + 0.01 * w;
          double v = 0.9 * velocity[i] + g;
          plain.push_back(ok ? w - 0.1 * g : w);
          w1.push_back(ok ? w - 0.1 * v : w);
          v1.push_back(ok ? v : velocity[i]);
        }
        expectResults(call, {plain}, toleranceOf(element, ok ? 1e-6 : 0));
        call.operands.push_back(velocity);
        call.results.push_back(type);
        expectResults(call, {w1, v1}, toleranceOf(element, ok ? 1e-6 : 0));
      }
  });
}

TEST(Update, Errors) {
  Call call = adamwOf(F32, 4, {}, true);
  call.operands[2] = Tensor({F32, {5}});
  EXPECT_EQ(errorOf(call), "kernel 'adamw' expects tensor<4xf32> for operand 2 "
                           "but got tensor<5xf32>");
  call = adamwOf(F32, 4, {}, true);
  call.operands[5] = Tensor::scalar(I32, 1);
  EXPECT_EQ(
      errorOf(call),
      "kernel 'adamw' expects tensor<i64> for operand 5 but got tensor<i32>");
  call = adamwOf(F32, 4, {}, true);
  call.attributes = {};
  EXPECT_EQ(
      errorOf(call),
      "kernel 'adamw' expects a finite float attribute 'beta1' but got none");
  TensorType type{F32, {4}};
  EXPECT_EQ(errorOf({"sgd",
                     {Tensor(type), Tensor(type), Tensor({F32, {}}),
                      Tensor({F32, {}}), Tensor({I1, {}})},
                     {type, type},
                     {}}),
            "kernel 'sgd' expects a result for parameter and each velocity but "
            "got 2 results for 5 operands");
}

TEST(Counters, Advance) {
  auto call = [](bool ok) {
    return Call{"advance",
                {Tensor::scalar(I64, 41), Tensor::scalar(I64, 7),
                 Tensor::scalar(I1, ok)},
                {{I64, {}}, {I64, {}}},
                {}};
  };
  expectResults(call(true), {{42}, {8}}, {});
  expectResults(call(false), {{42}, {7}}, {});
}

TEST(Counters, RandomKeyIsSeedAndUpdate) {
  expectResults({"random_key",
                 {Tensor::scalar(I64, 1234), Tensor::scalar(I64, 9)},
                 {{I64, {2}}},
                 {}},
                {{1234, 9}}, {});
  EXPECT_EQ(errorOf({"random_key", {}, {{I64, {2}}}, {}}),
            "kernel 'random_key' expects 2 operands but got 0");
}

TEST(Counters, OriginIsStepTimesMicroBatch) {
  Call call{"origin", {}, {{I64, {3}}}, {}};
  call.with("step", list({4, 0, 7}));
  expectResults(call, {{0, 0, 0}}, {});
  call.microBatch = 3;
  expectResults(call, {{12, 0, 21}}, {});
  call.results = {{I64, {2}}};
  EXPECT_EQ(errorOf(call), "kernel 'origin' expects tensor<3xi64> for result 0 "
                           "but got tensor<2xi64>");
}

TEST(LearningRate, FollowsItsSchedules) {
  auto rate = [](const char *schedule, int64_t update, ElementType type = F64) {
    Call call{"learning_rate",
              {Tensor::scalar(I64, double(update))},
              {{type, {}}},
              {}};
    call.with("schedule", text(schedule))
        .with("lr", number(0.5))
        .with("min_lr", number(0.1));
    call.with("warmup_steps", integer(10)).with("total_steps", integer(110));
    return runOk(call)[0][0];
  };
  for (const char *schedule : {"constant", "linear", "cosine"}) {
    EXPECT_DOUBLE_EQ(rate(schedule, 0), 0.05);
    EXPECT_DOUBLE_EQ(rate(schedule, 8), 0.45);
    EXPECT_DOUBLE_EQ(rate(schedule, 9), 0.5);
    EXPECT_DOUBLE_EQ(rate(schedule, 10), 0.5);
  }
  EXPECT_DOUBLE_EQ(rate("constant", 100000), 0.5);
  EXPECT_DOUBLE_EQ(rate("linear", 60), 0.3);
  EXPECT_DOUBLE_EQ(rate("linear", 35), 0.4);
  EXPECT_DOUBLE_EQ(rate("linear", 110), 0.1);
  EXPECT_DOUBLE_EQ(rate("linear", 1000), 0.1);
  EXPECT_DOUBLE_EQ(rate("cosine", 60), 0.3);
  EXPECT_DOUBLE_EQ(rate("cosine", 35), 0.1 + 0.4 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(rate("cosine", 1000), 0.1);
  EXPECT_FLOAT_EQ(float(rate("cosine", 35, F32)),
                  float(0.1 + 0.4 * (1 + std::sqrt(0.5)) / 2));
}

TEST(LearningRate, Errors) {
  Call call{"learning_rate", {Tensor::scalar(I64, 1)}, {{F32, {}}}, {}};
  EXPECT_EQ(errorOf(call), "kernel 'learning_rate' expects a finite float "
                           "attribute 'lr' but got none");
  call.with("lr", number(0.5)).with("schedule", text("step"));
  EXPECT_EQ(errorOf(call), "kernel 'learning_rate' expects 'schedule' to be "
                           "'constant', 'linear' or 'cosine' but got 'step'");
}

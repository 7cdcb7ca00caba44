// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MATCH rule on both sides of its bounds, and programs compared.

#include "Piper/Runtime/Compare.h"

#include "TrainingTest.h"

#include <sstream>

using namespace piper::rt;
using namespace piper::rt::test;

static MatchResult match(const std::vector<double> &values,
                         const std::vector<double> &reference) {
  TensorType type = f64({int64_t(values.size())});
  return matchTensors(
      {reinterpret_cast<const std::byte *>(values.data()), type},
      {reinterpret_cast<const std::byte *>(reference.data()), type});
}

TEST(Match, BoundOfTheLargestElement) {
  // The element 0 may differ by 1e-5 of the largest, 200.
  EXPECT_TRUE(match({200, 0.00199}, {200, 0}).match);
  MatchResult result = match({200, 0.00201}, {200, 0});
  EXPECT_FALSE(result.match);
  EXPECT_EQ(result.element, 1);
  EXPECT_EQ(result.value, 0.00201);
  EXPECT_EQ(result.reference, 0);
  EXPECT_DOUBLE_EQ(result.allowed, 0.002);
  EXPECT_TRUE(match({200.0019}, {200}).match);
  EXPECT_FALSE(match({200.0021}, {200}).match);
}

TEST(Match, RelativeBoundOfElements) {
  // Of 200: 0.3 is above 1e-3 max, so 1e-3 of itself; 0.1 is below.
  EXPECT_TRUE(match({200, 0.30029}, {200, 0.3}).match);
  EXPECT_FALSE(match({200, 0.30031}, {200, 0.3}).match);
  EXPECT_TRUE(match({200, 0.1019}, {200, 0.1}).match);
  EXPECT_TRUE(match({200, -0.30029}, {200, -0.3005}).match);
}

TEST(Match, ZeroTensors) {
  EXPECT_TRUE(match({0.9e-7, 0}, {0, 0}).match);
  EXPECT_FALSE(match({1.1e-7, 0}, {0, 0}).match);
  EXPECT_TRUE(match({1e-7, 0}, {1e-8, 0}).match);
  EXPECT_TRUE(match({}, {}).match);
}

TEST(Match, NotFinite) {
  double nan = std::nan(""), inf = HUGE_VAL;
  EXPECT_TRUE(match({1, nan, inf}, {1, nan, inf}).match);
  EXPECT_FALSE(match({1, nan}, {1, 1}).match);
  EXPECT_FALSE(match({1, 1}, {1, nan}).match);
  EXPECT_FALSE(match({1, inf}, {1, -inf}).match);
}

// A bf16 1.0 against an f32 one.
TEST(Match, OtherTypes) {
  uint16_t brain = 0x3F80;
  float one = 1.000001f;
  EXPECT_TRUE(
      matchTensors({reinterpret_cast<const std::byte *>(&brain),
                    {ElementType::BF16, {1}}},
                   {reinterpret_cast<const std::byte *>(&one), f32({1})})
          .match);
}

TEST(Match, WithinABound) {
  double x[2] = {1, 2.5}, ref[2] = {1, 2};
  TensorView value{reinterpret_cast<const std::byte *>(x), f64({2})};
  TensorView reference{reinterpret_cast<const std::byte *>(ref), f64({2})};
  EXPECT_TRUE(matchWithin(value, reference, 0.6).match);
  EXPECT_FALSE(matchWithin(value, reference, 0.4).match);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
class CompareTest : public TrainingTest {
protected:
  std::string run(const Program &a, const Program &b, int64_t steps = 3,
                  int64_t seedOfB = 1) {
    std::string inputs = writeInputs("f", makeData(5));
    auto ea = make(a, 1), eb = make(b, seedOfB);
    std::ostringstream out;
    CompareOptions options;
    options.steps = steps;
    options.out = &out;
    Status status = compare(*ea, *open(ea->program(), inputs), *eb,
                            *open(eb->program(), inputs), options);
    return status.ok() ? out.str() : status.str();
  }
};
} // namespace

// For each step loss and gradient, and the parameter.
TEST_F(CompareTest, EqualPrograms) {
  EXPECT_EQ(run(makeRegression(), makeRegression()),
            "'regression' matches 'regression': 7 comparisons over 3 steps\n");
}

// Another learning rate: the first step has the same loss and gradient.
TEST_F(CompareTest, AnotherUpdate) {
  Program other = makeRegression(4, 3, 2, /*lr=*/0.0501);
  std::string text = run(other, makeRegression());
  EXPECT_EQ(
      text.rfind("'regression' does not match 'regression' at step 1: ", 0), 0u)
      << text;
  EXPECT_NE(text.find("loss, element []: "), std::string::npos) << text;
  EXPECT_NE(text.find("gradient 'w', element ["), std::string::npos) << text;
  text = run(other, makeRegression(), 1);
  EXPECT_EQ(text.rfind("'regression' does not match 'regression' after 1 "
                       "steps: 1 of 3 comparisons fail; worst: parameter 'w', "
                       "element [",
                       0),
            0u)
      << text;
}

TEST_F(CompareTest, OtherWeights) {
  std::string text = run(makeRegression(), makeRegression(), 1, /*seedOfB=*/2);
  EXPECT_EQ(text.rfind("'regression' does not match 'regression' at step 0: 2 "
                       "of 2 comparisons fail; worst: ",
                       0),
            0u)
      << text;
}

TEST_F(CompareTest, ProgramsThatCannotBeCompared) {
  Program bare = makeRegression(4, 3, 2, 0.05, /*keepGradients=*/false);
  EXPECT_EQ(run(bare, makeRegression()),
            "the program 'regression' does not keep the gradient of 'w': "
            "compile it with keep-gradients=true");
  EXPECT_EQ(run(makeRegression(), bare),
            "the program 'regression' does not keep the gradient of 'w': "
            "compile it with keep-gradients=true");
  Program renamed = makeRegression();
  renamed.state[0].name = "u";
  renamed.entries[0].gradients[0].name = "u";
  EXPECT_EQ(run(renamed, makeRegression()),
            "only one of the programs has the parameter 'u'");
}

TEST_F(CompareTest, OtherInputsOrPlaces) {
  std::string inputs = writeInputs("f", makeData(5));
  std::string text = folder.write("t", "all work and no play");
  auto a = make(makeRegression());
  auto message = [&](Executor &b, BatchSource &source) {
    CompareOptions options;
    return compare(*a, *open(a->program(), inputs), b, source, options)
        .message();
  };
  auto bigram = make(makeBigram());
  auto tokens =
      openTokens(bigram->program(), *bigram->program().findEntry("train"), text,
                 TokenType::U8);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(message(*bigram, **tokens),
            "only one of the programs has the input 'x'");
  auto wide = make(makeRegression(4, 3, 1));
  RegressionData narrow = makeData(5);
  narrow.out = 1;
  auto source = open(wide->program(), writeInputs("n", narrow));
  EXPECT_EQ(message(*wide, *source),
            "input 't' differs between the programs: tensor<4x2xf32> and "
            "tensor<4x1xf32>");
  auto late = make(makeRegression());
  int64_t four = 4;
  std::memcpy(late->stateData(2), &four, 8);
  source = open(late->program(), inputs);
  EXPECT_EQ(message(*late, *source),
            "the programs are at different steps: 0 and 4");
  // A matrix of the same inputs but another parameter.
  Program other = makeRegression();
  other.state[0].kind = StateTensor::Kind::Moment;
  other.entries[0].gradients.clear();
  auto moment = make(other);
  source = open(moment->program(), inputs);
  EXPECT_EQ(message(*moment, *source),
            "only one of the programs has the parameter 'w'");
}

// AdamW: parameters within 0.05 of the learning rate, whatever the later
// losses are.
TEST_F(CompareTest, AdamW) {
  std::string text = folder.write("t", "all work and no play makes a dull boy");
  auto run = [&](double lr, int64_t steps) {
    auto a = make(makeBigram(2, 4, 256, lr)), b = make(makeBigram());
    auto sa = openTokens(a->program(), *a->program().findEntry("train"), text,
                         TokenType::U8);
    auto sb = openTokens(b->program(), *b->program().findEntry("train"), text,
                         TokenType::U8);
    CompareOptions options;
    options.steps = steps;
    Status status = compare(*a, **sa, *b, **sb, options);
    return status.ok() ? "success" : status.message();
  };
  EXPECT_EQ(run(0.1, 4), "success");
  // One step of 0.104 against 0.1 is 0.004 away where 0.005 is allowed.
  EXPECT_EQ(run(0.104, 1), "success");
  EXPECT_EQ(run(0.106, 1).rfind("'bigram' does not match 'bigram' after 1 "
                                "steps: 1 of 3 comparisons fail; worst: "
                                "parameter 'transformer.wte.weight', element [",
                                0),
            0u);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generation with a table of next bytes that the tests write themselves.

#include "Piper/Runtime/Generate.h"

#include "TrainingTest.h"

#include <sstream>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
class GenerateTest : public TrainingTest {
protected:
  std::string text(Executor &executor, const GenerateOptions &options) {
    std::ostringstream out;
    Status status = generate(executor, options, out);
    return status.ok() ? out.str() : status.message();
  }
  /// Makes `next` the most likely byte after `byte` by `logit`.
  void setLogit(Executor &executor, unsigned char byte, unsigned char next,
                float logit) {
    reinterpret_cast<float *>(executor.stateData(0))[byte * 256 + next] = logit;
  }
  static GenerateOptions greedy(int64_t count, const std::string &prompt) {
    GenerateOptions options;
    options.count = count;
    options.prompt = prompt;
    options.temperature = 0;
    return options;
  }
};
} // namespace

TEST_F(GenerateTest, GreedyFollowsTheLargestLogit) {
  auto executor = make(makeBigram(/*batch=*/2, /*seq=*/4));
  std::memset(executor->stateData(0), 0, 256 * 256 * 4);
  setLogit(*executor, 'a', 'b', 1);
  setLogit(*executor, 'b', 'c', 1);
  setLogit(*executor, 'c', 'a', 1);
  // Longer than a sequence: the window moves.
  EXPECT_EQ(text(*executor, greedy(9, "xya")), "bcabcabca");
  EXPECT_EQ(text(*executor, greedy(2, "the first of all, then b")), "ca");
  EXPECT_EQ(text(*executor, greedy(0, "a")), "");
  // Equal logits: the lowest.
  EXPECT_EQ(text(*executor, greedy(1, "z")), std::string(1, '\0'));
}

// After 'a' comes 'b' with probability e / (e + 1 + 254 e^-50) at temperature
// 1, and e^2 / (e^2 + 1) at 0.5.
TEST_F(GenerateTest, SamplesWithTheTemperature) {
  auto executor = make(makeBigram(1, 1));
  for (int byte = 0; byte < 256; ++byte)
    for (int next = 0; next < 256; ++next)
      setLogit(*executor, byte, next, next == 'a' ? 0 : next == 'b' ? 1 : -50);
  GenerateOptions options;
  options.count = 2000;
  options.prompt = "a";
  for (double temperature : {1.0, 0.5}) {
    options.temperature = temperature;
    options.seed = 3;
    std::string drawn = text(*executor, options);
    ASSERT_EQ(drawn.size(), 2000u);
    double p = 1 / (1 + std::exp(-1 / temperature));
    double deviation = std::sqrt(2000 * p * (1 - p));
    EXPECT_NEAR(std::count(drawn.begin(), drawn.end(), 'b'), 2000 * p,
                4 * deviation);
    EXPECT_EQ(text(*executor, options), drawn) << "the seed decides";
    options.seed = 4;
    EXPECT_NE(text(*executor, options), drawn);
  }
}

TEST_F(GenerateTest, WhatIsRefused) {
  auto executor = make(makeBigram(1, 2, /*vocabulary=*/100));
  EXPECT_EQ(text(*executor, greedy(-1, "a")),
            "expects to generate 0 or more bytes but got -1");
  EXPECT_EQ(text(*executor, greedy(1, "")),
            "expects a prompt of at least one byte");
  EXPECT_EQ(text(*executor, greedy(1, "ad")),
            "the prompt has the byte 100 but the program has the tokens 0 to "
            "99");
  GenerateOptions options;
  options.temperature = -1;
  EXPECT_EQ(text(*executor, options),
            "expects a temperature of 0 or more but got -1.000000");
  options.temperature = std::nan("");
  EXPECT_EQ(text(*executor, options),
            "expects a temperature of 0 or more but got nan");
  reinterpret_cast<float *>(executor->stateData(0))['a' * 100 + 7] =
      std::nanf("");
  EXPECT_EQ(text(*executor, greedy(1, "aa")),
            "the logit of byte 7 after 2 bytes of text is not finite");
  EXPECT_EQ(text(*make(makeBigram(1, 2, 300)), greedy(1, "a")),
            "the program 'bigram' has 300 tokens, but text is made of at most "
            "256 bytes");
}

TEST_F(GenerateTest, ProgramsThatDoNotFit) {
  auto message = [&](void (*change)(EntryPoint &)) {
    Program program = makeBigram(1, 2);
    change(program.entries[0]);
    return text(*make(program), greedy(1, "a"));
  };
  EXPECT_EQ(message([](EntryPoint &e) { e.name = "other"; }),
            "the program 'bigram' has no entry point 'predict'");
  EXPECT_EQ(message([](EntryPoint &e) { e.inputs[0].name = "ids"; }),
            "entry point 'predict' expects the one input 'tokens' to generate "
            "text but has 1 inputs, 'ids' first");
  EXPECT_EQ(message([](EntryPoint &e) { e.outputs[0].name = "z"; }),
            "entry point 'predict' has no output 'logits'");
  EXPECT_EQ(
      message([](EntryPoint &e) { e.outputs[0].value = e.inputs[0].value; }),
      "output 'logits' of entry point 'predict': expects floats of shape "
      "[batch, seq, vocab] but got tensor<1x2xi32>");
  // A predictor of images.
  ProgramBuilder b;
  FunctionBuilder f("twice", {f32({2, 2})});
  int32_t twice = b.addFunction(f.finish({f.op("add", {0, 0}, f32({2, 2}))}));
  b.beginEntry("predict");
  b.output("logits", b.call(twice, {b.input("tokens", f32({2, 2}))})[0]);
  EXPECT_EQ(text(*make(b.finish()), greedy(1, "a")),
            "input 'tokens' of entry point 'predict': expects integers of "
            "shape [batch, seq] but got tensor<2x2xf32>");
}

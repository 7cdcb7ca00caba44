// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches: the order of sequences, labels, the tail, wrapping, token types, and
// what is refused.

#include "Piper/Runtime/Data.h"

#include "Piper/Runtime/Safetensors.h"
#include "TempFolder.h"
#include "TestPrograms.h"

#include "gtest/gtest.h"

using namespace piper::rt;
using namespace piper::rt::test;

class DataTest : public testing::Test {
protected:
  /// Batch `iteration` as text, "tokens|labels", rows joined by spaces.
  std::string batchText(BatchSource &source, int64_t batch, int64_t seq,
                        int64_t iteration) {
    std::vector<int32_t> tokens(batch * seq), labels(batch * seq);
    Status status = source.fill(iteration, {{tokens.data(), batch * seq * 4},
                                            {labels.data(), batch * seq * 4}});
    EXPECT_TRUE(status.ok()) << status.str();
    std::string text;
    for (const auto *ids : {&tokens, &labels})
      for (int64_t i = 0; i < batch * seq; ++i)
        text += (i == 0 && ids == &labels ? "|"
                 : i && i % seq == 0      ? " "
                                          : "") +
                std::string(1, char((*ids)[i]));
    return text;
  }
  std::unique_ptr<BatchSource> openTokensOf(const Program &program,
                                            const std::string &path,
                                            TokenType type) {
    auto source = openTokens(program, *program.findEntry("train"), path, type);
    if (source.ok())
      return std::move(*source);
    error = source.takeStatus().message();
    return nullptr;
  }
  std::unique_ptr<BatchSource> openInputsOf(const Program &program,
                                            const std::string &path) {
    auto source = openInputs(program, *program.findEntry("train"), path);
    if (source.ok())
      return std::move(*source);
    error = source.takeStatus().message();
    return nullptr;
  }
  TempFolder folder;
  std::string error;
};

TEST_F(DataTest, SequencesLabelsAndWrapping) {
  Program program = makeBigram(/*batch=*/2, /*seq=*/3);
  // 11 characters: floor(10 / 3) = 3 sequences; 'k' is not even a label.
  auto source =
      openTokensOf(program, folder.write("t", "abcdefghijk"), TokenType::U8);
  ASSERT_TRUE(source) << error;
  EXPECT_EQ(source->count(), -1);
  EXPECT_EQ(batchText(*source, 2, 3, 0), "abc def|bcd efg");
  EXPECT_EQ(batchText(*source, 2, 3, 1), "ghi abc|hij bcd");
  EXPECT_EQ(batchText(*source, 2, 3, 2), "def ghi|efg hij");
  EXPECT_EQ(batchText(*source, 2, 3, 3), "abc def|bcd efg");
  EXPECT_EQ(batchText(*source, 2, 3, 3000000000001), "ghi abc|hij bcd");
}

TEST_F(DataTest, SmallestFile) {
  Program program = makeBigram(2, 3);
  ASSERT_TRUE(
      openTokensOf(program, folder.write("t", "abcdefg"), TokenType::U8));
  std::string path = folder.write("t", "abcdef");
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "'" + path +
                       "' has 6 tokens, but a batch of 2 sequences of "
                       "3 needs 7");
  path = folder.write("t", "");
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "'" + path +
                       "' has 0 tokens, but a batch of 2 sequences of "
                       "3 needs 7");
}

TEST_F(DataTest, WiderTokens) {
  Program program = makeBigram(1, 2, /*vocabulary=*/300);
  // 'a', 'b', 298 little-endian.
  auto source = openTokensOf(
      program, folder.write("t.bin", std::string("a\0b\0\x2a\x01", 6)),
      TokenType::U16);
  ASSERT_TRUE(source) << error;
  std::vector<int32_t> tokens(2), labels(2);
  ASSERT_TRUE(source->fill(0, {{tokens.data(), 8}, {labels.data(), 8}}).ok());
  EXPECT_EQ(tokens, (std::vector<int32_t>{'a', 'b'}));
  EXPECT_EQ(labels, (std::vector<int32_t>{'b', 298}));
  source = openTokensOf(
      program, folder.write("t", std::string("a\0\0\0b\0\0\0\x2a\x01\0\0", 12)),
      TokenType::U32);
  ASSERT_TRUE(source) << error;
  ASSERT_TRUE(source->fill(0, {{tokens.data(), 8}, {labels.data(), 8}}).ok());
  EXPECT_EQ(labels, (std::vector<int32_t>{'b', 298}));

  std::string path = folder.write("t", "abc");
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U16));
  EXPECT_EQ(error, "'" + path +
                       "': expects tokens of 2 bytes but it has 3 "
                       "bytes");
}

TEST_F(DataTest, TokenTypes) {
  EXPECT_EQ(defaultTokenType("a/b.bin"), TokenType::U16);
  EXPECT_EQ(defaultTokenType("a/b.txt"), TokenType::U8);
  EXPECT_EQ(defaultTokenType("bin"), TokenType::U8);
  EXPECT_EQ(defaultTokenType("A/D.BIN"), TokenType::U16);
  EXPECT_EQ(defaultTokenType("d.Bin"), TokenType::U16);
  EXPECT_EQ(defaultTokenType(".bin/d"), TokenType::U8);
  EXPECT_EQ(*parseTokenType("u8"), TokenType::U8);
  EXPECT_EQ(*parseTokenType("u16"), TokenType::U16);
  EXPECT_EQ(*parseTokenType("u32"), TokenType::U32);
  EXPECT_EQ(parseTokenType("i32").takeStatus().message(),
            "expects a token type out of u8, u16, u32 but got 'i32'");
}

TEST_F(DataTest, TokensThatTheProgramDoesNotHave) {
  Program program = makeBigram(1, 2, /*vocabulary=*/100);
  std::string path = folder.write("t", "abcdefg");
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "'" + path +
                       "': token 3 of the file is 100 but the program "
                       "has the tokens 0 to 99");
  // The last one would only be a label.
  path = folder.write("t", "abd");
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "'" + path +
                       "': token 2 of the file is 100 but the program "
                       "has the tokens 0 to 99");
  EXPECT_TRUE(openTokensOf(program, folder.write("t", "abc"), TokenType::U8));
}

TEST_F(DataTest, EntryPointsWithOtherInputs) {
  Program program = makeRegression();
  std::string path = folder.write("t", "abcdefg");
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "a file of tokens gives 'tokens' and 'labels', not input "
                   "'x' of entry point 'train': use a file of inputs");
  program = makeBigram(2, 3);
  EntryPoint &entry = program.entries[1];
  entry.values[entry.inputs[1].value].type.shape = {3, 2};
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "the inputs 'tokens' and 'labels' of entry point 'train' "
                   "differ in shape");
  entry.values[entry.inputs[0].value].type = f32({2, 3});
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "input 'tokens' of entry point 'train': expects integers of "
                   "shape [batch, seq] but got tensor<2x3xf32>");
  entry.inputs.clear();
  EXPECT_FALSE(openTokensOf(program, path, TokenType::U8));
  EXPECT_EQ(error, "entry point 'train' has no input 'tokens' to read '" +
                       path + "' into");
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

TEST_F(DataTest, InputsOfEachStep) {
  Program program = makeRegression(/*rows=*/2, /*in=*/1, /*out=*/1);
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, t = {-1, -2, -3, -4, -5, -6};
  ASSERT_TRUE(writeSafetensors(folder.file("f"),
                               {{"t", FileType::F32, {3, 2, 1}, t.data()},
                                {"x", FileType::F32, {3, 2, 1}, x.data()}},
                               {})
                  .ok());
  auto source = openInputsOf(program, folder.file("f"));
  ASSERT_TRUE(source) << error;
  EXPECT_EQ(source->count(), 3);
  std::vector<float> a(2), b(2);
  ASSERT_TRUE(source->fill(1, {{a.data(), 8}, {b.data(), 8}}).ok());
  EXPECT_EQ(a, (std::vector<float>{3, 4}));
  EXPECT_EQ(b, (std::vector<float>{-3, -4}));
  Status status = source->fill(3, {{a.data(), 8}, {b.data(), 8}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "'" + folder.file("f") + "': it has 3 steps and none of number 3");
}

TEST_F(DataTest, InputsThatDoNotFit) {
  Program program = makeRegression(2, 1, 1);
  std::vector<float> data(12);
  std::string path = folder.file("f"), start = "'" + path + "': ";
  auto open = [&](std::vector<TensorToWrite> tensors) {
    EXPECT_TRUE(writeSafetensors(path, std::move(tensors), {}).ok());
    return openInputsOf(program, path) ? "success" : error;
  };
  TensorToWrite x{"x", FileType::F32, {3, 2, 1}, data.data()};
  TensorToWrite t{"t", FileType::F32, {3, 2, 1}, data.data()};
  EXPECT_EQ(open({x, t}), "success");
  EXPECT_EQ(open({x}), start + "there is no tensor for the input 't'");
  EXPECT_EQ(open({x, t, {"u", FileType::U8, {}, data.data()}}),
            start + "entry point 'train' has no input for tensor 'u'");
  EXPECT_EQ(open({x, {"t", FileType::F32, {2, 2, 1}, data.data()}}),
            start + "tensor 't' has 2 steps but the tensors before it have 3");
  EXPECT_EQ(open({x, {"t", FileType::F32, {3, 1, 2}, data.data()}}),
            start + "tensor 't': expects F32 [steps, 2, 1] but got F32 [3, 1, "
                    "2]");
  EXPECT_EQ(open({x, {"t", FileType::F32, {}, data.data()}}),
            start + "tensor 't': expects F32 [steps, 2, 1] but got F32 []");
  EXPECT_EQ(open({x, {"t", FileType::I32, {3, 2, 1}, data.data()}}),
            start + "tensor 't': expects F32 [steps, 2, 1] but got I32 [3, 2, "
                    "1]");
  program.entries[0].inputs.clear();
  EXPECT_EQ(open({x}), start + "entry point 'train' has no inputs");
}

TEST_F(DataTest, IndicesInInputs) {
  Program program = makeBigram(/*batch=*/1, /*seq=*/2, /*vocabulary=*/5);
  std::string path = folder.file("f"), start = "'" + path + "': ";
  std::vector<int32_t> good = {0, 4, 1, 2};
  auto fill = [&](const std::vector<int32_t> &tokens,
                  const std::vector<int32_t> &labels) -> std::string {
    EXPECT_TRUE(
        writeSafetensors(path,
                         {{"tokens", FileType::I32, {2, 1, 2}, tokens.data()},
                          {"labels", FileType::I32, {2, 1, 2}, labels.data()}},
                         {})
            .ok());
    auto source = openInputsOf(program, path);
    if (!source)
      return error;
    std::vector<int32_t> a(2), b(2);
    Status status = source->fill(1, {{a.data(), 8}, {b.data(), 8}});
    return status.ok() ? "success" : status.message();
  };
  EXPECT_EQ(fill(good, good), "success");
  EXPECT_EQ(fill(good, {0, 0, -1, -100}), "success") << "labels to ignore";
  EXPECT_EQ(fill({0, 0, 0, 5}, good),
            start + "tensor 'tokens': element 1 (row 0) of step 1 is 5 but the "
                    "program has 0 to 4");
  EXPECT_EQ(fill({0, 0, -1, 0}, good),
            start +
                "tensor 'tokens': element 0 (row 0) of step 1 is -1 but the "
                "program has 0 to 4");
  EXPECT_EQ(fill(good, {0, 0, 7, 0}),
            start + "tensor 'labels': element 0 (row 0) of step 1 is 7 but the "
                    "program has labels up to 4");
}

// Through a view inside of a task, and through a task that is a view.
TEST_F(DataTest, LimitsAreFoundThroughViews) {
  ProgramBuilder b;
  FunctionBuilder view("flatten", {i32({1, 2})});
  int32_t flatten =
      b.addFunction(view.finish({view.op("reshape", {0}, i32({2}))}));
  FunctionBuilder embed("embed", {f32({7, 4}), i32({2})});
  int32_t again = embed.op("reshape", {1}, i32({2, 1}));
  int32_t lookUp = b.addFunction(
      embed.finish({embed.op("embedding", {0, again}, f32({2, 1, 4}))}));
  int32_t table = b.addState("wte", f32({7, 4}));
  b.beginEntry("train");
  int32_t tokens = b.input("tokens", i32({1, 2}));
  int32_t flat = b.call(flatten, {tokens})[0];
  b.output("x", b.call(lookUp, {b.stateValue(table), flat})[0]);
  std::string path = folder.write("t", std::string("\1\2\7", 3));
  EXPECT_FALSE(openTokensOf(b.finish(), path, TokenType::U8));
  EXPECT_EQ(error, "'" + path +
                       "': token 2 of the file is 7 but the program "
                       "has the tokens 0 to 6");
}

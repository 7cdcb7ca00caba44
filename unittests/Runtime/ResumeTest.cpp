// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a run that is resumed goes on: in the data, whatever the shape of
// batches, and in the file of metrics.

#include "Piper/Runtime/Checkpoint.h"
#include "Train/Metrics.h"
#include "TrainingTest.h"

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
class ResumeTest : public TrainingTest {
protected:
  static constexpr auto kTokens = DataPosition::Unit::Tokens;
  static constexpr auto kRows = DataPosition::Unit::Rows;

  std::unique_ptr<BatchSource> openText(int64_t batch, int64_t seq,
                                        const std::string &text) {
    programs.push_back(
        std::make_unique<Program>(makeBigram(batch, seq, /*vocabulary=*/256)));
    const Program &program = *programs.back();
    auto source = openTokens(program, *program.findEntry("train"),
                             folder.write("text", text), TokenType::U8);
    EXPECT_TRUE(source.ok());
    return std::move(*source);
  }
  /// The first token of a batch.
  static int first(BatchSource &source, int64_t iteration, int64_t size) {
    std::vector<int32_t> tokens(size), labels(size);
    Status status = source.fill(
        iteration, {{tokens.data(), size * 4}, {labels.data(), size * 4}});
    EXPECT_TRUE(status.ok()) << status.str();
    return tokens[0];
  }
  static std::string text(int tokens) {
    std::string text;
    for (int i = 0; i < tokens; ++i)
      text += char(i);
    return text;
  }
  /// Sources keep a pointer to what they are of.
  std::vector<std::unique_ptr<Program>> programs;
};
} // namespace

// 206 tokens are 41 sequences of 5 and one label more. Three batches of 4
// sequences end at token 60.
TEST_F(ResumeTest, TokensGoOnWithAnyBatch) {
  std::string data = text(206);
  auto before = openText(4, 5, data);
  DataPosition position = before->position(3);
  EXPECT_EQ(position.value, 60);
  EXPECT_EQ(position.batches, "batches of 4 x 5 tokens");
  for (int64_t batch : {1, 2, 4, 8}) {
    auto after = openText(batch, 5, data);
    ASSERT_TRUE(after->resume(3, position).ok());
    EXPECT_EQ(first(*after, 3, batch * 5), 60);
    EXPECT_EQ(first(*after, 4, batch * 5), 60 + batch * 5);
    EXPECT_EQ(after->position(4).value, 60 + batch * 5);
    // The batch before it is there as well.
    EXPECT_EQ(first(*after, 2, batch * 5), 60 - batch * 5);
  }
  auto longer = openText(2, 10, data);
  ASSERT_TRUE(longer->resume(3, position).ok());
  EXPECT_EQ(first(*longer, 3, 20), 60);
  auto odd = openText(2, 7, data);
  Status status = odd->resume(3, position);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "'" + folder.file("text") +
                "': after batches of 4 x 5 tokens the next token is number 60, "
                "which lies inside a sequence of batches of 2 x 7 tokens: "
                "expects a multiple of 7");
  // Rows are those of another kind of file.
  ASSERT_TRUE(odd->resume(3, {kRows, 5, ""}).ok());
  EXPECT_EQ(first(*odd, 3, 14), 42);
}

// After 12 batches of 4 of the 41 sequences the file has been read once and 7
// sequences of it again: the next token is 35, of any shape.
TEST_F(ResumeTest, TokensGoOnAfterTheFileWrapped) {
  std::string data = text(206);
  DataPosition position = openText(4, 5, data)->position(12);
  EXPECT_EQ(position.value, 35);
  auto longer = openText(2, 7, data);
  ASSERT_TRUE(longer->resume(12, position).ok());
  EXPECT_EQ(first(*longer, 12, 14), 35);
  // 29 sequences of 7, of which 24 are left: 12 batches.
  EXPECT_EQ(first(*longer, 24, 14), 0);
  // The last position of one length may be the end of another.
  auto wide = openText(1, 100, data);
  ASSERT_TRUE(wide->resume(1, {kTokens, 200, ""}).ok());
  EXPECT_EQ(first(*wide, 1, 100), 0);
}

TEST_F(ResumeTest, RowsGoOnWithAnyBatch) {
  std::vector<float> values(24);
  for (int i = 0; i < 24; ++i)
    values[i] = float(i);
  auto open = [&](int64_t rows) {
    Program program = makeRegression(rows, /*in=*/1, /*out=*/1);
    for (Binding &input : program.entries[0].inputs)
      input.dims = {"batch", "in"};
    EXPECT_TRUE(writeSafetensors(
                    folder.file("f"),
                    {{"x", FileType::F32, {24 / rows, rows, 1}, values.data()},
                     {"t", FileType::F32, {24 / rows, rows, 1}, values.data()}},
                    {})
                    .ok());
    programs.push_back(std::make_unique<Program>(program));
    auto source =
        openInputs(*programs.back(), *programs.back()->findEntry("train"),
                   folder.file("f"));
    EXPECT_TRUE(source.ok());
    return std::move(*source);
  };
  auto firstRow = [](BatchSource &source, int64_t iteration, int64_t rows) {
    std::vector<float> x(rows), t(rows);
    EXPECT_TRUE(
        source.fill(iteration, {{x.data(), rows * 4}, {t.data(), rows * 4}})
            .ok());
    return x[0];
  };
  DataPosition position = open(4)->position(3);
  EXPECT_EQ(position.value, 12);
  auto two = open(2), four = open(4), six = open(6);
  ASSERT_TRUE(two->resume(3, position).ok());
  EXPECT_EQ(firstRow(*two, 3, 2), 12);
  EXPECT_EQ(firstRow(*two, 4, 2), 14);
  // Rows 12 to 23 are batches 3 to 8.
  EXPECT_EQ(two->count(), 9);
  EXPECT_EQ(two->position(9).value, 24);
  ASSERT_TRUE(four->resume(3, position).ok());
  EXPECT_EQ(firstRow(*four, 3, 4), 12);
  EXPECT_EQ(four->count(), 6);
  ASSERT_TRUE(six->resume(3, position).ok());
  EXPECT_EQ(firstRow(*six, 3, 6), 12);
  Status status = open(8)->resume(3, position);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "'" + folder.file("f") +
                "': after batches of 4 rows the next row is number 12, which "
                "lies inside a batch of 8 rows: expects a multiple of 8");
  status = open(4)->resume(7, {kRows, 28, "batches of 4 rows"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "'" + folder.file("f") +
                "': after batches of 4 rows the next row is number 28, but it "
                "has 6 steps of batches of 4 rows");
  // Tokens are those of another kind of file.
  auto other = open(8);
  ASSERT_TRUE(other->resume(1, {kTokens, 5, ""}).ok());
  EXPECT_EQ(firstRow(*other, 1, 8), 8);
}

TEST_F(ResumeTest, TheStateHoldsThePosition) {
  auto executor = make(makeRegression());
  std::string path = folder.file("s");
  auto load = [&]() -> std::string {
    Result<LoadReport> report = loadCheckpoint(*executor, path);
    if (!report.ok())
      return report.takeStatus().message();
    if (!report->position)
      return "none";
    return std::to_string(report->position->value) + " " +
           unitName(report->position->unit) + ", " + report->position->batches;
  };
  ASSERT_TRUE(saveState(*executor, path).ok());
  EXPECT_EQ(load(), "none");
  for (DataPosition position :
       {DataPosition{kTokens, 60, "b"}, DataPosition{kRows, 12, "b"}}) {
    ASSERT_TRUE(saveState(*executor, path, position).ok());
    EXPECT_EQ(load(), position.unit == kTokens ? "60 token, b" : "12 row, b");
  }
  // A program without data may use the names for anything.
  std::vector<float> w(6);
  TensorToWrite tensor{"w", FileType::F32, {3, 2}, w.data()};
  ASSERT_TRUE(writeSafetensors(path, {tensor}, {{"position", "-"}}).ok());
  EXPECT_EQ(load(), "none");
  auto spoiled = [&](const std::string &value, const std::string &unit) {
    std::map<std::string, std::string> metadata = {{"piper", "state"}};
    metadata["position"] = value;
    metadata["position_unit"] = unit;
    EXPECT_TRUE(writeSafetensors(path, {tensor}, metadata).ok());
    return load();
  };
  std::string start = "'" + path + "': metadata ";
  for (const char *value : {"-1", "", "1e3", "1000000000000000000"})
    EXPECT_EQ(spoiled(value, "token"),
              start +
                  "'position' expects a whole number from 0 to "
                  "999999999999999999 but got '" +
                  value + "'");
  EXPECT_EQ(spoiled("999999999999999999", "token"),
            "999999999999999999 token, ");
  EXPECT_EQ(spoiled("3", "byte"),
            start + "'position_unit' expects 'token' or 'row' but got 'byte'");
}

TEST_F(ResumeTest, MetricsBeforeAStep) {
  auto before = [&](const std::string &text) {
    Result<std::string> kept =
        readMetricsBefore(folder.write("m", text), /*step=*/2);
    return kept.ok() ? *kept : kept.takeStatus().message();
  };
  const std::string zero = "{\"step\":0}\n", one = "{\"step\":1,\"loss\":3}\n";
  EXPECT_EQ(before(""), "");
  EXPECT_EQ(before(zero + one), zero + one);
  EXPECT_EQ(before(zero + one + "{\"step\":2}\n{\"step\":3}\n"), zero + one);
  // A last line that was cut, also after it was whole but for its end.
  EXPECT_EQ(before(zero + "{\"step\":1,\"lo"), zero);
  EXPECT_EQ(before(zero + "{\"step\":1,\"lo\n"), zero);
  EXPECT_EQ(before(zero + "{\"step\":1,\"lo\n\n \t\r\n\n"), zero);
  EXPECT_EQ(before(zero + "{\"step\":1}"), zero + "{\"step\":1}\n");
  EXPECT_EQ(before(zero + "\n" + one + std::string(3, '\0')), zero + one);
  // Lines of others stay.
  EXPECT_EQ(before("{\"note\":\"x\"}\n" + zero), "{\"note\":\"x\"}\n" + zero);
  EXPECT_EQ(before(zero + "{\"step\":1,\"lo{\"step\":2}\n" + one),
            "'" + folder.file("m") +
                "': line 2 is not JSON: expects the metrics of the run that is "
                "resumed, or another --metrics");
  Result<std::string> none = readMetricsBefore(folder.file("absent"), 2);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, "");
}

// The file of an earlier run stays until a run has a step to write: errors
// before that lose nothing.
TEST_F(ResumeTest, MetricsAreReplacedByTheFirstStep) {
  std::string inputs = writeInputs("f", makeData(3));
  auto executor = make(makeRegression());
  TrainOptions options;
  options.metricsPath = folder.write("m", "old");
  EXPECT_FALSE(run(*executor, inputs, 4, options).ok()) << "there are 3 steps";
  EXPECT_EQ(folder.read("m"), "old");
  options.tracePath = folder.file("t");
  EXPECT_FALSE(run(*executor, inputs, 1, options).ok()) << "no times are taken";
  EXPECT_EQ(folder.read("m"), "old");
  options.tracePath = "";
  ASSERT_TRUE(run(*executor, inputs, 2, options).ok());
  std::string two = folder.read("m");
  EXPECT_EQ(countOf(two, "\n"), 2);
  // Step 1 again and then step 2.
  int64_t one = 1;
  std::memcpy(executor->stateData(2), &one, 8);
  ASSERT_TRUE(run(*executor, inputs, 2, options).ok());
  std::string three = folder.read("m");
  EXPECT_EQ(countOf(three, "\n"), 3);
  EXPECT_EQ(countOf(three, "\"step\":1,"), 1);
  EXPECT_EQ(three.compare(0, two.find('\n'), two, 0, two.find('\n')), 0);
}

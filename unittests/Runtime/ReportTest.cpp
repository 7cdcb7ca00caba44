// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports and dumps.

#include "Piper/Runtime/Report.h"

#include "Piper/Runtime/Dump.h"
#include "Piper/Runtime/Step.h"
#include "TrainingTest.h"

using namespace piper::rt;
using namespace piper::rt::test;

TEST(Report, Numbers) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1000), "1,000");
  EXPECT_EQ(formatCount(-1234567), "-1,234,567");
  EXPECT_EQ(formatCount(-123), "-123");
  EXPECT_EQ(formatBytes(1), "1 byte");
  EXPECT_EQ(formatBytes(1023), "1023 bytes");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(int64_t(3) << 30), "3.0 GiB");
}

TEST(Report, Info) {
  std::string text = infoReport(makeBigram(2, 4, 100));
  EXPECT_EQ(text, "program bigram for cpu, 1 thread\n"
                  "parameters: 10,000 in 1 tensor, 39.1 KiB\n"
                  "  of these trainable: 10,000 in 1 tensor, 39.1 KiB\n"
                  "moments: 20,000 in 2 tensors, 78.1 KiB\n"
                  "functions: 8 with 12 kernels\n"
                  "entry point predict: 1 tasks\n"
                  "  input tokens: tensor<2x4xi32> [batch, seq]\n"
                  "  output logits: tensor<2x4x100xf32>\n"
                  "entry point train: 8 tasks\n"
                  "  input tokens: tensor<2x4xi32> [batch, seq]\n"
                  "  input labels: tensor<2x4xi32> [batch, seq]\n"
                  "  output loss: tensor<f32>\n"
                  "  output count: tensor<i64>\n"
                  "  output grad_norm: tensor<f32>\n"
                  "  output ok: tensor<i1>\n"
                  "  output lr: tensor<f32>\n"
                  "  output nonfinite: tensor<1xi64>\n"
                  "  keeps 1 gradients\n"
                  "entry point eval: 3 tasks\n"
                  "  input tokens: tensor<2x4xi32> [batch, seq]\n"
                  "  input labels: tensor<2x4xi32> [batch, seq]\n"
                  "  output loss: tensor<f32>\n"
                  "  output count: tensor<i64>\n");
}

TEST(Report, Memory) {
  Program program = makeRegression();
  program.arenaBytes = 2048;
  program.entries.pop_back();
  EntryPoint &entry = program.entries[0];
  entry.peakBytes = 2000;
  entry.liveBytes = 1600;
  entry.peakInstruction = 1;
  entry.categories = {{"parameters", 1200}, {"gradients", 24}};
  EXPECT_EQ(memoryReport(program),
            "arena: 2.0 KiB (2,048 bytes)\n"
            "entry point train: peak 2.0 KiB (2,000 bytes) at instruction 1 "
            "('backward', layer = 0, B)\n"
            "  parameters                    1,200 bytes\n"
            "  gradients                        24 bytes\n"
            "  peak / largest sum of live bytes = 1.2500\n");
}

namespace {
class DumpTest : public TrainingTest {};
} // namespace

TEST_F(DumpTest, GradientsAndOutputs) {
  RegressionData data = makeData(1);
  auto executor = make(makeRegression());
  Reference expected = reference(data, 0, weightsOf(*executor));
  auto source = open(executor->program(), writeInputs("f", data));
  auto runner = StepRunner::create(*executor, "train", *source);
  ASSERT_TRUE(runner.ok());
  ASSERT_TRUE(runner->run(0).ok());
  ASSERT_TRUE(dumpGradients(*executor, 0, folder.file("g")).ok());
  ASSERT_TRUE(dumpOutputs(*executor, 0, folder.file("o")).ok());

  auto gradients = SafetensorsFile::open(folder.file("g"));
  ASSERT_TRUE(gradients.ok());
  ASSERT_EQ(gradients->tensors().size(), 1u);
  EXPECT_EQ(gradients->find("w")->str(), "F32 [3, 2]");
  float gradient[6];
  ASSERT_TRUE(
      gradients->read(*gradients->find("w"), 0, 6, ElementType::F32, gradient)
          .ok());
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(gradient[i], expected.gradient[i], 1e-6);

  auto outputs = SafetensorsFile::open(folder.file("o"));
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->tensors().size(), 5u);
  EXPECT_EQ(outputs->find("ok")->str(), "BOOL []");
  EXPECT_EQ(outputs->find("nonfinite")->str(), "I64 [1]");
  float loss;
  ASSERT_TRUE(
      outputs->read(*outputs->find("loss"), 0, 1, ElementType::F32, &loss)
          .ok());
  EXPECT_NEAR(loss, expected.loss, 1e-6);
}

TEST_F(DumpTest, GradientsThatAreNotKept) {
  auto executor = make(makeRegression(4, 3, 2, 0.05, false));
  Status status = dumpGradients(*executor, 0, folder.file("g"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "the program 'regression' does not keep the gradient of 'w': "
            "compile it with keep-gradients=true");
  EXPECT_EQ(folder.count(), 0u);
}

// bf16 gradients are written as f32.
TEST_F(DumpTest, WidensGradients) {
  ProgramBuilder b;
  TensorType brain{ElementType::BF16, {2}};
  FunctionBuilder f("copy", {brain});
  int32_t copy = b.addFunction(f.finish({f.op("reshape", {0}, brain)}));
  int32_t w = b.addState("w", brain);
  b.beginEntry("train");
  b.gradient("w", b.call(copy, {b.stateValue(w)})[0]);
  auto executor = make(b.finish());
  const uint16_t values[2] = {0x3F81, 0xC000};
  std::memcpy(executor->stateData(0), values, 4);
  ASSERT_TRUE(executor->run(0, {}).ok());
  ASSERT_TRUE(dumpGradients(*executor, 0, folder.file("g")).ok());
  auto file = SafetensorsFile::open(folder.file("g"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->find("w")->str(), "F32 [2]");
  float read[2];
  ASSERT_TRUE(file->read(*file->find("w"), 0, 2, ElementType::F32, read).ok());
  EXPECT_EQ(read[0], 1.0078125f);
  EXPECT_EQ(read[1], -2.0f);
}

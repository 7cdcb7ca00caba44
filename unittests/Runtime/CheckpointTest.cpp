// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoints: what is stored, what is restored, the conventions of GPT-2
// files, what is refused.

#include "Piper/Runtime/Checkpoint.h"

#include "Piper/Runtime/Safetensors.h"
#include "TempFolder.h"
#include "TestPrograms.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::test;

class CheckpointTest : public testing::Test {
protected:
  static std::unique_ptr<Executor> make(const Program &program, int64_t seed) {
    auto executor = Executor::create(program);
    EXPECT_TRUE(executor.ok()) << executor.takeStatus().str();
    (*executor)->initializeState(seed);
    return std::move(*executor);
  }
  std::string load(Executor &executor, const std::string &name) {
    Result<LoadReport> report = loadCheckpoint(executor, folder.file(name));
    if (!report.ok())
      return report.takeStatus().str();
    std::string text = report->text;
    for (const std::string &note : report->notes)
      text += "; " + note;
    return text;
  }
  void write(const std::string &name, std::vector<TensorToWrite> tensors) {
    ASSERT_TRUE(
        writeSafetensors(folder.file(name), std::move(tensors), {}).ok());
  }
  TempFolder folder;
};

TEST_F(CheckpointTest, ParametersOnly) {
  auto a = make(makeRegression(), 1), b = make(makeRegression(), 2);
  ASSERT_TRUE(saveParameters(*a, folder.file("p")).ok());
  Result<SafetensorsFile> file = SafetensorsFile::open(folder.file("p"));
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->tensors().size(), 1u);
  EXPECT_EQ(file->tensors()[0].name, "w");
  EXPECT_EQ(file->tensors()[0].str(), "F32 [3, 2]");
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(file->metadata().at("piper"), "parameters");
  EXPECT_NE(std::memcmp(a->stateData(0), b->stateData(0), 24), 0);
  EXPECT_EQ(load(*b, "p"), "restored 1 parameter from '" + folder.file("p") +
                               "'; moments and counters start anew");
  EXPECT_EQ(std::memcmp(a->stateData(0), b->stateData(0), 24), 0);
  EXPECT_EQ(b->counter("seed", 0), 2);
}

TEST_F(CheckpointTest, AllState) {
  auto a = make(makeRegression(), 5), b = make(makeRegression(), 6);
  int64_t iteration = 12, update = 11;
  std::memcpy(a->stateData(2), &iteration, 8);
  std::memcpy(a->stateData(3), &update, 8);
  reinterpret_cast<float *>(a->stateData(1))[3] = 0.25f;
  ASSERT_TRUE(saveState(*a, folder.file("s")).ok());
  EXPECT_EQ(load(*b, "s"), "restored 1 parameter, 1 moment and 3 counters "
                           "from '" +
                               folder.file("s") +
                               "' (iteration 12, update 11, seed 5)");
  EXPECT_EQ(stateOf(*a), stateOf(*b));
  Result<SafetensorsFile> file = SafetensorsFile::open(folder.file("s"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->tensors().size(), 5u);
  EXPECT_EQ(file->find("iteration")->str(), "I64 []");
  EXPECT_EQ(file->find("w.v")->str(), "F32 [3, 2]");
}

// FNV-1a of the bytes of the file, computed here.
TEST_F(CheckpointTest, ChecksumsAreThoseOfTheFile) {
  auto executor = make(makeRegression(), 5);
  ASSERT_TRUE(saveState(*executor, folder.file("s")).ok());
  Result<SafetensorsFile> file = SafetensorsFile::open(folder.file("s"));
  ASSERT_TRUE(file.ok());
  for (auto [name, sum] : stateChecksums(*executor)) {
    const SafetensorsFile::Tensor *tensor = file->find(name);
    ASSERT_TRUE(tensor);
    std::vector<unsigned char> bytes(tensor->bytes);
    ASSERT_TRUE(file->readBytes(*tensor, 0, tensor->bytes, bytes.data()).ok());
    uint64_t hash = 14695981039346656037u;
    for (unsigned char byte : bytes)
      hash = (hash ^ byte) * 1099511628211u;
    EXPECT_EQ(sum, hash) << name;
  }
}

TEST_F(CheckpointTest, WhatDoesNotFitChangesNothing) {
  auto executor = make(makeRegression(), 1);
  std::string before = stateOf(*executor);
  std::vector<float> data(64);
  std::string start = "'" + folder.file("f") +
                      "' does not fit the program 'regression'\n"
                      "  note: ";
  auto error = [&](std::vector<TensorToWrite> tensors) {
    write("f", std::move(tensors));
    std::string text = load(*executor, "f");
    EXPECT_EQ(stateOf(*executor), before);
    EXPECT_EQ(text.compare(0, start.size(), start), 0) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  TensorToWrite w{"w", FileType::F32, {3, 2}, data.data()};
  EXPECT_EQ(error({}), "missing: 'w'");
  EXPECT_EQ(error({{"w", FileType::F32, {2, 3}, data.data()}}),
            "tensor 'w': expects F32 [3, 2] but got F32 [2, 3]");
  EXPECT_EQ(error({{"w", FileType::F64, {3, 2}, data.data()}}),
            "tensor 'w': expects F32 [3, 2] but got F64 [3, 2]");
  EXPECT_EQ(error({w, {"b", FileType::F32, {2}, data.data()}}), "unknown: 'b'");
  // Independent defects together.
  EXPECT_EQ(error({{"w.v", FileType::F32, {1}, data.data()},
                   {"x", FileType::F32, {2}, data.data()}}),
            "tensor 'w.v': expects F32 [3, 2] but got F32 [1]\n"
            "  note: missing: 'w', 'iteration', 'update', 'seed'\n"
            "  note: unknown: 'x'");
  EXPECT_EQ(error({w, {"transformer.w", FileType::F32, {3, 2}, data.data()}}),
            "'transformer.w' and 'w' both stand for 'w'");
  int64_t negative = -1, zero = 0;
  EXPECT_EQ(error({w,
                   {"w.v", FileType::F32, {3, 2}, data.data()},
                   {"iteration", FileType::I64, {}, &negative},
                   {"update", FileType::I64, {}, &zero},
                   {"seed", FileType::I64, {}, &zero}}),
            "tensor 'iteration': expects a count from 0 to "
            "4611686018427387904 but got -1");
  std::vector<TensorToWrite> many = {w};
  for (char c = 'a'; c < 'a' + 12; ++c)
    many.push_back({std::string("n") + c, FileType::F32, {1}, data.data()});
  EXPECT_EQ(error(many), "unknown: 'na', 'nb', 'nc', 'nd', 'ne', 'nf', 'ng', "
                         "'nh' and 4 more");
  EXPECT_EQ(load(*executor, "absent"), "cannot open '" + folder.file("absent") +
                                           "': No such file or directory");
}

// Names of GPT-2 files: with and without the prefix, masks, the tied head.
TEST_F(CheckpointTest, Gpt2Conventions) {
  auto executor = make(makeBigram(1, 2, /*vocabulary=*/2), 1);
  std::vector<float> table = {1, 2, 3, 4}, other = {1, 2, 3, 5};
  std::string restored = "restored 1 parameter from '" + folder.file("f") +
                         "'; moments and counters start anew";
  TensorToWrite wte{"wte.weight", FileType::F32, {2, 2}, table.data()};
  write("f", {wte});
  EXPECT_EQ(load(*executor, "f"), restored);
  EXPECT_EQ(std::memcmp(executor->stateData(0), table.data(), 16), 0);

  write("f", {wte,
              {"h.0.attn.bias", FileType::U8, {1, 1, 2, 2}, table.data()},
              {"h.0.attn.masked_bias", FileType::F32, {}, table.data()}});
  EXPECT_EQ(load(*executor, "f"), restored + "; 2 mask buffers left out");

  write("f", {wte, {"lm_head.weight", FileType::F32, {2, 2}, table.data()}});
  EXPECT_EQ(load(*executor, "f"),
            restored + "; 'lm_head.weight' and 'wte.weight' have the same "
                       "bits: stored once");

  std::string refused =
      "'" + folder.file("f") + "' does not fit the program 'bigram'\n  note: ";
  write("f", {wte, {"lm_head.weight", FileType::F32, {2, 2}, other.data()}});
  EXPECT_EQ(load(*executor, "f"),
            refused + "the program ties 'lm_head.weight' and 'wte.weight', but "
                      "the file has two different tensors");
  write("f", {wte, {"lm_head.weight", FileType::F32, {4}, table.data()}});
  EXPECT_EQ(load(*executor, "f"),
            refused + "the program ties 'lm_head.weight' and 'wte.weight', but "
                      "the file has two different tensors");
  write("f", {{"lm_head.weight", FileType::F32, {2, 2}, table.data()}});
  EXPECT_EQ(load(*executor, "f"), refused +
                                      "missing: 'transformer.wte.weight'\n"
                                      "  note: unknown: 'lm_head.weight'");
}

// A bf16 file is widened exactly.
TEST_F(CheckpointTest, WidensParameters) {
  auto executor = make(makeBigram(1, 2, 2), 1);
  std::vector<uint16_t> brain = {0x3F80, 0xC000, 0x3F81, 0};
  write("f",
        {{"transformer.wte.weight", FileType::BF16, {2, 2}, brain.data()}});
  EXPECT_EQ(load(*executor, "f").substr(0, 8), "restored");
  auto *values = reinterpret_cast<const float *>(executor->stateData(0));
  EXPECT_EQ(std::vector<float>(values, values + 4),
            (std::vector<float>{1, -2, 1.0078125f, 0}));
}

TEST_F(CheckpointTest, SavingWhereOneCannotWrite) {
  auto executor = make(makeRegression(), 1);
  std::string path = folder.file("absent/f");
  Status status = saveParameters(*executor, path);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "cannot write '" + path + "': No such file or directory");
}

// Saving over the file that was just loaded.
TEST_F(CheckpointTest, SaveOverTheFileLoadedFrom) {
  auto a = make(makeRegression(), 1), b = make(makeRegression(), 2);
  ASSERT_TRUE(saveState(*a, folder.file("s")).ok());
  EXPECT_EQ(load(*b, "s").substr(0, 8), "restored");
  std::string bytes = folder.read("s");
  ASSERT_TRUE(saveState(*b, folder.file("s")).ok());
  EXPECT_EQ(folder.read("s"), bytes);
}

/// State of three parameters and a counter on two ranks ("tied" on both), or
/// all of it in one program.
static Plan makeState(bool isPipeline) {
  Plan plan;
  for (int rank = 0; rank < (isPipeline ? 2 : 1); ++rank) {
    ProgramBuilder b;
    auto add = [&](const std::string &name, int on, int64_t size) {
      if (!isPipeline || on < 0 || on == rank)
        b.addState(name, f32({size}), StateTensor::Kind::Parameter,
                   StateTensor::Init::Normal, 1);
    };
    // Not the order of the ranks.
    add("last", 1, 5);
    add("tied", -1, 3);
    add("first", 0, 4);
    b.addCounter("update");
    plan.programs.push_back(b.finish());
    plan.programs.back().coordinate = rank;
  }
  return plan;
}

// Whole tensors under their names: a file of one device is loaded by a pipeline
// and the other way round, bit by bit, onto all ranks that hold them.
TEST_F(CheckpointTest, BetweenOneDeviceAndAPipeline) {
  std::unique_ptr<Executor> executors[2];
  for (int i = 0; i < 2; ++i) {
    auto executor = Executor::create(makeState(i == 1));
    ASSERT_TRUE(executor.ok()) << executor.takeStatus().str();
    executors[i] = std::move(*executor);
  }
  Executor &one = *executors[0], &two = *executors[1];
  one.initializeState(1);
  two.initializeState(1);
  ASSERT_TRUE(saveState(one, folder.file("one")).ok());
  ASSERT_TRUE(saveState(two, folder.file("two")).ok());
  EXPECT_EQ(folder.read("one"), folder.read("two"));

  two.initializeState(2);
  int tied = two.program().findState("tied") - two.program().state.data();
  std::vector<float> before(3);
  std::memcpy(before.data(), two.stateData(tied, 1), 12);
  EXPECT_EQ(load(two, "one").rfind("restored 3 parameters", 0), 0u);
  EXPECT_NE(std::memcmp(before.data(), two.stateData(tied, 1), 12), 0);
  EXPECT_EQ(std::memcmp(one.stateData(1), two.stateData(tied, 1), 12), 0);
  EXPECT_EQ(std::memcmp(one.stateData(1), two.stateData(tied, 0), 12), 0);
  ASSERT_TRUE(saveState(two, folder.file("again")).ok());
  EXPECT_EQ(folder.read("again"), folder.read("one"));

  one.initializeState(3);
  load(one, "two");
  ASSERT_TRUE(saveState(one, folder.file("back")).ok());
  EXPECT_EQ(folder.read("back"), folder.read("one"));
}

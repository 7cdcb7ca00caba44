// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of whole runs share: executors, files of inputs, state as
// bytes.

#ifndef PIPER_UNITTESTS_RUNTIME_TRAININGTEST_H
#define PIPER_UNITTESTS_RUNTIME_TRAININGTEST_H

#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Executor.h"
#include "Piper/Runtime/Safetensors.h"
#include "Piper/Runtime/Train.h"
#include "TempFolder.h"
#include "TestPrograms.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

namespace piper::rt::test {

class TrainingTest : public testing::Test {
protected:
  static std::unique_ptr<Executor> make(const Program &program,
                                        int64_t seed = 1,
                                        const ExecutorOptions &options = {}) {
    auto executor = Executor::create(program, options);
    if (!executor.ok()) {
      ADD_FAILURE() << executor.takeStatus().str();
      return nullptr;
    }
    (*executor)->initializeState(seed);
    return std::move(*executor);
  }

  /// Inputs of makeRegression(rows, in, out) for some steps: x[i] and t[i] of
  /// all steps, small numbers that differ from step to step.
  struct RegressionData {
    int64_t rows = 4, in = 3, out = 2, steps = 0;
    std::vector<float> x, t;
  };
  static RegressionData makeData(int64_t steps) {
    RegressionData data;
    data.steps = steps;
    for (int64_t i = 0; i < steps * data.rows * data.in; ++i)
      data.x.push_back(0.25f * float((3 * i + 1) % 7) - 0.75f);
    for (int64_t i = 0; i < steps * data.rows * data.out; ++i)
      data.t.push_back(0.5f * float((5 * i + 2) % 5) - 1);
    return data;
  }
  std::string writeInputs(const std::string &name, const RegressionData &data) {
    Status status = writeSafetensors(
        folder.file(name),
        {{"x", FileType::F32, {data.steps, data.rows, data.in}, data.x.data()},
         {"t",
          FileType::F32,
          {data.steps, data.rows, data.out},
          data.t.data()}},
        {});
    EXPECT_TRUE(status.ok()) << status.str();
    return folder.file(name);
  }
  static std::unique_ptr<BatchSource> open(const Program &program,
                                           const std::string &path,
                                           const std::string &entry = "train") {
    auto source = openInputs(program, *program.findEntry(entry), path);
    if (!source.ok()) {
      ADD_FAILURE() << source.takeStatus().str();
      return nullptr;
    }
    return std::move(*source);
  }

  static Result<TrainSummary> run(Executor &executor, const std::string &inputs,
                                  int64_t steps, TrainOptions options = {}) {
    options.steps = steps;
    return train(executor, *open(executor.program(), inputs), options);
  }

  static int countOf(const std::string &text, const std::string &part) {
    int count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
      ++count;
    return count;
  }

  /// The regression in double precision: loss and gradient of one step.
  struct Reference {
    double loss = 0;
    std::vector<double> gradient;
  };
  static Reference reference(const RegressionData &data, int64_t step,
                             const std::vector<double> &w) {
    Reference result;
    result.gradient.assign(data.in * data.out, 0);
    for (int64_t r = 0; r < data.rows; ++r)
      for (int64_t o = 0; o < data.out; ++o) {
        const float *x = &data.x[(step * data.rows + r) * data.in];
        double error = -data.t[(step * data.rows + r) * data.out + o];
        for (int64_t i = 0; i < data.in; ++i)
          error += double(x[i]) * w[i * data.out + o];
        result.loss += error * error / double(data.rows);
        for (int64_t i = 0; i < data.in; ++i)
          result.gradient[i * data.out + o] +=
              2 * error * x[i] / double(data.rows);
      }
    return result;
  }
  static std::vector<double> weightsOf(const Executor &executor) {
    auto *w = reinterpret_cast<const float *>(executor.stateData(0));
    return {w, w + 6};
  }

  TempFolder folder;
};

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_TRAININGTEST_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a model under some keys and trains it for three steps: what it
// computes, or why it does not.

#ifndef PIPER_TEST_MATRIX_CELLRUNNER_H
#define PIPER_TEST_MATRIX_CELLRUNNER_H

#include "Piper/Runtime/Executor.h"
#include "Piper/Runtime/Safetensors.h"
#include "Piper/Target/BuildProgram.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::piper {

/// A tensor with its name, as "loss of step 0", "r1 of eval" or
/// "parameter 'w'".
struct Tensor {
  std::string name;
  rt::TensorType type;
  std::vector<std::byte> bytes;
};
/// By ascending name: plans may list tensors in another order.
using Record = std::vector<Tensor>;

/// What came of a cell: a record, or why there is none.
struct Outcome {
  Record record;
  std::string problem;
  bool refused = false;
  /// Whether several ranks run copies of one stage.
  bool hasCopies = false;
};

struct RunnerOptions {
  /// Integer inputs that are made are below this.
  int below = 1;
  /// Every message may be late by up to so many milliseconds.
  double delays = 0;
  /// Inputs as "ENTRY.NAME", the step as first dimension; without it they are
  /// made.
  std::optional<rt::SafetensorsFile> inputs;
};

class CellRunner {
public:
  CellRunner(ModuleOp model, RunnerOptions options)
      : model(model), options(std::move(options)) {}

  /// Three steps of SGD with raw gradients, NaN in released memory and late
  /// messages, then each other entry point once. A refusal says where it
  /// stands.
  Outcome run(const std::string &keys);

private:
  rt::Result<Record> train(rt::Executor &executor);
  rt::Status runEntry(rt::Executor &executor, int index, int step,
                      const std::string &when, Record &record);
  rt::Result<std::vector<std::byte>>
  getInput(const rt::EntryPoint &entry, const rt::Binding &input, int step);

  ModuleOp model;
  RunnerOptions options;
};

/// All tensors of a file, by ascending name.
rt::Result<Record> readRecord(const rt::SafetensorsFile &file);

} // namespace mlir::piper

#endif // PIPER_TEST_MATRIX_CELLRUNNER_H

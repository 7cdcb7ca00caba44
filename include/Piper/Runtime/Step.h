// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step at a time: feeds a batch to an entry point and reads what it
// returns under the agreed names.

#ifndef PIPER_RUNTIME_STEP_H
#define PIPER_RUNTIME_STEP_H

#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Executor.h"

#include <optional>

namespace piper::rt {

/// What a step returned. A field is empty where the entry point has no output
/// of its name.
struct StepResult {
  /// The counter `iteration` before the step.
  int64_t step = 0;
  /// Mean over the valid labels.
  double loss = 0;
  /// Of all gradients before clipping.
  std::optional<double> gradNorm;
  std::optional<double> lr;
  /// Whether the step updated anything.
  std::optional<bool> ok;
  /// Valid labels of the batch.
  std::optional<int64_t> count;
  /// Reading the batch and running it.
  double milliseconds = 0;
  /// On one device per rank, where the executor has a device clock.
  std::optional<double> deviceMs;

  bool skipped() const { return ok && !*ok; }
};

/// The scalar at `data` as a double: exact but for large i64.
double readScalar(ElementType element, const std::byte *data);

class StepRunner {
public:
  /// Fails where the program has no such entry point or it returns no scalar
  /// "loss". Executor and source must outlive the runner.
  static Result<StepRunner>
  create(Executor &executor, const std::string &entryName, BatchSource &source);

  /// Reads batch `iteration` and runs it. Allocates nothing.
  Status run(int64_t iteration);

  const StepResult &result() const { return last; }
  int entryIndex() const { return index; }
  /// Why the last step was skipped: "the gradient of 'w' is not finite".
  std::string skipReason() const;

private:
  StepRunner(Executor &executor, BatchSource &source)
      : executor(&executor), source(&source) {}
  void readOutputs();
  /// Tensors in reading form, and how many they are.
  struct Named {
    std::string text;
    int64_t count = 0;
  };
  Named namesOf(int value) const;

  Executor *executor;
  BatchSource *source;
  int index = -1;
  /// Indices of values, -1 where there is no such output.
  int loss = -1, gradNorm = -1, lr = -1, ok = -1, count = -1, nonfinite = -1,
      nonfiniteUpdates = -1;
  std::vector<std::vector<std::byte>> storage;
  std::vector<MutableBytes> buffers;
  std::vector<ConstBytes> inputs;
  StepResult last;
};

} // namespace piper::rt

#endif // PIPER_RUNTIME_STEP_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops over many steps: training and evaluation.

#ifndef PIPER_RUNTIME_TRAIN_H
#define PIPER_RUNTIME_TRAIN_H

#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Executor.h"

#include <optional>
#include <ostream>

namespace piper::rt {

struct TrainOptions {
  int64_t steps = 0;
  /// JSON lines, one per step: step, loss, grad_norm, lr, ok, tokens (valid
  /// labels), tokens_per_second, step_ms, and with a device clock device_ms; 9
  /// significant digits, null for what
  /// is not finite or absent. Where the run resumes (iteration > 0) lines of
  /// steps that it does again are dropped and others stay; else the file is
  /// new, from its first step on. Empty: none.
  std::string metricsPath;
  /// Chrome's trace events. Needs ExecutorOptions::timing. Empty: none.
  std::string tracePath;
  /// A step whose gradients are not finite ends the run with an error; else
  /// it is skipped with a warning.
  bool stopOnNonfinite = false;
  /// Where progress and warnings go; null: nowhere.
  std::ostream *log = nullptr;
  /// One line that is refreshed, rather than lines.
  bool terminal = false;
};

struct TrainSummary {
  /// Steps run, and those of them that updated nothing.
  int64_t steps = 0;
  int64_t skipped = 0;
  double lastLoss = 0;
  /// Mean of the finite losses among the last 20 steps.
  double recentLoss = 0;
  /// Median of StepResult::deviceMs, where there is one.
  std::optional<double> medianDeviceMs;
};

/// Runs the entry point "train" from the batch that the counter `iteration`
/// names (from 0 in a program without one).
Result<TrainSummary> train(Executor &executor, BatchSource &source,
                           const TrainOptions &options);

struct EvalSummary {
  int64_t batches = 0;
  /// Valid labels, where the program counts them.
  int64_t tokens = 0;
  /// Mean over all valid labels of all batches (over the batches in a program
  /// without a count).
  double loss = 0;
};

/// Runs the entry point "eval" on batches 0 .. steps - 1. Changes no state:
/// an entry point that does is refused.
Result<EvalSummary> evaluate(Executor &executor, BatchSource &source,
                             int64_t steps);

} // namespace piper::rt

#endif // PIPER_RUNTIME_TRAIN_H

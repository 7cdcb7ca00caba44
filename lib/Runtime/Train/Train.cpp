// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training and evaluation.

#include "Piper/Runtime/Train.h"

#include "Check/MemoryWalk.h"
#include "Files/GrowingFile.h"
#include "Metrics.h"
#include "Piper/Runtime/Step.h"
#include "Progress.h"
#include "Report/Trace.h"

#include <algorithm>
#include <cmath>

using namespace piper::rt;

/// Batches first .. first + steps - 1 exist.
static Status checkBatches(const BatchSource &source, int64_t first,
                           int64_t steps) {
  if (steps < 0)
    return Status::error("expects 0 or more steps but got " +
                         std::to_string(steps));
  int64_t count = source.count();
  if (count < 0 || (first <= count && steps <= count - first))
    return Status::success();
  return Status::error("'" + source.path() + "' has " + std::to_string(count) +
                       " steps but " + std::to_string(steps) + " from step " +
                       std::to_string(first) + " on are asked for");
}

namespace {
/// The files and the screen that a training run writes to.
class TrainLog {
public:
  TrainLog(const TrainOptions &options, int64_t first)
      : progress(options.log, options.terminal, first, options.steps) {}

  Status open(const TrainOptions &options, const Executor &executor, int entry,
              int64_t first) {
    if (!options.metricsPath.empty()) {
      Result<GrowingFile> file = GrowingFile::open(options.metricsPath);
      if (!file.ok())
        return file.takeStatus();
      metrics = std::move(*file);
      PIPER_RETURN_IF_ERROR(goOnWithMetrics(options.metricsPath, first));
    }
    if (options.tracePath.empty())
      return Status::success();
    if (executor.times(entry).empty())
      return Status::error("a trace needs an executor that takes times");
    Result<TraceFile> file =
        TraceFile::open(options.tracePath, executor.plan(), "train");
    if (!file.ok())
      return file.takeStatus();
    trace = std::move(*file);
    return Status::success();
  }

  Status add(const StepRunner &runner, const Executor &executor) {
    if (metrics) {
      formatMetrics(runner.result(), line);
      metrics->write(line);
      PIPER_RETURN_IF_ERROR(metrics->flush());
    }
    if (trace)
      PIPER_RETURN_IF_ERROR(addTrace(runner, executor));
    progress.update(runner.result());
    return Status::success();
  }

  /// Says that a step was skipped, but not a thousand times.
  void warn(int64_t skipped, const std::string &text) {
    constexpr int64_t kMost = 5;
    if (skipped <= kMost)
      progress.message("warning: " + text);
    if (skipped == kMost)
      progress.message("warning: further skipped steps are only counted");
  }

  /// A run of no steps leaves empty files.
  Status finish() {
    if (metrics)
      PIPER_RETURN_IF_ERROR(metrics->flush());
    return trace ? trace->finish() : Status::success();
  }

private:
  /// A run that is resumed keeps what the earlier one wrote.
  Status goOnWithMetrics(const std::string &path, int64_t first) {
    if (first == 0)
      return Status::success();
    Result<std::string> kept = readMetricsBefore(path, first);
    if (!kept.ok())
      return kept.takeStatus();
    metrics->write(*kept);
    return Status::success();
  }

  /// By the device clock where there is one.
  Status addTrace(const StepRunner &runner, const Executor &executor) {
    int64_t step = runner.result().step;
    const DeviceTimes &times = executor.deviceTimes(runner.entryIndex());
    return times.empty()
               ? trace->addStep(step, executor.times(runner.entryIndex()))
               : trace->addStep(step, times);
  }

  std::optional<GrowingFile> metrics;
  std::optional<TraceFile> trace;
  Progress progress;
  std::string line;
};

/// The mean of the last finite losses.
class RecentLoss {
public:
  void add(double loss) {
    if (std::isfinite(loss))
      losses[count++ % kWindow] = loss;
  }
  double mean() const {
    int64_t used = std::min(count, kWindow);
    double sum = 0;
    for (int64_t i = 0; i < used; ++i)
      sum += losses[i];
    return used ? sum / double(used) : std::nan("");
  }

private:
  static constexpr int64_t kWindow = 20;
  double losses[kWindow] = {};
  int64_t count = 0;
};
} // namespace

Result<TrainSummary> piper::rt::train(Executor &executor, BatchSource &source,
                                      const TrainOptions &options) {
  Result<StepRunner> runner = StepRunner::create(executor, "train", source);
  if (!runner.ok())
    return runner.takeStatus();
  int64_t first = executor.counter("iteration", 0);
  PIPER_RETURN_IF_ERROR(checkBatches(source, first, options.steps));
  TrainLog log(options, first);
  PIPER_RETURN_IF_ERROR(
      log.open(options, executor, runner->entryIndex(), first));
  TrainSummary summary;
  RecentLoss recent;
  std::vector<double> deviceMs;
  for (int64_t s = 0; s < options.steps; ++s) {
    Status status = runner->run(executor.counter("iteration", first + s));
    if (!status.ok())
      return std::move(status).addNote("in step " + std::to_string(first + s));
    const StepResult &result = runner->result();
    PIPER_RETURN_IF_ERROR(log.add(*runner, executor));
    ++summary.steps;
    summary.lastLoss = result.loss;
    recent.add(result.loss);
    if (result.deviceMs)
      deviceMs.push_back(*result.deviceMs);
    if (!result.skipped())
      continue;
    ++summary.skipped;
    std::string reason = runner->skipReason();
    std::string step = "step " + std::to_string(result.step);
    if (options.stopOnNonfinite)
      return Status::error("stopped at " + step + ": " + reason);
    log.warn(summary.skipped, step + " is skipped: " + reason);
  }
  summary.recentLoss = recent.mean();
  if (!deviceMs.empty()) {
    std::sort(deviceMs.begin(), deviceMs.end());
    size_t half = deviceMs.size() / 2;
    summary.medianDeviceMs = deviceMs.size() % 2
                                 ? deviceMs[half]
                                 : (deviceMs[half - 1] + deviceMs[half]) / 2;
  }
  PIPER_RETURN_IF_ERROR(log.finish());
  return summary;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static Status checkChangesNoState(const Plan &plan, const std::string &name) {
  for (const Program &program : plan.programs) {
    const EntryPoint &entry = *program.findEntry(name);
    MemoryWalk walk(program, entry);
    PIPER_RETURN_IF_ERROR(walk.check());
    int64_t changed = walk.findChangedState();
    if (changed >= 0)
      return Status::error("entry point '" + name + "' changes state '" +
                           program.state[changed].name + "'");
  }
  return Status::success();
}

Result<EvalSummary> piper::rt::evaluate(Executor &executor, BatchSource &source,
                                        int64_t steps) {
  Result<StepRunner> runner = StepRunner::create(executor, "eval", source);
  if (!runner.ok())
    return runner.takeStatus();
  PIPER_RETURN_IF_ERROR(checkChangesNoState(executor.plan(), "eval"));
  PIPER_RETURN_IF_ERROR(checkBatches(source, 0, steps));
  EvalSummary summary;
  double sum = 0, weights = 0;
  for (int64_t step = 0; step < steps; ++step) {
    Status status = runner->run(step);
    if (!status.ok())
      return std::move(status).addNote("in step " + std::to_string(step));
    const StepResult &result = runner->result();
    ++summary.batches;
    double weight = result.count ? double(*result.count) : 1;
    summary.tokens += result.count.value_or(0);
    // The mean of no labels is NaN and counts for nothing.
    if (weight > 0)
      sum += weight * result.loss;
    weights += weight;
  }
  if (weights <= 0)
    return Status::error("no label of the " + std::to_string(steps) +
                         " batches of '" + source.path() + "' is valid");
  summary.loss = sum / weights;
  return summary;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole run: options, files, training or evaluation, results.

#include "Piper/Runtime/Run.h"

#include "Piper/Runtime/Checkpoint.h"
#include "Piper/Runtime/Compare.h"
#include "Piper/Runtime/Dump.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Runtime/Generate.h"
#include "Piper/Runtime/Report.h"
#include "Piper/Runtime/Train.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

using namespace piper::rt;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static bool hasData(const RunOptions &options) {
  return !options.data.empty() || !options.inputs.empty();
}

/// Flags that only a training run heeds, of those that are set.
static std::string trainingFlag(const RunOptions &options) {
  if (!options.save.empty())
    return "--save";
  if (!options.saveState.empty())
    return "--save-state";
  if (!options.dumpGradients.empty())
    return "--dump-gradients";
  if (!options.dumpOutputs.empty())
    return "--dump-outputs";
  if (!options.metrics.empty())
    return "--metrics";
  if (!options.trace.empty())
    return "--trace";
  return "";
}

static Status checkCombination(const RunOptions &options) {
  if (!options.data.empty() && !options.inputs.empty())
    return Status::error("--data and --inputs cannot be given together");
  if (!options.tokenType.empty() && options.data.empty())
    return Status::error("--token-type needs --data");
  if (!options.data.empty() && !options.steps)
    return Status::error("--data needs --steps");
  if (options.steps && !hasData(options))
    return Status::error("--steps needs --data or --inputs");
  std::string flag = trainingFlag(options);
  if (!flag.empty() && options.eval)
    return Status::error(flag + " cannot be given with --eval");
  bool savesLoaded =
      !options.load.empty() && (flag == "--save" || flag == "--save-state");
  if (!flag.empty() && !hasData(options) && !savesLoaded)
    return Status::error(flag + " needs --data or --inputs");
  if (options.eval && !hasData(options))
    return Status::error("--eval needs --data or --inputs");
  if (!hasData(options) && !options.generate && !options.memory &&
      !options.info && !savesLoaded)
    return Status::error("there is nothing to do: expects --data or --inputs, "
                         "--generate, --memory or --info");
  return Status::success();
}

/// No file to be written is one of those that the run reads batches from.
static Status checkKeepsData(const RunOptions &options) {
  for (const std::string *read : {&options.data, &options.inputs})
    for (const std::string *written :
         {&options.save, &options.saveState, &options.dumpGradients,
          &options.dumpOutputs, &options.metrics, &options.trace}) {
      std::error_code ignored;
      if (!read->empty() && !written->empty() &&
          std::filesystem::equivalent(*read, *written, ignored))
        return Status::error("'" + *read + "' would be overwritten by '" +
                             *written + "'");
    }
  return Status::success();
}

Status piper::rt::checkRunOptions(const RunOptions &options) {
  PIPER_RETURN_IF_ERROR(checkCombination(options));
  if (options.steps && *options.steps < 0)
    return Status::error("--steps: expects 0 or more but got " +
                         std::to_string(*options.steps));
  if (options.eval && options.steps && *options.steps == 0)
    return Status::error("--eval needs at least one step");
  bool dumps = !options.dumpGradients.empty() || !options.dumpOutputs.empty();
  if (dumps && options.steps && *options.steps == 0)
    return Status::error("a dump needs at least one step");
  if (options.generate && *options.generate < 0)
    return Status::error("--generate: expects 0 or more but got " +
                         std::to_string(*options.generate));
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return Status::error("--temperature: expects 0 or more but got " +
                         std::to_string(options.temperature));
  if (options.onNonfinite != "skip" && options.onNonfinite != "stop")
    return Status::error("--on-nonfinite: expects 'skip' or 'stop' but got '" +
                         options.onNonfinite + "'");
  if (!options.tokenType.empty()) {
    Result<TokenType> type = parseTokenType(options.tokenType);
    if (!type.ok())
      return Status::error("--token-type: " + type.takeStatus().message());
  }
  PIPER_RETURN_IF_ERROR(checkKeepsData(options));
  std::set<std::string> paths;
  for (const std::string *path :
       {&options.save, &options.saveState, &options.dumpGradients,
        &options.dumpOutputs, &options.metrics, &options.trace})
    if (!path->empty() && !paths.insert(*path).second)
      return Status::error("'" + *path + "' is to be written twice");
  for (const std::string *path : {&options.save, &options.saveState,
                                  &options.dumpGradients, &options.dumpOutputs})
    if (!path->empty())
      PIPER_RETURN_IF_ERROR(checkWritable(*path));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static Result<std::unique_ptr<BatchSource>>
openSource(const Program &program, const std::string &entryName,
           const RunOptions &options) {
  const EntryPoint *entry = program.findEntry(entryName);
  if (!entry)
    return Status::error("the program '" + program.name +
                         "' has no entry point '" + entryName + "'");
  if (!options.inputs.empty())
    return openInputs(program, *entry, options.inputs);
  TokenType type = defaultTokenType(options.data);
  if (!options.tokenType.empty())
    type = *parseTokenType(options.tokenType);
  return openTokens(program, *entry, options.data, type);
}

/// The number of steps asked for, or those that the source still has.
static int64_t countSteps(const RunOptions &options, const BatchSource &source,
                          int64_t first) {
  return options.steps ? *options.steps
                       : std::max<int64_t>(source.count() - first, 0);
}

static Result<std::unique_ptr<Executor>>
makeExecutor(Program program, const RunOptions &options, std::ostream *log) {
  ExecutorOptions executorOptions;
  executorOptions.poison = options.poison;
  executorOptions.timing = !options.trace.empty();
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(program), executorOptions);
  if (!executor.ok())
    return executor.takeStatus();
  (*executor)->initializeState(options.seed);
  if (options.load.empty())
    return executor;
  Result<LoadReport> report = loadCheckpoint(**executor, options.load);
  if (!report.ok())
    return report.takeStatus();
  if (log) {
    *log << report->text << std::endl;
    for (const std::string &note : report->notes)
      *log << "  " << note << std::endl;
  }
  return executor;
}

static void printLoss(std::ostream &out, const char *what, double loss) {
  char text[64];
  std::snprintf(text, sizeof(text),
                std::abs(loss) < 1e6 ? "%s loss %.6f" : "%s loss %.6g", what,
                loss);
  out << text << std::endl;
}

/// With --memory a run also measures the arena: filled with a mark before, and
/// looked through after. Not with --poison, which touches all of it.
static constexpr std::byte kMark{0xA5};

static void beginMeasure(Executor &executor, const RunOptions &options) {
  if (options.memory && !options.poison)
    executor.markArena(kMark);
}

static void endMeasure(const Executor &executor, const RunOptions &options,
                       int entry, std::ostream &out) {
  if (!options.memory || options.poison)
    return;
  const EntryPoint &point = executor.entry(entry);
  out << "entry point " << point.name << " gave "
      << formatCount(usedBytes(executor.program(), point))
      << " bytes of the arena to kernels, which wrote up to byte "
      << formatCount(executor.highestTouchedByte(kMark)) << std::endl;
}

static Status runEval(Executor &executor, const RunOptions &options,
                      std::ostream &out) {
  Result<std::unique_ptr<BatchSource>> source =
      openSource(executor.program(), "eval", options);
  if (!source.ok())
    return source.takeStatus();
  beginMeasure(executor, options);
  Result<EvalSummary> summary =
      evaluate(executor, **source, countSteps(options, **source, 0));
  if (!summary.ok())
    return summary.takeStatus();
  endMeasure(executor, options, executor.findEntry("eval"), out);
  printLoss(out, "eval", summary->loss);
  return Status::success();
}

static Status runTraining(Executor &executor, const RunOptions &options,
                          std::ostream &out, std::ostream &log) {
  const Program &program = executor.program();
  Result<std::unique_ptr<BatchSource>> source =
      openSource(program, "train", options);
  if (!source.ok())
    return source.takeStatus();
  int entry = executor.findEntry("train");
  if (!options.dumpGradients.empty())
    PIPER_RETURN_IF_ERROR(checkKeepsGradients(program, executor.entry(entry)));
  TrainOptions trainOptions;
  trainOptions.steps =
      countSteps(options, **source, executor.counter("iteration", 0));
  trainOptions.metricsPath = options.metrics;
  trainOptions.tracePath = options.trace;
  trainOptions.stopOnNonfinite = options.onNonfinite == "stop";
  trainOptions.log = &log;
  trainOptions.terminal = options.terminal;
  beginMeasure(executor, options);
  Result<TrainSummary> summary = train(executor, **source, trainOptions);
  if (!summary.ok())
    return summary.takeStatus();
  endMeasure(executor, options, entry, out);
  if (summary->steps > 0 && !options.dumpGradients.empty())
    PIPER_RETURN_IF_ERROR(
        dumpGradients(executor, entry, options.dumpGradients));
  if (summary->steps > 0 && !options.dumpOutputs.empty())
    PIPER_RETURN_IF_ERROR(dumpOutputs(executor, entry, options.dumpOutputs));
  if (summary->skipped > 0)
    log << "warning: " << summary->skipped << " of " << summary->steps
        << " steps were skipped" << std::endl;
  if (summary->steps > 0)
    printLoss(out, "train", summary->recentLoss);
  return Status::success();
}

Status piper::rt::runProgram(Program program, const RunOptions &options,
                             std::ostream &out, std::ostream &log) {
  PIPER_RETURN_IF_ERROR(checkRunOptions(options));
  if (options.info)
    out << infoReport(program);
  if (options.memory)
    out << memoryReport(program);
  bool saves = !options.save.empty() || !options.saveState.empty();
  if (!hasData(options) && !options.generate && !saves)
    return Status::success();
  Result<std::unique_ptr<Executor>> made =
      makeExecutor(std::move(program), options, &log);
  if (!made.ok())
    return made.takeStatus();
  Executor &executor = **made;
  GenerateOptions generateOptions;
  generateOptions.prompt = options.prompt;
  generateOptions.temperature = options.temperature;
  generateOptions.seed = options.seed;
  // Before the training that would be lost: of no bytes it only checks.
  if (options.generate)
    PIPER_RETURN_IF_ERROR(generate(executor, generateOptions, out));
  if (options.eval)
    PIPER_RETURN_IF_ERROR(runEval(executor, options, out));
  else if (hasData(options))
    PIPER_RETURN_IF_ERROR(runTraining(executor, options, out, log));
  if (!options.save.empty())
    PIPER_RETURN_IF_ERROR(saveParameters(executor, options.save));
  if (!options.saveState.empty())
    PIPER_RETURN_IF_ERROR(saveState(executor, options.saveState));
  if (!options.generate)
    return Status::success();
  generateOptions.count = *options.generate;
  out << options.prompt << std::flush;
  PIPER_RETURN_IF_ERROR(generate(executor, generateOptions, out));
  out << std::endl;
  return Status::success();
}

Status piper::rt::runComparison(Program program, Program oracle,
                                const RunOptions &options, std::ostream &out) {
  PIPER_RETURN_IF_ERROR(checkRunOptions(options));
  std::string flag = trainingFlag(options);
  if (options.eval)
    flag = "--eval";
  if (options.generate)
    flag = "--generate";
  if (!flag.empty())
    return Status::error(flag + " cannot be given with --oracle");
  if (!hasData(options))
    return Status::error("--oracle needs --data or --inputs");
  std::unique_ptr<Executor> executors[2];
  std::unique_ptr<BatchSource> sources[2];
  Program *programs[2] = {&program, &oracle};
  for (int i = 0; i < 2; ++i) {
    Result<std::unique_ptr<Executor>> made =
        makeExecutor(std::move(*programs[i]), options, nullptr);
    if (!made.ok())
      return made.takeStatus();
    executors[i] = std::move(*made);
    Result<std::unique_ptr<BatchSource>> source =
        openSource(executors[i]->program(), "train", options);
    if (!source.ok())
      return source.takeStatus();
    sources[i] = std::move(*source);
  }
  CompareOptions compareOptions;
  compareOptions.steps =
      countSteps(options, *sources[0], executors[0]->counter("iteration", 0));
  compareOptions.out = &out;
  return compare(*executors[0], *sources[0], *executors[1], *sources[1],
                 compareOptions);
}

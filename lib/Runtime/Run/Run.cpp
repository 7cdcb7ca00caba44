// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole run: options, files, training or evaluation, results.

#include "Piper/Runtime/Run.h"

#include "Piper/Runtime/CheckPlan.h"
#include "Piper/Runtime/Checkpoint.h"
#include "Piper/Runtime/Compare.h"
#include "Piper/Runtime/Dump.h"
#include "Piper/Runtime/Generate.h"
#include "Piper/Runtime/PlanTimetable.h"
#include "Piper/Runtime/Report.h"
#include "Piper/Runtime/Train.h"
#include "Report/Trace.h"
#include "RunOptions.h"

#include <cmath>
#include <cstdio>

using namespace piper::rt;

static Result<std::unique_ptr<BatchSource>>
openSource(const Executor &executor, const std::string &entryName,
           const RunOptions &options) {
  int entry = executor.findEntry(entryName);
  if (entry < 0)
    return Status::error("the program '" + executor.program().name +
                         "' has no entry point '" + entryName + "'");
  if (!options.inputs.empty())
    return openInputs(executor, entry, options.inputs);
  TokenType type = defaultTokenType(options.data);
  if (!options.tokenType.empty())
    type = *parseTokenType(options.tokenType);
  return openTokens(executor, entry, options.data, type);
}

/// The number of steps asked for, or those that the source still has.
static int64_t countSteps(const RunOptions &options, const BatchSource &source,
                          int64_t first) {
  return options.steps ? *options.steps
                       : std::max<int64_t>(source.count() - first, 0);
}

/// Tasks take what the cost file says, or where it names none their own time.
static Status setClock(const RunOptions &options, ExecutorOptions &executor) {
  if (options.clock.empty())
    return Status::success();
  executor.clock = DeviceClock::Measured;
  if (options.costs.empty())
    return Status::success();
  Result<TaskCosts> costs = readTaskCosts(options.costs);
  if (!costs.ok())
    return costs.takeStatus();
  executor.costs = std::move(*costs);
  if (!executor.costs.tasks.empty() || executor.costs.update)
    executor.clock = DeviceClock::Costs;
  return Status::success();
}

namespace {
/// An executor with the state that a run begins with.
struct Start {
  std::unique_ptr<Executor> executor;
  /// Where the data goes on, if a file of state says so.
  std::optional<DataPosition> position;
};
} // namespace

static Result<Start> makeStart(Plan plan, const RunOptions &options,
                               std::ostream *log) {
  ExecutorOptions executorOptions;
  executorOptions.poison = options.poison;
  executorOptions.timing = !options.trace.empty();
  if (options.deadline)
    executorOptions.deadlineSeconds = *options.deadline;
  executorOptions.delayMilliseconds = options.delays;
  executorOptions.delaySeed = options.seed;
  PIPER_RETURN_IF_ERROR(setClock(options, executorOptions));
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), executorOptions);
  if (!executor.ok())
    return executor.takeStatus();
  Start start;
  start.executor = std::move(*executor);
  start.executor->initializeState(options.seed);
  if (options.load.empty())
    return start;
  Result<LoadReport> report = loadCheckpoint(*start.executor, options.load);
  if (!report.ok())
    return report.takeStatus();
  if (log) {
    *log << report->text << std::endl;
    for (const std::string &note : report->notes)
      *log << "  " << note << std::endl;
    int64_t seed = start.executor->counter("seed", options.seed);
    bool trains = hasData(options) && !options.eval;
    if (trains && options.seedIsGiven && seed != options.seed)
      *log << "  training goes on with the seed of the file, " << seed
           << ", and not with --seed " << options.seed << std::endl;
  }
  start.position = std::move(report->position);
  return start;
}

/// The batches of training, from where the state says on.
static Result<std::unique_ptr<BatchSource>>
openTraining(const Start &start, const RunOptions &options) {
  Result<std::unique_ptr<BatchSource>> source =
      openSource(*start.executor, "train", options);
  if (source.ok() && start.position)
    PIPER_RETURN_IF_ERROR((*source)->resume(
        start.executor->counter("iteration", 0), *start.position));
  return source;
}

static void printLoss(std::ostream &out, const char *what, double loss) {
  out << what << " loss "
      << formatNumber(std::abs(loss) < 1e6 ? "%.6f" : "%.6g", loss)
      << std::endl;
}

static void printDeviceTime(std::ostream &out, double milliseconds,
                            int64_t steps) {
  char text[96];
  std::snprintf(text, sizeof(text), "device time %.6g ms (median of %lld %s)",
                milliseconds, static_cast<long long>(steps),
                steps == 1 ? "step" : "steps");
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
  const std::string &name = executor.entry(entry).name;
  for (int r = 0; r < executor.numRanks(); ++r) {
    const Program &program = executor.plan().programs[r];
    if (executor.numRanks() > 1)
      out << "rank " << r << ": ";
    out << "entry point " << name << " gave "
        << formatCount(usedBytes(program, *program.findEntry(name)))
        << " bytes of the arena to kernels, which wrote up to byte "
        << formatCount(executor.highestTouchedByte(kMark, r)) << std::endl;
  }
}

static Status runEval(Executor &executor, const RunOptions &options,
                      std::ostream &out) {
  Result<std::unique_ptr<BatchSource>> source =
      openSource(executor, "eval", options);
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

/// What the order of several ranks promises.
static Status printTimetable(const Plan &plan, const RunOptions &options,
                             std::ostream &log) {
  if (plan.programs.size() == 1 || options.simulate)
    return Status::success();
  Result<DeviceTimes> times = simulateStep(plan, "train", options.costs);
  if (!times.ok())
    return times.takeStatus();
  log << "simulated " << timetableReport(plan, "train", *times) << std::flush;
  return Status::success();
}

/// Dumps join `results`.
static Status runTraining(Start &start, const RunOptions &options,
                          OutputBatch &results, std::ostream &out,
                          std::ostream &log) {
  Executor &executor = *start.executor;
  const Program &program = executor.program();
  Result<std::unique_ptr<BatchSource>> source = openTraining(start, options);
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
  trainOptions.stopOnNonfinite = options.onNonfinite.value_or("skip") == "stop";
  trainOptions.log = &log;
  trainOptions.terminal = options.terminal;
  PIPER_RETURN_IF_ERROR(printTimetable(executor.plan(), options, log));
  beginMeasure(executor, options);
  Result<TrainSummary> summary = train(executor, **source, trainOptions);
  if (!summary.ok())
    return summary.takeStatus();
  endMeasure(executor, options, entry, out);
  start.position =
      (*source)->position(executor.counter("iteration", summary->steps));
  if (summary->steps > 0 && !options.dumpGradients.empty())
    PIPER_RETURN_IF_ERROR(
        dumpGradients(executor, entry, options.dumpGradients, &results));
  if (summary->steps > 0 && !options.dumpOutputs.empty())
    PIPER_RETURN_IF_ERROR(
        dumpOutputs(executor, entry, options.dumpOutputs, &results));
  if (summary->skipped > 0)
    log << "warning: " << summary->skipped << " of " << summary->steps
        << " steps were skipped" << std::endl;
  if (summary->steps > 0)
    printLoss(out, "train", summary->recentLoss);
  if (summary->medianDeviceMs)
    printDeviceTime(out, *summary->medianDeviceMs, summary->steps);
  return Status::success();
}

/// --simulate. Without data --trace is of the simulated step.
static Status runSimulation(const Plan &plan, const RunOptions &options,
                            std::ostream &out) {
  Result<DeviceTimes> times = simulateStep(plan, "train", options.costs);
  if (!times.ok())
    return times.takeStatus();
  out << timetableReport(plan, "train", *times);
  if (options.trace.empty() || hasData(options))
    return Status::success();
  Result<TraceFile> trace = TraceFile::open(options.trace, plan, "train");
  if (!trace.ok())
    return trace.takeStatus();
  PIPER_RETURN_IF_ERROR(trace->addStep(0, *times));
  return trace->finish();
}

/// The reports of --info, --memory and --simulate.
static Status printReports(const Plan &plan, const RunOptions &options,
                           std::ostream &out) {
  if (options.info)
    out << infoReport(plan);
  if (options.memory)
    out << memoryReport(plan);
  return options.simulate ? runSimulation(plan, options, out)
                          : Status::success();
}

Status piper::rt::runPlan(Plan plan, const RunOptions &options,
                          std::ostream &out, std::ostream &log) {
  PIPER_RETURN_IF_ERROR(checkRunOptions(options));
  // What is said of a plan that would be refused is of no use.
  if (options.info || options.memory || options.simulate)
    PIPER_RETURN_IF_ERROR(checkPlan(plan));
  PIPER_RETURN_IF_ERROR(printReports(plan, options, out));
  bool saves = !options.save.empty() || !options.saveState.empty();
  // With a report alone a file to load is checked all the same.
  if (!hasData(options) && !options.generate && !saves && options.load.empty())
    return Status::success();
  Result<Start> start = makeStart(std::move(plan), options, &log);
  if (!start.ok())
    return start.takeStatus();
  Executor &executor = *start->executor;
  GenerateOptions generateOptions;
  generateOptions.prompt = options.prompt.value_or("\n");
  generateOptions.temperature = options.temperature.value_or(0.8);
  generateOptions.seed = options.seed;
  OutputBatch results;
  // Before the training that would be lost: of no bytes it only checks.
  if (options.generate)
    PIPER_RETURN_IF_ERROR(generate(executor, generateOptions, out));
  if (options.eval)
    PIPER_RETURN_IF_ERROR(runEval(executor, options, out));
  else if (hasData(options))
    PIPER_RETURN_IF_ERROR(runTraining(*start, options, results, out, log));
  if (!options.save.empty())
    PIPER_RETURN_IF_ERROR(saveParameters(executor, options.save, &results));
  if (!options.saveState.empty())
    PIPER_RETURN_IF_ERROR(
        saveState(executor, options.saveState, start->position, &results));
  PIPER_RETURN_IF_ERROR(results.commit());
  if (!options.generate)
    return Status::success();
  generateOptions.count = *options.generate;
  out << generateOptions.prompt << std::flush;
  PIPER_RETURN_IF_ERROR(generate(executor, generateOptions, out));
  out << std::endl;
  return Status::success();
}

Status piper::rt::runComparison(Plan plan, Plan oracle,
                                const RunOptions &options, std::ostream &out) {
  PIPER_RETURN_IF_ERROR(checkRunOptions(options));
  std::vector<std::string> flags = trainingFlags(options);
  if (options.eval)
    flags = {"--eval"};
  if (options.generate)
    flags = {"--generate"};
  if (!flags.empty())
    return Status::error(flags.front() + " cannot be given with --oracle");
  if (!hasData(options))
    return Status::error("--oracle needs --data or --inputs");
  Start starts[2];
  std::unique_ptr<BatchSource> sources[2];
  Plan *plans[2] = {&plan, &oracle};
  for (int i = 0; i < 2; ++i) {
    Result<Start> made = makeStart(std::move(*plans[i]), options, nullptr);
    if (!made.ok())
      return made.takeStatus();
    starts[i] = std::move(*made);
    Result<std::unique_ptr<BatchSource>> source =
        openTraining(starts[i], options);
    if (!source.ok())
      return source.takeStatus();
    sources[i] = std::move(*source);
  }
  CompareOptions compareOptions;
  compareOptions.steps = countSteps(
      options, *sources[0], starts[0].executor->counter("iteration", 0));
  compareOptions.out = &out;
  return compare(*starts[0].executor, *sources[0], *starts[1].executor,
                 *sources[1], compareOptions);
}

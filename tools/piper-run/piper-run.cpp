// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-run: trains, evaluates, compares and describes a model or a plan.

#include "Flags.h"

#include "Piper/Driver/LoadProgram.h"
#include "Piper/Runtime/Checkpoint.h"
#include "Piper/Runtime/Compare.h"
#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Dump.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Runtime/Generate.h"
#include "Piper/Runtime/Report.h"
#include "Piper/Runtime/Train.h"

#include "llvm/Support/InitLLVM.h"

#include <iostream>
#include <unistd.h>

using namespace llvm;
using namespace piper::rt;

static Flags *flags = nullptr;

static mlir::piper::LoadOptions loadOptions() {
  mlir::piper::LoadOptions options;
  options.compile = flags->compileText;
  if (flags->lr.getNumOccurrences())
    options.keys.emplace_back("lr", flags->lr);
  if (flags->threads.getNumOccurrences())
    options.keys.emplace_back("threads", flags->threads);
  options.keepGradients =
      !flags->gradientsPath.empty() || !flags->oraclePath.empty();
  return options;
}

static Result<std::unique_ptr<BatchSource>> openData(const Executor &executor,
                                                     const char *entryName) {
  int entry = executor.findEntry(entryName);
  if (entry < 0)
    return Status::error(std::string("the program has no entry point '") +
                         entryName + "'");
  if (!flags->inputsPath.empty())
    return openInputs(executor.program(), executor.entry(entry),
                      flags->inputsPath);
  TokenType type = defaultTokenType(flags->dataPath);
  if (flags->tokenType.getNumOccurrences()) {
    Result<TokenType> given = parseTokenType(flags->tokenType);
    if (!given.ok())
      return given.takeStatus();
    type = *given;
  }
  return openTokens(executor.program(), executor.entry(entry), flags->dataPath,
                    type);
}

static Status runOracle(Executor &executor) {
  mlir::piper::LoadOptions options = loadOptions();
  Result<Program> program =
      mlir::piper::loadProgram(flags->oraclePath, options);
  if (!program.ok())
    return program.takeStatus();
  auto reference = Executor::create(std::move(*program));
  if (!reference.ok())
    return reference.takeStatus();
  (*reference)->initializeState(flags->seed);
  if (!flags->loadPath.empty()) {
    Result<LoadReport> report = loadCheckpoint(**reference, flags->loadPath);
    if (!report.ok())
      return report.takeStatus();
  }
  auto source = openData(executor, "train"),
       other = openData(**reference, "train");
  if (!source.ok())
    return source.takeStatus();
  if (!other.ok())
    return other.takeStatus();
  CompareOptions compareOptions;
  compareOptions.steps = flags->steps;
  compareOptions.out = &std::cout;
  return compare(executor, **source, **reference, **other, compareOptions);
}

static Status runTraining(Executor &executor) {
  auto source = openData(executor, "train");
  if (!source.ok())
    return source.takeStatus();
  int entry = executor.findEntry("train");
  if (!flags->gradientsPath.empty())
    PIPER_RETURN_IF_ERROR(
        checkKeepsGradients(executor.program(), executor.entry(entry)));
  TrainOptions options;
  options.steps = flags->steps;
  options.metricsPath = flags->metricsPath;
  options.tracePath = flags->tracePath;
  options.stopOnNonfinite = flags->onNonfinite == "stop";
  options.log = &std::cerr;
  options.terminal = isatty(STDERR_FILENO);
  Result<TrainSummary> summary = train(executor, **source, options);
  if (!summary.ok())
    return summary.takeStatus();
  if (!flags->gradientsPath.empty())
    PIPER_RETURN_IF_ERROR(dumpGradients(executor, entry, flags->gradientsPath));
  if (!flags->outputsPath.empty())
    PIPER_RETURN_IF_ERROR(dumpOutputs(executor, entry, flags->outputsPath));
  std::printf("train loss %.6g\n", summary->recentLoss);
  return Status::success();
}

static Status runEvaluation(Executor &executor) {
  auto source = openData(executor, "eval");
  if (!source.ok())
    return source.takeStatus();
  Result<EvalSummary> summary = evaluate(executor, **source, flags->steps);
  if (!summary.ok())
    return summary.takeStatus();
  if (!flags->outputsPath.empty())
    PIPER_RETURN_IF_ERROR(
        dumpOutputs(executor, executor.findEntry("eval"), flags->outputsPath));
  std::printf("eval loss %.9g\n", summary->loss);
  return Status::success();
}

static Status run() {
  PIPER_RETURN_IF_ERROR(flags->check());
  // Before any work: a result that cannot be written would be lost.
  for (const cl::opt<std::string> *path :
       {&flags->savePath, &flags->saveStatePath, &flags->gradientsPath,
        &flags->outputsPath, &flags->metricsPath, &flags->tracePath})
    if (!path->empty())
      PIPER_RETURN_IF_ERROR(checkWritable(*path));
  Result<Program> program =
      mlir::piper::loadProgram(flags->programPath, loadOptions());
  if (!program.ok())
    return program.takeStatus();
  if (flags->info)
    std::cout << infoReport(*program);
  if (flags->memory)
    std::cout << memoryReport(*program);
  ExecutorOptions options;
  options.poison = flags->poison;
  options.timing = !flags->tracePath.empty();
  auto created = Executor::create(std::move(*program), options);
  if (!created.ok())
    return created.takeStatus();
  Executor &executor = **created;
  executor.initializeState(flags->seed);
  if (!flags->loadPath.empty()) {
    Result<LoadReport> report = loadCheckpoint(executor, flags->loadPath);
    if (!report.ok())
      return report.takeStatus();
    std::cerr << report->text << "\n";
    for (const std::string &note : report->notes)
      std::cerr << "note: " << note << "\n";
  }
  if (!flags->oraclePath.empty())
    PIPER_RETURN_IF_ERROR(runOracle(executor));
  else if (flags->evaluateOnly)
    PIPER_RETURN_IF_ERROR(runEvaluation(executor));
  else if (flags->steps > 0)
    PIPER_RETURN_IF_ERROR(runTraining(executor));
  if (!flags->savePath.empty())
    PIPER_RETURN_IF_ERROR(saveParameters(executor, flags->savePath));
  if (!flags->saveStatePath.empty())
    PIPER_RETURN_IF_ERROR(saveState(executor, flags->saveStatePath));
  if (flags->generateCount > 0) {
    GenerateOptions text{flags->generateCount, flags->prompt,
                         flags->temperature, flags->seed};
    PIPER_RETURN_IF_ERROR(generate(executor, text, std::cout));
    std::cout << "\n";
  }
  return Status::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  Flags all;
  flags = &all;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Piper: runs training programs\n\n"
      "  piper-run gpt.mlir --data text --steps 100 --save gpt.safetensors\n");
  Status status = run();
  if (status.ok())
    return 0;
  std::cout.flush();
  std::cerr << "piper-run: error: " << status.str() << "\n";
  return 1;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the training steps of a model one at a time on request, so that other
// programs can be measured between them. For every line "step" on standard
// input one step is run and "WALL-MS CPU-MS LOSS" printed; "kernels N" runs N
// steps and prints "CALLS CPU-MS FLOP KERNEL" for every kind of kernel, then
// "end".

#include "Piper/Runtime/Step.h"
#include "Clock.h"
#include "KernelTimer.h"
#include "Piper/Driver/LoadPlan.h"
#include "Piper/Runtime/CPU/InstructionSet.h"

#include <cstdio>
#include <iostream>

using namespace piper::rt;
using piper::bench::Time;

static Status runStep(StepRunner &runner, int64_t iteration) {
  Time begin = Time::now();
  PIPER_RETURN_IF_ERROR(runner.run(iteration));
  Time time = Time::now().since(begin);
  std::printf("%.3f %.3f %.9g\n", time.wall, time.cpu, runner.result().loss);
  return Status::success();
}

static Status runKernels(StepRunner &runner, int64_t iteration, int64_t steps) {
  piper::bench::startTiming();
  for (int64_t i = 0; i < steps; ++i) {
    PIPER_RETURN_IF_ERROR(runner.run(iteration + i));
    piper::bench::nextStep();
  }
  for (const piper::bench::KernelCost &cost : piper::bench::kernelCosts())
    std::printf("%lld %.4f %.0f %s\n", static_cast<long long>(cost.calls),
                cost.milliseconds, cost.flops, cost.name.c_str());
  std::printf("end\n");
  return Status::success();
}

static Status run(const std::string &model, const std::string &compile,
                  const std::string &data) {
  mlir::piper::LoadOptions options;
  options.compile = compile;
  Result<Plan> plan = mlir::piper::loadPlan(model, options);
  if (!plan.ok())
    return plan.takeStatus();
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(*plan));
  if (!executor.ok())
    return executor.takeStatus();
  (*executor)->initializeState(0);
  int entry = (*executor)->findEntry("train");
  if (entry < 0)
    return Status::error("the program has no entry point 'train'");
  Result<std::unique_ptr<BatchSource>> source =
      openTokens(**executor, entry, data, defaultTokenType(data));
  if (!source.ok())
    return source.takeStatus();
  Result<StepRunner> runner = StepRunner::create(**executor, "train", **source);
  if (!runner.ok())
    return runner.takeStatus();
  std::printf("ready %s\n",
              cpu::instructionSetName(*cpu::currentInstructionSet()));
  std::fflush(stdout);
  int64_t iteration = 0;
  for (std::string line; std::getline(std::cin, line);) {
    long long steps = 0;
    if (std::sscanf(line.c_str(), "kernels %lld", &steps) == 1) {
      PIPER_RETURN_IF_ERROR(runKernels(*runner, iteration, steps));
      iteration += steps;
    } else {
      PIPER_RETURN_IF_ERROR(runStep(*runner, iteration++));
    }
    std::fflush(stdout);
  }
  return Status::success();
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: piper-bench-step MODEL COMPILE-OPTIONS DATA\n");
    return 1;
  }
  Status status = run(argv[1], argv[2], argv[3]);
  if (status.ok())
    return 0;
  std::fprintf(stderr, "piper-bench-step: error: %s\n", status.str().c_str());
  return 1;
}

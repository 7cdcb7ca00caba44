// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-run: trains, evaluates, compares and describes a model or a plan.

#include "Flags.h"

#include "llvm/Support/InitLLVM.h"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

using namespace piper::rt;
using mlir::piper::loadPlan;

/// The flags that compile a model are those of either, or of both; a plan has
/// its own. The oracle runs on one device.
static Status compareWithOracle(const RunRequest &request) {
  mlir::piper::LoadOptions load = request.load;
  load.modelsOnly = load.oneDevice = true;
  bool isModel = false;
  Result<Plan> oracle = loadPlan(request.oracle, load, &isModel);
  if (!oracle.ok())
    return oracle.takeStatus();
  load.modelsOnly = isModel;
  load.oneDevice = false;
  Result<Plan> plan = loadPlan(request.program, load);
  if (!plan.ok())
    return plan.takeStatus();
  PIPER_RETURN_IF_ERROR(checkUnreadOutputs(request.run));
  return runComparison(std::move(*plan), std::move(*oracle), request.run,
                       std::cout);
}

static Status runOrCompare(const RunRequest &request) {
  // Before the compiler's work: a result that cannot be written would be lost.
  PIPER_RETURN_IF_ERROR(checkRunOptions(request.run));
  if (!request.oracle.empty())
    return compareWithOracle(request);
  Result<Plan> plan = loadPlan(request.program, request.load);
  if (!plan.ok())
    return plan.takeStatus();
  PIPER_RETURN_IF_ERROR(checkUnreadOutputs(request.run));
  return runPlan(std::move(*plan), request.run, std::cout, std::cerr);
}

/// OpenMP's threads spin while they wait, by default so long that a machine
/// with other work on it comes to a crawl. libgomp reads how long when it is
/// loaded, so the program starts itself once more with a few microseconds. A
/// user's own choice stands.
static void limitSpinning(char **argv) {
  if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
    return;
  setenv("GOMP_SPINCOUNT", "200", /*overwrite=*/0);
  execv("/proc/self/exe", argv);
  // Where that fails the program runs as it is.
}

int main(int argc, char **argv) {
  limitSpinning(argv);
  llvm::InitLLVM init(argc, argv);
  // A file that grows past a limit is an error of the write, not a signal
  // (LLVM has just taken that for a crash).
  std::signal(SIGXFSZ, SIG_IGN);
  Status status = runOrCompare(parseRunFlags(argc, argv));
  if (!std::cout.flush() && status.ok())
    status = Status::error("cannot write to standard output");
  if (status.ok())
    return 0;
  // Empty: a diagnostic of the compiler has said it, at its place.
  if (!status.message().empty())
    std::cerr << "piper-run: error: " << status.str() << "\n";
  return 1;
}

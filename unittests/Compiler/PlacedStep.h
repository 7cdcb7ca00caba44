// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placed steps, written from a schedule, for tests of what orders them.

#ifndef PIPER_UNITTESTS_COMPILER_PLACEDSTEP_H
#define PIPER_UNITTESTS_COMPILER_PLACEDSTEP_H

#include "Piper/Schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace piper::test {

struct PlacedStep {
  schedule::Schedule schedule;
  int segments = 1;       ///< of each stage
  std::string directives; ///< further ones, each with a comma before it

  /// A module of level 2 with `train` and `eval`, micro-batch after
  /// micro-batch, each transfer before its reader. A backward is split where
  /// the schedule splits it. Functions: @fw, @bw, @bi, @dw.
  std::string text() const;
};

/// "F(stage 1, mb 0) #1": the task of segment 1 of a stage; the stage as in the
/// schedule.
std::string taskText(const schedule::Action &action, int segment);
/// "F(stage 1, mb 0) to 2": a transfer of a result.
std::string transferText(const schedule::Action &producer, int64_t coordinate);

/// The tasks and transfers of an entry point in order, without those that run
/// once.
std::vector<std::string> readOrder(const PlacedStep &step,
                                   mlir::func::FuncOp entry);

} // namespace piper::test

#endif // PIPER_UNITTESTS_COMPILER_PLACEDSTEP_H

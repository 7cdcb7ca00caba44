// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which flags go together.

#include "Flags.h"

using piper::rt::Status;

/// Flags that contradict each other or lack what they need.
Status Flags::check() const {
  bool needsData = steps >= 0 || evaluateOnly || !oraclePath.empty();
  if (needsData && dataPath.empty() == inputsPath.empty())
    return Status::error(dataPath.empty()
                             ? "training and evaluation need --data or --inputs"
                             : "--data and --inputs exclude each other");
  if ((evaluateOnly || !oraclePath.empty()) && steps < 0)
    return Status::error("--eval and --oracle need --steps");
  if (steps.getNumOccurrences() && steps < 1)
    return Status::error("--steps expects a number of 1 or more but got " +
                         std::to_string(steps));
  if (generateCount.getNumOccurrences() && generateCount < 1)
    return Status::error("--generate expects a number of 1 or more but got " +
                         std::to_string(generateCount));
  if (onNonfinite != "skip" && onNonfinite != "stop")
    return Status::error("--on-nonfinite expects skip or stop but got '" +
                         onNonfinite + "'");
  if (!needsData && generateCount == 0 && !memory && !info &&
      savePath.empty() && saveStatePath.empty())
    return Status::error(
        "nothing to do: give --steps, --eval, --generate, --oracle, "
        "--memory, --info, --save or --save-state");
  if (evaluateOnly && !oraclePath.empty())
    return Status::error("--eval and --oracle exclude each other");
  return Status::success();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tasks and messages cost: one file for balancing stages, for the order,
// for simulation and for the device clock.

#ifndef PIPER_RUNTIME_TASKCOSTS_H
#define PIPER_RUNTIME_TASKCOSTS_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <map>
#include <optional>
#include <string>

namespace piper::rt {

/// Times in microseconds, whatever the unit of the file.
struct TaskCosts {
  /// By the name of the function: "block.fw". The function "f.into" (f with
  /// accumulators) has the cost of "f" where it is not named itself.
  std::map<std::string, double> tasks;
  /// Of each task of pass U that is not named.
  std::optional<double> update;
  /// Of a message or a reduction: latency + bytes / bytesPerMicrosecond.
  double latency = 0;
  double bytesPerMicrosecond = 0; ///< 0: no limit

  /// The cost of one call. A function that is not named costs
  /// max(flops / kFlops, bytes / kBytes) if it belongs to the body of the
  /// step, and nothing if its pass is "once".
  double ofTask(const std::string &function, const std::string &pass,
                int64_t flops, int64_t bytes) const;
  double ofMessage(int64_t bytes) const;

  /// A nominal core: operations and bytes per microsecond.
  static constexpr double kFlops = 5e4;
  static constexpr double kBytes = 1e4;
};

/// Reads {"unit": "us", "tasks": {"block.fw": 10.0, ..}, "update": 1.0, "link":
/// {"latency": 0.1, "bytes_per_us": 1e4}}; every key may be missing, the unit
/// is "ns", "us" (default), "ms" or "s" (then "bytes_per_ns", ..). Errors: what
/// is not such a file, an unknown key, a number below 0 or not finite; each
/// names the file and the key. A trace is another kind of file:
/// readDurations(SimulatePlan.h) reads both.
Result<TaskCosts> readTaskCosts(const std::string &path);

} // namespace piper::rt

#endif // PIPER_RUNTIME_TASKCOSTS_H

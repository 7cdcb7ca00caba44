// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tool piper-run does once it has a Plan: everything but reading
// flags. Messages name the flags.

#ifndef PIPER_RUNTIME_RUN_H
#define PIPER_RUNTIME_RUN_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace piper::rt {

struct RunOptions {
  /// The files of the programs, which no result replaces.
  std::vector<std::string> programs;
  /// --data, --token-type (empty: by the file's name), --inputs.
  std::string data;
  std::string tokenType;
  std::string inputs;
  /// --steps. Absent: as many as --inputs still has.
  std::optional<int64_t> steps;
  /// --seed. A file of state that is loaded brings its own.
  int64_t seed = 0;
  bool seedIsGiven = false;
  /// --load, --save, --save-state.
  std::string load;
  std::string save;
  std::string saveState;
  /// --dump-gradients, --dump-outputs: of the last step.
  std::string dumpGradients;
  std::string dumpOutputs;
  /// --metrics, --trace (of a simulated step, if no step is run).
  std::string metrics;
  std::string trace;
  /// --on-nonfinite: "skip" (where it is absent) or "stop".
  std::optional<std::string> onNonfinite;
  /// --eval.
  bool eval = false;
  /// --generate, --prompt (a new line), --temperature (0.8).
  std::optional<int64_t> generate;
  std::optional<std::string> prompt;
  std::optional<double> temperature;
  /// --memory, --info: reports; alone they run nothing. With a run --memory
  /// also measures the highest byte of the arena that it touches.
  bool memory = false;
  bool info = false;
  /// --poison.
  bool poison = false;
  /// --clock: "devices" or empty.
  std::string clock;
  /// --simulate: prints the timetable of a training step.
  bool simulate = false;
  /// --costs: for both. A clock measures tasks where the file names none; a
  /// simulation takes a trace too.
  std::string costs;
  /// --deadline, in seconds (600); --delays, in milliseconds.
  std::optional<double> deadline;
  double delays = 0;
  /// Whether the log is a terminal.
  bool terminal = false;
};

/// Checks that the options go together and that every file to be written can
/// be, before anything is run.
Status checkRunOptions(const RunOptions &options);

/// When the program is compiled: no file is to be written over one that the
/// compiler has read, which the program or a file that it names may name.
Status checkUnreadOutputs(const RunOptions &options);

/// Runs a plan as the options say: reports, then loads, then trains or
/// evaluates, then saves and dumps, then generates. Results go to `out` ("train
/// loss X", the mean of the last 20 steps; "eval loss X"; reports; text),
/// progress and warnings to `log`. With an error nothing is saved.
Status runPlan(Plan plan, const RunOptions &options, std::ostream &out,
               std::ostream &log);

/// --oracle: runs both on the same data and compares them (Compare.h).
Status runComparison(Plan plan, Plan oracle, const RunOptions &options,
                     std::ostream &out);

} // namespace piper::rt

#endif // PIPER_RUNTIME_RUN_H

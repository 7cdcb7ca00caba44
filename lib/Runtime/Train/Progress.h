// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a person sees of a run while it goes on.

#ifndef PIPER_LIB_RUNTIME_TRAIN_PROGRESS_H
#define PIPER_LIB_RUNTIME_TRAIN_PROGRESS_H

#include "Piper/Runtime/Step.h"

#include <ostream>

namespace piper::rt {

/// On a terminal one line that is rewritten at most ten times a second;
/// otherwise about 25 lines in all. Steps are shown counted from 1.
class Progress {
public:
  /// Of steps `first` .. `first` + `steps` - 1; `log` may be null.
  Progress(std::ostream *log, bool terminal, int64_t first, int64_t steps)
      : log(log), terminal(terminal), first(first), steps(steps) {}
  ~Progress();

  void update(const StepResult &result);
  /// A line of its own, between the lines of progress.
  void message(const std::string &text);

private:
  void print(const StepResult &result);

  std::ostream *log;
  bool terminal;
  int64_t first;
  int64_t steps;
  int64_t done = 0;
  double totalMs = 0;
  double shownMs = -1e9;
  /// Of a step, over the last ten or so.
  double recentMs = 0;
  /// Whether the cursor stands at the end of a progress line.
  bool open = false;
};

/// "0:07", "12:40", "3:05:00".
std::string formatDuration(double seconds);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_TRAIN_PROGRESS_H

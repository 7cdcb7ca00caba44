// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of piper-schedule.

#ifndef PIPER_TOOLS_SCHEDULE_FLAGS_H
#define PIPER_TOOLS_SCHEDULE_FLAGS_H

#include "Piper/Schedule/Generate.h"
#include "Piper/Schedule/Search.h"
#include "Piper/Schedule/Simulate.h"

#include <string>
#include <vector>

namespace piper::schedule {

enum class ColorMode { Auto, Always, Never };

struct Flags {
  bool help = false;
  std::string check; ///< a file to verify and simulate instead
  Request request;
  int stages = 0; ///< of one chain
  SimulateOptions simulate;
  std::vector<std::string> compare;
  std::string json, svg; ///< files to write, "-" for standard output
  ColorMode color = ColorMode::Auto;
};

extern const char *const helpText;

/// Errors: an unknown or incomplete flag, a value out of its range, sizes that
/// do not fit the kind.
Result<Flags> parseFlags(const std::vector<std::string> &arguments);

} // namespace piper::schedule

#endif // PIPER_TOOLS_SCHEDULE_FLAGS_H

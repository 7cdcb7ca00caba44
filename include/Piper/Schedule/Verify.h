// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is this order of actions a schedule at all? Knows nothing of generators.

#ifndef PIPER_SCHEDULE_VERIFY_H
#define PIPER_SCHEDULE_VERIFY_H

#include "Piper/Schedule/Schedule.h"

#include <string>
#include <vector>

namespace piper::schedule {

struct VerifyOptions {
  /// Every generator of this library runs the backwards of a stage in
  /// ascending micro-batch; a file written by others need not.
  bool ascendingBackwards = true;
};

/// The broken rules, each with its values, at most eight; empty for a legal
/// schedule. Rules: sizes and placement consistent (V stages on each of P
/// coordinates, each stage in one chain); each action once and on its stage's
/// coordinate, each backward whole or as BI and BW; the order has no cycle
/// with the data flow; activations in flight, released at B or BW, never above
/// the cap (in an FB pair the new one counts first). Linear in the number of
/// actions.
std::vector<std::string> verify(const Schedule &schedule,
                                const VerifyOptions &options = {});

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_VERIFY_H

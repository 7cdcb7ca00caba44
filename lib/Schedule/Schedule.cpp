// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How schedules and their actions are named in messages.

#include "Piper/Schedule/Schedule.h"

namespace piper::schedule {

const char *passName(Pass pass) {
  switch (pass) {
  case Pass::F:
    return "F";
  case Pass::B:
    return "B";
  case Pass::BI:
    return "BI";
  case Pass::BW:
    return "BW";
  case Pass::FB:
    return "FB";
  }
  return "?";
}

static std::string place(int stage, int mb) {
  return "(stage " + std::to_string(stage) + ", mb " + std::to_string(mb) + ")";
}

std::string toString(const Action &action) {
  if (action.pass == Pass::FB)
    return "F" + place(action.stage, action.microBatch) + "+B" +
           place(action.stageB, action.microBatchB);
  return passName(action.pass) + place(action.stage, action.microBatch);
}

} // namespace piper::schedule

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The printed form of a Status.

#include "Piper/Runtime/Status.h"

using namespace piper::rt;

std::string Status::str() const {
  if (ok())
    return "success";
  std::string text = detail->message;
  for (const std::string &note : detail->notes)
    text += "\n  note: " + note;
  return text;
}

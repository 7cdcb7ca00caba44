// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small program whose numbers the tests of the loader's checks change.

#ifndef PIPER_UNITTESTS_RUNTIME_CHECKEDPROGRAM_H
#define PIPER_UNITTESTS_RUNTIME_CHECKEDPROGRAM_H

#include "Piper/Runtime/CheckProgram.h"
#include "ProgramBuilder.h"

#include "gtest/gtest.h"

namespace piper::rt::test {

/// y = reverse(x + w), then w' = w + y in place. The values of the entry point
/// are x 0, w 1, y 2, w' 3; those of "forward" are x 0, w 1, x + w 2, y 3.
inline Program makeCheckedProgram() {
  ProgramBuilder b;
  FunctionBuilder f("forward", {f32({4}), f32({4})});
  int32_t sum = f.op("add", {0, 1}, f32({4}));
  int32_t forward = b.addFunction(f.finish({f.op("reverse", {sum}, f32({4}))}));
  FunctionBuilder u("update", {f32({4}), f32({4})});
  int32_t update = b.addFunction(u.finish({u.op("add", {0, 1}, f32({4}))}));
  int32_t w = b.addState("w", f32({4}));
  b.addCounter("update");
  b.beginEntry("train");
  int32_t x = b.input("x", f32({4}), {"rows"});
  int32_t weight = b.stateValue(w);
  int32_t y = b.call(forward, {x, weight}, "F", "layer = 0")[0];
  int32_t updated = b.call(update, {weight, y}, "U", "", {{0, w}})[0];
  b.entry().state.push_back({updated, w});
  b.output("y", y);
  b.gradient("w", y);
  return b.finish();
}

/// Expects the error `message` once `change` has been made to a right program.
inline void expectError(void (*change)(Program &, EntryPoint &),
                        const std::string &message) {
  Program program = makeCheckedProgram();
  change(program, program.entries[0]);
  Status status = checkProgram(program);
  EXPECT_EQ(status.ok() ? "success" : status.message(), message);
}

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_CHECKEDPROGRAM_H

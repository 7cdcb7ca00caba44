// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends, receives and reductions that the loader refuses in one program.

#include "Piper/Runtime/CheckProgram.h"

#include "PlanBuilder.h"

#include "gtest/gtest.h"

using namespace piper::rt;
using namespace piper::rt::test;

/// Of rank 1: receive 0 from 0 (a), task "f" (b), send 2 to 0, reduce 3 of b
/// and c of rank 0 (sum), task "g" (y).
static Program makeProgram() {
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({4}));
  b.transfer("x", 0, 1);
  b.task({1}, "f", {}, {"x"}, {{"b", f32({4})}});
  b.transfer("b", 1, 0);
  b.allReduce({{1, "b"}, {0, "x"}}, {0, 1}, "sum");
  b.task({1}, "g", {}, {"sum"}, {{"y", f32({4})}});
  b.output(1, "y");
  b.end();
  return b.finish().programs[1];
}

static void expectError(void (*change)(Program &, EntryPoint &),
                        const std::string &message) {
  Program program = makeProgram();
  Status right = checkProgram(program);
  ASSERT_TRUE(right.ok()) << right.str();
  change(program, program.entries[0]);
  Status status = checkProgram(program);
  EXPECT_EQ(status.ok() ? "success" : status.message(), message);
}

TEST(CheckMessages, Numbers) {
  const std::string end = " of entry point 'train'";
  expectError([](Program &, EntryPoint &e) { e.instructions[0].id = 9; },
              "instruction 0 (receive 9 from 0)" + end +
                  ": expects an id from 0 to 4 but got 9");
  expectError([](Program &, EntryPoint &e) { e.instructions[0].peer = 1; },
              "instruction 0 (receive 0 from 1)" + end +
                  ": expects another coordinate at the other end but got 1");
  expectError([](Program &, EntryPoint &e) { e.instructions[2].peer = -1; },
              "instruction 2 (send 2 to -1)" + end +
                  ": expects another coordinate at the other end but got -1");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[2].operands.clear(); },
      "instruction 2 (send 2 to 0)" + end + ", operands: expects 1 but got 0");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].results.clear(); },
      "instruction 0 (receive 0 from 0)" + end +
          ", results: expects 1 but got 0");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[2].operands = {99}; },
      "instruction 2 (send 2 to 0)" + end +
          ", value: expects an index from 0 to 4 but got 99");
  expectError(
      [](Program &, EntryPoint &e) {
        e.instructions[2].operands = e.instructions[4].results;
      },
      "instruction 2 (send 2 to 0)" + end + " reads value 4 before it is made");
  expectError(
      [](Program &, EntryPoint &e) {
        e.instructions[3].results = e.instructions[0].results;
      },
      "instruction 3 (reduce 3)" + end + " makes value 1 a second time");
}

TEST(CheckMessages, Waits) {
  const std::string end = " of entry point 'train'";
  expectError([](Program &, EntryPoint &e) { e.instructions[1].waits = {1}; },
              "instruction 1 ('f', F)" + end +
                  ": expects to wait for an earlier instruction but got 1");
  expectError([](Program &, EntryPoint &e) { e.instructions[1].waits = {-1}; },
              "instruction 1 ('f', F)" + end +
                  ": expects to wait for an earlier instruction but got -1");
  expectError([](Program &, EntryPoint &e) { e.instructions[4].waits = {1}; },
              "instruction 4 ('g', F)" + end +
                  " waits for instruction 1 of its own stream");
}

TEST(CheckMessages, Reductions) {
  const std::string name = "instruction 3 (reduce 3) of entry point 'train'";
  expectError(
      [](Program &, EntryPoint &e) {
        e.instructions[3].members = {1, 0};
      },
      name + ": expects ascending members");
  expectError([](Program &, EntryPoint &e) { e.instructions[3].members = {0}; },
              name + ": coordinate 1 is no member");
  expectError([](Program &, EntryPoint &e) { e.instructions[3].terms = {}; },
              name + " has no terms");
  expectError(
      [](Program &, EntryPoint &e) {
        e.instructions[3].terms = {1, 2};
      },
      name + ": expects terms of members but got 2");
  expectError(
      [](Program &, EntryPoint &e) {
        e.instructions[3].terms = {1, 1};
      },
      name + ", operands: expects 2 but got 1");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[3].results.push_back(0); },
      name + ": expects at most one result but got 2");
  expectError(
      [](Program &, EntryPoint &e) {
        e.values[e.instructions[3].results[0]].type = f32({2});
      },
      name + ": expects tensor<4xf32> but got tensor<2xf32>");
  expectError(
      [](Program &, EntryPoint &e) {
        int32_t input = e.inputs[0].value;
        e.values[input].type = {ElementType::BF16, {4}};
        int32_t sum = e.instructions[3].results[0];
        e.values[sum].type = e.values[input].type;
        e.instructions[3].operands = {input};
      },
      name + ": expects a sum of f32, f64, i32 or i64 but got tensor<4xbf16>");
}

TEST(CheckMessages, Memory) {
  // What is received, and summed, is overwritten before it is read.
  expectError(
      [](Program &, EntryPoint &e) {
        e.values[e.instructions[0].results[0]].offset =
            e.values[e.inputs[0].value].offset;
        e.outputs.push_back({"x", e.inputs[0].value, {}});
      },
      "at the end of entry point 'train', output 'x' was overwritten: bytes 0 "
      "to 16 of the arena belong to instruction 0 (receive 0 from 0) of entry "
      "point 'train'");
  expectError(
      [](Program &, EntryPoint &e) {
        e.values[e.instructions[1].results[0]].offset =
            e.values[e.instructions[0].results[0]].offset;
        e.instructions[2].operands = e.instructions[0].results;
      },
      "instruction 2 (send 2 to 0) of entry point 'train': operand 0 was "
      "overwritten: bytes 64 to 80 of the arena belong to step 0 of "
      "instruction 1 ('f', F) of entry point 'train'");
  expectError(
      [](Program &, EntryPoint &e) {
        e.values[e.instructions[3].results[0]].offset =
            e.values[e.instructions[3].operands[0]].offset + 8;
      },
      "instruction 3 (reduce 3) of entry point 'train': the result at bytes "
      "200 to 216 of the arena may not lie over a part of operand 0 at bytes "
      "192 to 208 of the arena");
}

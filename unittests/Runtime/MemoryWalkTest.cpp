// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who may overwrite what: reuse of memory, results in place, views.

#include "CheckedProgram.h"

using namespace piper::rt;
using namespace piper::rt::test;

// Layout: w 0, update 64, x 128, workspace of "forward" 192, y 384, workspace
// of "update" 448; in the workspace of "forward": x + w at 0, y (unused) at
// 64, the copy of "reverse" at 128.
TEST(MemoryWalk, MemoryReuse) {
  const std::string first = "instruction 0 ('forward', layer = 0, F) of entry "
                            "point 'train'";
  const std::string second = "instruction 1 ('update', U) of entry point "
                             "'train'";
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].workspaceOffset = 128; },
      "step 0 ('add') of " + first +
          ": operand 0 was overwritten: bytes 128 to 144 of the arena belong "
          "to the workspace of " +
          first);
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[1].workspaceOffset = 384; },
      "step 0 ('add') of " + second +
          ": operand 1 was overwritten: bytes 384 to 400 of the arena belong "
          "to the workspace of " +
          second);
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[1].workspaceOffset = 0;
      },
      "step 1 ('reverse') of " + first +
          ": operand 0 was overwritten: bytes 192 to 208 of the arena belong "
          "to step 1 of " +
          first);
  expectError([](Program &, EntryPoint &e) { e.values[2].offset = 320; },
              "step 1 ('reverse') of " + first +
                  ": the workspace is written over: bytes 320 to 336 of the "
                  "arena belong to step 1 of " +
                  first);
  expectError([](Program &, EntryPoint &e) { e.values[2].offset = 192; },
              "step 1 ('reverse') of " + first +
                  ": result 0 at bytes 192 to 208 of the arena may not lie "
                  "over operand 0 at bytes 192 to 208 of the arena");
  expectError([](Program &, EntryPoint &e) { e.values[2].offset = 388; },
              "step 1 ('reverse') of " + first +
                  ": result 0 lies at offset 388 of the arena, not a multiple "
                  "of 64");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].values[2].offset = 4; },
      "step 0 ('add') of " + first +
          ": result 0 lies at offset 196 of the arena, not a multiple of 64");
  // The sum may lie over x (its kernel says so) but not over a part of it.
  expectError(
      [](Program &p, EntryPoint &e) {
        p.functions[0].values[2] = {f32({4}), FunctionValue::Base::Operand, 0,
                                    0};
      },
      "success");
  expectError(
      [](Program &p, EntryPoint &e) {
        e.values[0].offset = 192;
        p.functions[0].values[2].offset = 0;
      },
      "step 0 ('add') of " + first +
          ": operand 0 was overwritten: bytes 192 to 208 of the arena belong "
          "to the workspace of " +
          first);
  // An output or state that somebody overwrote.
  expectError(
      [](Program &, EntryPoint &e) {
        e.outputs[0].value = 0;
        e.values[2].offset = 128;
      },
      "at the end of entry point 'train', output 'y' was overwritten: bytes "
      "128 to 144 of the arena belong to step 1 of " +
          first);
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].workspaceOffset = 64; },
      "step 0 ('add') of " + first +
          ": operand 0 was overwritten: bytes 128 to 144 of the arena belong "
          "to the workspace of " +
          first);
  expectError(
      [](Program &p, EntryPoint &e) {
        e.values[2].offset = 64;
        p.state[1].kind = StateTensor::Kind::Parameter;
      },
      "at the end of entry point 'train', state 'update' was overwritten: "
      "bytes 64 to 72 of the arena belong to step 1 of " +
          first);
}

TEST(MemoryWalk, ResultsOfOneStepLieApart) {
  ProgramBuilder b;
  FunctionBuilder f("two", {f32({4})});
  std::vector<int32_t> results = f.step("add", {0, 0}, {f32({4}), f32({4})});
  int32_t two = b.addFunction(f.finish(results));
  b.beginEntry("eval");
  int32_t x = b.input("x", f32({4}));
  std::vector<int32_t> values = b.call(two, {x});
  EXPECT_TRUE(checkProgram(b.finish()).ok());
  b.entry().values[values[1]].offset = b.entry().values[values[0]].offset;
  EXPECT_EQ(checkProgram(b.finish()).message(),
            "step 0 ('add') of instruction 0 ('two', F) of entry point 'eval': "
            "result 0 overlaps another one: bytes 192 to 208 of the arena "
            "belong to step 0 of instruction 0 ('two', F) of entry point "
            "'eval'");
}

TEST(MemoryWalk, ViewsLieInPlaceOrApart) {
  auto build = [](int64_t offset) {
    ProgramBuilder b;
    FunctionBuilder f("part", {f32({4})});
    int32_t part = b.addFunction(
        f.finish({f.op("slice", {0}, f32({2}), {{"offset", int64_t(1)}})}));
    b.beginEntry("eval");
    int32_t x = b.input("x", f32({4}));
    int32_t y = b.call(part, {x})[0];
    b.output("y", y);
    if (offset >= 0)
      b.entry().values[y].offset = offset;
    return b.finish();
  };
  EXPECT_TRUE(checkProgram(build(-1)).ok());
  EXPECT_TRUE(checkProgram(build(4)).ok());
  EXPECT_EQ(checkProgram(build(8)).message(),
            "step 0 ('slice') of instruction 0 ('part', F) of entry point "
            "'eval': a view lies at its place in the operand, bytes 4 to 12 of "
            "the arena, or apart from it, but it lies at bytes 8 to 16 of the "
            "arena");
  Program program = build(4);
  program.functions[0].steps[0].spec.attributes.entries[0].second = int64_t(3);
  EXPECT_EQ(checkProgram(program).message(),
            "step 0 ('slice') of function 'part', view: 8 bytes at offset 12 "
            "do not fit into 16");
  program = build(4);
  program.functions[0].steps[0].spec.operands.clear();
  program.functions[0].steps[0].operands.clear();
  program.functions[0].steps[0].spec.name = "view0";
  EXPECT_EQ(checkProgram(program).message(),
            "step 0 ('view0') of function 'part': a view has one result and an "
            "operand");
}

// A long chain of tasks that reuse two buffers in turn is accepted; one that
// comes back too early is not.
TEST(MemoryWalk, ReuseAfterTheLastUse) {
  for (bool tooEarly : {false, true}) {
    ProgramBuilder b;
    FunctionBuilder f("twice", {f32({4})});
    int32_t twice = b.addFunction(f.finish({f.op("add", {0, 0}, f32({4}))}));
    FunctionBuilder g("sum", {f32({4}), f32({4})});
    int32_t sum = b.addFunction(g.finish({g.op("add", {0, 1}, f32({4}))}));
    b.beginEntry("eval");
    int32_t x = b.input("x", f32({4}));
    int64_t buffers[2] = {b.allocate(16), b.allocate(16)};
    int32_t value = x;
    for (int i = 0; i < 10; ++i) {
      value = b.call(twice, {value})[0];
      b.entry().values[value].offset = buffers[i % 2];
    }
    int32_t other = tooEarly ? value - 2 : x;
    b.output("y", b.call(sum, {value, other})[0]);
    Status status = checkProgram(b.finish());
    if (!tooEarly) {
      EXPECT_TRUE(status.ok()) << status.str();
      continue;
    }
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(),
              "step 0 ('add') of instruction 10 ('sum', F) of entry point "
              "'eval': operand 1 was overwritten: bytes 128 to 144 of the "
              "arena belong to step 0 of instruction 9 ('twice', F) of entry "
              "point 'eval'");
  }
}

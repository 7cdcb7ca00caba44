// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A right program is accepted; each wrong number in it is one error that says
// what and where.

#include "Piper/Runtime/CheckProgram.h"

#include "ProgramBuilder.h"

#include "gtest/gtest.h"

#include <limits>

using namespace piper::rt;
using namespace piper::rt::test;

/// y = reverse(x + w), then w' = w + y in place. The values of the entry point
/// are x 0, w 1, y 2, w' 3; those of "forward" are x 0, w 1, x + w 2, y 3.
static Program makeProgram() {
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
static void expectError(void (*change)(Program &, EntryPoint &),
                        const std::string &message) {
  Program program = makeProgram();
  change(program, program.entries[0]);
  Status status = checkProgram(program);
  EXPECT_EQ(status.ok() ? "success" : status.message(), message);
}

TEST(CheckProgram, AcceptsARightProgram) {
  Status status = checkProgram(makeProgram());
  EXPECT_TRUE(status.ok()) << status.str();
  EXPECT_TRUE(checkProgram(Program()).ok());
}

TEST(CheckProgram, Target) {
  expectError([](Program &p, EntryPoint &) { p.target.device = "tpu"; },
              "the program is made for the device 'tpu' but this runtime has "
              "'cpu'");
  expectError([](Program &p, EntryPoint &) { p.target.threads = 0; },
              "expects 1 to 1024 threads but got 0");
  expectError([](Program &p, EntryPoint &) { p.arenaBytes = -1; },
              "expects an arena of 0 or more bytes but got -1");
}

TEST(CheckProgram, State) {
  using Init = StateTensor::Init;
  expectError([](Program &p, EntryPoint &) { p.state[0].name = ""; },
              "a state tensor has no name");
  expectError([](Program &p, EntryPoint &) { p.state[0].name = "update"; },
              "two state tensors have the name 'update'");
  expectError([](Program &p, EntryPoint &) { p.state[0].offset = 8; },
              "state 'w': expects an offset that is a multiple of 64 but got "
              "8");
  expectError([](Program &p, EntryPoint &) { p.state[0].offset = -64; },
              "state 'w': expects an offset that is a multiple of 64 but got "
              "-64");
  expectError([](Program &p, EntryPoint &) { p.state[0].offset = 1 << 20; },
              "state 'w': 16 bytes at offset 1048576 do not fit into 512");
  expectError([](Program &p, EntryPoint &) { p.state[1].offset = 0; },
              "state 'w' and state 'update' overlap at offset 0");
  expectError([](Program &p, EntryPoint &) { p.state[0].type.shape = {-4}; },
              "state 'w': expects dimensions of 0 or more but got "
              "tensor<-4xf32>");
  expectError(
      [](Program &p, EntryPoint &) {
        p.state[0].type.shape = {int64_t(1) << 40, int64_t(1) << 40};
      },
      "state 'w': tensor<1099511627776x1099511627776xf32> has more bytes than "
      "an offset can express");
  expectError([](Program &p, EntryPoint &) { p.state[1].type = i32(); },
              "state 'update': expects tensor<i64> but got tensor<i32>");
  expectError(
      [](Program &p, EntryPoint &) {
        p.state[0].init = Init::Normal;
        p.state[0].scale = -1;
      },
      "state 'w': expects a standard deviation of 0 or more but got "
      "-1.000000");
  expectError([](Program &p, EntryPoint &) { p.state[1].init = Init::Normal; },
              "state 'update': normal initial values need a float type but it "
              "is tensor<i64>");
  expectError([](Program &p, EntryPoint &) { p.state[0].init = Init::Data; },
              "state 'w', bytes of initial values: expects 16 but got 0");
  expectError([](Program &p, EntryPoint &) { p.state[0].init = Init(9); },
              "state 'w': unknown kind of initial values");
}

TEST(CheckProgram, FunctionValues) {
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].values[2].offset = 2; },
      "value 2 of function 'forward' in the workspace: expects an offset that "
      "is a multiple of 4 but got 2");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].values[2].offset = 4096; },
      "value 2 of function 'forward' in the workspace: 16 bytes at offset 4096 "
      "do not fit into 192");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].values[0].index = 2; },
      "value 0 of function 'forward' in an operand: expects an index from 0 to "
      "1 but got 2");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].values[3].index = -1; },
      "value 3 of function 'forward' in a result: expects an index from 0 to 0 "
      "but got -1");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].values[3].offset = 4; },
      "value 3 of function 'forward' in a result: 16 bytes at offset 4 do not "
      "fit into 16");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].values[0] = {f32({2}), FunctionValue::Base::Operand, 0,
                                    8};
      },
      "value 0 of function 'forward' in an operand: an operand itself has "
      "offset 0 but got 8");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].values[0].type = f32({2, 2});
      },
      "value 0 of function 'forward' in an operand: expects tensor<4xf32> but "
      "got tensor<2x2xf32>");
  expectError([](Program &p,
                 EntryPoint &) { p.functions[0].values.push_back({f32({4})}); },
              "value 4 of function 'forward' is made by no step");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].values.push_back(
            {f32({4}), FunctionValue::Base::Result, 0, 0});
      },
      "value 4 of function 'forward' in a result is made by no step");
  expectError([](Program &p,
                 EntryPoint &) { p.functions[0].results.push_back(f32({1})); },
              "result 1 of function 'forward' is made by no step");
  expectError([](Program &p, EntryPoint &) { p.functions[1].name = "forward"; },
              "two functions have the name 'forward'");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].workspaceBytes = -1; },
      "function 'forward', workspace: -1 bytes at offset 0 do not fit into "
      "512");
}

TEST(CheckProgram, Steps) {
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[0].spec.name = "xor";
      },
      "step 0 ('xor') of function 'forward': there is no kernel of this name");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[0].operands.pop_back();
      },
      "step 0 ('add') of function 'forward', operands: expects 2 but got 1");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].steps[0].operands[1] = 9; },
      "step 0 ('add') of function 'forward', operand 1: expects an index from "
      "0 to 3 but got 9");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[0].spec.operands[1] = f64({4});
      },
      "step 0 ('add') of function 'forward', operand 1: expects tensor<4xf64> "
      "but got tensor<4xf32>");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].steps[0].operands[1] = 3; },
      "step 0 ('add') of function 'forward' reads value 3 before it is made");
  expectError(
      [](Program &p, EntryPoint &) { p.functions[0].steps[1].results[0] = 2; },
      "value 3 of function 'forward' in a result is made by no step");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps.push_back(p.functions[0].steps[0]);
      },
      "step 2 ('add') of function 'forward' makes value 2 a second time");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[1].workspaceBytes = 8;
      },
      "step 1 ('reverse') of function 'forward': expects a workspace of 16 "
      "bytes but got 8");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[1].workspaceOffset = 192;
      },
      "step 1 ('reverse') of function 'forward', workspace: 16 bytes at offset "
      "192 do not fit into 192");
  expectError(
      [](Program &p, EntryPoint &) {
        p.functions[0].steps[0].spec.results[0].shape = {-1};
      },
      "step 0 ('add') of function 'forward': expects dimensions of 0 or more "
      "but got tensor<-1xf32>");
}

TEST(CheckProgram, EntryPoints) {
  expectError([](Program &, EntryPoint &e) { e.name = ""; },
              "an entry point has no name");
  expectError([](Program &p, EntryPoint &e) { p.entries.push_back(e); },
              "two entry points have the name 'train'");
  expectError([](Program &, EntryPoint &e) { e.peakBytes = 4096; },
              "peak of entry point 'train': 4096 bytes at offset 0 do not fit "
              "into 512");
  expectError([](Program &, EntryPoint &e) { e.values[2].offset = 632; },
              "value 2 of entry point 'train': 16 bytes at offset 632 do not "
              "fit into 512");
  expectError([](Program &, EntryPoint &e) { e.state[0].first = 77; },
              "value of a state tensor of entry point 'train': expects an "
              "index from 0 to 3 but got 77");
  expectError([](Program &, EntryPoint &e) { e.state[0].second = 2; },
              "state tensor of entry point 'train': expects an index from 0 to "
              "1 but got 2");
  expectError([](Program &, EntryPoint &e) { e.state[0].second = 1; },
              "value 1 of entry point 'train', which is state 'update': "
              "expects tensor<i64> but got tensor<4xf32>");
  expectError([](Program &, EntryPoint &e) { e.values[1].offset = 64; },
              "value 1 of entry point 'train', which is state 'w': expects the "
              "offset 0 but got 64");
  expectError([](Program &, EntryPoint &e) { e.inputs[0].value = 1; },
              "input 'x' of entry point 'train': value 1 is another input or "
              "state");
  expectError([](Program &, EntryPoint &e) { e.inputs[0].value = 4; },
              "input 'x' of entry point 'train': expects an index from 0 to 3 "
              "but got 4");
  expectError([](Program &, EntryPoint &e) { e.inputs.push_back(e.inputs[0]); },
              "two inputs of entry point 'train' have the name 'x'");
  expectError([](Program &, EntryPoint &e) { e.inputs[0].dims.push_back("a"); },
              "input 'x' of entry point 'train', dimensions: expects 1 but got "
              "2");
  expectError([](Program &, EntryPoint &e) { e.values[0].offset += 4; },
              "input 'x' of entry point 'train': expects an offset that is a "
              "multiple of 64 but got 132");
  expectError(
      [](Program &, EntryPoint &e) { e.outputs.push_back(e.outputs[0]); },
      "two outputs of entry point 'train' have the name 'y'");
  expectError(
      [](Program &, EntryPoint &e) {
        e.values.push_back(e.values[2]);
        e.outputs[0].value = 4;
      },
      "output 'y' of entry point 'train': no instruction makes value 4");
  expectError([](Program &, EntryPoint &e) { e.gradients[0].name = "update"; },
              "gradient 'update' of entry point 'train': there is no parameter "
              "of this name");
  expectError(
      [](Program &, EntryPoint &e) {
        e.values.push_back({f32({2}), e.values[0].offset});
        e.inputs.push_back({"z", 4, {}});
      },
      "the place of input 'z' of entry point 'train' is taken: bytes "
      "128 to 136 of the arena belong to an input or state");
  expectError(
      [](Program &p, EntryPoint &e) {
        e.gradients[0].value = 4;
        e.values.push_back({f32({2}), p.arenaBytes - 64});
        e.inputs.push_back({"z", 4, {}});
      },
      "gradient 'w' of entry point 'train': expects the shape of the "
      "parameter, tensor<4xf32>, but got tensor<2xf32>");
  expectError([](Program &, EntryPoint &e) { e.peakInstruction = 2; },
              "instruction at the peak of entry point 'train': expects an "
              "index from 0 to 1 but got 2");
}

TEST(CheckProgram, Instructions) {
  const std::string first = "instruction 0 ('forward', layer = 0, F) of entry "
                            "point 'train'";
  expectError([](Program &, EntryPoint &e) { e.instructions[0].function = 2; },
              "instruction 0 (unknown function, layer = 0, F) of entry point "
              "'train', function: expects an index from 0 to 1 but got 2");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].operands.clear(); },
      first + ", operands: expects 2 but got 0");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].operands[0] = -3; },
      first + ", operand 0: expects an index from 0 to 3 but got -3");
  expectError([](Program &, EntryPoint &e) { e.values[0].type = f64({2}); },
              first + ", operand 0: expects tensor<4xf32> but got "
                      "tensor<2xf64>");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].operands[0] = 2; },
      first + " reads value 2 before it is made");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].results[0] = 0; },
      first + " makes value 0 a second time");
  expectError([](Program &, EntryPoint &e) { e.instructions[0].pass = "Q"; },
              "instruction 0 ('forward', layer = 0, Q) of entry point 'train': "
              "expects a pass out of F, B, BI, BW, R, U, once but "
              "got 'Q'");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].workspaceOffset = 1; },
      first + ", workspace: expects an offset that is a multiple of 64 but got "
              "1");
  expectError(
      [](Program &, EntryPoint &e) { e.instructions[0].workspaceOffset = 448; },
      first + ", workspace: 192 bytes at offset 448 do not fit into 512");
}

// Layout: w 0, update 64, x 128, workspace of "forward" 192, y 384, workspace
// of "update" 448; in the workspace of "forward": x + w at 0, y (unused) at
// 64, the copy of "reverse" at 128.
TEST(CheckProgram, MemoryReuse) {
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

TEST(CheckProgram, ResultsOfOneStepLieApart) {
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

TEST(CheckProgram, ViewsLieInPlaceOrApart) {
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
TEST(CheckProgram, ReuseAfterTheLastUse) {
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

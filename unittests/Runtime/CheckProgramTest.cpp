// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A right program is accepted; each wrong number in it is one error that says
// what and where.

#include "CheckedProgram.h"

using namespace piper::rt;
using namespace piper::rt::test;

TEST(CheckProgram, AcceptsARightProgram) {
  Status status = checkProgram(makeCheckedProgram());
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

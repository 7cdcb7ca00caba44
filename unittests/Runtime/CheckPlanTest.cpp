// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with a plan is said in one sentence, and where.

#include "CheckedPlan.h"

using namespace piper::rt;
using namespace piper::rt::test;

using Kind = Instruction::Kind;

TEST(CheckPlan, AcceptsARightPlan) {
  Plan plan = makeRightPlan();
  EXPECT_TRUE(checkPlan(plan).ok());
  for (const char *kind : {"gpipe", "1f1b", "zb_h1", "zb_h2"})
    EXPECT_TRUE(checkPlan(makePlan(kind, 4, 1, 8)).ok()) << kind;
  for (const char *kind : {"interleaved_1f1b", "zbv", "dualpipe", "dualpipev"})
    EXPECT_TRUE(checkPlan(makePlan(kind, 4, 2, 8)).ok()) << kind;
}

TEST(CheckPlan, WholePlans) {
  EXPECT_EQ(checkPlan({}).message(), "a plan has at least one program");
  expectProblem([](Plan &p) { p.buffering = -1; },
                "expects a buffering of 0 or more but got -1");
  expectProblem([](Plan &p) { p.programs[1].coordinate = 2; },
                "program 'p1': expects coordinate 1 but got 2");
  expectProblem([](Plan &p) { entryOf(p, 1).name = "eval"; },
                "program 'p1': expects entry point 0 as on coordinate 0, "
                "'train', but got 'eval'");
  expectProblem([](Plan &p) { p.programs[1].entries.clear(); },
                "program 'p1': expects entry point 0 as on coordinate 0, "
                "'train', but got none");
  expectProblem([](Plan &p) { entryOf(p, 1).numOps = 20; },
                "entry point 'train' of program 'p1': expects the number of "
                "ops as on coordinate 0, 19, but got 20");
  expectProblem([](Plan &p) { entryOf(p, 1).inputs[0].dims = {"batch"}; },
                "entry point 'train' of program 'p1': expects input 'x' as on "
                "coordinate 0, tensor<8xf32>, but got tensor<8xf32> [batch]");
  expectProblem([](Plan &p) { entryOf(p, 1).inputs[0].split = 0; },
                "entry point 'train' of program 'p1': expects input 'x' as on "
                "coordinate 0, tensor<8xf32>, but got tensor<8xf32> split at "
                "0");
}

// The check of each program comes first.
TEST(CheckPlan, ProgramsOfAPlan) {
  Plan plan = makeRightPlan();
  plan.programs[1].target.threads = 0;
  EXPECT_EQ(checkPlan(plan).str(), "expects 1 to 1024 threads but got 0\n"
                                   "  note: in program 'p1'");
  plan = makeRightPlan();
  at(plan, 1, 6).id = 7;
  EXPECT_EQ(checkPlan(plan).message(),
            "instruction 4 (receive 6 from 1) of entry point 'train' of "
            "program 'p0': there is no send with id 6");
  expectProblem([](Plan &p) { std::swap(at(p, 1, 6).id, at(p, 1, 5).id); },
                "instruction 4 (send 5 to 0) of entry point 'train' of program "
                "'p1': there is no receive with id 5");
  expectProblem([](Plan &p) { std::swap(at(p, 1, 6).id, at(p, 1, 12).id); },
                "instruction 8 (reduce 6) of entry point 'train' of program "
                "'p1': has the id 6 of an instruction of another kind on "
                "coordinate 0");
}

TEST(CheckPlan, Ids) {
  expectProblem(
      [](Plan &p) {
        for (int r : {0, 1})
          entryOf(p, r).numOps = 1000;
      },
      "entry point 'train' of program 'p0': expects a number of ops from 0 to "
      "26, the number of instructions, but got 1000");
  expectProblem(
      [](Plan &p) {
        for (int r : {0, 1})
          entryOf(p, r).numOps = 0;
      },
      "entry point 'train' of program 'p0': expects ids, since the plan has "
      "several programs");
  expectProblem([](Plan &p) { at(p, 0, 7).id = -1; },
                "instruction 5 ('f0.bw', B) of entry point 'train' of program "
                "'p0': expects an id from 0 to 18 but got -1");
  expectProblem([](Plan &p) { at(p, 0, 7).id = 11; },
                "instruction 7 ('f0.bw.into', B) of entry point 'train' of "
                "program 'p0': has the id 11 of instruction 5");
  expectProblem([](Plan &p) { entryOf(p, 0).instructions.pop_back(); },
                "entry point 'train' of program 'p0': no program has an "
                "instruction with id 17");
  expectProblem([](Plan &p) { at(p, 0, 7).id = 18; },
                "entry point 'train' of program 'p0': no program has an "
                "instruction with id 7");
}

TEST(CheckPlan, OneProgram) {
  auto makeOne = [](int64_t numOps) {
    PlanBuilder b(1);
    b.begin("train");
    b.input("x", f32({4}));
    b.task({0}, "f", {}, {"x"}, {{"y", f32({4})}});
    b.end();
    Plan plan = b.finish();
    entryOf(plan, 0).numOps = numOps;
    return plan;
  };
  Plan plan = makeOne(1);
  EXPECT_FALSE(findPlanProblem(plan));
  plan = makeOne(0);
  EXPECT_EQ(findPlanProblem(plan)->message,
            "expects no id, since the entry point has none, but got 0");
  entryOf(plan, 0).instructions[0].id = -1;
  EXPECT_FALSE(findPlanProblem(plan));
  entryOf(plan, 0).instructions[0].kind = Kind::Send;
  EXPECT_EQ(findPlanProblem(plan)->message,
            "a message or reduction needs an id");
}

TEST(CheckPlan, Tasks) {
  const std::string clip = "instruction 11 ('clip', once) of entry point "
                           "'train' of program ";
  expectProblem([](Plan &p) { at(p, 1, 16).on = {}; },
                clip + "'p1': expects 'on' as on coordinate 0, [0, 1], but got "
                       "[1]");
  expectProblem(
      [](Plan &p) {
        at(p, 0, 16).on = at(p, 1, 16).on = {0, 1, 2};
      },
      clip + "'p0': runs on coordinates [0, 1, 2] but stands in the programs "
             "of [0, 1]");
  expectProblem([](Plan &p) { at(p, 0, 13).on = {1}; },
                "instruction 9 ('norm_0', once) of entry point 'train' of "
                "program 'p0': runs on coordinates [1] but stands in the "
                "programs of [0]");
  const std::string differs =
      "'p1': expects the task of id 16 as on coordinate 0 but its ";
  expectProblem(
      [](Plan &p) { at(p, 1, 16).pass = "U"; },
      "instruction 11 ('clip', U) of entry point 'train' of program " +
          differs + "pass differs");
  expectProblem([](Plan &p) { at(p, 1, 16).salt = 3; },
                clip + differs + "salt differs");
  expectProblem([](Plan &p) { at(p, 1, 16).microBatch = 0; },
                clip + differs + "micro-batch differs");
  expectProblem([](Plan &p) { at(p, 1, 16).stage = 0; },
                clip + differs + "stage differs");
  expectProblem(
      [](Plan &p) {
        p.programs[1].functions[at(p, 1, 16).function].name = "c";
      },
      "instruction 11 ('c', once) of entry point 'train' of program " +
          differs + "function differs");
  expectProblem(
      [](Plan &p) {
        p.programs[1].functions[at(p, 1, 16).function].results[0] = f32({9});
      },
      clip + differs + "types differs");
}

TEST(CheckPlan, Messages) {
  const std::string send =
      "instruction 1 (send 1 to 1) of entry point 'train' of program 'p0': ";
  const std::string receive = "instruction 0 (receive 1 from 0) of entry point "
                              "'train' of program 'p1': ";
  expectProblem([](Plan &p) { at(p, 0, 1).peer = 2; },
                "instruction 1 (send 1 to 2) of entry point 'train' of program "
                "'p0': expects another coordinate, from 0 to 1, as its peer "
                "but got 2");
  expectProblem([](Plan &p) { at(p, 0, 1).peer = 0; },
                "instruction 1 (send 1 to 0) of entry point 'train' of program "
                "'p0': expects another coordinate, from 0 to 1, as its peer "
                "but got 0");
  expectProblem(
      [](Plan &p) {
        auto &calls = entryOf(p, 1).instructions;
        calls.erase(calls.begin());
      },
      send + "there is no receive with id 1");
  expectProblem(
      [](Plan &p) {
        Instruction &other = at(p, 1, 1);
        other.kind = Kind::Send;
        std::swap(other.operands, other.results);
      },
      "instruction 0 (send 1 to 0) of entry point 'train' of program 'p1': "
      "expects a receive, since coordinate 0 has the send with id 1");
  expectProblem(
      [](Plan &p) {
        entryOf(p, 1).values[at(p, 1, 1).results[0]].type = f32({4, 2});
      },
      receive + "expects tensor<8xf32>, the type that coordinate 0 sends, but "
                "got tensor<4x2xf32>");
}

/// A message from rank 0 to rank 2 of three.
static Plan makeLongMessage() {
  PlanBuilder b(3);
  b.begin("train");
  b.input("x", f32({4}));
  b.task({0}, "f", {}, {"x"}, {{"y", f32({4})}});
  b.transfer("y", 0, 2);
  b.end();
  return b.finish();
}

TEST(CheckPlan, EndsOfMessages) {
  Plan plan = makeLongMessage();
  EXPECT_FALSE(findPlanProblem(plan));
  at(plan, 0, 1).peer = 1;
  EXPECT_EQ(findPlanProblem(plan)->message,
            "has peer 1 but the receive with id 1 is on coordinate 2");
  plan = makeLongMessage();
  at(plan, 2, 1).peer = 1;
  EXPECT_EQ(findPlanProblem(plan)->message,
            "has peer 1 but the send with id 1 is on coordinate 0");
  plan = makeLongMessage();
  entryOf(plan, 1).instructions = {at(plan, 0, 1)};
  entryOf(plan, 1).instructions[0].operands = {0};
  EXPECT_EQ(findPlanProblem(plan)->message,
            "a message has two ends but this is the third with id 1");
  EXPECT_EQ(findPlanProblem(plan)->program, 2);
}

TEST(CheckPlan, Reductions) {
  const std::string other =
      "instruction 8 (reduce 12) of entry point 'train' of program 'p1': ";
  expectProblem(
      [](Plan &p) {
        at(p, 1, 12).terms = {1, 0};
      },
      other + "expects terms as on coordinate 0, [0, 1], but got "
              "[1, 0]");
  expectProblem([](Plan &p) { at(p, 1, 12).members = {1}; },
                other + "expects members as on coordinate 0, [0, 1], but got "
                        "[1]");
  expectProblem(
      [](Plan &p) {
        at(p, 0, 12).members = at(p, 1, 12).members = {0, 1, 2};
      },
      "instruction 8 (reduce 12) of entry point 'train' of program 'p0': has "
      "as members coordinates [0, 1, 2] but stands in the programs of [0, 1]");
  expectProblem(
      [](Plan &p) {
        Instruction &member = at(p, 1, 12);
        entryOf(p, 1).values[member.operands[0]].type = f32({2});
      },
      other + "expects tensor<8xf32> as on coordinate 0 but got tensor<2xf32>");
  expectProblem(
      [](Plan &p) {
        at(p, 1, 12).operands.clear();
        at(p, 1, 12).results.clear();
      },
      other + "a member has a term or stores the sum");
}

TEST(CheckPlan, OrderOfChannels) {
  expectProblem(
      [](Plan &p) {
        auto &calls = entryOf(p, 1).instructions;
        std::swap(calls[0], calls[2]);
      },
      "instruction 0 (receive 4 from 0) of entry point 'train' of program "
      "'p1': receives message 4 but coordinate 0 sends message 1 first");
}

TEST(CheckPlan, Cycles) {
  // Rank 0 receives the first gradient before it has sent what that is made of:
  // right in its own order, which no memory forbids.
  expectProblem(
      [](Plan &p) {
        auto &calls = entryOf(p, 0).instructions;
        std::rotate(calls.begin(), calls.begin() + 4, calls.begin() + 5);
        calls[1].waits = {0};
      },
      "instruction 4 (send 6 to 0) of entry point 'train' of program 'p1': can "
      "never start: message 6 (instruction 4 of program 'p1', instruction 0 of "
      "program 'p0') needs instruction 3 ('f1.bw', B) of program 'p1', which "
      "needs instruction 1 ('f1.fw', F) of program 'p1', which needs message 1 "
      "(instruction 2 of program 'p0', instruction 0 of program 'p1'), which "
      "needs message 6 (instruction 4 of program 'p1', instruction 0 of "
      "program "
      "'p0')");
}

TEST(CheckPlan, AscendingIds) {
  expectProblem([](Plan &p) { std::swap(at(p, 0, 0).id, at(p, 0, 3).id); },
                "instruction 1 (send 1 to 1) of entry point 'train' of program "
                "'p0': expects ids to ascend but got 1 after 3");
}

TEST(CheckPlan, State) {
  auto shared = [] {
    PlanBuilder b(2);
    b.state({0, 1}, "w", f32({4}));
    b.begin("train");
    b.task({0, 1}, "u", {"U"}, {"w"}, {{"w'", f32({4}), "w"}});
    b.task({0, 1}, "v", {"U"}, {"w'"}, {{"y", f32({4})}});
    b.end();
    return b.finish();
  };
  auto problemOf = [](const Plan &plan) {
    auto problem = findPlanProblem(plan);
    return problem ? describeProblem(plan, *problem) : "none";
  };
  Plan plan = shared();
  EXPECT_EQ(problemOf(plan), "none");
  plan.programs[1].state[0].type = f32({2, 2});
  EXPECT_EQ(problemOf(plan),
            "program 'p1': expects state 'w' as on coordinate 0, "
            "tensor<4xf32>, but got tensor<2x2xf32>");
  plan = shared();
  plan.programs[1].state[0].init = StateTensor::Init::Ones;
  EXPECT_EQ(problemOf(plan), "program 'p1': expects state 'w' as on coordinate "
                             "0 but its kind or initial values differ");
  // The second task writes the parameter too, on one and on both ranks.
  plan = shared();
  EntryPoint &first = plan.programs[0].entries[0];
  first.values[first.instructions[1].results[0]].offset = 0;
  EXPECT_EQ(problemOf(plan),
            "instruction 1 ('v', U) of entry point 'train' of program 'p0': "
            "updates parameter 'w' a second time, after instruction 0");
  first.instructions[1].pass = "once";
  plan.programs[1].entries[0].instructions[1].pass = "once";
  EXPECT_EQ(problemOf(plan),
            "entry point 'train' of program 'p1': expects state 'w' to be "
            "written by the ops [0, 1], as on coordinate 0, but got [0]");
}

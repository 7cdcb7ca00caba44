// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to the arena that nothing orders, and waits that order nothing.

#include "CheckedPlan.h"

#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

TEST(CheckPlan, Races) {
  // Reads what another stream writes.
  expectProblem([](Plan &p) { at(p, 1, 2).waits.clear(); },
                "instruction 1 ('f1.fw', F) of entry point 'train' of program "
                "'p1': reads bytes 128 to 160 of the arena, which instruction "
                "0 on stream 'pp.in' writes, and does not wait for it");
  expectProblem([](Plan &p) { at(p, 0, 1).waits.clear(); },
                "instruction 1 (send 1 to 1) of entry point 'train' of program "
                "'p0': reads bytes 256 to 288 of the arena, which instruction "
                "0 on stream 'compute' writes, and does not wait for it");
  // Writes what another stream still reads.
  expectProblem([](Plan &p) { at(p, 0, 3).waits.clear(); },
                "instruction 2 ('f0.fw', F) of entry point 'train' of program "
                "'p0': writes bytes 256 to 288 of the arena, which instruction "
                "1 on stream 'pp.out' reads, and does not wait for it");
  // The same place for two receives, and a task that reads the first.
  expectProblem([](Plan &p) { at(p, 0, 10).waits.clear(); },
                "instruction 6 (receive 10 from 1) of entry point 'train' of "
                "program 'p0': writes bytes 256 to 288 of the arena, which "
                "instruction 5 on stream 'compute' reads, and does not wait "
                "for it");
  // The workspace of a task over what is sent meanwhile.
  expectProblem(
      [](Plan &p) {
        Instruction &task = at(p, 1, 8);
        p.programs[1].functions[task.function].workspaceBytes = 32;
        at(p, 1, 2).workspaceOffset = 1024;
        task.workspaceOffset =
            entryOf(p, 1).values[at(p, 1, 6).operands[0]].offset;
      },
      "instruction 5 ('f1.fw', F) of entry point 'train' of program 'p1': "
      "writes bytes 576 to 608 of the arena, which instruction 4 on stream "
      "'pp.out' reads, and does not wait for it");
}

TEST(CheckPlan, WaitsThatAreNotNeeded) {
  expectProblem([](Plan &p) { at(p, 1, 18).waits = {10}; },
                "instruction 12 ('adamw.w1', U) of entry point 'train' of "
                "program 'p1': waits for instruction 10, which has ended "
                "before it anyway");
  expectProblem([](Plan &p) { at(p, 1, 6).waits.push_back(2); },
                "instruction 4 (send 6 to 0) of entry point 'train' of program "
                "'p1': waits for instruction 2, with which it has no bytes in "
                "common");
}

// A value moved onto the bytes of others: a problem exactly where two
// instructions conflict that nothing orders, or a wait has become useless.
TEST(CheckPlan, RacesByDefinition) {
  std::mt19937 random(3);
  const Plan plans[] = {makePlan("1f1b", 2, 1, 4), makePlan("zbv", 2, 2, 4)};
  int races = 0, harmless = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Plan plan = plans[trial % 2];
    Program &program = plan.programs[0];
    EntryPoint &entry = program.entries[0];
    size_t inputs = program.state.size() + 1;
    EntryValue &value =
        entry.values[inputs + random() % (entry.values.size() - inputs)];
    value.offset = 16 * int64_t(random() % 48);
    bool race = false;
    for (size_t i = 0; i < entry.instructions.size(); ++i)
      race |= findRace(program, entry, int(i)) >= 0;
    auto problem = findPlanProblem(plan);
    bool found =
        problem && problem->message.find("does not wait") != std::string::npos;
    // A wait that is of no use is found before a race that comes later.
    bool useless =
        problem && problem->message.find("in common") != std::string::npos;
    if (!useless)
      EXPECT_EQ(found, race) << (problem ? problem->message : "none");
    races += found;
    harmless += !problem;
  }
  EXPECT_GT(races, 100);
  EXPECT_GT(harmless, 200);
}

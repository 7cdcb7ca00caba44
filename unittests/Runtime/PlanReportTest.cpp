// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of plans of several ranks.

#include "Piper/Runtime/Report.h"

#include "SchedulePlan.h"

using namespace piper::rt;
using namespace piper::rt::test;

TEST(PlanReport, Info) {
  std::string text = infoReport(makePlan("dualpipe", 2, 2, 4));
  EXPECT_EQ(text, "plan of 2 ranks, buffering 0\n"
                  "rank 0:\n"
                  "program p0 for cpu, 1 thread\n"
                  "parameters: 16 in 2 tensors, 64 bytes\n"
                  "  of these trainable: 16 in 2 tensors, 64 bytes\n"
                  "moments: 0 in 0 tensors, 0 bytes\n"
                  "functions: 11 with 15 kernels\n"
                  "entry point train: 13 tasks, 4 sends, 4 receives, 3 "
                  "reductions, stages 0, 1 (copy)\n"
                  "  input x: tensor<8xf32>\n"
                  "  output scale: tensor<8xf32>\n"
                  "rank 1:\n"
                  "program p1 for cpu, 1 thread\n"
                  "parameters: 16 in 2 tensors, 64 bytes\n"
                  "  of these trainable: 16 in 2 tensors, 64 bytes\n"
                  "moments: 0 in 0 tensors, 0 bytes\n"
                  "functions: 11 with 15 kernels\n"
                  "entry point train: 13 tasks, 4 sends, 4 receives, 3 "
                  "reductions, stages 1, 0 (copy)\n"
                  "  input x: tensor<8xf32>\n"
                  "  output scale: tensor<8xf32>\n");
}

TEST(PlanReport, Memory) {
  Plan plan = makePlan("1f1b", 2, 1, 2);
  for (int rank : {0, 1}) {
    Program &program = plan.programs[rank];
    program.arenaBytes = 2048;
    EntryPoint &entry = program.entries[0];
    entry.peakBytes = 1000 * (rank + 1);
    entry.peakInstruction = 4;
    entry.categories = {{"parameters", 32}};
  }
  EXPECT_EQ(memoryReport(plan),
            "rank 0:\n"
            "arena: 2.0 KiB (2,048 bytes)\n"
            "entry point train: peak 1000 bytes (1,000 bytes) at instruction 4 "
            "(receive 6 from 1)\n"
            "  parameters                       32 bytes\n"
            "rank 1:\n"
            "arena: 2.0 KiB (2,048 bytes)\n"
            "entry point train: peak 2.0 KiB (2,000 bytes) at instruction 4 "
            "(send 6 to 0)\n"
            "  parameters                       32 bytes\n");
  plan.programs.pop_back();
  EXPECT_EQ(memoryReport(plan), memoryReport(plan.programs[0]));
  EXPECT_EQ(infoReport(plan), infoReport(plan.programs[0]));
}

// A message needs no function, so a program without any has its bytes too.
TEST(PlanReport, UsedBytes) {
  PlanBuilder b(2);
  b.begin("train");
  b.input("x", f32({100}));
  b.transfer("x", 0, 1);
  b.end();
  Plan plan = b.finish();
  EXPECT_EQ(usedBytes(plan.programs[0], plan.programs[0].entries[0]), 400);
  EXPECT_EQ(usedBytes(plan.programs[1], plan.programs[1].entries[0]),
            448 + 400);
}

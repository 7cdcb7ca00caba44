// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How PIPER_CPU chooses an instruction set, and that a bad value reaches the
// user as an error. A run of all tests in which the CPU lacks the set is
// skipped.

#include "Piper/Runtime/CPU/InstructionSet.h"

#include "KernelTester.h"

#include <cstdlib>
#include <dnnl.h>

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
/// Before all tests: says why if the wanted set is not there.
class NeededSet : public testing::Environment {
  void SetUp() override {
    TensorType type{test::F32, {1}};
    auto made =
        findKernel("neg")->create({"neg", {type}, {type}, {}}, Target{});
    if (!made.ok())
      GTEST_SKIP() << made.takeStatus().message();
  }
};
const auto *const kNeededSet = testing::AddGlobalTestEnvironment(new NeededSet);
} // namespace

TEST(InstructionSet, NamesAreThoseOfTheVariable) {
  EXPECT_EQ(*chooseInstructionSet("baseline"), InstructionSet::Baseline);
  for (InstructionSet set : {InstructionSet::Baseline, InstructionSet::Avx2,
                             InstructionSet::Avx512}) {
    Result<InstructionSet> chosen =
        chooseInstructionSet(instructionSetName(set));
    if (set <= detectInstructionSet()) {
      ASSERT_TRUE(chosen.ok());
      EXPECT_EQ(*chosen, set);
    } else {
      ASSERT_FALSE(chosen.ok());
      EXPECT_EQ(chosen.takeStatus().message(),
                std::string("environment variable 'PIPER_CPU' expects an "
                            "instruction set of this CPU, at most '") +
                    instructionSetName(detectInstructionSet()) +
                    "', but got '" + instructionSetName(set) + "'");
    }
  }
}

TEST(InstructionSet, NothingMeansTheBest) {
  EXPECT_EQ(*chooseInstructionSet(nullptr), detectInstructionSet());
  EXPECT_EQ(*chooseInstructionSet(""), detectInstructionSet());
}

TEST(InstructionSet, OtherValuesAreErrors) {
  Result<InstructionSet> chosen = chooseInstructionSet("avx");
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.takeStatus().message(),
            "environment variable 'PIPER_CPU' expects 'baseline', 'avx2' or "
            "'avx512' but got 'avx'");
}

TEST(InstructionSet, TheProcessUsesTheOneAskedFor) {
  const char *wanted = std::getenv("PIPER_CPU");
  Result<InstructionSet> set = currentInstructionSet();
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(*set, *chooseInstructionSet(wanted));
}

TEST(InstructionSet, OneDnnUsesTheOneAskedFor) {
  const char *wanted = std::getenv("PIPER_CPU");
  if (!wanted || !*wanted)
    GTEST_SKIP() << "PIPER_CPU asks for nothing: oneDNN has no limit";
  // The limit is set with the first kernel.
  Result<InstructionSet> set = currentInstructionSet();
  ASSERT_TRUE(set.ok());
  dnnl_cpu_isa_t expected =
      *set == InstructionSet::Baseline ? dnnl_cpu_isa_sse41
      : *set == InstructionSet::Avx2   ? dnnl_cpu_isa_avx2
                                       : dnnl_cpu_isa_avx512_core;
  EXPECT_EQ(dnnl_get_effective_cpu_isa(), expected);
}

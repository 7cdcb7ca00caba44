// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction set the kernels use: the best one of this CPU, or a lower
// one by the environment variable PIPER_CPU.

#include "Piper/Runtime/CPU/InstructionSet.h"

#include "Loops/Loops.h"

#include <cstdlib>
#include <dnnl.h>

using namespace piper::rt;
using namespace piper::rt::cpu;

const char *piper::rt::cpu::instructionSetName(InstructionSet set) {
  switch (set) {
  case InstructionSet::Baseline:
    return "baseline";
  case InstructionSet::Avx2:
    return "avx2";
  case InstructionSet::Avx512:
    return "avx512";
  }
  return "";
}

InstructionSet piper::rt::cpu::detectInstructionSet() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return InstructionSet::Baseline;
  if (!__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl"))
    return InstructionSet::Avx2;
  return InstructionSet::Avx512;
}

Result<InstructionSet>
piper::rt::cpu::chooseInstructionSet(const char *requested) {
  InstructionSet best = detectInstructionSet();
  if (!requested || !*requested)
    return best;
  for (InstructionSet set : {InstructionSet::Baseline, InstructionSet::Avx2,
                             InstructionSet::Avx512}) {
    if (std::string(requested) != instructionSetName(set))
      continue;
    if (set > best)
      return Status::error(
          "environment variable 'PIPER_CPU' expects an instruction set of "
          "this CPU, at most '" +
          std::string(instructionSetName(best)) + "', but got '" + requested +
          "'");
    return set;
  }
  return Status::error("environment variable 'PIPER_CPU' expects 'baseline', "
                       "'avx2' or 'avx512' but got '" +
                       std::string(requested) + "'");
}

namespace {
/// The choice of this process.
struct Choice {
  Choice() {
    const char *requested = std::getenv("PIPER_CPU");
    Result<InstructionSet> chosen = chooseInstructionSet(requested);
    if (!chosen.ok()) {
      error = chosen.takeStatus().message();
      return;
    }
    set = *chosen;
    // oneDNN accepts the limit before its first primitive only; it has no
    // effect where an embedding program already used oneDNN.
    if (set == InstructionSet::Baseline)
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
    else if (set == InstructionSet::Avx2)
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    else if (requested && *requested)
      // Without what some CPUs have beyond it for bf16.
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core);
  }
  InstructionSet set = InstructionSet::Baseline;
  std::string error;
};
} // namespace

static const Choice &choice() {
  static const Choice theChoice;
  return theChoice;
}

Result<InstructionSet> piper::rt::cpu::currentInstructionSet() {
  if (!choice().error.empty())
    return Status::error(choice().error);
  return choice().set;
}

const Loops &piper::rt::cpu::loops() {
  switch (choice().set) {
  case InstructionSet::Baseline:
    break;
  case InstructionSet::Avx2:
    return avx2::kLoops;
  case InstructionSet::Avx512:
    return avx512::kLoops;
  }
  return baseline::kLoops;
}

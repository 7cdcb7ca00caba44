// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set that the kernels of the CPU use, and how a user lowers
// it: PIPER_CPU=baseline|avx2|avx512. Bits of results are equal only for one
// set.

#ifndef PIPER_RUNTIME_CPU_INSTRUCTIONSET_H
#define PIPER_RUNTIME_CPU_INSTRUCTIONSET_H

#include "Piper/Runtime/Status.h"

namespace piper::rt::cpu {

/// In ascending order: a CPU with one has those before it. Avx2 includes FMA;
/// Avx512 is F, DQ, BW and VL.
enum class InstructionSet { Baseline, Avx2, Avx512 };

/// "baseline", "avx2" or "avx512".
const char *instructionSetName(InstructionSet set);

/// The best set of this CPU.
InstructionSet detectInstructionSet();

/// The set that `requested` (a value of PIPER_CPU; null or empty: the best)
/// means on this CPU, or an error if it names none or one that the CPU lacks.
Result<InstructionSet> chooseInstructionSet(const char *requested);

/// The set of this process: read from the environment once.
Result<InstructionSet> currentInstructionSet();

} // namespace piper::rt::cpu

#endif // PIPER_RUNTIME_CPU_INSTRUCTIONSET_H

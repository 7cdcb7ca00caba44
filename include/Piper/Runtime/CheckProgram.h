// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of a Program, made once when it is loaded, so that the loop which
// runs it checks nothing. A plan may come from a file that a person edited:
// every wrong number is an error that says what is wrong and where.

#ifndef PIPER_RUNTIME_CHECKPROGRAM_H
#define PIPER_RUNTIME_CHECKPROGRAM_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

namespace piper::rt {

/// Checks sizes, offsets, indices, counts, types and names; that kernels exist
/// and have the workspace they need; and, by going through each entry point
/// once, that no value is read after its bytes were overwritten, that results
/// lie over operands only where the kernel allows it, and that state holds its
/// own tensors at the end. A step that is a view (KernelEntry::viewOffset)
/// lies at its place in the operand, or apart from it: then it is a copy.
Status checkProgram(const Program &program);

/// "instruction 5 ('block.bw', layer = 3, B) of entry point 'train'",
/// "instruction 6 (send 9 to 2) of entry point 'train'".
std::string describeInstruction(const Program &program, const EntryPoint &entry,
                                int64_t instruction);

} // namespace piper::rt

#endif // PIPER_RUNTIME_CHECKPROGRAM_H

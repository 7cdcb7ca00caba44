// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the last step in files.

#ifndef PIPER_RUNTIME_DUMP_H
#define PIPER_RUNTIME_DUMP_H

#include "Piper/Runtime/Executor.h"
#include "Piper/Runtime/Files.h"

namespace piper::rt {

/// Fails where the entry point does not keep the gradients to the end of the
/// step. (A parameter that the loss does not reach has none.)
Status checkKeepsGradients(const Program &program, const EntryPoint &entry);

/// Writes the raw gradients of the last run of entry point `entry` (before
/// clipping) under the names of their parameters: F32 (bf16 is widened), F64 in
/// an f64 program. With a `batch` the file takes its place with the others of
/// it.
Status dumpGradients(const Executor &executor, int entry,
                     const std::string &path, OutputBatch *batch = nullptr);

/// Writes all outputs of the last run of entry point `entry`.
Status dumpOutputs(const Executor &executor, int entry, const std::string &path,
                   OutputBatch *batch = nullptr);

} // namespace piper::rt

#endif // PIPER_RUNTIME_DUMP_H

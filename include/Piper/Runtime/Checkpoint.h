// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State in files: parameters alone, or with moments and counters, as
// safetensors under the names of the source program. A parameter that a model
// uses twice (tied) is stored once, under its own name.

#ifndef PIPER_RUNTIME_CHECKPOINT_H
#define PIPER_RUNTIME_CHECKPOINT_H

#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Executor.h"
#include "Piper/Runtime/Files.h"

#include <optional>
#include <utility>

namespace piper::rt {

/// Writes the parameters by name, atomically. Metadata: "format" = "pt"
/// (row-major tensors, which other readers ask for) and "piper" = "parameters".
/// With a `batch` the file takes its place with the others of it.
Status saveParameters(const Executor &executor, const std::string &path,
                      OutputBatch *batch = nullptr);
/// Writes all state: also "NAME.m", "NAME.v", "iteration", "update", "seed".
/// Metadata "piper" = "state" and, where the run has read data, the position of
/// the next batch: "position" = "60", "position_unit" = "token" or "row",
/// "position_after" = "batches of 4 x 5 tokens".
Status saveState(const Executor &executor, const std::string &path,
                 const std::optional<DataPosition> &position = {},
                 OutputBatch *batch = nullptr);

/// What a file restored.
struct LoadReport {
  int64_t parameters = 0;
  int64_t moments = 0;
  int64_t counters = 0;
  /// Where the data goes on. Absent in files of parameters and of versions that
  /// knew the number of the next batch alone.
  std::optional<DataPosition> position;
  /// Tensors of the file that were left out, and why; one sentence each.
  std::vector<std::string> notes;
  /// "restored 28 parameters from 'F'; moments and counters start anew".
  std::string text;
};

/// Reads a file of either kind into the state. A file with a moment or counter
/// must have all of them; one without leaves them as they are. Missing,
/// unknown and misshapen tensors are one error with their names, and then
/// nothing was changed. As files of GPT-2 differ: names may have or lack the
/// prefix "transformer."; the mask buffers "*.attn.bias" and
/// "*.attn.masked_bias" are left out; "lm_head.weight" of a model whose
/// head is tied is left out if it has the bits of "wte.weight".
Result<LoadReport> loadCheckpoint(Executor &executor, const std::string &path);

/// Name and checksum (FNV-1a, 64 bits, of the bytes) of every state tensor.
std::vector<std::pair<std::string, uint64_t>>
stateChecksums(const Executor &executor);

} // namespace piper::rt

#endif // PIPER_RUNTIME_CHECKPOINT_H

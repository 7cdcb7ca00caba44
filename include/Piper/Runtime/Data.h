// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where batches come from. A batch is a function of its number (the counter
// `iteration`) and of the place in the file where a run that is resumed goes
// on, which a file of state holds in units that do not depend on the shape of
// batches.

#ifndef PIPER_RUNTIME_DATA_H
#define PIPER_RUNTIME_DATA_H

#include "Piper/Runtime/Executor.h"

#include <memory>

namespace piper::rt {

/// Where a batch begins in a file.
struct DataPosition {
  /// Tokens of --data, or rows of --inputs: what the dimension "batch" counts.
  enum class Unit { Tokens, Rows };
  Unit unit = Unit::Tokens;
  int64_t value = 0;
  /// What was read up to there, for messages: "batches of 4 x 5 tokens".
  std::string batches;
};

/// "token" or "row".
const char *unitName(DataPosition::Unit unit);

/// Gives the inputs of one entry point, batch by batch.
class BatchSource {
public:
  virtual ~BatchSource() = default;
  /// Writes batch `iteration` to `buffers`, one for each input of the entry
  /// point, in order, with its size in bytes. Allocates nothing.
  virtual Status fill(int64_t iteration,
                      const std::vector<MutableBytes> &buffers) = 0;
  /// Batches below this number are there; -1 where they have no end.
  virtual int64_t count() const = 0;
  /// Batch `iteration` begins at `position`, and those before and after it
  /// accordingly; without this call batch 0 begins at 0. A position in units of
  /// another kind of file changes nothing. Fails where it lies inside a
  /// sequence of tokens or a batch of rows.
  virtual Status resume(int64_t iteration, const DataPosition &position) = 0;
  /// Where batch `iteration` begins.
  virtual DataPosition position(int64_t iteration) const = 0;
  /// Of the file.
  virtual const std::string &path() const = 0;
};

enum class TokenType { U8, U16, U32 };

/// "u8", "u16" or "u32".
Result<TokenType> parseTokenType(const std::string &name);
/// How a file is read unless it is said: `.bin` as u16, any other as bytes.
TokenType defaultTokenType(const std::string &path);

/// A file of tokens (little-endian) for an entry point with the inputs `tokens`
/// and perhaps `labels`, integers of shape [batch, seq].
///
/// Sequence k is tokens k*seq .. k*seq + seq - 1; its labels are the tokens one
/// further, labels[i] being the token to predict at i. So the last label needs
/// a token more, there are floor((n - 1) / seq) sequences, and the at most seq
/// tokens after the last of them are not used. Batch i is the sequences i*batch
/// .. i*batch + batch - 1, modulo the number of sequences. So a position is
/// that of a token in the file, however often the file was read.
///
/// Fails for a file with fewer than batch*seq + 1 tokens, and for a token that
/// the program has no entry for, with its position (the whole file is checked).
Result<std::unique_ptr<BatchSource>> openTokens(const Program &program,
                                                const EntryPoint &entry,
                                                const std::string &path,
                                                TokenType type);
/// For an entry point of all ranks.
Result<std::unique_ptr<BatchSource>> openTokens(const Executor &executor,
                                                int entry,
                                                const std::string &path,
                                                TokenType type);

/// A safetensors file with a tensor for each input of the entry point and no
/// other: of the shape of the input with the number of steps in front. Batch i
/// is its part i. Fails where a tensor is missing, unknown or of another shape
/// or type.
Result<std::unique_ptr<BatchSource>> openInputs(const Program &program,
                                                const EntryPoint &entry,
                                                const std::string &path);
/// For an entry point of all ranks.
Result<std::unique_ptr<BatchSource>>
openInputs(const Executor &executor, int entry, const std::string &path);

} // namespace piper::rt

#endif // PIPER_RUNTIME_DATA_H

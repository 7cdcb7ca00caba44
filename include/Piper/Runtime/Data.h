// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where batches come from. A batch is a function of its number alone (the
// counter `iteration`), so a run that is resumed goes on where it stopped.

#ifndef PIPER_RUNTIME_DATA_H
#define PIPER_RUNTIME_DATA_H

#include "Piper/Runtime/Executor.h"

#include <memory>

namespace piper::rt {

/// Gives the inputs of one entry point, batch by batch.
class BatchSource {
public:
  virtual ~BatchSource() = default;
  /// Writes batch `iteration` to `buffers`, one for each input of the entry
  /// point, in order, with its size in bytes. Allocates nothing.
  virtual Status fill(int64_t iteration,
                      const std::vector<MutableBytes> &buffers) = 0;
  /// The number of batches, or -1 where they have no end.
  virtual int64_t count() const = 0;
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
/// .. i*batch + batch - 1, modulo the number of sequences.
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

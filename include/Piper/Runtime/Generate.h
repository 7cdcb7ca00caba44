// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from a model of bytes, through the entry point "predict".

#ifndef PIPER_RUNTIME_GENERATE_H
#define PIPER_RUNTIME_GENERATE_H

#include "Piper/Runtime/Executor.h"

#include <ostream>

namespace piper::rt {

struct GenerateOptions {
  /// Bytes to generate.
  int64_t count = 0;
  /// What the text goes on from; at least one byte.
  std::string prompt = "\n";
  /// Logits are divided by it before the softmax; 0 takes the most likely
  /// byte, the lowest of equal ones.
  double temperature = 0.8;
  int64_t seed = 0;
};

/// Appends `count` bytes to `out`, each as soon as it is known. "predict" has
/// the input `tokens`, integers [batch, seq], and the output `logits`, floats
/// [batch, seq, vocab <= 256], and is causal: row 0 holds the last seq bytes so
/// far, from position 0 on, and logits[0, n - 1] are those of the next byte.
Status generate(Executor &executor, const GenerateOptions &options,
                std::ostream &out);

} // namespace piper::rt

#endif // PIPER_RUNTIME_GENERATE_H

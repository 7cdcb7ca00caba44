// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two programs on the same data: is one the oracle of the other? The rule is
// MATCH of docs/numerics.md.

#ifndef PIPER_RUNTIME_COMPARE_H
#define PIPER_RUNTIME_COMPARE_H

#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Executor.h"

#include <ostream>

namespace piper::rt {

/// The elements of a tensor, in any type.
struct TensorView {
  const std::byte *data = nullptr;
  TensorType type;
};

/// How a tensor compares with its reference.
struct MatchResult {
  bool match = true;
  /// The element furthest beyond (or nearest to) what is allowed.
  int64_t element = 0;
  double value = 0;
  double reference = 0;
  /// |value - reference| may be this much there.
  double allowed = 0;
};

/// MATCH: every |x - ref| is at most 1e-5 max|ref|, and at most 1e-3 |ref|
/// where |ref| > 1e-3 max|ref|. A reference with max|ref| <= 1e-7 counts as
/// zero: there 1e-7 is allowed. What is not finite must be equal (all NaNs
/// are). Requires: equal shapes.
MatchResult matchTensors(const TensorView &value, const TensorView &reference);

/// Every |x - ref| is at most `bound`.
MatchResult matchWithin(const TensorView &value, const TensorView &reference,
                        double bound);

struct CompareOptions {
  int64_t steps = 1;
  /// Where the result is written; null: nowhere.
  std::ostream *out = nullptr;
};

/// Runs "train" of both for `steps` steps and compares after each step loss
/// and raw gradients, and after the last the parameters, all with MATCH. Where
/// the reference is updated by AdamW, losses and gradients are compared at the
/// first step alone, and parameters within 0.05 of the largest learning rate.
/// Both must keep all gradients and have the same inputs and parameters. Fails
/// at the end of the first step that differs, naming every tensor that does,
/// the worst first.
Status compare(Executor &executor, BatchSource &source, Executor &reference,
               BatchSource &referenceSource, const CompareOptions &options);

} // namespace piper::rt

#endif // PIPER_RUNTIME_COMPARE_H

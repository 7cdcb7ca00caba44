// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of a reduction.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_SUMTERMS_H
#define PIPER_LIB_RUNTIME_EXECUTE_SUMTERMS_H

#include "Piper/Runtime/Program.h"

#include <cstddef>

namespace piper::rt {

/// Writes the sum of the terms, added from left to right, to all results; of
/// one term its bytes, whatever they are. A result may be a term. Requires: the
/// element type is f32, f64, i32 or i64, or there is one term.
void reduceTerms(const TensorType &type,
                 const std::vector<const std::byte *> &terms,
                 const std::vector<std::byte *> &results);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_SUMTERMS_H

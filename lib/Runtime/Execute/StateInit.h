// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initial values of state.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_STATEINIT_H
#define PIPER_LIB_RUNTIME_EXECUTE_STATEINIT_H

#include "Piper/Runtime/Program.h"

#include <cstddef>

namespace piper::rt {

/// Writes the initial values of `tensor` to `data`; `seed` for the counter of
/// that name.
void initializeTensor(const StateTensor &tensor, int64_t seed, std::byte *data);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_STATEINIT_H

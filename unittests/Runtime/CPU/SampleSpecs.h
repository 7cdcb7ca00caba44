// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One valid spec of each kernel, for tests that hold for all of them.

#ifndef PIPER_UNITTESTS_RUNTIME_CPU_SAMPLESPECS_H
#define PIPER_UNITTESTS_RUNTIME_CPU_SAMPLESPECS_H

#include "KernelTester.h"

namespace piper::rt::test {

std::vector<KernelSpec> validSpecs();

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_CPU_SAMPLESPECS_H

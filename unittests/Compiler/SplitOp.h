// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One op split along one factor of its sharding rule: operands cut, the op run
// on each part, results put together.

#ifndef PIPER_UNITTESTS_COMPILER_SPLITOP_H
#define PIPER_UNITTESTS_COMPILER_SPLITOP_H

#include "OpCase.h"

#include "Piper/Dialect/PiperDialect.h"

namespace piper::test {

/// The results of the op of `row`, from as many parts as the smallest prime
/// factor of the size of `factor`.
std::vector<HostTensor> runInParts(const OpCase &row, CaseModule &module,
                                   const mlir::piper::ShardingRule &rule,
                                   int factor,
                                   const std::vector<HostTensor> &operands);

} // namespace piper::test

#endif // PIPER_UNITTESTS_COMPILER_SPLITOP_H

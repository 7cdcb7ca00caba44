// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading .mlir files that anybody may have written.

#ifndef PIPER_DRIVER_SOURCEFILE_H
#define PIPER_DRIVER_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::piper {

/// Brackets may nest this deep; a program needs about ten levels.
constexpr int kMaxNesting = 256;
/// An op has fewer than a million results.
constexpr size_t kMaxResultDigits = 6;

/// Opens `path` ("-" is standard input) and refuses a text whose brackets nest
/// deeper than kMaxNesting: MLIR's parser recurses once for each level and
/// would overflow its stack. Refuses a result number of more than
/// kMaxResultDigits digits as well, as many entries of a list in that parser.
/// On failure returns null and sets `error` to one line with the place.
std::unique_ptr<llvm::MemoryBuffer> openSource(llvm::StringRef path,
                                               std::string &error);

/// The line (from 1) and column (from 1) where brackets first nest deeper than
/// `limit`, or {0, 0}. Strings and comments do not count.
std::pair<int, int> findDeepNesting(llvm::StringRef text, int limit);

/// The place of the first `%name#N` whose N has more than kMaxResultDigits
/// digits, or {0, 0}.
std::pair<int, int> findHugeResultNumber(llvm::StringRef text);

} // namespace mlir::piper

#endif // PIPER_DRIVER_SOURCEFILE_H

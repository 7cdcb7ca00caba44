// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading .mlir files that anybody may have written.

#include "Piper/Driver/SourceFile.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

/// Calls `visit` with the index, line and column (from 1) of every character
/// outside of strings and comments, until it returns true.
static std::pair<int, int> findCode(StringRef text,
                                    function_ref<bool(size_t)> visit) {
  int line = 1;
  size_t lineStart = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n') {
      ++line;
      lineStart = i + 1;
    } else if (c == '"') {
      // To the closing quote; a string does not cross lines.
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\')
          ++i;
      if (i < text.size() && text[i] == '\n')
        --i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      while (i + 1 < text.size() && text[i + 1] != '\n')
        ++i;
    } else if (visit(i)) {
      return {line, static_cast<int>(i - lineStart) + 1};
    }
  }
  return {0, 0};
}

std::pair<int, int> mlir::piper::findDeepNesting(StringRef text, int limit) {
  int depth = 0;
  return findCode(text, [&](size_t i) {
    char c = text[i];
    if (StringRef("([{<").contains(c))
      return ++depth > limit;
    if (StringRef(")]}").contains(c) ||
        (c == '>' && (i == 0 || text[i - 1] != '-')))
      depth = std::max(depth - 1, 0);
    return false;
  });
}

std::pair<int, int> mlir::piper::findHugeResultNumber(StringRef text) {
  return findCode(text, [&](size_t i) {
    if (text[i] != '#')
      return false;
    StringRef digits = text.drop_front(i + 1).take_while(isDigit);
    if (digits.size() <= kMaxResultDigits)
      return false;
    // The number of a result follows the name of a value.
    StringRef name = text.take_front(i);
    size_t start = name.find_last_not_of(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$.-");
    return start != StringRef::npos && name[start] == '%';
  });
}

std::unique_ptr<MemoryBuffer> mlir::piper::openSource(StringRef path,
                                                      std::string &error) {
  std::unique_ptr<MemoryBuffer> buffer = openInputFile(path, &error);
  if (!buffer)
    return nullptr;
  StringRef text = buffer->getBuffer();
  if (text.starts_with("ML\xefR"))
    return buffer;
  auto refuse = [&](std::pair<int, int> place, const Twine &reason) {
    error = (path + ":" + Twine(place.first) + ":" + Twine(place.second) +
             ": error: " + reason)
                .str();
    return nullptr;
  };
  if (auto place = findDeepNesting(text, kMaxNesting); place.first)
    return refuse(place, "brackets nest deeper than " + Twine(kMaxNesting) +
                             " levels");
  if (auto place = findHugeResultNumber(text); place.first)
    return refuse(place, "the number of a result has more than " +
                             Twine(kMaxResultDigits) + " digits");
  return buffer;
}

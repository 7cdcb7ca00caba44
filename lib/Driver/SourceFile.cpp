// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading .mlir files that anybody may have written.

#include "Piper/Driver/SourceFile.h"

#include "mlir/Support/FileUtilities.h"

using namespace llvm;

std::pair<int, int> mlir::piper::findDeepNesting(StringRef text, int limit) {
  int depth = 0, line = 1;
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
    } else if (StringRef("([{<").contains(c)) {
      if (++depth > limit)
        return {line, static_cast<int>(i - lineStart) + 1};
    } else if (StringRef(")]}").contains(c) ||
               (c == '>' && (i == 0 || text[i - 1] != '-'))) {
      depth = std::max(depth - 1, 0);
    }
  }
  return {0, 0};
}

std::unique_ptr<MemoryBuffer> mlir::piper::openSource(StringRef path,
                                                      std::string &error) {
  std::unique_ptr<MemoryBuffer> buffer = openInputFile(path, &error);
  if (!buffer)
    return nullptr;
  StringRef text = buffer->getBuffer();
  if (text.starts_with("ML\xefR"))
    return buffer;
  auto [line, column] = findDeepNesting(text, kMaxNesting);
  if (line == 0)
    return buffer;
  error =
      (path + ":" + Twine(line) + ":" + Twine(column) +
       ": error: brackets nest deeper than " + Twine(kMaxNesting) + " levels")
          .str();
  return nullptr;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of its own for the files of a test, removed at its end.

#ifndef PIPER_UNITTESTS_RUNTIME_TEMPFOLDER_H
#define PIPER_UNITTESTS_RUNTIME_TEMPFOLDER_H

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace piper::rt::test {

class TempFolder {
public:
  TempFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "piper-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string &name) const {
    return (path / name).string();
  }
  /// Writes a file; returns its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::string read(const std::string &name) const {
    std::ifstream stream(file(name), std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
  }
  /// Number of files in the folder.
  size_t count() const {
    return size_t(std::distance(std::filesystem::directory_iterator(path), {}));
  }

  std::filesystem::path path;
};

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_TEMPFOLDER_H

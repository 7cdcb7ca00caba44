// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text file that grows during a run; each flush leaves it readable.

#ifndef PIPER_LIB_RUNTIME_FILES_GROWINGFILE_H
#define PIPER_LIB_RUNTIME_FILES_GROWINGFILE_H

#include "Piper/Runtime/Files.h"

#include <string>

namespace piper::rt {

class GrowingFile {
public:
  /// Takes the place of a file that is there when it is first flushed: a run
  /// that fails before it has anything to say leaves the old one.
  static Result<GrowingFile> open(const std::string &path) {
    Result<OutputFile> file = OutputFile::create(path);
    if (!file.ok())
      return file.takeStatus();
    return GrowingFile(std::move(*file));
  }

  void write(const std::string &text) { pending += text; }
  /// Hands everything to the system.
  Status flush() {
    PIPER_RETURN_IF_ERROR(file.write(pending.data(), int64_t(pending.size())));
    pending.clear();
    return file.publish();
  }

private:
  explicit GrowingFile(OutputFile file) : file(std::move(file)) {}

  OutputFile file;
  std::string pending;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_FILES_GROWINGFILE_H

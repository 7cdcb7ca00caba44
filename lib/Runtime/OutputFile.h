// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text file that grows during a run; each flush leaves it readable.

#ifndef PIPER_LIB_RUNTIME_OUTPUTFILE_H
#define PIPER_LIB_RUNTIME_OUTPUTFILE_H

#include "Piper/Runtime/Status.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace piper::rt {

class OutputFile {
public:
  static Result<OutputFile> open(const std::string &path, bool append) {
    OutputFile file;
    file.path = path;
    file.stream.reset(std::fopen(path.c_str(), append ? "ae" : "we"));
    if (!file.stream)
      return file.error();
    return file;
  }

  void write(const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stream.get());
  }
  /// Hands everything to the system; an error of any write shows here.
  Status flush() {
    if (std::fflush(stream.get()) != 0 || std::ferror(stream.get()))
      return error();
    return Status::success();
  }

private:
  Status error() const {
    return Status::error("cannot write '" + path +
                         "': " + std::strerror(errno));
  }
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::string path;
  std::unique_ptr<std::FILE, Close> stream;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_OUTPUTFILE_H

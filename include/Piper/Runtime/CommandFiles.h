// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of one command, checked before any of them is opened: no two
// outputs are one file, and none is a file that the command reads. Every tool
// that writes asks here first.

#ifndef PIPER_RUNTIME_COMMANDFILES_H
#define PIPER_RUNTIME_COMMANDFILES_H

#include "Piper/Runtime/Status.h"

#include <string>
#include <vector>

namespace piper::rt {

class CommandFiles {
public:
  CommandFiles();
  ~CommandFiles();

  /// A file that is read, which no output that is added later replaces. A path
  /// that is no file is the reader's error.
  void addInput(const std::string &path);
  /// A file that is written. Fails where it cannot be, is to be written
  /// already, or is read. An output that is added before an input may be that
  /// file: it is written when all was read.
  Status addOutput(const std::string &path);

private:
  struct File;
  std::vector<File> files;
};

} // namespace piper::rt

#endif // PIPER_RUNTIME_COMMANDFILES_H

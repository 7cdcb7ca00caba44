// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the path of an output stands for. Two paths are one file if they end,
// after all symbolic links, at one name in one folder: so a file that is not
// there yet has a place too, and a hard link is a file of its own.

#ifndef PIPER_LIB_RUNTIME_FILES_FILEPLACE_H
#define PIPER_LIB_RUNTIME_FILES_FILEPLACE_H

#include "Piper/Runtime/Status.h"

#include <cstdint>
#include <string>
#include <tuple>

namespace piper::rt {

struct FilePlace {
  enum class Kind {
    /// A regular file, or a name that is free: written beside and renamed.
    File,
    /// A pipe or a device: written as it is.
    Stream,
    /// A descriptor of this process: "-", /dev/stdout, /dev/fd/3.
    Descriptor,
  };
  Kind kind = Kind::File;
  /// Whether there is something, and for a File its permissions.
  bool exists = false;
  unsigned mode = 0666;
  /// The path after all links.
  std::string path;
  /// Of a Descriptor.
  int descriptor = -1;
  /// Whether two outputs may go there at once, as to /dev/null.
  bool isDevice = false;

  std::string folder() const;
  std::string name() const;
  bool isSameAs(const FilePlace &other) const;

  /// The folder as device and inode.
  uint64_t folderDevice = 0, folderInode = 0;
};

/// Fails, naming `path`, where no file may be put or replaced.
Result<FilePlace> findPlace(const std::string &path);

/// "cannot WHAT 'PATH': " and the text of errno.
Status systemError(const std::string &what, const std::string &path);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_FILES_FILEPLACE_H

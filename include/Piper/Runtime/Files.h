// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files as the runtime needs them: reading at an offset with errors that name
// the file, and writing so that a crash leaves the old file or the new one.

#ifndef PIPER_RUNTIME_FILES_H
#define PIPER_RUNTIME_FILES_H

#include "Piper/Runtime/Status.h"

#include <cstdint>
#include <string>

namespace piper::rt {

/// A regular file open for reading. Move-only.
class InputFile {
public:
  /// Fails for what is not a regular file (folders, pipes, devices).
  static Result<InputFile> open(const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) noexcept;
  ~InputFile();

  const std::string &path() const { return name; }
  /// Bytes of the file when it was opened.
  int64_t size() const { return bytes; }
  /// Reads exactly `count` bytes at `offset`. Does not map the file, so that a
  /// file that shrinks meanwhile is an error and no signal.
  Status read(int64_t offset, int64_t count, void *destination) const;

private:
  InputFile() = default;
  std::string name;
  int64_t bytes = 0;
  int descriptor = -1;
};

/// A file that replaces `path` as a whole when it is complete: written under
/// a unique hidden name in the same folder (".NAME.PID-N.tmp"), flushed to
/// the disk, renamed, and the folder flushed. Killed at any moment, `path` is
/// the old file or the new one; the hidden file may stay behind. A symbolic
/// link is followed.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&other) noexcept;
  /// Removes what was written unless commit() succeeded.
  ~AtomicFile();

  Status write(const void *data, int64_t count);
  Status commit();

private:
  AtomicFile() = default;
  Status fail(const std::string &what);
  void discard();

  std::string path;
  std::string temporary;
  int descriptor = -1;
};

/// Whether AtomicFile could replace `path`: found out before a long run rather
/// than after it. Leaves nothing behind.
Status checkWritable(const std::string &path);

} // namespace piper::rt

#endif // PIPER_RUNTIME_FILES_H

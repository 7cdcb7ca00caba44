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
#include <utility>
#include <vector>

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

/// Fails where `path` is a file that this process has opened as an InputFile,
/// under this name or another: nothing takes the place of what a command reads,
/// even where only a file that it has read names it.
Status checkUnread(const std::string &path);

/// A file that takes the place of `path` as a whole: written under a hidden
/// name in the same folder (".NAME.PID-N.tmp") and renamed. Killed at any
/// moment, `path` is the old file or the new one; the hidden file may stay
/// behind and is removed by the next write of `path`. A symbolic link is
/// followed; of several hard links only `path` is replaced. What is no regular
/// file ("-" for standard output, a pipe, a device) is written as it is.
class OutputFile {
public:
  static Result<OutputFile> create(const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&other) noexcept;
  /// Removes what was written unless it was published.
  ~OutputFile();

  Status write(const void *data, int64_t count);
  /// Renames the file to its place, where it goes on being written.
  Status publish();
  /// Has the disk take everything.
  Status flush();
  /// Publishes and closes. With `toDisk` file and folder are flushed to the
  /// disk, so that a machine that crashes has the old file or the new one too.
  Status commit(bool toDisk = true);

private:
  OutputFile() = default;
  Status fail(const std::string &what);
  void discard();

  /// As the user wrote it, and after all links.
  std::string given, target;
  std::string temporary;
  int descriptor = -1;
};

/// Whether OutputFile could write `path`: found out before a long run rather
/// than after it. Leaves nothing behind.
Status checkWritable(const std::string &path);

/// Files that take their places when all of them are complete: an error of one
/// leaves what was there in the place of each.
class OutputBatch {
public:
  void add(OutputFile file) { files.push_back(std::move(file)); }
  Status commit(bool toDisk = true);

private:
  std::vector<OutputFile> files;
};

/// A small file in one go.
Status writeFile(const std::string &path, const std::string &text);
/// Several, by path and text, as one batch.
Status
writeFiles(const std::vector<std::pair<std::string, std::string>> &files);

} // namespace piper::rt

#endif // PIPER_RUNTIME_FILES_H

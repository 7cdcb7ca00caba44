// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and atomic writing on POSIX.

#include "Piper/Runtime/Files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace piper::rt;

/// Bytes of one read or write call: Linux moves at most 2 GiB at once.
static constexpr int64_t kMostAtOnce = int64_t(1) << 30;

static Status systemError(const std::string &what, const std::string &path) {
  int code = errno;
  return Status::error("cannot " + what + " '" + path +
                       "': " + std::strerror(code));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<InputFile> InputFile::open(const std::string &path) {
  InputFile file;
  file.name = path;
  // Not to wait for the other end of a pipe.
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0)
    return systemError("open", path);
  struct stat info;
  if (fstat(file.descriptor, &info) != 0)
    return systemError("read", path);
  if (!S_ISREG(info.st_mode))
    return Status::error("cannot read '" + path + "': it is not a file");
  file.bytes = info.st_size;
  return file;
}

InputFile::InputFile(InputFile &&other) noexcept { *this = std::move(other); }

InputFile &InputFile::operator=(InputFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(bytes, other.bytes);
  std::swap(descriptor, other.descriptor);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status InputFile::read(int64_t offset, int64_t count, void *destination) const {
  char *to = static_cast<char *>(destination);
  while (count > 0) {
    ssize_t got = ::pread(descriptor, to, std::min(count, kMostAtOnce), offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError("read", name);
    if (got == 0)
      return Status::error("'" + name + "' ends at byte " +
                           std::to_string(offset) + ": expects " +
                           std::to_string(count) + " bytes more");
    to += got;
    offset += got;
    count -= got;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string folderOf(const std::string &path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name that no other process or thread of this one uses.
static std::string temporaryName(const std::string &path) {
  static std::atomic<int> counter{0};
  size_t slash = path.find_last_of('/');
  std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
  // A name may have 255 bytes with everything around it.
  return folderOf(path) + "/." + base.substr(0, 200) + "." +
         std::to_string(getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

/// What `path` stands for: the end of symbolic links. Fails where a file
/// may not be put or replaced.
static Result<std::string> resolveTarget(const std::string &path) {
  if (path.empty() || path.back() == '/')
    return Status::error("cannot write '" + path + "': expects a file name");
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT)
      return path;
    return systemError("write", path);
  }
  if (!S_ISREG(info.st_mode))
    return Status::error("cannot write '" + path +
                         "': it exists and is not a file");
  if (access(path.c_str(), W_OK) != 0)
    return systemError("write", path);
  char resolved[PATH_MAX];
  if (!realpath(path.c_str(), resolved))
    return systemError("write", path);
  return std::string(resolved);
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  Result<std::string> target = resolveTarget(path);
  if (!target.ok())
    return target.takeStatus();
  AtomicFile file;
  file.path = *target;
  std::string name = temporaryName(file.path);
  file.descriptor =
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.descriptor < 0)
    return systemError("write", path);
  file.temporary = std::move(name);
  return file;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept {
  *this = std::move(other);
}

AtomicFile &AtomicFile::operator=(AtomicFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(temporary, other.temporary);
  std::swap(descriptor, other.descriptor);
  return *this;
}

void AtomicFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  descriptor = -1;
  temporary.clear();
}

AtomicFile::~AtomicFile() { discard(); }

Status AtomicFile::fail(const std::string &what) {
  Status status = systemError(what, path);
  discard();
  return status;
}

Status AtomicFile::write(const void *data, int64_t count) {
  const char *from = static_cast<const char *>(data);
  while (count > 0) {
    ssize_t done = ::write(descriptor, from, std::min(count, kMostAtOnce));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return fail("write");
    from += done;
    count -= done;
  }
  return Status::success();
}

/// Makes a rename in `folder` last. File systems that cannot flush a folder
/// say EINVAL; there is nothing better to do on them.
static bool flushFolder(const std::string &folder) {
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  bool flushed = fsync(descriptor) == 0 || errno == EINVAL;
  ::close(descriptor);
  return flushed;
}

Status AtomicFile::commit() {
  if (fsync(descriptor) != 0)
    return fail("write");
  int closed = ::close(descriptor);
  descriptor = -1;
  if (closed != 0)
    return fail("write");
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    return fail("replace");
  temporary.clear();
  if (!flushFolder(folderOf(path)))
    return fail("flush the folder of");
  return Status::success();
}

Status piper::rt::checkWritable(const std::string &path) {
  Result<AtomicFile> file = AtomicFile::create(path);
  return file.ok() ? Status::success() : file.takeStatus();
}

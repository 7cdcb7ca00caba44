// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading on POSIX.

#include "FilePlace.h"
#include "Piper/Runtime/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

using namespace piper::rt;

/// Bytes of one read or write call: Linux moves at most 2 GiB at once.
static constexpr int64_t kMostAtOnce = int64_t(1) << 30;

/// The files that were opened, each under its first name.
static std::mutex openedMutex;
static std::vector<std::pair<std::string, FilePlace>> opened;

static void remember(const std::string &path) {
  Result<FilePlace> place = findPlace(path);
  if (!place.ok())
    return;
  std::lock_guard<std::mutex> lock(openedMutex);
  for (const auto &[name, known] : opened)
    if (known.isSameAs(*place))
      return;
  opened.emplace_back(path, std::move(*place));
}

Status piper::rt::checkUnread(const std::string &path) {
  Result<FilePlace> place = findPlace(path);
  if (!place.ok())
    return place.takeStatus();
  std::lock_guard<std::mutex> lock(openedMutex);
  for (const auto &[name, known] : opened)
    if (known.isSameAs(*place))
      return Status::error("'" + name + "' would be overwritten by '" + path +
                           "'");
  return Status::success();
}

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
  remember(path);
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

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing on POSIX: beside the place and then renamed, or as a stream.

#include "FilePlace.h"
#include "Piper/Runtime/Files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace piper::rt;
using Kind = FilePlace::Kind;

/// Bytes of one write call: Linux moves at most 2 GiB at once.
static constexpr int64_t kMostAtOnce = int64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

/// The hidden name before its number; a name may have 255 bytes in all.
static std::string hiddenStem(const FilePlace &place) {
  return "." + place.name().substr(0, 200) + ".";
}

/// Whether a name is the stem, two numbers with a '-' between them, and ".tmp".
static bool isLeftover(const std::string &name, const std::string &stem) {
  if (name.compare(0, stem.size(), stem) != 0)
    return false;
  auto at = name.begin() + stem.size();
  auto skipDigits = [&] {
    auto start = at;
    while (at != name.end() && *at >= '0' && *at <= '9')
      ++at;
    return at != start;
  };
  return skipDigits() && at != name.end() && *at++ == '-' && skipDigits() &&
         std::string(at, name.end()) == ".tmp";
}

/// Removes what killed processes left of earlier writes of this file. A writer
/// holds a lock, which ends with its process; it is not asked for by its
/// number, which may be that of another machine that shares the folder.
static void removeLeftovers(const FilePlace &place) {
  std::string stem = hiddenStem(place);
  DIR *folder = opendir(place.folder().c_str());
  if (!folder)
    return;
  while (const dirent *entry = readdir(folder)) {
    if (!isLeftover(entry->d_name, stem))
      continue;
    int file = openat(dirfd(folder), entry->d_name,
                      O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
      continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
      unlinkat(dirfd(folder), entry->d_name, 0);
    ::close(file);
  }
  closedir(folder);
}

/// Opens a hidden file beside `place`, locked; -1 with errno where that fails.
static int openBeside(const FilePlace &place, std::string &name) {
  static std::atomic<int> counter{0};
  for (;;) {
    name = place.folder() + "/" + hiddenStem(place) + std::to_string(getpid()) +
           "-" + std::to_string(counter++) + ".tmp";
    int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                      place.mode);
    if (file < 0 && errno == EEXIST)
      continue;
    if (file < 0)
      return -1;
    // Some file systems have no locks; leftovers stay behind there.
    (void)flock(file, LOCK_EX);
    struct stat info;
    if (fstat(file, &info) == 0 && info.st_nlink > 0) {
      // What is replaced keeps its permissions, whatever the umask.
      if (place.exists)
        (void)fchmod(file, place.mode);
      return file;
    }
    // Somebody who cleans up was faster.
    ::close(file);
  }
}

//===----------------------------------------------------------------------===//
// OutputFile
//===----------------------------------------------------------------------===//

Result<OutputFile> OutputFile::create(const std::string &path) {
  Result<FilePlace> place = findPlace(path);
  if (!place.ok())
    return place.takeStatus();
  OutputFile file;
  file.given = path;
  file.target = place->path;
  if (place->kind == Kind::Descriptor) {
    file.descriptor = fcntl(place->descriptor, F_DUPFD_CLOEXEC, 0);
  } else if (place->kind == Kind::Stream) {
    file.descriptor =
        ::open(place->path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    removeLeftovers(*place);
    std::string name;
    file.descriptor = openBeside(*place, name);
    if (file.descriptor >= 0)
      file.temporary = std::move(name);
    else if (place->exists)
      return systemError("write a new file beside", path);
  }
  if (file.descriptor < 0)
    return systemError("write", path);
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept {
  *this = std::move(other);
}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  std::swap(given, other.given);
  std::swap(target, other.target);
  std::swap(temporary, other.temporary);
  std::swap(descriptor, other.descriptor);
  return *this;
}

void OutputFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  descriptor = -1;
  temporary.clear();
}

OutputFile::~OutputFile() { discard(); }

Status OutputFile::fail(const std::string &what) {
  Status status = systemError(what, given);
  discard();
  return status;
}

Status OutputFile::write(const void *data, int64_t count) {
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

Status OutputFile::publish() {
  if (temporary.empty())
    return Status::success();
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    return fail("replace");
  temporary.clear();
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

Status OutputFile::flush() {
  // A stream has no disk.
  if (!temporary.empty() && fsync(descriptor) != 0)
    return fail("write");
  return Status::success();
}

Status OutputFile::commit(bool toDisk) {
  bool isFile = !temporary.empty();
  if (toDisk)
    PIPER_RETURN_IF_ERROR(flush());
  // The lock is held by the second descriptor until the file has its name.
  int lock = isFile ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1;
  int closed = ::close(descriptor);
  descriptor = lock;
  if (closed != 0)
    return fail("write");
  PIPER_RETURN_IF_ERROR(publish());
  discard();
  FilePlace place;
  place.path = target;
  if (isFile && toDisk && !flushFolder(place.folder()))
    return systemError("flush the folder of", given);
  return Status::success();
}

Status piper::rt::checkWritable(const std::string &path) {
  Result<FilePlace> place = findPlace(path);
  if (!place.ok())
    return place.takeStatus();
  // To open a pipe would end what reads it.
  if (place->kind != Kind::File)
    return Status::success();
  Result<OutputFile> file = OutputFile::create(path);
  return file.ok() ? Status::success() : file.takeStatus();
}

Status OutputBatch::commit(bool toDisk) {
  for (OutputFile &file : files)
    if (toDisk)
      PIPER_RETURN_IF_ERROR(file.flush());
  for (OutputFile &file : files)
    PIPER_RETURN_IF_ERROR(file.commit(toDisk));
  files.clear();
  return Status::success();
}

Status piper::rt::writeFile(const std::string &path, const std::string &text) {
  return writeFiles({{path, text}});
}

Status piper::rt::writeFiles(
    const std::vector<std::pair<std::string, std::string>> &files) {
  OutputBatch batch;
  for (const auto &[path, text] : files) {
    Result<OutputFile> file = OutputFile::create(path);
    if (!file.ok())
      return file.takeStatus();
    PIPER_RETURN_IF_ERROR(file->write(text.data(), int64_t(text.size())));
    batch.add(std::move(*file));
  }
  return batch.commit(/*toDisk=*/false);
}

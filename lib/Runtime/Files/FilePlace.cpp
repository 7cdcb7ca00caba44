// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows symbolic links by hand: the system's own functions cannot follow one
// that leads to a file yet to be made, and follow those of /proc, which are
// descriptors, to a name that may be another file by now.

#include "FilePlace.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace piper::rt;

Status piper::rt::systemError(const std::string &what,
                              const std::string &path) {
  int code = errno;
  return Status::error("cannot " + what + " '" + path +
                       "': " + std::strerror(code));
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

static std::string nameOf(const std::string &path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string FilePlace::folder() const { return folderOf(path); }
std::string FilePlace::name() const { return nameOf(path); }

bool FilePlace::isSameAs(const FilePlace &other) const {
  if (kind == Kind::Descriptor || other.kind == Kind::Descriptor)
    return kind == other.kind && descriptor == other.descriptor;
  return !isDevice && folderDevice == other.folderDevice &&
         folderInode == other.folderInode && name() == other.name();
}

/// The number of the descriptor of this process that a link in /proc is, or
/// -1.
static int findDescriptor(const std::string &path) {
  char folder[PATH_MAX];
  if (!realpath(folderOf(path).c_str(), folder))
    return -1;
  std::string where = folder, name = nameOf(path);
  std::string own = "/proc/" + std::to_string(getpid()) + "/";
  bool isOwn = where.compare(0, own.size(), own) == 0 &&
               where.compare(where.size() - 3, 3, "/fd") == 0;
  bool isNumber = name.size() < 8 &&
                  name.find_first_not_of("0123456789") == std::string::npos;
  return isOwn && isNumber ? std::atoi(name.c_str()) : -1;
}

/// A path whose last name is no symbolic link, unless it is one of /proc.
static Result<std::string> followLinks(const std::string &path) {
  std::string at = path;
  for (int links = 0; links < 40; ++links) {
    struct stat info;
    if (lstat(at.c_str(), &info) != 0) {
      if (errno == ENOENT)
        return at;
      return systemError("write", path);
    }
    struct statfs system;
    if (!S_ISLNK(info.st_mode) || (statfs(folderOf(at).c_str(), &system) == 0 &&
                                   system.f_type == PROC_SUPER_MAGIC))
      return at;
    char target[PATH_MAX];
    ssize_t size = readlink(at.c_str(), target, sizeof(target));
    if (size < 0)
      return systemError("write", path);
    std::string next(target, size_t(size));
    at = next[0] == '/' ? next : folderOf(at) + "/" + next;
  }
  errno = ELOOP;
  return systemError("write", path);
}

static Status refuse(const std::string &path, const std::string &why) {
  return Status::error("cannot write '" + path + "': " + why);
}

/// Sets what is there.
static Status look(FilePlace &place, const std::string &path) {
  struct stat info;
  if (stat(place.path.c_str(), &info) != 0) {
    if (errno != ENOENT)
      return systemError("write", path);
  } else {
    if (S_ISDIR(info.st_mode))
      return refuse(path, "it is a folder");
    if (S_ISSOCK(info.st_mode))
      return refuse(path, "it is a socket");
    if (access(place.path.c_str(), W_OK) != 0)
      return systemError("write", path);
    place.exists = true;
    place.mode = info.st_mode & 0777;
    if (!S_ISREG(info.st_mode))
      place.kind = FilePlace::Kind::Stream;
    place.isDevice = S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode);
  }
  if (stat(place.folder().c_str(), &info) != 0)
    return systemError("write", path);
  place.folderDevice = info.st_dev;
  place.folderInode = info.st_ino;
  return Status::success();
}

Result<FilePlace> piper::rt::findPlace(const std::string &path) {
  FilePlace place;
  place.path = path;
  if (path == "-") {
    place.descriptor = STDOUT_FILENO;
  } else {
    if (path.empty() || path.back() == '/')
      return refuse(path, "expects a file name");
    Result<std::string> end = followLinks(path);
    if (!end.ok())
      return end.takeStatus();
    if (end->back() == '/')
      return refuse(path, "it is a link to '" + *end + "', which is no file");
    place.path = *end;
    place.descriptor = findDescriptor(place.path);
  }
  if (place.descriptor < 0) {
    PIPER_RETURN_IF_ERROR(look(place, path));
    return place;
  }
  place.kind = FilePlace::Kind::Descriptor;
  int flags = fcntl(place.descriptor, F_GETFL);
  if (flags < 0)
    return systemError("write", path);
  if ((flags & O_ACCMODE) == O_RDONLY)
    return refuse(path, "it is open for reading only");
  place.exists = true;
  return place;
}

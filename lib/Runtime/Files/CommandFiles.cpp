// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are compared by their places: folder and name after all links.

#include "Piper/Runtime/CommandFiles.h"

#include "FilePlace.h"
#include "Piper/Runtime/Files.h"

using namespace piper::rt;

struct CommandFiles::File {
  FilePlace place;
  std::string path;
  bool isRead;
};

CommandFiles::CommandFiles() = default;
CommandFiles::~CommandFiles() = default;

void CommandFiles::addInput(const std::string &path) {
  // As an input "-" is another stream.
  if (path.empty() || path == "-")
    return;
  Result<FilePlace> place = findPlace(path);
  if (place.ok() && place->exists)
    files.push_back({std::move(*place), path, /*isRead=*/true});
}

Status CommandFiles::addOutput(const std::string &path) {
  Result<FilePlace> place = findPlace(path);
  if (!place.ok())
    return place.takeStatus();
  for (const File &file : files) {
    if (!file.place.isSameAs(*place))
      continue;
    if (file.isRead)
      return Status::error("'" + file.path + "' would be overwritten by '" +
                           path + "'");
    std::string also = file.path == path ? "" : ", also as '" + file.path + "'";
    return Status::error("'" + path + "' is to be written twice" + also);
  }
  PIPER_RETURN_IF_ERROR(checkWritable(path));
  files.push_back({std::move(*place), path, /*isRead=*/false});
  return Status::success();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a file with one schedule.

#include "ScheduleFile.h"

#include "Piper/Runtime/Files.h"
#include "Piper/Schedule/JSON.h"
#include "Piper/Schedule/Verify.h"

using namespace mlir::piper;
using namespace piper::schedule;

/// A longer text is no schedule that the library takes.
constexpr int64_t kMaxBytes = int64_t(1) << 28;

static piper::rt::Result<std::string> readText(const std::string &path) {
  auto file = piper::rt::InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  if (file->size() > kMaxBytes)
    return piper::rt::Status::error(
        "'" + path + "' has " + std::to_string(file->size()) +
        " bytes: a schedule may have " + std::to_string(kMaxBytes));
  std::string text(file->size(), '\0');
  PIPER_RETURN_IF_ERROR(file->read(0, file->size(), text.data()));
  return text;
}

/// Stage i of the model is the i-th of each chain: they have equal lengths and
/// are numbered one after the other.
static std::string findChainProblem(const Schedule &schedule) {
  int stage = 0;
  for (const std::vector<int> &chain : schedule.chains) {
    if (chain.size() != schedule.chains[0].size())
      return "expects chains of equal length but got " +
             std::to_string(schedule.chains[0].size()) + " and " +
             std::to_string(chain.size()) + " stages";
    for (int member : chain)
      if (member != stage++)
        return "expects a chain to visit its stages in order but got stage " +
               std::to_string(member) + " in the place of stage " +
               std::to_string(stage - 1);
  }
  return "";
}

Result<Schedule> mlir::piper::readScheduleFile(const std::string &path) {
  auto text = readText(path);
  if (!text.ok())
    return Error{text.takeStatus().str()};
  auto fail = [&](const std::string &message) {
    return Error{"'" + path + "': " + message};
  };
  auto read = fromJSON(*text);
  if (!read)
    return fail(read.error());
  if (read->size() != 1)
    return fail("expects one schedule but got " + std::to_string(read->size()));
  VerifyOptions options;
  options.ascendingBackwards = false;
  std::vector<std::string> broken = verify(read->front(), options);
  if (broken.empty())
    broken.push_back(findChainProblem(read->front()));
  if (!broken.front().empty())
    return fail(broken.front());
  return std::move(read->front());
}

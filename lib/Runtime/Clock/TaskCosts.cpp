// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading of cost files.

#include "Piper/Runtime/TaskCosts.h"

#include "Piper/Runtime/Files.h"
#include "Piper/Schedule/JSON.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace piper::rt;
using Json = nlohmann::json;

double TaskCosts::ofTask(const std::string &function, const std::string &pass,
                         int64_t flops, int64_t bytes) const {
  auto it = tasks.find(function);
  static const std::string suffix = ".into";
  size_t stem = function.size() - std::min(function.size(), suffix.size());
  if (it == tasks.end() && function.compare(stem, suffix.size(), suffix) == 0)
    it = tasks.find(function.substr(0, stem));
  if (it != tasks.end())
    return it->second;
  if (pass == "U" && update)
    return *update;
  if (pass == "once")
    return 0;
  return std::max(double(flops) / kFlops, double(bytes) / kBytes);
}

double TaskCosts::ofMessage(int64_t bytes) const {
  return latency +
         (bytesPerMicrosecond > 0 ? double(bytes) / bytesPerMicrosecond : 0);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Reads one file; messages start with its name.
class CostReader {
public:
  explicit CostReader(const std::string &path)
      : where("costs '" + path + "': ") {}

  Status read(const Json &root);

  TaskCosts costs;

private:
  Status fail(const std::string &message) const {
    return Status::error(where + message);
  }
  /// A number of 0 or more that adds up with others.
  Status readNumber(const Json &value, const std::string &key, double &to);
  Status readUnit(const Json &root);
  Status readTasks(const Json &value);
  Status readLink(const Json &value);

  std::string where;
  std::string unit = "us";
  /// Microseconds of one unit.
  double scale = 1;
};
} // namespace

/// A value in a message: short ones as they are, others by their type.
static std::string show(const Json &value) {
  if (value.is_structured())
    return value.is_array() ? "a list" : "an object";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace)
      .substr(0, 60);
}

Status CostReader::readNumber(const Json &value, const std::string &key,
                              double &to) {
  if (!value.is_number() || !(value.get<double>() >= 0) ||
      !std::isfinite(value.get<double>()))
    return fail("'" + key + "' expects a number of 0 or more but got " +
                show(value));
  to = value.get<double>();
  if (to > 1e15)
    return fail("'" + key + "' expects at most 1e15 but got " + show(value));
  return Status::success();
}

Status CostReader::readUnit(const Json &root) {
  auto it = root.find("unit");
  if (it == root.end())
    return Status::success();
  static const std::pair<const char *, double> units[] = {
      {"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
  for (auto [name, microseconds] : units)
    if (*it == name) {
      unit = name;
      scale = microseconds;
      return Status::success();
    }
  return fail("'unit' expects \"ns\", \"us\", \"ms\" or \"s\" but got " +
              show(*it));
}

Status CostReader::readTasks(const Json &value) {
  if (!value.is_object())
    return fail("'tasks' expects an object but got " + show(value));
  for (const auto &[name, cost] : value.items()) {
    double &time = costs.tasks[name];
    PIPER_RETURN_IF_ERROR(readNumber(cost, "tasks." + name, time));
    time *= scale;
  }
  return Status::success();
}

Status CostReader::readLink(const Json &value) {
  if (!value.is_object())
    return fail("'link' expects an object but got " + show(value));
  const std::string rate = "bytes_per_" + unit;
  for (const auto &[key, number] : value.items()) {
    if (key == "latency") {
      PIPER_RETURN_IF_ERROR(readNumber(number, "link.latency", costs.latency));
      costs.latency *= scale;
    } else if (key == rate) {
      double &bytes = costs.bytesPerMicrosecond;
      PIPER_RETURN_IF_ERROR(readNumber(number, "link." + rate, bytes));
      if (bytes == 0)
        return fail("'link." + rate + "' expects a number above 0 but got 0");
      bytes /= scale;
      // The largest message then takes a time that adds up with others.
      constexpr double kLeast = 1e-9;
      if (bytes < kLeast)
        return fail("'link." + rate +
                    "' expects a rate of at least 1e-9 bytes "
                    "in a microsecond but got " +
                    show(number));
    } else {
      return fail("unknown key 'link." + key + "', expects 'latency' or '" +
                  rate + "'");
    }
  }
  return Status::success();
}

Status CostReader::read(const Json &root) {
  if (!root.is_object())
    return fail("expects an object but got " + show(root));
  PIPER_RETURN_IF_ERROR(readUnit(root));
  for (const auto &[key, value] : root.items()) {
    if (key == "tasks") {
      PIPER_RETURN_IF_ERROR(readTasks(value));
    } else if (key == "update") {
      double time = 0;
      PIPER_RETURN_IF_ERROR(readNumber(value, "update", time));
      costs.update = time * scale;
    } else if (key == "link") {
      PIPER_RETURN_IF_ERROR(readLink(value));
    } else if (key != "unit") {
      return fail("unknown key '" + key +
                  "', expects 'unit', 'tasks', 'update' or 'link'");
    }
  }
  return Status::success();
}

Result<TaskCosts> piper::rt::readTaskCosts(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  constexpr int64_t kMostBytes = 64 << 20;
  if (file->size() > kMostBytes)
    return Status::error("costs '" + path + "': expects at most " +
                         std::to_string(kMostBytes) + " bytes but it has " +
                         std::to_string(file->size()));
  std::string text(size_t(file->size()), '\0');
  PIPER_RETURN_IF_ERROR(file->read(0, file->size(), text.data()));
  if (piper::schedule::hasByteOrderMark(text))
    return Status::error("costs '" + path +
                         "': " + piper::schedule::kByteOrderMarkError);
  CostReader reader(path);
  try {
    Json root = Json::parse(text);
    if (auto key = piper::schedule::findRepeatedKey(text))
      return Status::error("costs '" + path + "': key " + show(*key) +
                           " is given twice");
    PIPER_RETURN_IF_ERROR(reader.read(root));
  } catch (const Json::exception &problem) {
    return Status::error("costs '" + path + "': not JSON: " +
                         piper::schedule::parserMessage(problem.what()));
  }
  return std::move(reader.costs);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatting of metrics, and reading them again.

#include "Metrics.h"

#include "Piper/Runtime/Files.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

using namespace piper::rt;
using Json = nlohmann::json;

/// Appends `"name":value`; JSON has no number for NaN and infinity.
static void addNumber(std::string &line, const char *name,
                      std::optional<double> value) {
  char text[64];
  if (value && std::isfinite(*value))
    std::snprintf(text, sizeof(text), "\"%s\":%.9g", name, *value);
  else
    std::snprintf(text, sizeof(text), "\"%s\":null", name);
  line += line.size() > 1 ? "," : "";
  line += text;
}

void piper::rt::formatMetrics(const StepResult &result, std::string &line) {
  line = "{";
  char text[64];
  std::snprintf(text, sizeof(text), "\"step\":%lld",
                static_cast<long long>(result.step));
  line += text;
  addNumber(line, "loss", result.loss);
  addNumber(line, "grad_norm", result.gradNorm);
  addNumber(line, "lr", result.lr);
  line += !result.ok   ? ",\"ok\":null"
          : *result.ok ? ",\"ok\":true"
                       : ",\"ok\":false";
  std::optional<double> tokens, rate;
  if (result.count) {
    tokens = double(*result.count);
    rate = *tokens / result.milliseconds * 1000;
  }
  addNumber(line, "tokens", tokens);
  addNumber(line, "tokens_per_second", rate);
  addNumber(line, "step_ms", result.milliseconds);
  if (result.deviceMs)
    addNumber(line, "device_ms", result.deviceMs);
  line += "}\n";
}

static Result<std::string> readAll(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  std::string text(size_t(file->size()), '\0');
  PIPER_RETURN_IF_ERROR(file->read(0, file->size(), text.data()));
  return text;
}

static bool isBlank(const std::string &line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

Result<std::string> piper::rt::readMetricsBefore(const std::string &path,
                                                 int64_t step) {
  struct stat info;
  // A stream is only written to.
  if (path == "-" || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::string();
  Result<std::string> text = readAll(path);
  if (!text.ok())
    return text;
  // The last line with anything in it may be one that was cut.
  size_t lastEnd = text->find_last_not_of(" \t\r\n");
  std::string kept;
  int64_t number = 0;
  for (size_t at = 0, end; at < text->size(); at = end + 1) {
    end = std::min(text->find('\n', at), text->size());
    std::string line = text->substr(at, end - at);
    ++number;
    Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    bool isLast = lastEnd == std::string::npos || end > lastEnd;
    if (value.is_discarded() && !isLast && !isBlank(line))
      return Status::error("'" + path + "': line " + std::to_string(number) +
                           " is not JSON: expects the metrics of the run that "
                           "is resumed, or another --metrics");
    if (value.is_discarded())
      continue;
    auto found = value.is_object() ? value.find("step") : value.end();
    if (found != value.end() && found->is_number() &&
        found->get<double>() >= double(step))
      continue;
    kept += line + "\n";
  }
  return kept;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The progress line.

#include "Progress.h"

#include "Piper/Runtime/Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace piper::rt;

/// At most these many lines where nobody refreshes them.
static constexpr int64_t kLines = 25;
/// Between two refreshes of the line on a terminal.
static constexpr double kRefreshMs = 100;
/// Weight of the newest step in the mean step time.
static constexpr double kNewest = 0.1;

std::string piper::rt::formatDuration(double seconds) {
  constexpr double kMost = 1e9;
  long total = std::isfinite(seconds)
                   ? std::lround(std::min(std::max(seconds, 0.0), kMost))
                   : 0;
  char text[32];
  if (total < 3600)
    std::snprintf(text, sizeof(text), "%ld:%02ld", total / 60, total % 60);
  else
    std::snprintf(text, sizeof(text), "%ld:%02ld:%02ld", total / 3600,
                  total / 60 % 60, total % 60);
  return text;
}

/// Four decimals, or four digits where these would fill the line.
static std::string formatLoss(double loss) {
  return formatNumber(std::abs(loss) < 1e6 ? "%.4f" : "%.4g", loss);
}

Progress::~Progress() {
  if (open)
    *log << std::endl;
}

void Progress::update(const StepResult &result) {
  ++done;
  totalMs += result.milliseconds;
  double weight = std::max(1 / double(done), kNewest);
  recentMs += weight * (result.milliseconds - recentMs);
  if (!log)
    return;
  bool isLast = done == steps;
  int64_t interval = (steps + kLines - 1) / kLines;
  bool due = terminal ? totalMs - shownMs >= kRefreshMs
                      : done % interval == 0 || done == 1;
  if (!due && !isLast)
    return;
  shownMs = totalMs;
  print(result);
}

void Progress::print(const StepResult &result) {
  char text[256];
  int size = std::snprintf(text, sizeof(text), "step %lld/%lld  loss %s",
                           static_cast<long long>(result.step + 1),
                           static_cast<long long>(first + steps),
                           formatLoss(result.loss).c_str());
  auto add = [&](const char *format, double value) {
    size += std::snprintf(text + size, sizeof(text) - size, "%s",
                          formatNumber(format, value).c_str());
  };
  if (result.gradNorm)
    add("  grad norm %.3g", *result.gradNorm);
  if (result.count)
    add("  %.0f tokens/s", double(*result.count) / recentMs * 1000);
  else
    add("  %.3g steps/s", 1000 / recentMs);
  if (result.deviceMs)
    add("  device time %.4g ms", *result.deviceMs);
  std::string left = formatDuration(recentMs * double(steps - done) / 1000);
  std::snprintf(text + size, sizeof(text) - size, "  %s left", left.c_str());
  if (terminal)
    *log << "\r\x1b[K" << text << std::flush;
  else
    *log << text << std::endl;
  open = terminal;
}

void Progress::message(const std::string &text) {
  if (!log)
    return;
  if (open)
    *log << "\r\x1b[K";
  *log << text << std::endl;
  open = false;
}

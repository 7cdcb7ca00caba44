// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatting of metrics.

#include "Metrics.h"

#include <cmath>
#include <cstdio>

using namespace piper::rt;

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

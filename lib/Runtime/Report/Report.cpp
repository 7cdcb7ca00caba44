// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports for people.

#include "Piper/Runtime/Report.h"

#include "Piper/Runtime/CheckProgram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

using namespace piper::rt;

std::string piper::rt::formatCount(int64_t count) {
  std::string digits = std::to_string(count);
  int64_t start = count < 0 ? 1 : 0;
  for (int64_t at = int64_t(digits.size()) - 3; at > start; at -= 3)
    digits.insert(at, ",");
  return digits;
}

std::string piper::rt::formatNumber(const char *format, double value) {
  char text[352]; // the largest double has 309 digits
  // The sign of a NaN says which instruction made it, and nothing else.
  std::snprintf(text, sizeof(text), format,
                std::isnan(value) ? std::abs(value) : value);
  return text;
}

std::string piper::rt::formatBytes(int64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = double(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, units[unit]);
  return text;
}

/// Tensors, elements and bytes of some of the state.
static std::string describeState(const Program &program, StateTensor::Kind kind,
                                 bool trainableOnly) {
  int64_t tensors = 0, elements = 0, bytes = 0;
  for (const StateTensor &tensor : program.state) {
    if (tensor.kind != kind || (trainableOnly && !tensor.trainable))
      continue;
    ++tensors;
    elements += tensor.type.numElements();
    bytes += tensor.type.numBytes();
  }
  return formatCount(elements) + " in " + formatCount(tensors) +
         (tensors == 1 ? " tensor, " : " tensors, ") + formatBytes(bytes);
}

static std::string describeBindings(const EntryPoint &entry,
                                    const std::vector<Binding> &bindings,
                                    const char *title) {
  std::string text;
  for (const Binding &binding : bindings) {
    text += std::string("  ") + title + " " + binding.name + ": " +
            entry.values[binding.value].type.str();
    for (size_t i = 0; i < binding.dims.size(); ++i)
      text += (i ? ", " : " [") + binding.dims[i];
    text += binding.dims.empty() ? "\n" : "]\n";
  }
  return text;
}

/// "12 tasks", with messages and reductions where there are any.
static std::string describeWork(const EntryPoint &entry) {
  int64_t counts[kNumStreams] = {};
  std::set<std::pair<int32_t, int32_t>> stages;
  for (const Instruction &call : entry.instructions) {
    ++counts[int(call.stream())];
    if (call.stage >= 0)
      stages.emplace(call.copy, call.stage);
  }
  static const char *const names[] = {" tasks", " sends", " receives",
                                      " reductions"};
  std::string text = formatCount(counts[0]) + names[0];
  for (int s = 1; s < kNumStreams; ++s)
    if (counts[s] > 0)
      text += ", " + formatCount(counts[s]) + names[s];
  for (auto it = stages.begin(); it != stages.end(); ++it)
    text += (it == stages.begin() ? ", stages " : ", ") +
            std::to_string(it->second) + (it->first > 0 ? " (copy)" : "");
  return text + "\n";
}

std::string piper::rt::infoReport(const Program &program) {
  using Kind = StateTensor::Kind;
  std::string text = "program " + program.name + " for " +
                     program.target.device + ", " +
                     std::to_string(program.target.threads) +
                     (program.target.threads == 1 ? " thread\n" : " threads\n");
  text += "parameters: " + describeState(program, Kind::Parameter, false) +
          "\n  of these trainable: " +
          describeState(program, Kind::Parameter, true) + "\n";
  text += "moments: " + describeState(program, Kind::Moment, false) + "\n";
  int64_t kernels = 0;
  for (const Function &function : program.functions)
    kernels += int64_t(function.steps.size());
  text += "functions: " + formatCount(int64_t(program.functions.size())) +
          " with " + formatCount(kernels) + " kernels\n";
  for (const EntryPoint &entry : program.entries) {
    text += "entry point " + entry.name + ": " + describeWork(entry);
    text += describeBindings(entry, entry.inputs, "input");
    text += describeBindings(entry, entry.outputs, "output");
    if (!entry.gradients.empty())
      text += "  keeps " + formatCount(int64_t(entry.gradients.size())) +
              " gradients\n";
  }
  return text;
}

int64_t piper::rt::usedBytes(const Program &program, const EntryPoint &entry) {
  int64_t end = 0;
  auto use = [&](int64_t offset, int64_t bytes) {
    if (bytes > 0)
      end = std::max(end, offset + bytes);
  };
  for (const StateTensor &tensor : program.state)
    use(tensor.offset, tensor.type.numBytes());
  for (const EntryValue &value : entry.values)
    use(value.offset, value.type.numBytes());
  for (const Instruction &call : entry.instructions) {
    if (call.kind != Instruction::Kind::Task)
      continue;
    const Function &function = program.functions[call.function];
    for (const FunctionValue &value : function.values)
      if (value.base == FunctionValue::Base::Workspace)
        use(call.workspaceOffset + value.offset, value.type.numBytes());
    for (const Function::Step &step : function.steps)
      use(call.workspaceOffset + step.workspaceOffset, step.workspaceBytes);
  }
  return end;
}

std::string piper::rt::memoryReport(const Program &program) {
  std::string text = "arena: " + formatBytes(program.arenaBytes) + " (" +
                     formatCount(program.arenaBytes) + " bytes)\n";
  for (const EntryPoint &entry : program.entries) {
    text += "entry point " + entry.name + ": peak " +
            formatBytes(entry.peakBytes) + " (" + formatCount(entry.peakBytes) +
            " bytes)";
    if (size_t(entry.peakInstruction) < entry.instructions.size()) {
      std::string at =
          describeInstruction(program, entry, entry.peakInstruction);
      text += " at " + at.substr(0, at.rfind(" of entry point"));
    }
    text += "\n";
    for (const auto &[name, bytes] : entry.categories) {
      char line[128];
      std::snprintf(line, sizeof(line), "  %-16s %18s bytes\n", name.c_str(),
                    formatCount(bytes).c_str());
      text += line;
    }
    if (entry.liveBytes <= 0)
      continue;
    char line[128];
    std::snprintf(line, sizeof(line),
                  "  peak / largest sum of live bytes = %.4f\n",
                  double(entry.peakBytes) / double(entry.liveBytes));
    text += line;
  }
  return text;
}

/// The report of each rank, under its number where there are several.
static std::string reportRanks(const Plan &plan,
                               std::string (*report)(const Program &)) {
  if (plan.programs.size() == 1)
    return report(plan.programs[0]);
  std::string text;
  for (size_t r = 0; r < plan.programs.size(); ++r)
    text += "rank " + std::to_string(r) + ":\n" + report(plan.programs[r]);
  return text;
}

std::string piper::rt::infoReport(const Plan &plan) {
  std::string text = reportRanks(plan, infoReport);
  if (plan.programs.size() == 1)
    return text;
  return "plan of " + std::to_string(plan.programs.size()) +
         " ranks, buffering " + std::to_string(plan.buffering) + "\n" + text;
}

std::string piper::rt::memoryReport(const Plan &plan) {
  return reportRanks(plan, memoryReport);
}

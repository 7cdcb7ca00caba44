// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which options of a run go together.

#include "RunOptions.h"

#include "Piper/Runtime/CommandFiles.h"
#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Runtime/Report.h"

#include <cmath>

using namespace piper::rt;

bool piper::rt::hasData(const RunOptions &options) {
  return !options.data.empty() || !options.inputs.empty();
}

std::vector<std::string> piper::rt::trainingFlags(const RunOptions &options) {
  std::vector<std::string> flags;
  auto add = [&](const char *flag, bool isSet) {
    if (isSet)
      flags.push_back(flag);
  };
  add("--save", !options.save.empty());
  add("--save-state", !options.saveState.empty());
  add("--dump-gradients", !options.dumpGradients.empty());
  add("--dump-outputs", !options.dumpOutputs.empty());
  add("--metrics", !options.metrics.empty());
  add("--clock", !options.clock.empty());
  add("--trace", !options.trace.empty());
  add("--on-nonfinite", options.onNonfinite.has_value());
  return flags;
}

/// What a run without data can do with a flag of training: a state that is
/// loaded is saved again, a simulation traced.
static bool needsNoData(const std::string &flag, const RunOptions &options) {
  if (flag == "--save" || flag == "--save-state")
    return !options.load.empty();
  return flag == "--trace" && options.simulate;
}

/// Flags that nothing would heed.
static Status checkIdleFlags(const RunOptions &options) {
  for (auto [flag, isSet] :
       {std::pair("--prompt", options.prompt.has_value()),
        std::pair("--temperature", options.temperature.has_value())})
    if (isSet && !options.generate)
      return Status::error(std::string(flag) + " needs --generate");
  for (auto [flag, isSet] :
       {std::pair("--poison", options.poison),
        std::pair("--deadline", options.deadline.has_value())})
    if (isSet && !hasData(options) && !options.generate)
      return Status::error(std::string(flag) +
                           " needs --data, --inputs or --generate");
  return Status::success();
}

static Status checkCombination(const RunOptions &options) {
  if (!options.data.empty() && !options.inputs.empty())
    return Status::error("--data and --inputs cannot be given together");
  if (!options.tokenType.empty() && options.data.empty())
    return Status::error("--token-type needs --data");
  if (!options.data.empty() && !options.steps)
    return Status::error("--data needs --steps");
  if (options.steps && !hasData(options))
    return Status::error("--steps needs --data or --inputs");
  for (const std::string &flag : trainingFlags(options)) {
    if (options.eval)
      return Status::error(flag + " cannot be given with --eval");
    if (!hasData(options) && !needsNoData(flag, options))
      return Status::error(flag + " needs --data or --inputs");
  }
  if (options.eval && !hasData(options))
    return Status::error("--eval needs --data or --inputs");
  bool saves = !options.save.empty() || !options.saveState.empty();
  if (!hasData(options) && !options.generate && !options.memory &&
      !options.info && !options.simulate && !saves)
    return Status::error("there is nothing to do: expects --data or --inputs, "
                         "--generate, --simulate, --memory or --info");
  return Status::success();
}

static Status checkClock(const RunOptions &options) {
  if (!options.clock.empty() && options.clock != "devices")
    return Status::error("--clock: expects 'devices' but got '" +
                         options.clock + "'");
  if (!options.costs.empty() && options.clock.empty() && !options.simulate)
    return Status::error("--costs needs --clock or --simulate");
  return Status::success();
}

/// Nothing takes the place of what is read, or of another result; what is saved
/// may take that of what was loaded.
static Status checkFiles(const RunOptions &options) {
  CommandFiles files;
  for (const std::string &program : options.programs)
    files.addInput(program);
  for (const std::string *read :
       {&options.data, &options.inputs, &options.costs})
    files.addInput(*read);
  for (const std::string *saved : {&options.save, &options.saveState})
    if (!saved->empty())
      PIPER_RETURN_IF_ERROR(files.addOutput(*saved));
  files.addInput(options.load);
  for (const std::string *written :
       {&options.dumpGradients, &options.dumpOutputs, &options.metrics,
        &options.trace})
    if (!written->empty())
      PIPER_RETURN_IF_ERROR(files.addOutput(*written));
  return Status::success();
}

Status piper::rt::checkUnreadOutputs(const RunOptions &options) {
  for (const std::string *written :
       {&options.save, &options.saveState, &options.dumpGradients,
        &options.dumpOutputs, &options.metrics, &options.trace})
    if (!written->empty())
      PIPER_RETURN_IF_ERROR(checkUnread(*written));
  return Status::success();
}

Status piper::rt::checkRunOptions(const RunOptions &options) {
  PIPER_RETURN_IF_ERROR(checkCombination(options));
  PIPER_RETURN_IF_ERROR(checkIdleFlags(options));
  if (options.steps && *options.steps < 0)
    return Status::error("--steps: expects 0 or more but got " +
                         std::to_string(*options.steps));
  if (options.eval && options.steps && *options.steps == 0)
    return Status::error("--eval needs at least one step");
  bool dumps = !options.dumpGradients.empty() || !options.dumpOutputs.empty();
  if (dumps && options.steps && *options.steps == 0)
    return Status::error("a dump needs at least one step");
  if (options.generate && *options.generate < 0)
    return Status::error("--generate: expects 0 or more but got " +
                         std::to_string(*options.generate));
  double temperature = options.temperature.value_or(0);
  if (!std::isfinite(temperature) || temperature < 0)
    return Status::error("--temperature: expects 0 or more but got " +
                         formatNumber("%f", temperature));
  PIPER_RETURN_IF_ERROR(checkClock(options));
  double deadline = options.deadline.value_or(1);
  if (!std::isfinite(deadline) || deadline <= 0)
    return Status::error("--deadline: expects more than 0 seconds but got " +
                         formatNumber("%f", deadline));
  if (!std::isfinite(options.delays) || options.delays < 0)
    return Status::error("--delays: expects 0 or more milliseconds but got " +
                         formatNumber("%f", options.delays));
  std::string onNonfinite = options.onNonfinite.value_or("skip");
  if (onNonfinite != "skip" && onNonfinite != "stop")
    return Status::error("--on-nonfinite: expects 'skip' or 'stop' but got '" +
                         onNonfinite + "'");
  if (!options.tokenType.empty()) {
    Result<TokenType> type = parseTokenType(options.tokenType);
    if (!type.ok())
      return Status::error("--token-type: " + type.takeStatus().message());
  }
  return checkFiles(options);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which options of a run go together.

#include "RunOptions.h"

#include "Piper/Runtime/Data.h"
#include "Piper/Runtime/Files.h"

#include <cmath>
#include <filesystem>
#include <set>

using namespace piper::rt;

bool piper::rt::hasData(const RunOptions &options) {
  return !options.data.empty() || !options.inputs.empty();
}

std::string piper::rt::trainingFlag(const RunOptions &options) {
  if (!options.save.empty())
    return "--save";
  if (!options.saveState.empty())
    return "--save-state";
  if (!options.dumpGradients.empty())
    return "--dump-gradients";
  if (!options.dumpOutputs.empty())
    return "--dump-outputs";
  if (!options.metrics.empty())
    return "--metrics";
  if (!options.clock.empty())
    return "--clock";
  if (!options.trace.empty())
    return "--trace";
  return "";
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
  std::string flag = trainingFlag(options);
  if (!flag.empty() && options.eval)
    return Status::error(flag + " cannot be given with --eval");
  bool savesLoaded =
      !options.load.empty() && (flag == "--save" || flag == "--save-state");
  bool tracesSimulation = options.simulate && flag == "--trace";
  if (!flag.empty() && !hasData(options) && !savesLoaded && !tracesSimulation)
    return Status::error(flag + " needs --data or --inputs");
  if (options.eval && !hasData(options))
    return Status::error("--eval needs --data or --inputs");
  if (!hasData(options) && !options.generate && !options.memory &&
      !options.info && !options.simulate && !savesLoaded)
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

/// No file to be written is one of those that the run reads batches or costs
/// from.
static Status checkKeepsData(const RunOptions &options) {
  for (const std::string *read :
       {&options.data, &options.inputs, &options.costs})
    for (const std::string *written :
         {&options.save, &options.saveState, &options.dumpGradients,
          &options.dumpOutputs, &options.metrics, &options.trace}) {
      std::error_code ignored;
      if (!read->empty() && !written->empty() &&
          std::filesystem::equivalent(*read, *written, ignored))
        return Status::error("'" + *read + "' would be overwritten by '" +
                             *written + "'");
    }
  return Status::success();
}

Status piper::rt::checkRunOptions(const RunOptions &options) {
  PIPER_RETURN_IF_ERROR(checkCombination(options));
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
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return Status::error("--temperature: expects 0 or more but got " +
                         std::to_string(options.temperature));
  PIPER_RETURN_IF_ERROR(checkClock(options));
  if (!std::isfinite(options.deadline) || options.deadline <= 0)
    return Status::error("--deadline: expects more than 0 seconds but got " +
                         std::to_string(options.deadline));
  if (!std::isfinite(options.delays) || options.delays < 0)
    return Status::error("--delays: expects 0 or more milliseconds but got " +
                         std::to_string(options.delays));
  if (options.onNonfinite != "skip" && options.onNonfinite != "stop")
    return Status::error("--on-nonfinite: expects 'skip' or 'stop' but got '" +
                         options.onNonfinite + "'");
  if (!options.tokenType.empty()) {
    Result<TokenType> type = parseTokenType(options.tokenType);
    if (!type.ok())
      return Status::error("--token-type: " + type.takeStatus().message());
  }
  PIPER_RETURN_IF_ERROR(checkKeepsData(options));
  std::set<std::string> paths;
  for (const std::string *path :
       {&options.save, &options.saveState, &options.dumpGradients,
        &options.dumpOutputs, &options.metrics, &options.trace})
    if (!path->empty() && !paths.insert(*path).second)
      return Status::error("'" + *path + "' is to be written twice");
  for (const std::string *path : {&options.save, &options.saveState,
                                  &options.dumpGradients, &options.dumpOutputs})
    if (!path->empty())
      PIPER_RETURN_IF_ERROR(checkWritable(*path));
  return Status::success();
}

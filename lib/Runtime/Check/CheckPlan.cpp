// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the checks of a plan, and those of whole programs.

#include "Piper/Runtime/CheckPlan.h"

#include "CheckPlanParts.h"
#include "Piper/Runtime/CheckProgram.h"

#include <map>

using namespace piper::rt;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

/// What makes an input of an entry point, in words.
static std::string inputText(const EntryPoint &entry, const Binding &input) {
  std::string text = entry.values[input.value].type.str();
  for (size_t i = 0; i < input.dims.size(); ++i)
    text += (i ? ", " : " [") + input.dims[i];
  text += input.dims.empty() ? "" : "]";
  return input.split < 0 ? text
                         : text + " split at " + std::to_string(input.split);
}

/// A coordinate has the inputs that it reads: each is the same wherever it is.
static Problem findInputProblem(const Plan &plan, int e) {
  std::map<std::string, std::pair<int, std::string>> firsts;
  for (int p = 0; p < int(plan.programs.size()); ++p) {
    const EntryPoint &entry = plan.programs[p].entries[e];
    for (const Binding &input : entry.inputs) {
      std::string got = inputText(entry, input);
      auto [it, isNew] = firsts.try_emplace(input.name, p, got);
      const auto &[other, expected] = it->second;
      if (expected != got)
        return PlanProblem{p, e, -1,
                           "expects input " + quote(input.name) +
                               " as on coordinate " + std::to_string(other) +
                               ", " + expected + ", but got " + got};
    }
  }
  return std::nullopt;
}

static Problem findEntryProblem(const Plan &plan, int p) {
  const auto &expected = plan.programs[0].entries;
  const auto &got = plan.programs[p].entries;
  for (size_t e = 0; e < std::max(expected.size(), got.size()); ++e) {
    auto nameIn = [&](const std::vector<EntryPoint> &entries) {
      return e < entries.size() ? quote(entries[e].name) : "none";
    };
    if (nameIn(expected) != nameIn(got))
      return PlanProblem{p, -1, -1,
                         "expects entry point " + std::to_string(e) +
                             " as on coordinate 0, " + nameIn(expected) +
                             ", but got " + nameIn(got)};
    if (expected[e].numOps != got[e].numOps)
      return PlanProblem{p, int(e), -1,
                         "expects the number of ops as on coordinate 0, " +
                             std::to_string(expected[e].numOps) + ", but got " +
                             std::to_string(got[e].numOps)};
  }
  return std::nullopt;
}

std::optional<PlanProblem> piper::rt::findPlanProblem(const Plan &plan) {
  if (plan.programs.empty())
    return PlanProblem{-1, -1, -1, "a plan has at least one program"};
  if (plan.buffering < 0)
    return PlanProblem{-1, -1, -1,
                       "expects a buffering of 0 or more but got " +
                           std::to_string(plan.buffering)};
  for (int p = 0; p < int(plan.programs.size()); ++p) {
    if (plan.programs[p].coordinate != p)
      return PlanProblem{p, -1, -1,
                         "expects coordinate " + std::to_string(p) +
                             " but got " +
                             std::to_string(plan.programs[p].coordinate)};
    if (Problem problem = findEntryProblem(plan, p))
      return problem;
  }
  if (Problem problem = findStateProblem(plan))
    return problem;
  for (int e = 0; e < int(plan.programs[0].entries.size()); ++e) {
    if (Problem problem = findInputProblem(plan, e))
      return problem;
    if (Problem problem = findIdProblem(plan, e))
      return problem;
    if (Problem problem = findOrderProblem(plan, e))
      return problem;
    for (int p = 0; p < int(plan.programs.size()); ++p)
      if (Problem problem = findMemoryProblem(plan, p, e))
        return problem;
    if (Problem problem = findUpdateProblem(plan, e))
      return problem;
  }
  return std::nullopt;
}

std::string piper::rt::describeProblem(const Plan &plan,
                                       const PlanProblem &problem) {
  if (problem.program < 0)
    return problem.message;
  const Program &program = plan.programs[problem.program];
  std::string place = "program " + quote(program.name);
  if (problem.entry >= 0) {
    const EntryPoint &entry = program.entries[problem.entry];
    place = (problem.instruction >= 0
                 ? describeInstruction(program, entry, problem.instruction)
                 : "entry point " + quote(entry.name)) +
            " of " + place;
  }
  return place + ": " + problem.message;
}

Status piper::rt::checkPlan(const Plan &plan) {
  for (const Program &program : plan.programs) {
    Status status = checkProgram(program);
    if (!status.ok() && plan.programs.size() > 1)
      status.addNote("in program " + quote(program.name));
    PIPER_RETURN_IF_ERROR(std::move(status));
  }
  if (Problem problem = findPlanProblem(plan))
    return Status::error(describeProblem(plan, *problem));
  return Status::success();
}

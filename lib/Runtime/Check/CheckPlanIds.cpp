// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instructions with one id are together: a task and its copies, the
// two ends of a message, or the members of a reduction.

#include "CheckPlanParts.h"

#include <algorithm>

using namespace piper::rt;

using Kind = Instruction::Kind;

namespace {
/// The ids of one entry point over all programs, one after the other.
class IdChecker {
public:
  IdChecker(const Plan &plan, int entry) : plan(plan), entry(entry) {}

  Problem run();

private:
  /// An instruction: index of the program and of the instruction in it.
  struct Place {
    int program;
    int instruction;
  };
  using Group = std::vector<Place>;

  const EntryPoint &entryOf(int program) const {
    return plan.programs[program].entries[entry];
  }
  const Instruction &at(Place place) const {
    return entryOf(place.program).instructions[place.instruction];
  }
  const TensorType &typeOf(Place place, int32_t value) const {
    return entryOf(place.program).values[value].type;
  }
  PlanProblem problemAt(Place place, std::string message) const {
    return {place.program, entry, place.instruction, std::move(message)};
  }
  bool isCoordinate(int32_t coordinate) const {
    return coordinate >= 0 && coordinate < int(plan.programs.size());
  }

  Problem checkWithoutIds() const;
  Problem collect();
  Problem checkGroup(const Group &group) const;
  Problem checkTask(const Group &group) const;
  Problem checkHolders(const Group &group, const std::vector<int32_t> &expected,
                       const std::string &verb) const;
  std::string findDifference(Place a, Place b) const;
  Problem checkMessage(const Group &group) const;
  Problem checkReduction(const Group &group) const;
  Problem checkMember(Place place, const TensorType &type) const;

  const Plan &plan;
  int entry;
  /// By id.
  std::vector<Group> groups;
};
} // namespace

Problem piper::rt::findIdProblem(const Plan &plan, int entry) {
  return IdChecker(plan, entry).run();
}

Problem IdChecker::checkWithoutIds() const {
  // An entry point of several programs may have nothing to do: it returns its
  // inputs.
  for (int p = 0; p < int(plan.programs.size()) && plan.programs.size() > 1;
       ++p)
    if (!entryOf(p).instructions.empty())
      return PlanProblem{0, entry, -1,
                         "expects ids, since the plan has several programs"};
  const auto &instructions = entryOf(0).instructions;
  for (int i = 0; i < int(instructions.size()); ++i) {
    if (instructions[i].id != -1)
      return problemAt({0, i}, "expects no id, since the entry point has none, "
                               "but got " +
                                   std::to_string(instructions[i].id));
    if (instructions[i].kind != Kind::Task)
      return problemAt({0, i}, "a message or reduction needs an id");
  }
  return std::nullopt;
}

Problem IdChecker::collect() {
  int64_t numOps = entryOf(0).numOps;
  int64_t instructions = 0;
  for (int p = 0; p < int(plan.programs.size()); ++p)
    instructions += int64_t(entryOf(p).instructions.size());
  if (numOps < 0 || numOps > instructions)
    return PlanProblem{
        0, entry, -1,
        "expects a number of ops from 0 to " + std::to_string(instructions) +
            ", the number of instructions, but got " + std::to_string(numOps)};
  groups.resize(size_t(numOps));
  for (int p = 0; p < int(plan.programs.size()); ++p)
    for (int i = 0; i < int(entryOf(p).instructions.size()); ++i) {
      int64_t id = at({p, i}).id;
      if (id < 0 || id >= numOps)
        return problemAt({p, i}, "expects an id from 0 to " +
                                     std::to_string(numOps - 1) + " but got " +
                                     std::to_string(id));
      Group &group = groups[size_t(id)];
      if (!group.empty() && group.back().program == p)
        return problemAt({p, i}, "has the id " + std::to_string(id) +
                                     " of instruction " +
                                     std::to_string(group.back().instruction));
      group.push_back({p, i});
    }
  return std::nullopt;
}

Problem IdChecker::run() {
  if (entryOf(0).numOps == 0)
    return checkWithoutIds();
  if (Problem problem = collect())
    return problem;
  for (size_t id = 0; id < groups.size(); ++id) {
    if (groups[id].empty())
      return PlanProblem{0, entry, -1,
                         "no program has an instruction with id " +
                             std::to_string(id)};
    if (Problem problem = checkGroup(groups[id]))
      return problem;
  }
  return std::nullopt;
}

Problem IdChecker::checkGroup(const Group &group) const {
  auto sort = [&](Place place) {
    Kind kind = at(place).kind;
    return kind == Kind::Receive ? Kind::Send : kind;
  };
  for (Place place : group)
    if (sort(place) != sort(group[0]))
      return problemAt(place, "has the id " + std::to_string(at(place).id) +
                                  " of an instruction of another kind on "
                                  "coordinate " +
                                  std::to_string(group[0].program));
  switch (at(group[0]).kind) {
  case Kind::Task:
    return checkTask(group);
  case Kind::Send:
  case Kind::Receive:
    return checkMessage(group);
  case Kind::AllReduce:
    return checkReduction(group);
  }
  return std::nullopt;
}

/// The programs of the group are the coordinates `expected`, in that order.
Problem IdChecker::checkHolders(const Group &group,
                                const std::vector<int32_t> &expected,
                                const std::string &verb) const {
  std::vector<int32_t> got;
  for (Place place : group)
    got.push_back(place.program);
  if (got == expected)
    return std::nullopt;
  return problemAt(group[0], verb + " coordinates " + listText(expected) +
                                 " but stands in the programs of " +
                                 listText(got));
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// What two copies of a task do differently; empty where nothing.
std::string IdChecker::findDifference(Place a, Place b) const {
  const Instruction &x = at(a), &y = at(b);
  const Function &f = plan.programs[a.program].functions[x.function];
  const Function &g = plan.programs[b.program].functions[y.function];
  if (f.name != g.name)
    return "function";
  if (f.operands != g.operands || f.results != g.results)
    return "types";
  if (x.pass != y.pass)
    return "pass";
  if (x.salt != y.salt)
    return "salt";
  if (x.microBatch != y.microBatch)
    return "micro-batch";
  if (x.stage != y.stage || x.segment != y.segment || x.copy != y.copy)
    return "stage";
  return "";
}

Problem IdChecker::checkTask(const Group &group) const {
  auto holders = [&](Place place) {
    const std::vector<int32_t> &on = at(place).on;
    return on.empty() ? std::vector<int32_t>{place.program} : on;
  };
  std::vector<int32_t> expected = holders(group[0]);
  for (Place place : group) {
    if (holders(place) != expected)
      return problemAt(place, "expects 'on' as on coordinate " +
                                  std::to_string(group[0].program) + ", " +
                                  listText(expected) + ", but got " +
                                  listText(holders(place)));
    std::string difference = findDifference(group[0], place);
    if (!difference.empty())
      return problemAt(
          place, "expects the task of id " + std::to_string(at(place).id) +
                     " as on coordinate " + std::to_string(group[0].program) +
                     " but its " + difference + " differs");
  }
  return checkHolders(group, expected, "runs on");
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Problem IdChecker::checkMessage(const Group &group) const {
  Place first = group[0];
  bool isSend = at(first).kind == Kind::Send;
  std::string id = std::to_string(at(first).id);
  int32_t peer = at(first).peer;
  if (!isCoordinate(peer) || peer == first.program)
    return problemAt(first, "expects another coordinate, from 0 to " +
                                std::to_string(plan.programs.size() - 1) +
                                ", as its peer but got " +
                                std::to_string(peer));
  std::string other = isSend ? "receive" : "send";
  if (group.size() == 1)
    return problemAt(first, "there is no " + other + " with id " + id);
  if (group.size() > 2)
    return problemAt(group[2], "a message has two ends but this is the third "
                               "with id " +
                                   id);
  Place second = group[1];
  if (at(second).kind == at(first).kind)
    return problemAt(second, "expects a " + other + ", since coordinate " +
                                 std::to_string(first.program) + " has the " +
                                 (isSend ? "send" : "receive") + " with id " +
                                 id);
  if (peer != second.program)
    return problemAt(first, "has peer " + std::to_string(peer) + " but the " +
                                other + " with id " + id +
                                " is on coordinate " +
                                std::to_string(second.program));
  if (at(second).peer != first.program)
    return problemAt(second, "has peer " + std::to_string(at(second).peer) +
                                 " but the " + (isSend ? "send" : "receive") +
                                 " with id " + id + " is on coordinate " +
                                 std::to_string(first.program));
  Place send = isSend ? first : second, receive = isSend ? second : first;
  const TensorType &sent = typeOf(send, at(send).operands[0]);
  const TensorType &received = typeOf(receive, at(receive).results[0]);
  if (sent != received)
    return problemAt(receive, "expects " + sent.str() +
                                  ", the type that coordinate " +
                                  std::to_string(send.program) +
                                  " sends, but got " + received.str());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What one member does, the terms and members being right. `type` is that of
/// the first.
Problem IdChecker::checkMember(Place place, const TensorType &type) const {
  const Instruction &call = at(place);
  if (call.operands.empty() && call.results.empty())
    return problemAt(place, "a member has a term or stores the sum");
  int32_t value = call.operands.empty() ? call.results[0] : call.operands[0];
  if (typeOf(place, value) != type)
    return problemAt(place, "expects " + type.str() + " as on coordinate " +
                                std::to_string(at(place).members[0]) +
                                " but got " + typeOf(place, value).str());
  return std::nullopt;
}

Problem IdChecker::checkReduction(const Group &group) const {
  const Instruction &first = at(group[0]);
  for (Place place : group) {
    for (auto [name, list] : {std::pair("members", &Instruction::members),
                              std::pair("terms", &Instruction::terms)})
      if (at(place).*list != first.*list)
        return problemAt(place, std::string("expects ") + name +
                                    " as on coordinate " +
                                    std::to_string(group[0].program) + ", " +
                                    listText(first.*list) + ", but got " +
                                    listText(at(place).*list));
  }
  if (Problem problem = checkHolders(group, first.members, "has as members"))
    return problem;
  const auto &values = first.operands.empty() ? first.results : first.operands;
  TensorType type = values.empty() ? TensorType() : typeOf(group[0], values[0]);
  for (Place place : group)
    if (Problem problem = checkMember(place, type))
      return problem;
  return std::nullopt;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races on the arena of one program. Each instruction has a clock: how many
// instructions of each stream have ended for sure when it starts. One pass in
// program order keeps, for each byte, the last access of each stream; since a
// stream is in order, being after the last one is being after all of them.
//
//   compute  0 task a     1 task b (waits 0 of in)     b's clock: compute 1,
//   pp.in    0 receive                                 in 1, out 0, reduce 0

#include "ByteMap.h"
#include "CheckPlanParts.h"

#include <algorithm>
#include <array>

using namespace piper::rt;

using Kind = Instruction::Kind;

namespace {
using Clock = std::array<int32_t, kNumStreams>;

struct Access {
  int64_t begin = 0;
  int64_t end = 0;
  bool isWrite = false;
};

/// The last accesses to a byte, of each stream, as counts of its instructions.
struct LastAccesses {
  Clock reads = {}, writes = {};
};

class RaceFinder {
public:
  RaceFinder(const Plan &plan, int program, int entry)
      : program(plan.programs[program]), entry(this->program.entries[entry]),
        programIndex(program), entryIndex(entry) {}

  Problem run();

private:
  /// A place in a stream.
  struct Turn {
    int stream = 0;
    int32_t number = 0;
  };

  PlanProblem problemAt(int32_t instruction, std::string message) const {
    return {programIndex, entryIndex, instruction, std::move(message)};
  }
  bool hasEnded(int32_t instruction, const Clock &clock) const {
    Turn turn = turns[instruction];
    return turn.number < clock[turn.stream];
  }
  /// Raises `clock` by the end of an instruction.
  void include(Clock &clock, int32_t instruction) const;
  /// The clock at the start of instruction `index`, without one of its waits.
  Clock startOf(int32_t index, int32_t without = -1) const;
  void listAccesses(int32_t index, std::vector<Access> &accesses) const;
  Problem checkWaits(int32_t index) const;
  /// Whether the current instruction `b` touches bytes of `a`.
  bool touchCommonBytes(int32_t a, int32_t b) const;
  Problem check(int32_t index, const Access &access) const;
  void note(int32_t index, const Access &access);

  const Program &program;
  const EntryPoint &entry;
  int programIndex, entryIndex;

  std::vector<Turn> turns;
  std::vector<Clock> starts;
  /// The instructions of each stream.
  std::array<std::vector<int32_t>, kNumStreams> streams;
  /// The last task before the current instruction.
  int32_t lastTask = -1;
  ByteMap<LastAccesses> map;
  /// Those of the current instruction.
  std::vector<Access> accesses;
};
} // namespace

Problem piper::rt::findMemoryProblem(const Plan &plan, int program, int entry) {
  return RaceFinder(plan, program, entry).run();
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

void RaceFinder::include(Clock &clock, int32_t instruction) const {
  for (int s = 0; s < kNumStreams; ++s)
    clock[s] = std::max(clock[s], starts[instruction][s]);
  Turn turn = turns[instruction];
  clock[turn.stream] = std::max(clock[turn.stream], turn.number + 1);
}

Clock RaceFinder::startOf(int32_t index, int32_t without) const {
  const Instruction &call = entry.instructions[index];
  Clock clock = {};
  Turn turn = turns[index];
  if (turn.number > 0)
    include(clock, streams[turn.stream][turn.number - 1]);
  if (call.kind != Kind::Task && lastTask >= 0)
    for (int s = 0; s < kNumStreams; ++s)
      clock[s] = std::max(clock[s], starts[lastTask][s]);
  for (size_t w = 0; w < call.waits.size(); ++w)
    if (int32_t(w) != without)
      include(clock, call.waits[w]);
  return clock;
}

Problem RaceFinder::run() {
  for (int32_t i = 0; i < int32_t(entry.instructions.size()); ++i) {
    const Instruction &call = entry.instructions[i];
    auto &stream = streams[int(call.stream())];
    turns.push_back({int(call.stream()), int32_t(stream.size())});
    stream.push_back(i);
    starts.push_back(startOf(i));
    listAccesses(i, accesses);
    for (const Access &access : accesses)
      if (Problem problem = check(i, access))
        return problem;
    for (const Access &access : accesses)
      note(i, access);
    if (Problem problem = checkWaits(i))
      return problem;
    if (call.kind == Kind::Task)
      lastTask = i;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Reads, then writes.
void RaceFinder::listAccesses(int32_t index,
                              std::vector<Access> &accesses) const {
  const Instruction &call = entry.instructions[index];
  accesses.clear();
  auto add = [&](int64_t begin, int64_t bytes, bool isWrite) {
    if (bytes > 0)
      accesses.push_back({begin, begin + bytes, isWrite});
  };
  for (const auto *values : {&call.operands, &call.results})
    for (int32_t v : *values)
      add(entry.values[v].offset, entry.values[v].type.numBytes(),
          values == &call.results);
  if (call.kind == Kind::Task)
    add(call.workspaceOffset, program.functions[call.function].workspaceBytes,
        true);
}

Problem RaceFinder::check(int32_t index, const Access &access) const {
  const Clock &clock = starts[index];
  Problem problem;
  auto compare = [&](const Clock &last, const char *verb) {
    for (int s = 0; s < kNumStreams && !problem; ++s) {
      // Its own stream is in order.
      if (s == turns[index].stream || last[s] <= clock[s])
        continue;
      problem = problemAt(
          index, std::string(access.isWrite ? "writes" : "reads") + " bytes " +
                     std::to_string(access.begin) + " to " +
                     std::to_string(access.end) + " of the arena, which " +
                     "instruction " + std::to_string(streams[s][last[s] - 1]) +
                     " on stream '" + streamName(Stream(s)) + "' " + verb +
                     ", and does not wait for it");
    }
  };
  map.visit(access.begin, access.end,
            [&](int64_t, int64_t, const LastAccesses &last) {
              compare(last.writes, "writes");
              if (access.isWrite)
                compare(last.reads, "reads");
            });
  return problem;
}

void RaceFinder::note(int32_t index, const Access &access) {
  Turn turn = turns[index];
  if (access.isWrite) {
    // All accesses before are before whatever comes after this one.
    LastAccesses last;
    last.writes[turn.stream] = turn.number + 1;
    map.assign(access.begin, access.end, last);
    return;
  }
  map.update(access.begin, access.end, [&](LastAccesses &last) {
    last.reads[turn.stream] = turn.number + 1;
  });
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

bool RaceFinder::touchCommonBytes(int32_t a, int32_t b) const {
  // A value without bytes is still waited for.
  const auto &made = entry.instructions[a].results;
  for (int32_t operand : entry.instructions[b].operands)
    if (std::find(made.begin(), made.end(), operand) != made.end())
      return true;
  std::vector<Access> before;
  listAccesses(a, before);
  for (const Access &x : before)
    for (const Access &y : accesses)
      if (x.begin < y.end && y.begin < x.end && (x.isWrite || y.isWrite))
        return true;
  return false;
}

Problem RaceFinder::checkWaits(int32_t index) const {
  const std::vector<int32_t> &waits = entry.instructions[index].waits;
  for (size_t w = 0; w < waits.size(); ++w) {
    auto problem = [&](const char *why) {
      return problemAt(index, "waits for instruction " +
                                  std::to_string(waits[w]) + why);
    };
    if (hasEnded(waits[w], startOf(index, int32_t(w))))
      return problem(", which has ended before it anyway");
    if (!touchCommonBytes(waits[w], index))
      return problem(", with which it has no bytes in common");
  }
  return std::nullopt;
}

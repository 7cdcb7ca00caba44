// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds plans of several ranks by hand for tests, op by op in the common
// order. Waits are added at the end: those that the bytes need and no more, by
// the definition alone (all pairs, and a walk back through what comes before).

#ifndef PIPER_UNITTESTS_RUNTIME_PLANBUILDER_H
#define PIPER_UNITTESTS_RUNTIME_PLANBUILDER_H

#include "ProgramBuilder.h"

#include <algorithm>

namespace piper::rt::test {

/// Which instructions have ended for sure when instruction `index` starts.
inline std::vector<bool> endedBefore(const EntryPoint &entry, int index) {
  const auto &calls = entry.instructions;
  std::vector<bool> ended(calls.size()), started(calls.size());
  std::vector<int> todo = {index};
  started[index] = true;
  auto end = [&](int i) {
    ended[i] = true;
    if (!started[i])
      todo.push_back(i);
    started[i] = true;
  };
  while (!todo.empty()) {
    int at = todo.back();
    todo.pop_back();
    for (int32_t wait : calls[at].waits)
      end(wait);
    bool streamDone = false,
         taskDone = calls[at].kind == Instruction::Kind::Task;
    for (int i = at - 1; i >= 0; --i) {
      if (!streamDone && calls[i].stream() == calls[at].stream()) {
        end(i);
        streamDone = true;
      }
      if (!taskDone && calls[i].kind == Instruction::Kind::Task) {
        if (!started[i])
          todo.push_back(i);
        started[i] = true;
        taskDone = true;
      }
    }
  }
  return ended;
}

/// Whether two instructions touch a byte that one of them writes.
inline bool conflict(const Program &program, const EntryPoint &entry, int a,
                     int b) {
  struct Bytes {
    int64_t begin, end;
    bool isWrite;
  };
  auto bytesOf = [&](int i) {
    const Instruction &call = entry.instructions[i];
    std::vector<Bytes> all;
    for (int32_t v : call.operands)
      all.push_back({entry.values[v].offset,
                     entry.values[v].offset + entry.values[v].type.numBytes(),
                     false});
    for (int32_t v : call.results)
      all.push_back({entry.values[v].offset,
                     entry.values[v].offset + entry.values[v].type.numBytes(),
                     true});
    if (call.kind == Instruction::Kind::Task)
      all.push_back({call.workspaceOffset,
                     call.workspaceOffset +
                         program.functions[call.function].workspaceBytes,
                     true});
    return all;
  };
  for (const Bytes &x : bytesOf(a))
    for (const Bytes &y : bytesOf(b))
      if (std::max(x.begin, y.begin) < std::min(x.end, y.end) &&
          (x.isWrite || y.isWrite))
        return true;
  return false;
}

/// The latest instruction that conflicts with `index` and may not have ended
/// when it starts, or -1.
inline int findRace(const Program &program, const EntryPoint &entry,
                    int index) {
  std::vector<bool> ended = endedBefore(entry, index);
  for (int i = index - 1; i >= 0; --i)
    if (!ended[i] && conflict(program, entry, i, index))
      return i;
  return -1;
}

class PlanBuilder {
public:
  /// A result of a task; `over`: it takes the bytes of that value.
  struct Made {
    std::string name;
    TensorType type;
    std::string over = "";
  };
  struct Facts {
    std::string pass = "F";
    int stage = -1;
    int microBatch = -1;
    int copy = 0;
    std::string tags = "";
  };

  explicit PlanBuilder(int ranks, int64_t buffering = 0) : builders(ranks) {
    plan.buffering = buffering;
    free.resize(ranks);
    values.resize(ranks);
  }

  void state(const std::vector<int> &ranks, const std::string &name,
             const TensorType &type) {
    for (int rank : ranks)
      builders[rank].addState(name, type);
  }
  void begin(const std::string &entry) {
    for (size_t r = 0; r < builders.size(); ++r) {
      builders[r].beginEntry(entry);
      values[r].clear();
      free[r].clear();
      for (size_t s = 0; s < builders[r].program.state.size(); ++s)
        values[r][builders[r].program.state[s].name] =
            builders[r].stateValue(int32_t(s));
    }
    nextId = 0;
  }
  void input(const std::string &name, const TensorType &type) {
    for (size_t r = 0; r < builders.size(); ++r)
      values[r][name] = builders[r].input(name, type, {});
  }
  void output(int rank, const std::string &name) {
    builders[rank].output(name, values[rank].at(name));
  }

  /// A task on one or more ranks. The first operand is added to itself for each
  /// result, or to the value that a result lies over.
  void task(const std::vector<int> &ranks, const std::string &function,
            const Facts &facts, const std::vector<std::string> &operands,
            const std::vector<Made> &results) {
    for (int rank : ranks) {
      Instruction call;
      call.function = functionOf(rank, function, operands, results);
      call.pass = facts.pass;
      call.stage = call.segment = facts.stage;
      call.microBatch = facts.microBatch;
      call.copy = facts.copy;
      call.tags = facts.tags;
      if (ranks.size() > 1)
        call.on.assign(ranks.begin(), ranks.end());
      for (const std::string &name : operands)
        call.operands.push_back(values[rank].at(name));
      call.workspaceOffset = builders[rank].allocate(
          builders[rank].program.functions[call.function].workspaceBytes);
      for (const Made &made : results)
        call.results.push_back(make(rank, made));
      add(rank, call);
    }
    ++nextId;
  }
  void transfer(const std::string &name, int from, int to) {
    Instruction send, receive;
    send.kind = Instruction::Kind::Send;
    send.peer = to;
    send.operands = {values[from].at(name)};
    receive.kind = Instruction::Kind::Receive;
    receive.peer = from;
    receive.results = {make(to, {name, typeOf(from, name)})};
    add(from, send);
    add(to, receive);
    ++nextId;
  }
  /// The sum of values of ranks, in this order, stored on `stores`.
  void allReduce(const std::vector<std::pair<int, std::string>> &terms,
                 const std::vector<int> &stores, const std::string &result) {
    TensorType type = typeOf(terms[0].first, terms[0].second);
    Instruction reduce;
    reduce.kind = Instruction::Kind::AllReduce;
    reduce.members.assign(stores.begin(), stores.end());
    for (const auto &[rank, name] : terms) {
      reduce.terms.push_back(rank);
      reduce.members.push_back(rank);
    }
    std::sort(reduce.members.begin(), reduce.members.end());
    reduce.members.erase(
        std::unique(reduce.members.begin(), reduce.members.end()),
        reduce.members.end());
    for (int rank : reduce.members) {
      Instruction member = reduce;
      for (const auto &[from, name] : terms)
        if (from == rank)
          member.operands.push_back(values[rank].at(name));
      if (std::count(stores.begin(), stores.end(), rank))
        member.results = {make(rank, {result, type})};
      add(rank, member);
    }
    ++nextId;
  }
  /// The bytes of a value may be used again.
  void release(int rank, const std::string &name) {
    const EntryValue &value =
        builders[rank].entry().values[values[rank].at(name)];
    free[rank].push_back({value.offset, value.type.numBytes()});
  }

  Plan finish() {
    for (size_t r = 0; r < builders.size(); ++r) {
      plan.programs.push_back(builders[r].finish());
      Program &program = plan.programs.back();
      program.name = "p" + std::to_string(r);
      program.coordinate = int32_t(r);
      for (EntryPoint &entry : program.entries)
        for (size_t i = 0; i < entry.instructions.size(); ++i)
          for (int race; (race = findRace(program, entry, int(i))) >= 0;)
            entry.instructions[i].waits.push_back(race);
    }
    return plan;
  }
  /// Ends an entry point: the number of its ops.
  void end() {
    for (ProgramBuilder &builder : builders)
      builder.entry().numOps = nextId;
  }

private:
  void add(int rank, Instruction call) {
    call.id = nextId;
    builders[rank].entry().instructions.push_back(std::move(call));
  }
  TensorType typeOf(int rank, const std::string &name) {
    return builders[rank].entry().values[values[rank].at(name)].type;
  }
  /// A new value: over another one, on released bytes of its size, or on new.
  int32_t make(int rank, const Made &made) {
    int64_t bytes = made.type.numBytes();
    int64_t offset = -1;
    if (!made.over.empty())
      offset = builders[rank].entry().values[values[rank].at(made.over)].offset;
    for (size_t i = 0; i < free[rank].size() && offset < 0; ++i)
      if (free[rank][i].second == bytes) {
        offset = free[rank][i].first;
        free[rank].erase(free[rank].begin() + int64_t(i));
      }
    if (offset < 0)
      offset = builders[rank].allocate(bytes);
    int32_t value = builders[rank].addValue(made.type, offset);
    const auto &state = builders[rank].program.state;
    for (size_t s = 0; s < state.size(); ++s)
      if (made.over == state[s].name)
        builders[rank].entry().state.push_back({value, int32_t(s)});
    return values[rank][made.name] = value;
  }
  int32_t functionOf(int rank, const std::string &name,
                     const std::vector<std::string> &operands,
                     const std::vector<Made> &results) {
    auto &functions = builders[rank].program.functions;
    for (size_t f = 0; f < functions.size(); ++f)
      if (functions[f].name == name)
        return int32_t(f);
    std::vector<TensorType> types;
    for (const std::string &operand : operands)
      types.push_back(typeOf(rank, operand));
    FunctionBuilder body(name, types);
    std::vector<int32_t> made;
    for (const Made &result : results) {
      auto over = std::find(operands.begin(), operands.end(), result.over);
      int32_t first = 0;
      for (size_t o = 0; o < types.size(); ++o)
        if (types[o] == result.type)
          first = int32_t(o);
      int32_t second =
          over == operands.end() ? first : int32_t(over - operands.begin());
      made.push_back(body.op("add", {first, second}, result.type));
    }
    return builders[rank].addFunction(body.finish(made));
  }

  Plan plan;
  std::vector<ProgramBuilder> builders;
  /// By rank: value by name, and released bytes.
  std::vector<std::map<std::string, int32_t>> values;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> free;
  int64_t nextId = 0;
};

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_PLANBUILDER_H

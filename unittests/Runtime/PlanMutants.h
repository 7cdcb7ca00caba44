// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every small change of a plan that changes its meaning.

#ifndef PIPER_UNITTESTS_RUNTIME_PLANMUTANTS_H
#define PIPER_UNITTESTS_RUNTIME_PLANMUTANTS_H

#include "Piper/Runtime/CheckPlan.h"
#include "Piper/Runtime/CheckProgram.h"

#include <functional>
#include <string>

namespace piper::rt::test {

/// Called with what was changed, the plan that has it, and in which program.
using VisitMutant =
    std::function<void(const std::string &, const Plan &, size_t)>;

class MutantMaker {
public:
  MutantMaker(const Plan &plan, VisitMutant visit)
      : plan(plan), visit(std::move(visit)) {}

  void run() {
    for (program = 0; program < plan.programs.size(); ++program)
      for (entry = 0; entry < plan.programs[program].entries.size(); ++entry)
        for (index = 0; index < calls(plan).size(); ++index)
          changeInstruction(calls(plan)[index]);
  }

private:
  const std::vector<Instruction> &calls(const Plan &of) const {
    return of.programs[program].entries[entry].instructions;
  }
  std::vector<Instruction> &calls(Plan &of) const {
    return of.programs[program].entries[entry].instructions;
  }
  void emit(const std::string &change,
            const std::function<void(Plan &)> &apply) {
    Plan mutant = plan;
    apply(mutant);
    visit(change + " of instruction " + std::to_string(index) +
              " of entry point " + std::to_string(entry) + " of program " +
              std::to_string(program),
          mutant, program);
  }
  void change(const std::string &what,
              const std::function<void(Instruction &)> &apply) {
    emit(what, [&](Plan &mutant) { apply(calls(mutant)[index]); });
  }

  void changeInstruction(const Instruction &call) {
    for (int delta : {-1, 1}) {
      change("id", [&](Instruction &c) { c.id += delta; });
      if (call.kind != Instruction::Kind::Task)
        change("peer or kind", [&](Instruction &c) {
          if (c.kind == Instruction::Kind::AllReduce)
            c.kind =
                delta > 0 ? Instruction::Kind::Task : Instruction::Kind::Send;
          else
            c.peer += delta;
        });
      changeEach("term", &Instruction::terms, delta);
      changeEach("member", &Instruction::members, delta);
      changeEach("place", &Instruction::on, delta);
      changeEach("wait", &Instruction::waits, delta);
    }
    for (size_t w = 0; w < call.waits.size(); ++w)
      change("dropped wait " + std::to_string(w), [&](Instruction &c) {
        c.waits.erase(c.waits.begin() + int64_t(w));
      });
    change("repeated wait", [&](Instruction &c) {
      c.waits.push_back(c.waits.empty() ? int32_t(index) : c.waits[0]);
    });
    changeTerms(call);
    if (call.kind != Instruction::Kind::Task)
      changeType(call);
    changeList();
  }
  void changeEach(const std::string &what,
                  std::vector<int32_t> Instruction::*list, int delta) {
    for (size_t i = 0; i < (calls(plan)[index].*list).size(); ++i)
      change(what + " " + std::to_string(i),
             [&](Instruction &c) { (c.*list)[i] += delta; });
  }
  void changeTerms(const Instruction &call) {
    for (size_t t = 0; t + 1 < call.terms.size(); ++t)
      change("order of terms",
             [&](Instruction &c) { std::swap(c.terms[t], c.terms[t + 1]); });
    if (!call.terms.empty())
      change("number of terms", [](Instruction &c) { c.terms.pop_back(); });
    if (!call.members.empty())
      change("number of members", [](Instruction &c) { c.members.pop_back(); });
    if (call.kind == Instruction::Kind::Task && !call.on.empty())
      change("number of places", [](Instruction &c) { c.on.pop_back(); });
  }
  /// Type and size of a message at this end.
  void changeType(const Instruction &call) {
    int32_t value = call.operands.empty() ? call.results[0] : call.operands[0];
    auto retype = [&](const std::string &what,
                      const std::function<void(TensorType &)> &apply) {
      emit(what, [&](Plan &mutant) {
        apply(mutant.programs[program].entries[entry].values[value].type);
      });
    };
    retype("element type", [](TensorType &t) { t.element = ElementType::I32; });
    retype("size", [](TensorType &t) {
      if (t.shape.empty())
        t.shape = {2};
      else
        t.shape[0] += 1;
    });
    retype("rank", [](TensorType &t) { t.shape.push_back(1); });
  }

  /// Drops, doubles and swaps instructions; waits follow them.
  void changeList() {
    emit("absence", [&](Plan &mutant) {
      auto &list = calls(mutant);
      list.erase(list.begin() + int64_t(index));
      renumber(list, [&](int32_t at) {
        return at == int32_t(index) ? -1 : at - (at > int32_t(index));
      });
    });
    emit("doubling", [&](Plan &mutant) {
      auto &list = calls(mutant);
      list.insert(list.begin() + int64_t(index), list[index]);
      renumber(list, [&](int32_t at) { return at + (at > int32_t(index)); });
    });
    if (index + 1 < calls(plan).size())
      emit("order", [&](Plan &mutant) {
        auto &list = calls(mutant);
        std::swap(list[index], list[index + 1]);
        renumber(list, [&](int32_t at) {
          return at == int32_t(index)       ? at + 1
                 : at == int32_t(index) + 1 ? at - 1
                                            : at;
        });
      });
  }
  /// Waits by their new numbers; -1 drops one.
  static void renumber(std::vector<Instruction> &list,
                       const std::function<int32_t(int32_t)> &number) {
    for (Instruction &call : list) {
      std::vector<int32_t> waits;
      for (int32_t wait : call.waits)
        if (number(wait) >= 0)
          waits.push_back(number(wait));
      call.waits = waits;
    }
  }

  const Plan &plan;
  VisitMutant visit;
  size_t program = 0, entry = 0, index = 0;
};

/// Refused by the check of the changed program, the others being right, or of
/// all together.
inline bool isRefused(const Plan &mutant, size_t program) {
  return !checkProgram(mutant.programs[program]).ok() ||
         findPlanProblem(mutant);
}

inline void forEachMutant(const Plan &plan, VisitMutant visit) {
  MutantMaker(plan, std::move(visit)).run();
}

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_PLANMUTANTS_H

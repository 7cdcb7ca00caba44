// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matching of messages and reductions when a plan is loaded.

#include "StreamPlan.h"

#include "Piper/Runtime/CheckProgram.h"

#include <algorithm>
#include <map>

using namespace piper::rt;
using Kind = Instruction::Kind;
using Op = StreamPlan::Op;

namespace {
class StreamPlanBuilder {
public:
  StreamPlanBuilder(const std::vector<std::unique_ptr<RankProgram>> &ranks,
                    const std::vector<int> &entries)
      : ranks(ranks), entries(entries) {}

  Result<StreamPlan> run() {
    for (size_t r = 0; r < ranks.size(); ++r)
      addRank(int32_t(r));
    PIPER_RETURN_IF_ERROR(matchMessages());
    for (auto &[id, members] : reductions)
      PIPER_RETURN_IF_ERROR(addReduction(members));
    return std::move(result);
  }

private:
  void addRank(int32_t r) {
    StreamPlan::Rank &rank = result.ranks.emplace_back();
    rank.entry = entries[r];
    rank.point = &ranks[r]->program().entries[entries[r]];
    const std::vector<Instruction> &list = rank.point->instructions;
    for (int32_t i = 0; i < int32_t(list.size()); ++i) {
      StreamPlan::Needs needs;
      needs.stream = list[i].stream();
      std::vector<int32_t> &stream = rank.streams[int(needs.stream)];
      needs.place = int32_t(stream.size());
      needs.tasksBefore = int32_t(rank.streams[int(Stream::Compute)].size());
      for (int32_t wait : list[i].waits) {
        const StreamPlan::Needs &other = rank.needs[wait];
        int32_t &ended = needs.ended[int(other.stream)];
        ended = std::max(ended, other.place + 1);
      }
      stream.push_back(i);
      rank.needs.push_back(needs);
      if (list[i].kind == Kind::Send)
        sends[{r, list[i].peer}].push_back({r, i});
      else if (list[i].kind == Kind::Receive)
        receives[{list[i].peer, r}].push_back({r, i});
      else if (list[i].kind == Kind::AllReduce)
        reductions[list[i].id].push_back({r, i});
    }
  }

  const Instruction &at(Op op) const {
    return result.ranks[op.rank].point->instructions[op.instruction];
  }
  std::string describe(Op op) const {
    return describeInstruction(ranks[op.rank]->program(),
                               *result.ranks[op.rank].point, op.instruction) +
           " of rank " + std::to_string(op.rank);
  }
  const TensorType &typeOf(Op op, int32_t value) const {
    return result.ranks[op.rank].point->values[value].type;
  }
  std::byte *dataOf(Op op, int32_t value) const {
    return ranks[op.rank]->valueData(entries[op.rank], value);
  }

  Status matchMessages() {
    for (auto &[ends, list] : receives)
      if (list.size() > sends[ends].size())
        return Status::error(describe(list[sends[ends].size()]) +
                             " has no other end");
    for (auto &[ends, list] : sends)
      for (size_t m = 0; m < list.size(); ++m) {
        const std::vector<Op> &others = receives[ends];
        if (m >= others.size())
          return Status::error(describe(list[m]) + " has no other end");
        PIPER_RETURN_IF_ERROR(addMessage(list[m], others[m], int32_t(m)));
      }
    return Status::success();
  }

  Status addMessage(Op send, Op receive, int32_t number) {
    int32_t from = at(send).operands[0], to = at(receive).results[0];
    if (at(send).id != at(receive).id ||
        typeOf(send, from) != typeOf(receive, to))
      return Status::error(describe(send) + " does not fit " +
                           describe(receive));
    for (Op op : {send, receive})
      result.ranks[op.rank].needs[op.instruction].match =
          int32_t(result.messages.size());
    StreamPlan::Message message;
    message.send = send;
    message.receive = receive;
    message.channel = channelOf(send.rank, receive.rank, ranks.size());
    message.number = number;
    message.from = dataOf(send, from);
    message.to = dataOf(receive, to);
    message.bytes = typeOf(send, from).numBytes();
    result.messages.push_back(message);
    return Status::success();
  }

  Status addReduction(const std::vector<Op> &members) {
    StreamPlan::Reduction reduction;
    const Instruction &first = at(members[0]);
    bool fits = members.size() == first.members.size();
    bool hasType = false;
    for (size_t m = 0; m < members.size() && fits; ++m) {
      const Instruction &mine = at(members[m]);
      fits = mine.members == first.members && mine.terms == first.terms &&
             first.members[m] == members[m].rank;
      for (const auto *values : {&mine.operands, &mine.results})
        for (int32_t value : *values) {
          const TensorType &type = typeOf(members[m], value);
          fits &= !hasType || type == reduction.type;
          reduction.type = type;
          hasType = true;
        }
    }
    if (!fits)
      return Status::error(describe(members[0]) +
                           " does not fit the other members");
    addTerms(members, first, reduction);
    for (Op op : members)
      result.ranks[op.rank].needs[op.instruction].match =
          int32_t(result.reductions.size());
    reduction.members = members;
    result.reductions.push_back(std::move(reduction));
    return Status::success();
  }

  void addTerms(const std::vector<Op> &members, const Instruction &first,
                StreamPlan::Reduction &reduction) const {
    // The next operand of each member.
    std::map<int32_t, size_t> next;
    for (int32_t term : first.terms)
      for (Op op : members)
        if (op.rank == term)
          reduction.terms.push_back(dataOf(op, at(op).operands[next[term]++]));
    for (Op op : members)
      for (int32_t made : at(op).results)
        reduction.results.push_back(dataOf(op, made));
  }

  const std::vector<std::unique_ptr<RankProgram>> &ranks;
  const std::vector<int> &entries;
  StreamPlan result;
  /// The ends of each channel, by sender and receiver.
  std::map<std::pair<int32_t, int32_t>, std::vector<Op>> sends, receives;
  std::map<int64_t, std::vector<Op>> reductions;
};
} // namespace

Result<StreamPlan> piper::rt::buildStreamPlan(
    const std::vector<std::unique_ptr<RankProgram>> &ranks,
    const std::vector<int> &entries) {
  return StreamPlanBuilder(ranks, entries).run();
}

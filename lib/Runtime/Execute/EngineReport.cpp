// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who waits for whom, when a run goes on no more.

#include "Engine.h"

#include "Piper/Runtime/CheckProgram.h"

#include <cstdio>

using namespace piper::rt;

/// "instruction 5 ('block.bw', B)".
std::string Engine::describe(Op op) const {
  const StreamPlan::Rank &rank = plan().ranks[op.rank];
  std::string text = describeInstruction(ranks[op.rank]->program(), *rank.point,
                                         op.instruction);
  return text.substr(0, text.rfind(" of entry point"));
}

/// Which ranks a posted message or reduction waits for.
std::string Engine::describePeers(Op op) const {
  const StreamPlan::Needs &needs = plan().needs(op);
  if (needs.stream == Stream::In)
    return "rank " + std::to_string(plan().messages[needs.match].send.rank);
  if (needs.stream == Stream::Out)
    return (buffering > 0 ? "room to rank " : "rank ") +
           std::to_string(plan().messages[needs.match].receive.rank);
  std::string text;
  int missing = 0;
  for (Op member : plan().reductions[needs.match].members) {
    if (isPosted(member))
      continue;
    text += (missing++ ? ", " : "") + std::to_string(member.rank);
  }
  return (missing == 1 ? "rank " : "ranks ") + text;
}

Status Engine::describeStuck() const {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g", options.deadlineSeconds);
  Status status = Status::error("entry point '" + plan().ranks[0].point->name +
                                "' is stuck: no instruction of any rank has "
                                "ended for " +
                                seconds + " seconds");
  for (size_t r = 0; r < states.size(); ++r) {
    const RankState &state = states[r];
    const StreamPlan::Rank &rank = plan().ranks[r];
    std::string name = "rank " + std::to_string(r) + ": ";
    auto headOf = [&](int stream) {
      return Op{int32_t(r), rank.streams[stream][state.ended[stream]]};
    };
    auto isDone = [&](int stream) {
      return size_t(state.ended[stream]) == rank.streams[stream].size();
    };
    constexpr int kCompute = int(Stream::Compute);
    for (int s = 0; s < kNumStreams && !isDone(kCompute); ++s)
      if (state.ended[s] < plan().needs(headOf(kCompute)).ended[s])
        status.addNote(name + describe(headOf(kCompute)) + " waits for " +
                       describe(headOf(s)));
    for (int s = 0; s < kNumStreams; ++s)
      if (state.head[s] == Head::Posted)
        status.addNote(name + describe(headOf(s)) + " waits for " +
                       describePeers(headOf(s)));
  }
  return status;
}

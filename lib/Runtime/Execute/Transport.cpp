// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine's streams of messages and reductions, and the device clock. All of
// it runs under the engine's lock, except perform().

#include "Engine.h"

#include "Piper/Runtime/Random.h"
#include "SumTerms.h"

#include <algorithm>
#include <cstring>

using namespace piper::rt;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

bool Engine::haveEnded(const RankState &state,
                       const StreamCounts &counts) const {
  for (int s = 0; s < kNumStreams; ++s)
    if (state.ended[s] < counts[s])
      return false;
  return true;
}

bool Engine::hasEnded(int rank) const {
  for (int s = 0; s < kNumStreams; ++s)
    if (size_t(states[rank].ended[s]) < plan().ranks[rank].streams[s].size())
      return false;
  return true;
}

/// Posts what may start now on the queues of a rank.
void Engine::advance(int rank) {
  for (Stream stream : {Stream::Out, Stream::In, Stream::Reduce})
    postHead(rank, stream);
}

void Engine::postHead(int rank, Stream stream) {
  RankState &state = states[rank];
  const StreamPlan::Rank &mine = plan().ranks[rank];
  const std::vector<int32_t> &queue = mine.streams[int(stream)];
  size_t place = state.ended[int(stream)];
  if (state.head[int(stream)] != Head::Waiting || place == queue.size())
    return;
  Op op{rank, queue[place]};
  const StreamPlan::Needs &needs = plan().needs(op);
  if (state.started < needs.tasksBefore || !haveEnded(state, needs.ended))
    return;
  int64_t delay = delayOf(op);
  if (delay == 0)
    return post(op);
  setHead(op, Head::Delayed);
  state.due[int(stream)] = steadyNow() + delay;
  wake(supervisor);
}

int64_t Engine::delayOf(Op op) const {
  if (options.delayMilliseconds <= 0)
    return 0;
  RandomStream stream{{uint32_t(options.delaySeed), uint32_t(op.rank)},
                      {uint32_t(op.instruction), 0}};
  RandomBlock block = randomBlock(stream, uint64_t(runs));
  double part = uniformDouble(block.word[0], block.word[1]);
  return int64_t(part * options.delayMilliseconds * 1e6);
}

void Engine::postDelayed() {
  if (options.delayMilliseconds <= 0)
    return;
  int64_t time = steadyNow();
  for (size_t r = 0; r < states.size(); ++r)
    for (int s = 0; s < kNumStreams; ++s)
      if (states[r].head[s] == Head::Delayed && states[r].due[s] <= time)
        post({int32_t(r), plan().ranks[r].streams[s][states[r].ended[s]]});
}

void Engine::setHead(Op op, Head head) {
  states[op.rank].head[int(plan().needs(op).stream)] = head;
}

bool Engine::isPosted(Op op) const {
  const StreamPlan::Needs &needs = plan().needs(op);
  const RankState &state = states[op.rank];
  return state.head[int(needs.stream)] == Head::Posted &&
         state.ended[int(needs.stream)] == needs.place;
}

void Engine::post(Op op) {
  setHead(op, Head::Posted);
  if (options.poison)
    poisonPlace(op);
  const StreamPlan::Needs &needs = plan().needs(op);
  if (needs.stream != Stream::Reduce)
    return matchMessage(needs.match);
  ++postedMembers[needs.match];
  matchReduction(needs.match);
}

/// What will be overwritten holds nothing, unless it is summed in place.
void Engine::poisonPlace(Op op) {
  const EntryPoint &entry = *plan().ranks[op.rank].point;
  const Instruction &instruction = entry.instructions[op.instruction];
  for (int32_t made : instruction.results) {
    const EntryValue &value = entry.values[made];
    bool isInPlace = std::any_of(
        instruction.operands.begin(), instruction.operands.end(),
        [&](int32_t o) { return entry.values[o].offset == value.offset; });
    if (!isInPlace)
      ranks[op.rank]->poison(
          {value.offset, value.offset + value.type.numBytes()});
  }
}

void Engine::end(Op op) {
  if (options.poison)
    release(op);
  RankState &state = states[op.rank];
  int stream = int(plan().needs(op).stream);
  ++state.ended[stream];
  state.head[stream] = Head::Waiting;
  advance(op.rank);
  wake(state.sleeper);
}

/// Fills what this instruction was the last one to use, before those that wait
/// for it can start.
void Engine::release(Op op) {
  RankState::EntryReleases &mine = states[op.rank].releases[current];
  const auto &releases =
      ranks[op.rank]->sharedReleases(plan().ranks[op.rank].entry);
  for (int32_t index : mine.byInstruction[op.instruction])
    if (--mine.left[index] == 0)
      for (ArenaRange range : releases[index].ranges)
        ranks[op.rank]->poison(range);
}

//===----------------------------------------------------------------------===//
// Transport
//===----------------------------------------------------------------------===//

void Engine::push(Job::Kind kind, int32_t match) {
  Job job;
  job.kind = kind;
  job.match = match;
  jobs[(firstJob + numJobs++) % jobs.size()] = job;
  visitOps(job, [&](Op op) { setHead(op, Head::Busy); });
}

void Engine::matchMessage(int32_t index) {
  const StreamPlan::Message &message = plan().messages[index];
  bool canSend = isPosted(message.send), canReceive = isPosted(message.receive);
  if (buffering == 0) {
    if (canSend && canReceive)
      push(Job::Kind::Transfer, index);
    return;
  }
  Channel &channel = channels[message.channel];
  if (canSend && channel.held < buffering) {
    ++channel.held;
    push(Job::Kind::Deposit, index);
  }
  if (canReceive && channel.sent > message.number)
    push(Job::Kind::Collect, index);
}

void Engine::matchReduction(int32_t index) {
  if (size_t(postedMembers[index]) < plan().reductions[index].members.size())
    return;
  postedMembers[index] = 0;
  push(Job::Kind::Reduce, index);
}

bool Engine::runJob(Lock &lock) {
  if (numJobs == 0 || failed)
    return false;
  Job job = jobs[firstJob];
  firstJob = (firstJob + 1) % jobs.size();
  --numJobs;
  wakeHelper();
  lock.unlock();
  job.begin = options.timing ? steadyNow() : 0;
  perform(job);
  job.end = options.timing ? steadyNow() : 0;
  lock.lock();
  if (!failed)
    finish(job);
  return true;
}

void Engine::perform(const Job &job) {
  if (job.kind == Job::Kind::Reduce) {
    const StreamPlan::Reduction &sum = plan().reductions[job.match];
    return reduceTerms(sum.type, sum.terms, sum.results);
  }
  const StreamPlan::Message &message = plan().messages[job.match];
  Channel &channel = channels[message.channel];
  std::byte *slot = nullptr;
  if (buffering > 0)
    slot = channel.slots.data() +
           message.number % channel.numSlots * channel.slotBytes;
  std::memcpy(job.kind == Job::Kind::Deposit ? slot : message.to,
              job.kind == Job::Kind::Collect ? slot : message.from,
              message.bytes);
}

template <typename Visit>
void Engine::visitOps(const Job &job, Visit visit) const {
  if (job.kind == Job::Kind::Reduce) {
    for (Op op : plan().reductions[job.match].members)
      visit(op);
    return;
  }
  const StreamPlan::Message &message = plan().messages[job.match];
  if (job.kind != Job::Kind::Collect)
    visit(message.send);
  if (job.kind != Job::Kind::Deposit)
    visit(message.receive);
}

void Engine::finish(const Job &job) {
  if (options.timing)
    setJobTimes(job);
  if (options.clock != DeviceClock::Off)
    advanceClock(job);
  if (job.kind == Job::Kind::Deposit)
    finishDeposit(job.match);
  else if (job.kind == Job::Kind::Collect)
    finishCollect(job.match);
  else
    visitOps(job, [&](Op op) { end(op); });
}

void Engine::finishDeposit(int32_t index) {
  const StreamPlan::Message &message = plan().messages[index];
  ++channels[message.channel].sent;
  end(message.send);
  if (isPosted(message.receive))
    matchMessage(index);
}

void Engine::finishCollect(int32_t index) {
  const StreamPlan::Message &message = plan().messages[index];
  --channels[message.channel].held;
  end(message.receive);
  // The sender may wait for room.
  int sender = message.send.rank;
  size_t place = states[sender].ended[int(Stream::Out)];
  const auto &queue = plan().ranks[sender].streams[int(Stream::Out)];
  if (place == queue.size())
    return;
  Op next{sender, queue[place]};
  int32_t match = plan().needs(next).match;
  if (isPosted(next) && plan().messages[match].channel == message.channel)
    matchMessage(match);
}

void Engine::setJobTimes(const Job &job) {
  visitOps(job, [&](Op op) {
    times[current].host[op.rank][op.instruction] = {job.begin, job.end};
  });
}

//===----------------------------------------------------------------------===//
// The device clock
//===----------------------------------------------------------------------===//

double Engine::durationOf(Op op) const {
  return times[current].durations[op.rank][op.instruction];
}

/// What came before has its times, because it has ended (or started).
double Engine::readyTime(Op op) {
  const StreamPlan::Rank &rank = plan().ranks[op.rank];
  const StreamPlan::Needs &needs = rank.needs[op.instruction];
  StreamCounts before = needs.ended;
  before[int(needs.stream)] = needs.place;
  double time = 0;
  for (int s = 0; s < kNumStreams; ++s)
    if (before[s] > 0)
      time = std::max(
          time, deviceTime({op.rank, rank.streams[s][before[s] - 1]}).end);
  if (needs.stream != Stream::Compute && needs.tasksBefore > 0) {
    const auto &tasks = rank.streams[int(Stream::Compute)];
    time = std::max(time,
                    deviceTime({op.rank, tasks[needs.tasksBefore - 1]}).begin);
  }
  return time;
}

/// When the channel has room for a message: the receive of the one that lay in
/// its slot has ended. The messages of a channel stand one after another.
double Engine::roomTime(int32_t index) {
  if (plan().messages[index].number < buffering)
    return 0;
  return deviceTime(plan().messages[index - buffering].receive).end;
}

void Engine::advanceClock(const Job &job) {
  DeviceTime time;
  visitOps(job,
           [&](Op op) { time.begin = std::max(time.begin, readyTime(op)); });
  if (job.kind == Job::Kind::Collect) {
    const DeviceTime &sent = deviceTime(plan().messages[job.match].send);
    time.end = std::max(time.begin, sent.end);
    time.begin = std::max(time.begin, sent.begin);
    deviceTime(plan().messages[job.match].receive) = time;
    return;
  }
  Op first = job.kind == Job::Kind::Reduce
                 ? plan().reductions[job.match].members[0]
                 : plan().messages[job.match].send;
  if (job.kind == Job::Kind::Deposit)
    time.begin = std::max(time.begin, roomTime(job.match));
  time.end = time.begin + durationOf(first);
  visitOps(job, [&](Op op) { deviceTime(op) = time; });
}

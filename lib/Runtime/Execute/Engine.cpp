// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of the engine: ranks, the supervisor, tokens, failure.

#include "Engine.h"

#include "ThreadCount.h"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <system_error>

using namespace piper::rt;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The cores that this process may use.
static int countCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(CPU_COUNT(&set), 1);
  return std::max(int(std::thread::hardware_concurrency()), 1);
}

Engine::Engine(const std::vector<std::unique_ptr<RankProgram>> &ranks,
               int64_t buffering, const ExecutorOptions &options,
               std::vector<EntryTimes> &times)
    : ranks(ranks), buffering(buffering), options(options), times(times),
      states(ranks.size()), channels(ranks.size() * ranks.size()),
      jobs(ranks.size() * kNumStreams) {
  int threads = 1;
  for (const auto &rank : ranks)
    threads = std::max(threads, rank->program().target.threads);
  int cores = options.cores > 0 ? options.cores : countCores();
  tokens = freeTokens = std::max(cores / threads, 1);
}

Status Engine::load(const std::vector<std::vector<int>> &entries) {
  size_t reductions = 0;
  for (size_t e = 0; e < entries.size(); ++e) {
    Result<StreamPlan> made = buildStreamPlan(ranks, entries[e]);
    if (!made.ok())
      return made.takeStatus();
    plans.push_back(std::move(*made));
    reductions = std::max(reductions, plans.back().reductions.size());
    for (const StreamPlan::Message &message : plans.back().messages) {
      Channel &channel = channels[message.channel];
      channel.slotBytes = std::max(channel.slotBytes, message.bytes);
      channel.numSlots =
          std::max<int64_t>(channel.numSlots, message.number + 1);
    }
    if (options.poison)
      loadReleases(int(e));
  }
  postedMembers.resize(reductions);
  return makeSlots();
}

/// No more slots than a channel has messages.
Status Engine::makeSlots() {
  for (Channel &channel : channels) {
    channel.numSlots = std::min(channel.numSlots, buffering);
    int64_t bytes = 0;
    if (__builtin_mul_overflow(channel.numSlots, channel.slotBytes, &bytes))
      return Status::error("the messages of a channel are too large to be "
                           "buffered");
    if (bytes == 0)
      continue;
    Result<Arena> slots = Arena::allocate(bytes);
    if (!slots.ok())
      return slots.takeStatus().addNote("for the buffered messages of a "
                                        "channel");
    channel.slots = std::move(*slots);
  }
  return Status::success();
}

void Engine::loadReleases(int entry) {
  for (size_t r = 0; r < ranks.size(); ++r) {
    const StreamPlan::Rank &rank = plans[entry].ranks[r];
    RankState::EntryReleases &mine = states[r].releases.emplace_back();
    const auto &releases = ranks[r]->sharedReleases(rank.entry);
    mine.left.resize(releases.size());
    mine.byInstruction.resize(rank.needs.size());
    for (size_t i = 0; i < releases.size(); ++i)
      for (int32_t last : releases[i].last)
        if (last >= 0)
          mine.byInstruction[last].push_back(int32_t(i));
  }
}

Result<std::unique_ptr<Engine>>
Engine::create(const std::vector<std::unique_ptr<RankProgram>> &ranks,
               const std::vector<std::vector<int>> &entries, int64_t buffering,
               const ExecutorOptions &options, std::vector<EntryTimes> &times) {
  std::unique_ptr<Engine> engine(new Engine(ranks, buffering, options, times));
  PIPER_RETURN_IF_ERROR(engine->load(entries));
  PIPER_RETURN_IF_ERROR(engine->startThreads());
  return engine;
}

Status Engine::startThreads() {
  for (size_t r = 0; r < ranks.size(); ++r)
    try {
      states[r].thread = std::thread([this, r] { runThread(int(r)); });
    } catch (const std::system_error &error) {
      return Status::error("cannot start a thread for rank " +
                           std::to_string(r) + ": " + error.what());
    }
  return Status::success();
}

Engine::~Engine() {
  {
    Lock lock(mutex);
    stopping = true;
    wakeAll();
  }
  for (RankState &state : states)
    if (state.thread.joinable())
      state.thread.join();
}

//===----------------------------------------------------------------------===//
// Sleeping and waking
//===----------------------------------------------------------------------===//

void Engine::sleep(Lock &lock, Sleeper &sleeper) {
  sleeper.asleep = true;
  sleeper.condition.wait(lock);
  sleeper.asleep = false;
}

void Engine::wake(Sleeper &sleeper) {
  if (!sleeper.asleep)
    return;
  sleeper.asleep = false;
  sleeper.condition.notify_one();
}

void Engine::wakeAll() {
  for (RankState &state : states)
    wake(state.sleeper);
  wake(supervisor);
}

/// Called by a thread that may leave jobs behind: it goes off to work, or has
/// no more to do.
void Engine::wakeHelper() {
  if (numJobs == 0 || failed)
    return;
  for (RankState &state : states)
    if (state.sleeper.asleep && !state.isParked && !state.wantsToken)
      return wake(state.sleeper);
  wake(supervisor);
}

void Engine::fail(Status status) {
  if (failed)
    return;
  failed = true;
  failure = std::move(status);
  wakeAll();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Those that come first in the common order of the plan have precedence.
bool Engine::takeToken(int rank) {
  RankState &mine = states[rank];
  int before = 0;
  for (const RankState &other : states)
    before += &other != &mine && other.wantsToken && other.order < mine.order;
  if (before >= freeTokens)
    return false;
  --freeTokens;
  return true;
}

void Engine::returnToken() {
  ++freeTokens;
  RankState *first = nullptr;
  for (RankState &state : states)
    if (state.wantsToken && state.sleeper.asleep &&
        (!first || state.order < first->order))
      first = &state;
  if (first)
    wake(first->sleeper);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

void Engine::runThread(int rank) {
  ThreadCount threads(ranks[rank]->program().target.threads);
  Lock lock(mutex);
  for (int64_t seen = 0;; seen = runs) {
    while (runs == seen && !stopping)
      sleep(lock, states[rank].sleeper);
    if (stopping)
      return;
    states[rank].isParked = false;
    runRank(lock, rank);
    states[rank].isParked = true;
    wakeHelper();
    if (++parked == int(ranks.size()))
      wake(supervisor);
  }
}

void Engine::runRank(Lock &lock, int rank) {
  for (int32_t task : plan().ranks[rank].streams[int(Stream::Compute)])
    if (!runTask(lock, {rank, task}))
      return;
  while (!failed && !hasEnded(rank))
    if (!runJob(lock))
      sleep(lock, states[rank].sleeper);
}

/// Waits until a task may start and has a token. False: the run has failed.
bool Engine::awaitTask(Lock &lock, Op op) {
  RankState &state = states[op.rank];
  const StreamPlan::Rank &rank = plan().ranks[op.rank];
  const StreamPlan::Needs &needs = rank.needs[op.instruction];
  state.order = rank.point->instructions[op.instruction].id;
  while (!failed) {
    if (haveEnded(state, needs.ended)) {
      if (takeToken(op.rank)) {
        state.wantsToken = false;
        return true;
      }
      state.wantsToken = true;
    }
    if (!runJob(lock))
      sleep(lock, state.sleeper);
  }
  state.wantsToken = false;
  return false;
}

bool Engine::runTask(Lock &lock, Op op) {
  if (!awaitTask(lock, op))
    return false;
  RankProgram &rank = *ranks[op.rank];
  int entry = plan().ranks[op.rank].entry;
  bool hasClock = options.clock != DeviceClock::Off;
  if (hasClock)
    deviceTime(op).begin = readyTime(op);
  TaskTime time;
  // Before the messages that may start with it.
  time.begin = options.timing ? steadyNow() : 0;
  ++states[op.rank].started;
  advance(op.rank);
  wakeHelper();
  lock.unlock();

  bool measures = options.clock == DeviceClock::Measured;
  int threads = rank.program().target.threads;
  double before = measures ? workedMicroseconds(threads) : 0;
  Status status = rank.runTask(entry, op.instruction);
  double worked = measures ? workedMicroseconds(threads) - before : 0;
  time.end = options.timing ? steadyNow() : 0;

  lock.lock();
  returnToken();
  if (options.timing)
    times[current].host[op.rank][op.instruction] = time;
  if (!status.ok()) {
    fail(std::move(status).addNote("on rank " + std::to_string(op.rank)));
    return false;
  }
  if (hasClock)
    deviceTime(op).end =
        deviceTime(op).begin + (measures ? worked : durationOf(op));
  end(op);
  return true;
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

void Engine::start(int entry) {
  current = entry;
  failed = false;
  failure = Status::success();
  parked = 0;
  firstJob = numJobs = 0;
  freeTokens = tokens;
  std::fill(postedMembers.begin(), postedMembers.end(), 0);
  for (Channel &channel : channels)
    channel.sent = channel.held = 0;
  for (size_t r = 0; r < states.size(); ++r) {
    RankState &state = states[r];
    state.started = 0;
    state.ended = {};
    state.head = {};
    state.wantsToken = false;
    if (!options.poison)
      continue;
    const auto &releases = ranks[r]->sharedReleases(plan().ranks[r].entry);
    for (size_t i = 0; i < releases.size(); ++i)
      state.releases[current].left[i] = int32_t(
          std::count_if(releases[i].last.begin(), releases[i].last.end(),
                        [](int32_t last) { return last >= 0; }));
  }
  ++runs;
  progressTime = steadyNow();
  for (size_t r = 0; r < states.size(); ++r)
    advance(int(r));
  wakeAll();
}

/// Whether nothing can happen any more. A rank that is awake runs a kernel or a
/// job, or will when the machine has a core for it.
bool Engine::isStuck() const {
  return numJobs == 0 &&
         std::all_of(states.begin(), states.end(), [](const RankState &state) {
           return state.sleeper.asleep &&
                  std::find(state.head.begin(), state.head.end(),
                            Head::Delayed) == state.head.end();
         });
}

bool Engine::checkDeadline() {
  int64_t time = steadyNow();
  if (!isStuck())
    progressTime = time;
  return double(time - progressTime) < options.deadlineSeconds * 1e9;
}

void Engine::supervise(Lock &lock) {
  // Often enough for the deadline to be late by an eighth at most.
  constexpr double kShortest = 1e6, kLongest = 1e9;
  auto period = int64_t(
      std::clamp(options.deadlineSeconds * 1e9 / 8, kShortest, kLongest));
  while (parked < int(ranks.size())) {
    if (!failed && !checkDeadline())
      fail(describeStuck());
    postDelayed();
    if (runJob(lock))
      continue;
    int64_t until = steadyNow() + period;
    for (const RankState &state : states)
      for (int s = 0; s < kNumStreams; ++s)
        if (state.head[s] == Head::Delayed)
          until = std::min(until, state.due[s]);
    supervisor.asleep = true;
    supervisor.condition.wait_until(lock, std::chrono::steady_clock::time_point(
                                              std::chrono::nanoseconds(until)));
    supervisor.asleep = false;
  }
}

Status Engine::run(int entry) {
  Lock lock(mutex);
  start(entry);
  supervise(lock);
  return std::move(failure);
}

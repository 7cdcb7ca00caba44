// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs several ranks in one process.
//
// Each rank has a thread that runs its tasks in program order. The streams of
// messages and reductions are queues: their first instruction is *posted* when
// it may start (Program.h, rules a to c). The transport matches the ends of a
// message, or the members of a reduction, and makes a *job* of them: a copy or
// a sum. Jobs are run by ranks that would otherwise block, or else by the
// thread that called run(). A task holds a token while it runs, so that no more
// ranks compute than there are cores for.
//
// One mutex guards all of this; kernels and jobs run outside of it.

#ifndef PIPER_LIB_RUNTIME_EXECUTE_ENGINE_H
#define PIPER_LIB_RUNTIME_EXECUTE_ENGINE_H

#include "StreamPlan.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace piper::rt {

/// The times of the last run of an entry point; what ExecutorOptions do not
/// ask for is empty.
struct EntryTimes {
  /// ExecutorOptions::timing.
  TaskTimes host;
  /// ExecutorOptions::clock.
  DeviceTimes device;
  /// What the costs say.
  Durations durations;
};

class Engine {
public:
  /// `entries`: for each entry point its index on each rank. `times` is filled
  /// by run(). All references outlive the engine.
  static Result<std::unique_ptr<Engine>>
  create(const std::vector<std::unique_ptr<RankProgram>> &ranks,
         const std::vector<std::vector<int>> &entries, int64_t buffering,
         const ExecutorOptions &options, std::vector<EntryTimes> &times);
  ~Engine();

  /// Runs an entry point on all ranks.
  Status run(int entry);

private:
  using Op = StreamPlan::Op;
  using Lock = std::unique_lock<std::mutex>;

  /// The first instruction of a stream that has not ended: not ready, ready but
  /// kept back by a test, ready, or part of a job.
  enum class Head : uint8_t { Waiting, Delayed, Posted, Busy };

  /// A thread that sleeps until something changes for it.
  struct Sleeper {
    std::condition_variable condition;
    /// Asleep, and not woken yet.
    bool asleep = false;
  };

  struct RankState {
    Sleeper sleeper;
    int32_t started = 0;
    StreamCounts ended = {};
    std::array<Head, kNumStreams> head = {};
    std::array<int64_t, kNumStreams> due = {};
    /// Has nothing to do in this run, or no more.
    bool isParked = true;
    /// Ready to compute, but without a token; the id of the task.
    bool wantsToken = false;
    int64_t order = 0;
    /// Poison mode, by entry point.
    struct EntryReleases {
      /// Of each shared release, how many streams still use it.
      std::vector<int32_t> left;
      /// The releases that an instruction may be the last user of.
      std::vector<std::vector<int32_t>> byInstruction;
    };
    std::vector<EntryReleases> releases;
    std::thread thread;
  };

  struct Channel {
    /// Messages that were put into it, and that it holds.
    int32_t sent = 0;
    int32_t held = 0;
    /// So many slots of so many bytes.
    int64_t numSlots = 0;
    int64_t slotBytes = 0;
    Arena slots;
  };

  /// Copies from the sender to the receiver (Transfer), to a slot of the
  /// channel (Deposit) or from there (Collect); or a reduction.
  struct Job {
    enum class Kind : uint8_t { Transfer, Deposit, Collect, Reduce };
    Kind kind = Kind::Transfer;
    int32_t match = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };

  Engine(const std::vector<std::unique_ptr<RankProgram>> &ranks,
         int64_t buffering, const ExecutorOptions &options,
         std::vector<EntryTimes> &times);
  Status load(const std::vector<std::vector<int>> &entries);
  Status makeSlots();
  void loadReleases(int entry);
  Status startThreads();

  // Threads. Each of these holds the lock except while kernels, jobs and sleep.
  void start(int entry);
  void runThread(int rank);
  void runRank(Lock &lock, int rank);
  bool runTask(Lock &lock, Op op);
  bool awaitTask(Lock &lock, Op op);
  void supervise(Lock &lock);
  bool isStuck() const;
  bool checkDeadline();
  void sleep(Lock &lock, Sleeper &sleeper);
  void wake(Sleeper &sleeper);
  void wakeAll();
  void wakeHelper();
  void fail(Status status);
  bool takeToken(int rank);
  void returnToken();

  // Streams and transport (Transport.cpp).
  const StreamPlan &plan() const { return plans[current]; }
  bool haveEnded(const RankState &state, const StreamCounts &counts) const;
  bool hasEnded(int rank) const;
  void advance(int rank);
  void postHead(int rank, Stream stream);
  void postDelayed();
  void post(Op op);
  bool isPosted(Op op) const;
  void setHead(Op op, Head head);
  void matchMessage(int32_t index);
  void matchReduction(int32_t index);
  void push(Job::Kind kind, int32_t match);
  bool runJob(Lock &lock);
  void perform(const Job &job);
  void finish(const Job &job);
  void finishDeposit(int32_t index);
  void finishCollect(int32_t index);
  void end(Op op);
  void release(Op op);
  void poisonPlace(Op op);
  int64_t delayOf(Op op) const;

  // The device clock.
  DeviceTime &deviceTime(Op op) {
    return times[current].device[op.rank][op.instruction];
  }
  double readyTime(Op op);
  double roomTime(int32_t index);
  double durationOf(Op op) const;
  void advanceClock(const Job &job);
  void setJobTimes(const Job &job);
  template <typename Visit> void visitOps(const Job &job, Visit visit) const;

  // What a run that is stuck says (EngineReport.cpp).
  Status describeStuck() const;
  std::string describe(Op op) const;
  std::string describePeers(Op op) const;

  const std::vector<std::unique_ptr<RankProgram>> &ranks;
  const int64_t buffering;
  const ExecutorOptions options;
  std::vector<EntryTimes> &times;
  std::vector<StreamPlan> plans;

  std::mutex mutex;
  std::vector<RankState> states;
  Sleeper supervisor;
  std::vector<Channel> channels;
  /// By reduction: members that are posted.
  std::vector<int32_t> postedMembers;
  /// A ring: no more jobs than heads.
  std::vector<Job> jobs;
  size_t firstJob = 0, numJobs = 0;
  int tokens = 1, freeTokens = 1;
  int current = 0;
  /// Runs so far; a thread starts when this changes.
  int64_t runs = 0;
  int parked = 0;
  bool stopping = false;
  bool failed = false;
  Status failure;
  /// When the supervisor last saw that the run was not stuck.
  int64_t progressTime = 0;
};

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_EXECUTE_ENGINE_H

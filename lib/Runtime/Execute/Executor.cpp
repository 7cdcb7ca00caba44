// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executor: state, inputs and outputs of a plan. A plan of one rank without
// messages runs here; others by the engine.

#include "Piper/Runtime/Executor.h"

#include "Engine.h"
#include "Piper/Runtime/CheckPlan.h"
#include "Piper/Runtime/CheckProgram.h"
#include "Program/PlanView.h"
#include "StateInit.h"
#include "ThreadCount.h"

#include <algorithm>
#include <cstring>

using namespace piper::rt;

struct Executor::Impl {
  Impl(Plan plan, const ExecutorOptions &options)
      : plan(std::move(plan)), options(options) {}

  Status load();
  Status checkPrograms() const;
  EntryTimes makeTimes(int entry) const;
  Status checkBuffers(const EntryPoint &entry,
                      const std::vector<ConstBytes> &inputs,
                      const std::vector<MutableBytes> &outputs) const;
  Status runAlone(int entry);
  void copyInputs(int entry, const std::vector<ConstBytes> &inputs);
  std::byte *dataOf(PlanView::Place place, int entry) const {
    return ranks[place.rank]->valueData(view.entry(entry).ranks[place.rank],
                                        place.index);
  }

  Plan plan;
  ExecutorOptions options;
  PlanView view;
  std::vector<std::unique_ptr<RankProgram>> ranks;
  /// By entry point.
  std::vector<EntryTimes> times;
  /// Null for one rank that only computes.
  std::unique_ptr<Engine> engine;
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executor::~Executor() = default;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Whether a plan needs more than one thread that computes.
static bool needsEngine(const Plan &plan) {
  if (plan.programs.size() > 1)
    return true;
  for (const Program &program : plan.programs)
    for (const EntryPoint &entry : program.entries)
      for (const Instruction &instruction : entry.instructions)
        if (instruction.kind != Instruction::Kind::Task)
          return true;
  return false;
}

Status Executor::Impl::checkPrograms() const {
  if (plan.buffering < 0)
    return Status::error("expects a buffering of 0 or more messages but got " +
                         std::to_string(plan.buffering));
  bool isPlain = !needsEngine(plan);
  if (options.checkPlan && !isPlain)
    return checkPlan(plan);
  for (size_t r = 0; r < plan.programs.size(); ++r) {
    PIPER_RETURN_IF_ERROR(checkProgram(plan.programs[r]));
    if (!isPlain && plan.programs[r].coordinate != int32_t(r))
      return Status::error("expects the program of coordinate " +
                           std::to_string(r) + " but got that of " +
                           std::to_string(plan.programs[r].coordinate));
  }
  return Status::success();
}

EntryTimes Executor::Impl::makeTimes(int entry) const {
  EntryTimes result;
  const std::string &name = plan.programs[0].entries[entry].name;
  for (const Program &program : plan.programs) {
    size_t count = program.findEntry(name)->instructions.size();
    if (options.timing)
      result.host.emplace_back(count);
    if (options.clock != DeviceClock::Off)
      result.device.emplace_back(count);
  }
  if (options.clock != DeviceClock::Off)
    result.durations = makeDurations(plan, name, options.costs);
  return result;
}

Status Executor::Impl::load() {
  PIPER_RETURN_IF_ERROR(checkPrograms());
  Result<PlanView> made = PlanView::create(plan);
  if (!made.ok())
    return made.takeStatus();
  view = std::move(*made);
  for (const Program &program : plan.programs) {
    Result<std::unique_ptr<RankProgram>> rank =
        RankProgram::create(program, options);
    if (!rank.ok())
      return plan.programs.size() == 1
                 ? rank.takeStatus()
                 : rank.takeStatus().addNote("on rank " +
                                             std::to_string(ranks.size()));
    ranks.push_back(std::move(*rank));
  }
  std::vector<std::vector<int>> entries;
  for (size_t e = 0; e < plan.programs[0].entries.size(); ++e) {
    entries.push_back(view.entry(int(e)).ranks);
    times.push_back(makeTimes(int(e)));
  }
  if (!needsEngine(plan))
    return Status::success();
  Result<std::unique_ptr<Engine>> threads =
      Engine::create(ranks, entries, plan.buffering, options, times);
  if (!threads.ok())
    return threads.takeStatus();
  engine = std::move(*threads);
  return Status::success();
}

Result<std::unique_ptr<Executor>>
Executor::create(Plan plan, const ExecutorOptions &options) {
  auto impl = std::make_unique<Impl>(std::move(plan), options);
  PIPER_RETURN_IF_ERROR(impl->load());
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

Result<std::unique_ptr<Executor>>
Executor::create(Program program, const ExecutorOptions &options) {
  Plan plan;
  plan.programs.push_back(std::move(program));
  return create(std::move(plan), options);
}

//===----------------------------------------------------------------------===//
// State and values
//===----------------------------------------------------------------------===//

const Plan &Executor::plan() const { return impl->plan; }

const Program &Executor::program() const { return impl->view.program(); }

int Executor::findEntry(const std::string &name) const {
  for (size_t e = 0; e < program().entries.size(); ++e)
    if (program().entries[e].name == name)
      return int(e);
  return -1;
}

void Executor::initializeState(int64_t seed) {
  ThreadCount threads(program().target.threads);
  for (size_t s = 0; s < program().state.size(); ++s) {
    initializeTensor(program().state[s], seed, stateData(int(s)));
    shareState(int(s));
  }
}

static std::byte *
holderData(const std::vector<std::unique_ptr<RankProgram>> &ranks,
           PlanView::Place place) {
  return ranks[place.rank]->stateData(place.index);
}

std::byte *Executor::stateData(int index) {
  return holderData(impl->ranks, impl->view.holders(index).front());
}

const std::byte *Executor::stateData(int index) const {
  return holderData(impl->ranks, impl->view.holders(index).front());
}

std::vector<int> Executor::stateHolders(int index) const {
  std::vector<int> holders;
  for (PlanView::Place place : impl->view.holders(index))
    holders.push_back(place.rank);
  return holders;
}

const std::byte *Executor::stateData(int index, int rank) const {
  for (PlanView::Place place : impl->view.holders(index))
    if (place.rank == rank)
      return holderData(impl->ranks, place);
  return nullptr;
}

void Executor::shareState(int index) {
  const std::vector<PlanView::Place> &holders = impl->view.holders(index);
  for (size_t h = 1; h < holders.size(); ++h)
    std::memcpy(holderData(impl->ranks, holders[h]), stateData(index),
                program().state[index].type.numBytes());
}

int64_t Executor::counter(const std::string &name, int64_t otherwise) const {
  const StateTensor *tensor = program().findState(name);
  if (!tensor || tensor->kind != StateTensor::Kind::Counter)
    return otherwise;
  int64_t value;
  std::memcpy(&value, stateData(int(tensor - program().state.data())),
              sizeof(value));
  return value;
}

const std::byte *Executor::valueData(int entry, int value) const {
  return impl->dataOf(impl->view.valuePlace(entry, value), entry);
}

const TaskTimes &Executor::times(int entry) const {
  return impl->times[entry].host;
}

const DeviceTimes &Executor::deviceTimes(int entry) const {
  return impl->times[entry].device;
}

double Executor::deviceStepTime(int entry) const {
  double time = 0;
  for (const std::vector<DeviceTime> &rank : deviceTimes(entry))
    for (const DeviceTime &instruction : rank)
      time = std::max(time, instruction.end);
  return time;
}

void Executor::markArena(std::byte mark) {
  for (const auto &rank : impl->ranks)
    rank->markArena(mark);
}

int64_t Executor::highestTouchedByte(std::byte mark, int rank) const {
  return impl->ranks[rank]->highestTouchedByte(mark);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

template <typename Buffer>
static Status checkBuffer(const EntryPoint &entry, const Binding &binding,
                          const Buffer &buffer, const char *kind) {
  int64_t expected = entry.values[binding.value].type.numBytes();
  if (buffer.bytes == expected)
    return Status::success();
  return Status::error(std::string(kind) + " '" + binding.name +
                       "' of entry point '" + entry.name + "' expects " +
                       std::to_string(expected) + " bytes but got " +
                       std::to_string(buffer.bytes));
}

Status
Executor::Impl::checkBuffers(const EntryPoint &entry,
                             const std::vector<ConstBytes> &inputs,
                             const std::vector<MutableBytes> &outputs) const {
  if (inputs.size() != entry.inputs.size())
    return Status::error("entry point '" + entry.name + "' expects " +
                         std::to_string(entry.inputs.size()) +
                         " inputs but got " + std::to_string(inputs.size()));
  if (!outputs.empty() && outputs.size() != entry.outputs.size())
    return Status::error("entry point '" + entry.name + "' expects " +
                         std::to_string(entry.outputs.size()) +
                         " outputs but got " + std::to_string(outputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    PIPER_RETURN_IF_ERROR(
        checkBuffer(entry, entry.inputs[i], inputs[i], "input"));
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].data)
      PIPER_RETURN_IF_ERROR(
          checkBuffer(entry, entry.outputs[o], outputs[o], "output"));
  return Status::success();
}

void Executor::Impl::copyInputs(int entry,
                                const std::vector<ConstBytes> &inputs) {
  const PlanView::Entry &places = view.entry(entry);
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const PlanView::InputPlace &input : places.inputs[i]) {
      int rank = input.place.rank;
      const EntryPoint &mine = plan.programs[rank].entries[places.ranks[rank]];
      copyInput(mine.values[input.place.index].type, input.split,
                static_cast<const std::byte *>(inputs[i].data),
                dataOf(input.place, entry));
    }
}

/// The only rank, on the thread of the caller.
Status Executor::Impl::runAlone(int entry) {
  RankProgram &rank = *ranks.front();
  const Program &program = plan.programs.front();
  int threads = program.target.threads;
  ThreadCount threadCount(threads);
  bool hasClock = options.clock != DeviceClock::Off;
  double clock = 0;
  int count = int(program.entries[entry].instructions.size());
  for (int i = 0; i < count; ++i) {
    if (options.timing)
      times[entry].host[0][i].begin = steadyNow();
    double before = hasClock ? workedMicroseconds(threads) : 0;
    PIPER_RETURN_IF_ERROR(rank.runTask(entry, i));
    if (options.timing)
      times[entry].host[0][i].end = steadyNow();
    if (!hasClock)
      continue;
    DeviceTime &time = times[entry].device[0][i];
    time.begin = clock;
    clock += options.clock == DeviceClock::Measured
                 ? workedMicroseconds(threads) - before
                 : times[entry].durations[0][i];
    time.end = clock;
  }
  return Status::success();
}

Status Executor::run(int entryIndex, const std::vector<ConstBytes> &inputs,
                     const std::vector<MutableBytes> &outputs) {
  if (entryIndex < 0 || entryIndex >= int(program().entries.size()))
    return Status::error("there is no entry point number " +
                         std::to_string(entryIndex));
  const EntryPoint &entry = program().entries[entryIndex];
  PIPER_RETURN_IF_ERROR(impl->checkBuffers(entry, inputs, outputs));
  if (impl->options.poison)
    markArena(std::byte(kPoison));
  impl->copyInputs(entryIndex, inputs);
  PIPER_RETURN_IF_ERROR(impl->engine ? impl->engine->run(entryIndex)
                                     : impl->runAlone(entryIndex));
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].data)
      std::memcpy(outputs[o].data,
                  valueData(entryIndex, entry.outputs[o].value),
                  outputs[o].bytes);
  return Status::success();
}

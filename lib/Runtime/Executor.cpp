// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executor: resolves a checked Program to a flat list of kernel calls with
// addresses, and runs it.

#include "Piper/Runtime/Executor.h"

#include "Arena.h"
#include "MemoryWalk.h"
#include "Piper/Runtime/CheckProgram.h"
#include "Piper/Runtime/Kernel.h"
#include "StateInit.h"

#include <chrono>
#include <cstring>
#include <omp.h>

using namespace piper::rt;

static constexpr int kPoison = 0xFF;

namespace {
/// One kernel call with its addresses, or (kernel == null) a copy of
/// `copyBytes` bytes; a view in its place copies none.
struct Call {
  const Kernel *kernel = nullptr;
  KernelCall arguments;
  int64_t copyBytes = 0;
  int32_t step = 0;
};

/// What one instruction runs: calls begin .. end - 1.
struct Task {
  int64_t begin = 0;
  int64_t end = 0;
};

/// An entry point with everything resolved.
struct CompiledEntry {
  std::vector<Call> calls;
  std::vector<Task> tasks;
  /// Addresses of all calls, one after another.
  std::vector<void *> addresses;
  /// Poison mode: ranges to fill after each call.
  std::vector<std::vector<ArenaRange>> releases;
  std::vector<TaskTime> times;
};

/// Sets the number of OpenMP threads of this host thread for a while. With
/// OMP_DYNAMIC a team may be smaller, and then a oneDNN primitive made for the
/// number that was asked for leaves out part of its work.
class ThreadCount {
public:
  explicit ThreadCount(int threads)
      : before(omp_get_max_threads()), dynamic(omp_get_dynamic()) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
  }
  ~ThreadCount() {
    omp_set_num_threads(before);
    omp_set_dynamic(dynamic);
  }

private:
  int before, dynamic;
};

Status checkThreadLimit(int threads) {
  int limit = omp_get_thread_limit();
  if (threads <= limit)
    return Status::success();
  return Status::error("the program runs on " + std::to_string(threads) +
                       " threads but OMP_THREAD_LIMIT allows " +
                       std::to_string(limit));
}
} // namespace

struct Executor::Impl {
  Impl(Program program, const ExecutorOptions &options)
      : program(std::move(program)), options(options) {}

  Status makeKernels();
  void compile(const EntryPoint &entry, CompiledEntry &compiled);
  void compileInstruction(const EntryPoint &entry, const Instruction &call,
                          CompiledEntry &compiled);
  Status checkBuffers(const EntryPoint &entry,
                      const std::vector<ConstBytes> &inputs,
                      const std::vector<MutableBytes> &outputs) const;
  Status runTasks(int entryIndex);
  Status runCalls(CompiledEntry &compiled, const Task &task, int entryIndex,
                  size_t taskIndex);

  Program program;
  ExecutorOptions options;
  Arena arena;
  /// By function and step; null for views.
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels;
  std::vector<CompiledEntry> entries;
  /// The parts of the arena that are not state, in order.
  std::vector<ArenaRange> gaps;
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executor::~Executor() = default;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status Executor::Impl::makeKernels() {
  for (const Function &function : program.functions) {
    std::vector<std::unique_ptr<Kernel>> &list = kernels.emplace_back();
    for (size_t s = 0; s < function.steps.size(); ++s) {
      const KernelSpec &spec = function.steps[s].spec;
      const KernelEntry &row = *findKernel(spec.name);
      if (viewOffsetOf(spec, row) >= 0) {
        list.push_back(nullptr);
        continue;
      }
      Result<std::unique_ptr<Kernel>> kernel = row.create(spec, program.target);
      if (!kernel.ok())
        return kernel.takeStatus().addNote(
            "while making step " + std::to_string(s) + " ('" + spec.name +
            "') of function '" + function.name + "'");
      list.push_back(std::move(*kernel));
    }
  }
  return Status::success();
}

void Executor::Impl::compileInstruction(const EntryPoint &entry,
                                        const Instruction &instruction,
                                        CompiledEntry &compiled) {
  const Function &function = program.functions[instruction.function];
  auto addAddress = [&](int32_t value) {
    compiled.addresses.push_back(
        arena.data() + addressOf(function, entry, instruction, value));
  };
  Task task;
  task.begin = int64_t(compiled.calls.size());
  for (size_t s = 0; s < function.steps.size(); ++s) {
    const Function::Step &step = function.steps[s];
    Call call;
    call.step = int32_t(s);
    call.kernel = kernels[instruction.function][s].get();
    for (int32_t operand : step.operands)
      addAddress(operand);
    for (int32_t result : step.results)
      addAddress(result);
    if (!call.kernel) {
      // A view: its source stands in the place of the first operand.
      size_t count = step.operands.size() + step.results.size();
      void *&source = compiled.addresses[compiled.addresses.size() - count];
      source = static_cast<std::byte *>(source) +
               viewOffsetOf(step.spec, *findKernel(step.spec.name));
      if (source != compiled.addresses.back())
        call.copyBytes = step.spec.results[0].numBytes();
    }
    call.arguments.workspace =
        arena.data() + instruction.workspaceOffset + step.workspaceOffset;
    call.arguments.salt = instruction.salt;
    call.arguments.microBatch = std::max(0, instruction.microBatch);
    compiled.calls.push_back(call);
  }
  task.end = int64_t(compiled.calls.size());
  compiled.tasks.push_back(task);
}

void Executor::Impl::compile(const EntryPoint &entry, CompiledEntry &compiled) {
  for (const Instruction &instruction : entry.instructions)
    compileInstruction(entry, instruction, compiled);
  // The list of addresses is complete: it does not move any more.
  void **next = compiled.addresses.data();
  for (size_t t = 0; t < compiled.tasks.size(); ++t) {
    const Function &function =
        program.functions[entry.instructions[t].function];
    for (int64_t c = compiled.tasks[t].begin; c < compiled.tasks[t].end; ++c) {
      Call &call = compiled.calls[c];
      call.arguments.operands = next;
      next += function.steps[call.step].operands.size();
      call.arguments.results = next;
      next += function.steps[call.step].results.size();
    }
  }
  if (options.timing)
    compiled.times.resize(compiled.tasks.size());
  if (options.poison) {
    MemoryWalk walk(program, entry);
    if (walk.check().ok())
      compiled.releases = walk.releases();
  }
}

/// The parts of the arena between the state tensors.
static std::vector<ArenaRange> findGaps(const Program &program) {
  ArenaMap map;
  for (const StateTensor &tensor : program.state)
    map.assign(tensor.offset, tensor.offset + tensor.type.numBytes(), 0);
  std::vector<ArenaRange> gaps;
  map.visit(0, program.arenaBytes,
            [&](int64_t begin, int64_t end, int32_t owner) {
              if (owner == ArenaMap::kNobody)
                gaps.push_back({begin, end});
            });
  return gaps;
}

Result<std::unique_ptr<Executor>>
Executor::create(Program program, const ExecutorOptions &options) {
  PIPER_RETURN_IF_ERROR(checkProgram(program));
  PIPER_RETURN_IF_ERROR(checkThreadLimit(program.target.threads));
  auto impl = std::make_unique<Impl>(std::move(program), options);
  ThreadCount threads(impl->program.target.threads);
  PIPER_RETURN_IF_ERROR(impl->makeKernels());
  Result<Arena> arena = Arena::allocate(impl->program.arenaBytes);
  if (!arena.ok())
    return arena.takeStatus();
  impl->arena = std::move(*arena);
  impl->gaps = findGaps(impl->program);
  impl->entries.resize(impl->program.entries.size());
  for (size_t e = 0; e < impl->entries.size(); ++e)
    impl->compile(impl->program.entries[e], impl->entries[e]);
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

//===----------------------------------------------------------------------===//
// State and values
//===----------------------------------------------------------------------===//

const Program &Executor::program() const { return impl->program; }

int Executor::findEntry(const std::string &name) const {
  for (size_t e = 0; e < program().entries.size(); ++e)
    if (program().entries[e].name == name)
      return int(e);
  return -1;
}

void Executor::initializeState(int64_t seed) {
  ThreadCount threads(program().target.threads);
  for (size_t s = 0; s < program().state.size(); ++s)
    initializeTensor(program().state[s], seed, stateData(int(s)));
}

std::byte *Executor::stateData(int index) {
  return impl->arena.data() + program().state[index].offset;
}

const std::byte *Executor::stateData(int index) const {
  return impl->arena.data() + program().state[index].offset;
}

int64_t Executor::counter(const std::string &name, int64_t otherwise) const {
  const StateTensor *tensor = program().findState(name);
  if (!tensor || tensor->kind != StateTensor::Kind::Counter)
    return otherwise;
  int64_t value;
  std::memcpy(&value, impl->arena.data() + tensor->offset, sizeof(value));
  return value;
}

const std::byte *Executor::valueData(int entryIndex, int value) const {
  return impl->arena.data() + entry(entryIndex).values[value].offset;
}

const std::vector<TaskTime> &Executor::times(int entryIndex) const {
  return impl->entries[entryIndex].times;
}

void Executor::markArena(std::byte mark) {
  for (ArenaRange gap : impl->gaps)
    std::memset(impl->arena.data() + gap.begin, int(mark), gap.end - gap.begin);
}

int64_t Executor::highestTouchedByte(std::byte mark) const {
  int64_t highest = 0;
  for (const StateTensor &tensor : program().state)
    highest = std::max(highest, tensor.offset + tensor.type.numBytes());
  for (ArenaRange gap : impl->gaps)
    for (int64_t i = gap.end; i > std::max(gap.begin, highest); --i)
      if (impl->arena.data()[i - 1] != mark) {
        highest = i;
        break;
      }
  return highest;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

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

Status Executor::Impl::runCalls(CompiledEntry &compiled, const Task &task,
                                int entryIndex, size_t taskIndex) {
  for (int64_t c = task.begin; c < task.end; ++c) {
    const Call &call = compiled.calls[c];
    if (call.kernel) {
      Status status = call.kernel->run(call.arguments);
      if (!status.ok()) {
        const EntryPoint &entry = program.entries[entryIndex];
        const Function &function =
            program.functions[entry.instructions[taskIndex].function];
        return std::move(status).addNote(
            "in step " + std::to_string(call.step) + " ('" +
            function.steps[call.step].spec.name + "') of " +
            describeInstruction(program, entry, int64_t(taskIndex)));
      }
    } else if (call.copyBytes) {
      std::memcpy(call.arguments.results[0], call.arguments.operands[0],
                  call.copyBytes);
    }
    if (options.poison)
      for (ArenaRange range : compiled.releases[c])
        std::memset(arena.data() + range.begin, kPoison,
                    range.end - range.begin);
  }
  return Status::success();
}

Status Executor::Impl::runTasks(int entryIndex) {
  CompiledEntry &compiled = entries[entryIndex];
  for (size_t t = 0; t < compiled.tasks.size(); ++t) {
    if (options.timing)
      compiled.times[t].begin = now();
    PIPER_RETURN_IF_ERROR(runCalls(compiled, compiled.tasks[t], entryIndex, t));
    if (options.timing)
      compiled.times[t].end = now();
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
  std::byte *arena = impl->arena.data();
  for (size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(arena + entry.values[entry.inputs[i].value].offset,
                inputs[i].data, inputs[i].bytes);
  ThreadCount threads(program().target.threads);
  PIPER_RETURN_IF_ERROR(impl->runTasks(entryIndex));
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].data)
      std::memcpy(outputs[o].data,
                  arena + entry.values[entry.outputs[o].value].offset,
                  outputs[o].bytes);
  return Status::success();
}

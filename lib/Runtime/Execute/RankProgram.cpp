// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolves a checked Program to a flat list of kernel calls with addresses.

#include "RankProgram.h"

#include "Piper/Runtime/CheckProgram.h"
#include "ThreadCount.h"

#include <chrono>
#include <cstring>
#include <ctime>

using namespace piper::rt;

int64_t piper::rt::steadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double piper::rt::workedMicroseconds(int threads) {
  if (threads > 1)
    return double(steadyNow()) / 1000;
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e6 + double(time.tv_nsec) / 1000;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Status checkThreadLimit(int threads) {
  int limit = omp_get_thread_limit();
  if (threads <= limit)
    return Status::success();
  return Status::error("the program runs on " + std::to_string(threads) +
                       " threads but OMP_THREAD_LIMIT allows " +
                       std::to_string(limit));
}

Status RankProgram::makeKernels() {
  for (const Function &function : source.functions) {
    std::vector<std::unique_ptr<Kernel>> &list = kernels.emplace_back();
    for (size_t s = 0; s < function.steps.size(); ++s) {
      const KernelSpec &spec = function.steps[s].spec;
      const KernelEntry &row = *findKernel(spec.name);
      if (viewOffsetOf(spec, row) >= 0) {
        list.push_back(nullptr);
        continue;
      }
      Result<std::unique_ptr<Kernel>> kernel = row.create(spec, source.target);
      if (!kernel.ok())
        return kernel.takeStatus().addNote(
            "while making step " + std::to_string(s) + " ('" + spec.name +
            "') of function '" + function.name + "'");
      list.push_back(std::move(*kernel));
    }
  }
  return Status::success();
}

void RankProgram::compileTask(const EntryPoint &entry,
                              const Instruction &instruction,
                              CompiledEntry &compiled) {
  const Function &function = source.functions[instruction.function];
  auto addAddress = [&](int32_t value) {
    compiled.addresses.push_back(
        arena.data() + addressOf(function, entry, instruction, value));
  };
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
      void *&origin = compiled.addresses[compiled.addresses.size() - count];
      origin = static_cast<std::byte *>(origin) +
               viewOffsetOf(step.spec, *findKernel(step.spec.name));
      if (origin != compiled.addresses.back())
        call.copyBytes = step.spec.results[0].numBytes();
    }
    call.arguments.workspace =
        arena.data() + instruction.workspaceOffset + step.workspaceOffset;
    call.arguments.salt = instruction.salt;
    call.arguments.microBatch = std::max(instruction.microBatch, 0);
    compiled.calls.push_back(call);
  }
}

void RankProgram::compile(const EntryPoint &entry, CompiledEntry &compiled) {
  for (const Instruction &instruction : entry.instructions) {
    Task task;
    task.begin = int64_t(compiled.calls.size());
    if (instruction.kind == Instruction::Kind::Task)
      compileTask(entry, instruction, compiled);
    task.end = int64_t(compiled.calls.size());
    compiled.tasks.push_back(task);
  }
  // The list of addresses is complete: it does not move any more.
  void **next = compiled.addresses.data();
  for (size_t t = 0; t < compiled.tasks.size(); ++t)
    for (int64_t c = compiled.tasks[t].begin; c < compiled.tasks[t].end; ++c) {
      const Function &function =
          source.functions[entry.instructions[t].function];
      Call &call = compiled.calls[c];
      call.arguments.operands = next;
      next += function.steps[call.step].operands.size();
      call.arguments.results = next;
      next += function.steps[call.step].results.size();
    }
  if (options.poison) {
    MemoryWalk walk(source, entry);
    if (walk.check().ok())
      compiled.releases = walk.releases();
  }
}

void RankProgram::findGaps() {
  ArenaMap map;
  for (const StateTensor &tensor : source.state)
    map.assign(tensor.offset, tensor.offset + tensor.type.numBytes(), 0);
  map.visit(0, source.arenaBytes,
            [&](int64_t begin, int64_t end, int32_t owner) {
              if (owner == ArenaMap::kNobody)
                gaps.push_back({begin, end});
            });
}

Result<std::unique_ptr<RankProgram>>
RankProgram::create(const Program &program, const ExecutorOptions &options) {
  PIPER_RETURN_IF_ERROR(checkThreadLimit(program.target.threads));
  std::unique_ptr<RankProgram> rank(new RankProgram(program, options));
  ThreadCount threads(program.target.threads);
  PIPER_RETURN_IF_ERROR(rank->makeKernels());
  Result<Arena> arena = Arena::allocate(program.arenaBytes);
  if (!arena.ok())
    return arena.takeStatus();
  rank->arena = std::move(*arena);
  rank->findGaps();
  rank->entries.resize(program.entries.size());
  for (size_t e = 0; e < rank->entries.size(); ++e)
    rank->compile(program.entries[e], rank->entries[e]);
  return rank;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void RankProgram::poison(ArenaRange range) {
  std::memset(arena.data() + range.begin, kPoison, range.end - range.begin);
}

Status RankProgram::fail(Status status, int entryIndex, int instruction,
                         const Call &call) const {
  const EntryPoint &entry = source.entries[entryIndex];
  const Function &function =
      source.functions[entry.instructions[instruction].function];
  int32_t microBatch = entry.instructions[instruction].microBatch;
  return std::move(status).addNote(
      "in kernel " + std::to_string(call.step) + " ('" +
      function.steps[call.step].spec.name + "') of " +
      describeInstruction(source, entry, instruction) +
      (microBatch < 0 ? "" : ", micro-batch " + std::to_string(microBatch)));
}

Status RankProgram::runTask(int entry, int instruction) {
  CompiledEntry &compiled = entries[entry];
  const Task &task = compiled.tasks[instruction];
  for (int64_t c = task.begin; c < task.end; ++c) {
    const Call &call = compiled.calls[c];
    if (call.kernel) {
      Status status = call.kernel->run(call.arguments);
      if (!status.ok())
        return fail(std::move(status), entry, instruction, call);
    } else if (call.copyBytes) {
      std::memcpy(call.arguments.results[0], call.arguments.operands[0],
                  call.copyBytes);
    }
    if (options.poison)
      for (ArenaRange range : compiled.releases.afterCall[c])
        poison(range);
  }
  return Status::success();
}

void RankProgram::markArena(std::byte mark) {
  for (ArenaRange gap : gaps)
    std::memset(arena.data() + gap.begin, int(mark), gap.end - gap.begin);
}

int64_t RankProgram::highestTouchedByte(std::byte mark) const {
  int64_t highest = 0;
  for (const StateTensor &tensor : source.state)
    highest = std::max(highest, tensor.offset + tensor.type.numBytes());
  for (ArenaRange gap : gaps)
    for (int64_t i = gap.end; i > std::max(gap.begin, highest); --i)
      if (arena.data()[i - 1] != mark) {
        highest = i;
        break;
      }
  return highest;
}

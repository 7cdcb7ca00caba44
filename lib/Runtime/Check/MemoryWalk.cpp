// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who owns which byte of the arena, kernel call by kernel call.

#include "MemoryWalk.h"

#include "Piper/Runtime/CheckProgram.h"

#include <algorithm>
#include <unordered_set>

using namespace piper::rt;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

static std::string describeRange(ArenaRange range) {
  return "bytes " + std::to_string(range.begin) + " to " +
         std::to_string(range.end) + " of the arena";
}

static bool overlaps(ArenaRange a, ArenaRange b) {
  return a.begin < b.end && b.begin < a.end;
}

static bool equal(ArenaRange a, ArenaRange b) {
  return a.begin == b.begin && a.end == b.end;
}

static ArenaRange rangeFrom(int64_t begin, int64_t bytes) {
  return {begin, begin + bytes};
}

static ArenaRange rangeOfValue(const EntryValue &value) {
  return rangeFrom(value.offset, value.type.numBytes());
}

int64_t piper::rt::addressOf(const Function &function, const EntryPoint &entry,
                             const Instruction &call, int32_t value) {
  const FunctionValue &local = function.values[value];
  switch (local.base) {
  case FunctionValue::Base::Operand:
    return entry.values[call.operands[local.index]].offset + local.offset;
  case FunctionValue::Base::Result:
    return entry.values[call.results[local.index]].offset + local.offset;
  case FunctionValue::Base::Workspace:
    break;
  }
  return call.workspaceOffset + local.offset;
}

ArenaRange MemoryWalk::rangeOf(const Function &function,
                               const Instruction &call, int32_t value) const {
  return rangeFrom(addressOf(function, entry, call, value),
                   factsOf(call).bytesOf(value));
}

int32_t MemoryWalk::newContent(ArenaRange range) {
  Content content;
  content.range = range;
  content.instruction = instruction;
  content.step = step;
  contents.push_back(content);
  use(contents.back());
  int32_t id = int32_t(contents.size()) - 1;
  map.assign(range.begin, range.end, id);
  return id;
}

void MemoryWalk::use(Content &content) {
  if (instruction < 0)
    return;
  Stream stream = entry.instructions[instruction].stream();
  content.last[int(stream)] = instruction;
  if (stream == Stream::Compute)
    content.lastUse = position;
}

bool MemoryWalk::isShared(const Content &content) const {
  for (int s = 0; s < kNumStreams; ++s)
    if (Stream(s) != Stream::Compute && content.last[s] >= 0)
      return true;
  return false;
}

void MemoryWalk::write(const Function &function, const Instruction &call,
                       int32_t value) {
  localContent[value] = newContent(rangeOf(function, call, value));
}

std::string MemoryWalk::describePosition() const {
  if (entry.instructions[instruction].kind != Instruction::Kind::Task)
    return describeInstruction(program, entry, instruction);
  const Function &function =
      program.functions[entry.instructions[instruction].function];
  return "step " + std::to_string(step) + " (" +
         quote(function.steps[step].spec.name) + ") of " +
         describeInstruction(program, entry, instruction);
}

std::string MemoryWalk::describeContent(int32_t id) const {
  if (id == ArenaMap::kNobody)
    return "nobody";
  const Content &content = contents[id];
  if (content.instruction < 0)
    return "an input or state";
  std::string text = describeInstruction(program, entry, content.instruction);
  if (entry.instructions[content.instruction].kind != Instruction::Kind::Task)
    return text;
  if (content.step < 0)
    return "the workspace of " + text;
  return "step " + std::to_string(content.step) + " of " + text;
}

std::optional<std::pair<int32_t, ArenaRange>>
MemoryWalk::findOther(ArenaRange range, int32_t content) const {
  std::optional<std::pair<int32_t, ArenaRange>> other;
  map.visit(range.begin, range.end,
            [&](int64_t begin, int64_t end, int32_t owner) {
              if (owner != content && !other)
                other = {owner, {begin, end}};
            });
  return other;
}

Status MemoryWalk::checkRead(ArenaRange range, int32_t content,
                             What what) const {
  auto other = findOther(range, content);
  if (!other)
    return Status::success();
  return Status::error(what() + ": " + describeRange(other->second) +
                       " belong to " + describeContent(other->first));
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

Status MemoryWalk::start() {
  map.clear();
  contents.clear();
  instruction = step = -1;
  position = -1;
  valueContent.assign(entry.values.size(), ArenaMap::kNobody);
  stateContent.clear();
  for (const StateTensor &tensor : program.state) {
    stateContent.push_back(
        newContent(rangeFrom(tensor.offset, tensor.type.numBytes())));
    contents.back().kept = true;
  }
  for (auto [value, state] : entry.state)
    valueContent[value] = stateContent[state];
  for (const Binding &input : entry.inputs) {
    ArenaRange range = rangeOfValue(entry.values[input.value]);
    PIPER_RETURN_IF_ERROR(checkRead(range, ArenaMap::kNobody, [&] {
      return "the place of input " + quote(input.name) + " of entry point " +
             quote(entry.name) + " is taken";
    }));
    valueContent[input.value] = newContent(range);
  }
  for (size_t v = 0; v < entry.values.size(); ++v)
    if (entry.values[v].viewOf >= 0)
      valueContent[v] = valueContent[entry.values[v].viewOf];
  return Status::success();
}

Status MemoryWalk::runView(const Function &function, const Instruction &call,
                           const Function::Step &step, int64_t offset) {
  ArenaRange source = rangeOf(function, call, step.operands[0]);
  ArenaRange result = rangeOf(function, call, step.results[0]);
  source = rangeFrom(source.begin + offset, result.end - result.begin);
  if (equal(source, result)) {
    localContent[step.results[0]] = localContent[step.operands[0]];
    return Status::success();
  }
  if (overlaps(source, result))
    return Status::error(
        describePosition() + ": a view lies at its place in the operand, " +
        describeRange(source) + ", or apart from it, but it lies at " +
        describeRange(result));
  write(function, call, step.results[0]);
  return Status::success();
}

Status MemoryWalk::runKernel(const Function &function, const Instruction &call,
                             const Function::Step &step) {
  const BodyFacts &facts = factsOf(call);
  for (size_t r = 0; r < step.results.size(); ++r) {
    ArenaRange result = rangeOf(function, call, step.results[r]);
    bool inPlace = false;
    for (size_t o = 0; o < step.operands.size(); ++o) {
      ArenaRange operand = rangeOf(function, call, step.operands[o]);
      if (!overlaps(operand, result))
        continue;
      if (!equal(operand, result) || !facts.mayAlias(this->step, o, r))
        return Status::error(
            describePosition() + ": result " + std::to_string(r) + " at " +
            describeRange(result) + " may not lie over operand " +
            std::to_string(o) + " at " + describeRange(operand));
      inPlace = true;
    }
    // A result of its own is a buffer; one over a view lies where that does.
    if (!inPlace && result.begin % kAlignment != 0)
      return Status::error(
          describePosition() + ": result " + std::to_string(r) +
          " lies at offset " + std::to_string(result.begin) +
          " of the arena, not a multiple of " + std::to_string(kAlignment));
  }
  for (int32_t result : step.results)
    write(function, call, result);
  for (size_t r = 0; r < step.results.size(); ++r)
    PIPER_RETURN_IF_ERROR(checkRead(rangeOf(function, call, step.results[r]),
                                    localContent[step.results[r]], [&] {
                                      return describePosition() + ": result " +
                                             std::to_string(r) +
                                             " overlaps another one";
                                    }));
  return Status::success();
}

Status MemoryWalk::runStep(const Instruction &call,
                           const Function::Step &step) {
  const Function &function = program.functions[call.function];
  int32_t scratch = ArenaMap::kNobody;
  if (step.workspaceBytes > 0)
    scratch = newContent(rangeFrom(call.workspaceOffset + step.workspaceOffset,
                                   step.workspaceBytes));
  for (size_t o = 0; o < step.operands.size(); ++o) {
    int32_t content = localContent[step.operands[o]];
    PIPER_RETURN_IF_ERROR(
        checkRead(rangeOf(function, call, step.operands[o]), content, [&] {
          return describePosition() + ": operand " + std::to_string(o) +
                 " was overwritten";
        }));
    use(contents[content]);
  }
  int64_t offset = factsOf(call).viewOffset(this->step);
  PIPER_RETURN_IF_ERROR(offset >= 0 ? runView(function, call, step, offset)
                                    : runKernel(function, call, step));
  if (scratch == ArenaMap::kNobody)
    return Status::success();
  return checkRead(contents[scratch].range, scratch, [&] {
    return describePosition() + ": the workspace is written over";
  });
}

Status MemoryWalk::runInstruction(int32_t index) {
  const Instruction &call = entry.instructions[index];
  instruction = index;
  step = -1;
  PIPER_RETURN_IF_ERROR(
      call.kind == Instruction::Kind::Task ? runTask(call) : runMessage(call));
  releaseShared();
  return Status::success();
}

Status MemoryWalk::readValue(int32_t operand, int32_t value) {
  int32_t content = valueContent[value];
  PIPER_RETURN_IF_ERROR(
      checkRead(rangeOfValue(entry.values[value]), content, [&] {
        return describePosition() + ": operand " + std::to_string(operand) +
               " was overwritten";
      }));
  use(contents[content]);
  return Status::success();
}

Status MemoryWalk::runMessage(const Instruction &message) {
  for (size_t o = 0; o < message.operands.size(); ++o)
    PIPER_RETURN_IF_ERROR(readValue(int32_t(o), message.operands[o]));
  for (int32_t made : message.results) {
    ArenaRange result = rangeOfValue(entry.values[made]);
    for (size_t o = 0; o < message.operands.size(); ++o) {
      ArenaRange operand = rangeOfValue(entry.values[message.operands[o]]);
      if (overlaps(operand, result) && !equal(operand, result))
        return Status::error(
            describePosition() + ": the result at " + describeRange(result) +
            " may not lie over a part of operand " + std::to_string(o) +
            " at " + describeRange(operand));
    }
    valueContent[made] = newContent(result);
  }
  return Status::success();
}

Status MemoryWalk::runTask(const Instruction &call) {
  const Function &function = program.functions[call.function];
  if (auto &facts = bodies[call.function]; !facts)
    facts = std::make_unique<BodyFacts>(function);
  // Takes the place of whatever was there; its parts are released one by one.
  if (function.workspaceBytes > 0) {
    newContent(rangeFrom(call.workspaceOffset, function.workspaceBytes));
    contents.back().kept = true;
  }
  localContent.assign(function.values.size(), ArenaMap::kNobody);
  for (size_t v = 0; v < function.values.size(); ++v)
    if (function.values[v].base == FunctionValue::Base::Operand)
      localContent[v] = valueContent[call.operands[function.values[v].index]];
  for (size_t s = 0; s < function.steps.size(); ++s) {
    step = int32_t(s);
    ++position;
    PIPER_RETURN_IF_ERROR(runStep(call, function.steps[s]));
    release();
  }
  for (size_t v = 0; v < function.values.size(); ++v) {
    const FunctionValue &value = function.values[v];
    if (value.base == FunctionValue::Base::Result && value.offset == 0 &&
        value.type == function.results[value.index])
      valueContent[call.results[value.index]] = localContent[v];
  }
  return Status::success();
}

Status
MemoryWalk::finishState(size_t index,
                        const std::multimap<int64_t, int32_t> &valuesAt) {
  const StateTensor &tensor = program.state[index];
  ArenaRange range = rangeFrom(tensor.offset, tensor.type.numBytes());
  if (!findOther(range, stateContent[index]))
    return Status::success();
  auto [first, last] = valuesAt.equal_range(tensor.offset);
  for (auto it = first; it != last; ++it) {
    int32_t content = valueContent[it->second];
    if (entry.values[it->second].type != tensor.type ||
        content == ArenaMap::kNobody || findOther(range, content))
      continue;
    contents[content].kept = true;
    return Status::success();
  }
  return checkRead(range, stateContent[index], [&] {
    return "at the end of entry point " + quote(entry.name) + ", state " +
           quote(tensor.name) + " was overwritten";
  });
}

Status MemoryWalk::finish() {
  for (const auto *bindings : {&entry.outputs, &entry.gradients})
    for (const Binding &binding : *bindings) {
      int32_t content = valueContent[binding.value];
      PIPER_RETURN_IF_ERROR(
          checkRead(rangeOfValue(entry.values[binding.value]), content, [&] {
            return "at the end of entry point " + quote(entry.name) + ", " +
                   (bindings == &entry.outputs ? "output " : "gradient ") +
                   quote(binding.name) + " was overwritten";
          }));
      contents[content].kept = true;
    }
  std::unordered_set<int64_t> statesAt;
  for (const StateTensor &tensor : program.state)
    statesAt.insert(tensor.offset);
  std::multimap<int64_t, int32_t> valuesAt;
  for (size_t v = 0; v < entry.values.size(); ++v)
    if (statesAt.count(entry.values[v].offset))
      valuesAt.emplace(entry.values[v].offset, int32_t(v));
  for (size_t s = 0; s < program.state.size(); ++s)
    PIPER_RETURN_IF_ERROR(finishState(s, valuesAt));
  return Status::success();
}

Status MemoryWalk::walk() {
  PIPER_RETURN_IF_ERROR(start());
  for (size_t i = 0; i < entry.instructions.size(); ++i)
    PIPER_RETURN_IF_ERROR(runInstruction(int32_t(i)));
  return finish();
}

Status MemoryWalk::check() { return walk(); }

int64_t MemoryWalk::findChangedState() const {
  for (size_t s = 0; s < stateContent.size(); ++s)
    if (findOther(contents[stateContent[s]].range, stateContent[s]))
      return int64_t(s);
  return -1;
}

void MemoryWalk::addOwned(int32_t id, std::vector<ArenaRange> &ranges) const {
  ArenaRange range = contents[id].range;
  map.visit(range.begin, range.end,
            [&](int64_t begin, int64_t end, int32_t owner) {
              if (owner == id)
                ranges.push_back({begin, end});
            });
}

void MemoryWalk::release() {
  if (releasedAt.empty())
    return;
  for (int32_t id : releasedAt[position])
    addOwned(id, released.afterCall[position]);
}

void MemoryWalk::releaseShared() {
  if (sharedAt.empty())
    return;
  for (int32_t id : sharedAt[instruction]) {
    SharedRelease release;
    addOwned(id, release.ranges);
    release.last = contents[id].last;
    if (!release.ranges.empty())
      released.shared.push_back(std::move(release));
  }
}

Releases MemoryWalk::releases() {
  releasedAt.assign(position + 1, {});
  sharedAt.assign(entry.instructions.size(), {});
  released.afterCall.assign(position + 1, {});
  released.shared.clear();
  for (size_t id = 0; id < contents.size(); ++id) {
    const Content &content = contents[id];
    if (content.kept)
      continue;
    if (isShared(content))
      sharedAt[*std::max_element(content.last.begin(), content.last.end())]
          .push_back(int32_t(id));
    else if (content.lastUse >= 0)
      releasedAt[content.lastUse].push_back(int32_t(id));
  }
  // The walk succeeded before; the same contents get the same numbers again.
  Status again = walk();
  return again.ok() ? std::move(released) : Releases();
}

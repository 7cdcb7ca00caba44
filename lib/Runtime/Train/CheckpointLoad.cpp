// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading: first every tensor of the file finds its place or is refused, then,
// if all is well, the bytes are read.

#include "Piper/Runtime/Checkpoint.h"

#include "Piper/Runtime/Safetensors.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <unordered_map>

using namespace piper::rt;
using Tensor = SafetensorsFile::Tensor;
using Kind = StateTensor::Kind;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

static std::string plural(int64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// "'a', 'b' and 12 more".
static std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i ? ", " : "") + quote(names[i]);
  if (names.size() > kMost)
    text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

namespace {
class Loader {
public:
  Loader(Executor &executor, const SafetensorsFile &file)
      : executor(executor), program(executor.program()), file(file),
        sources(program.state.size()) {
    for (size_t s = 0; s < program.state.size(); ++s)
      stateByName.emplace(program.state[s].name, s);
  }

  Result<LoadReport> run() {
    for (const Tensor &tensor : file.tensors())
      PIPER_RETURN_IF_ERROR(place(tensor));
    PIPER_RETURN_IF_ERROR(check());
    PIPER_RETURN_IF_ERROR(readPosition());
    for (size_t s = 0; s < sources.size(); ++s)
      if (sources[s]) {
        PIPER_RETURN_IF_ERROR(file.read(
            *sources[s], 0, sources[s]->numElements(),
            program.state[s].type.element, executor.stateData(int(s))));
        executor.shareState(int(s));
      }
    return report();
  }

private:
  static constexpr const char *kPrefix = "transformer.";

  /// The state tensor that a name of the file stands for, or -1.
  int64_t findState(const std::string &name) const {
    size_t prefix = std::strlen(kPrefix);
    bool hasPrefix = name.compare(0, prefix, kPrefix) == 0;
    for (const std::string &candidate :
         {name, hasPrefix ? name.substr(prefix) : kPrefix + name}) {
      auto it = stateByName.find(candidate);
      if (it != stateByName.end())
        return int64_t(it->second);
    }
    return -1;
  }

  Status place(const Tensor &tensor) {
    int64_t index = findState(tensor.name);
    if (index < 0)
      return placeUnknown(tensor);
    if (sources[index]) {
      problems.push_back(quote(sources[index]->name) + " and " +
                         quote(tensor.name) + " both stand for " +
                         quote(program.state[index].name));
      return Status::success();
    }
    sources[index] = &tensor;
    const TensorType &type = program.state[index].type;
    if (tensor.shape == type.shape && canReadAs(tensor.type, type.element))
      return Status::success();
    Tensor expected;
    expected.type = fileTypeOf(type.element);
    expected.shape = type.shape;
    problems.push_back("tensor " + quote(tensor.name) + ": expects " +
                       expected.str() + " but got " + tensor.str());
    return Status::success();
  }

  Status placeUnknown(const Tensor &tensor) {
    if (endsWith(tensor.name, ".attn.bias") ||
        endsWith(tensor.name, ".attn.masked_bias")) {
      ++masks;
      return Status::success();
    }
    const Tensor *table = nullptr;
    if (tensor.name == "lm_head.weight")
      for (const char *name : {"transformer.wte.weight", "wte.weight"})
        if (!table)
          table = file.find(name);
    if (!table) {
      unknown.push_back(tensor.name);
      return Status::success();
    }
    Result<bool> same = haveSameBits(tensor, *table);
    if (!same.ok())
      return same.takeStatus();
    std::string names = quote(tensor.name) + " and " + quote(table->name);
    if (*same)
      result.notes.push_back(names + " have the same bits: stored once");
    else
      problems.push_back("the program ties " + names +
                         ", but the file has two different tensors");
    return Status::success();
  }

  Result<bool> haveSameBits(const Tensor &a, const Tensor &b) const {
    if (a.type != b.type || a.shape != b.shape)
      return false;
    constexpr int64_t kChunk = 1 << 20;
    std::vector<std::byte> left(kChunk), right(kChunk);
    for (int64_t done = 0; done < a.bytes; done += kChunk) {
      int64_t part = std::min(kChunk, a.bytes - done);
      PIPER_RETURN_IF_ERROR(file.readBytes(a, done, part, left.data()));
      PIPER_RETURN_IF_ERROR(file.readBytes(b, done, part, right.data()));
      if (std::memcmp(left.data(), right.data(), size_t(part)) != 0)
        return false;
    }
    return true;
  }

  /// Everything that is wrong, in one error.
  Status check() {
    bool hasState = false;
    for (size_t s = 0; s < sources.size(); ++s)
      hasState |= sources[s] && program.state[s].kind != Kind::Parameter;
    std::vector<std::string> missing;
    for (size_t s = 0; s < sources.size(); ++s)
      if (!sources[s] && (hasState || program.state[s].kind == Kind::Parameter))
        missing.push_back(program.state[s].name);
    if (!missing.empty())
      problems.push_back("missing: " + listNames(missing));
    if (!unknown.empty())
      problems.push_back("unknown: " + listNames(unknown));
    if (problems.empty())
      PIPER_RETURN_IF_ERROR(checkCounters());
    if (problems.empty())
      PIPER_RETURN_IF_ERROR(checkNumbers());
    if (problems.empty())
      return Status::success();
    Status status =
        Status::error("'" + file.path() + "' does not fit the program '" +
                      program.name + "'");
    for (std::string &problem : problems)
      status.addNote(std::move(problem));
    return status;
  }

  /// Steps are counted from 0, and must not overflow while a run goes on.
  Status checkCounters() {
    constexpr int64_t kMost = int64_t(1) << 62;
    for (const char *name : {"iteration", "update"}) {
      auto it = stateByName.find(name);
      if (it == stateByName.end() || !sources[it->second] ||
          program.state[it->second].kind != Kind::Counter)
        continue;
      int64_t value = 0;
      PIPER_RETURN_IF_ERROR(
          file.read(*sources[it->second], 0, 1, ElementType::I64, &value));
      if (value < 0 || value > kMost)
        problems.push_back(
            "tensor " + quote(name) + ": expects a count from 0 to " +
            std::to_string(kMost) + " but got " + std::to_string(value));
    }
    return Status::success();
  }

  /// Where the data goes on.
  Status readPosition() {
    using Unit = DataPosition::Unit;
    auto entry = [&](const char *name) {
      auto it = file.metadata().find(name);
      return it == file.metadata().end() ? "" : it->second;
    };
    std::string text = entry("position"), unit = entry("position_unit");
    if (entry("piper") != "state" || (text.empty() && unit.empty()))
      return Status::success();
    constexpr size_t kMostDigits = 18;
    bool isNumber = !text.empty() && text.size() <= kMostDigits &&
                    text.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber)
      return Status::error("'" + file.path() +
                           "': metadata 'position' expects a whole number "
                           "from 0 to " +
                           std::string(kMostDigits, '9') + " but got " +
                           quote(text));
    for (Unit known : {Unit::Tokens, Unit::Rows})
      if (unit == unitName(known))
        result.position =
            DataPosition{known, std::stoll(text), entry("position_after")};
    if (!result.position)
      return Status::error("'" + file.path() +
                           "': metadata 'position_unit' expects 'token' or "
                           "'row' but got " +
                           quote(unit));
    return Status::success();
  }

  /// A step keeps every number finite, so none that is not may come in; a
  /// second moment is a mean of squares.
  Status checkNumbers() {
    for (size_t s = 0; s < sources.size(); ++s) {
      if (!sources[s])
        continue;
      double least = isSecondMoment(program.state[s]) ? 0 : -HUGE_VAL;
      ElementType element = program.state[s].type.element;
      if (element == ElementType::F64)
        PIPER_RETURN_IF_ERROR(checkTensor<double>(*sources[s], element, least));
      else if (element == ElementType::F32 || element == ElementType::BF16)
        PIPER_RETURN_IF_ERROR(
            checkTensor<float>(*sources[s], ElementType::F32, least));
    }
    return Status::success();
  }

  /// AdamW has 'w.m' and 'w.v'; a velocity of SGD, 'w.v' too, stands alone.
  bool isSecondMoment(const StateTensor &tensor) const {
    if (tensor.kind != Kind::Moment || !endsWith(tensor.name, ".v"))
      return false;
    std::string first = tensor.name;
    first.back() = 'm';
    return stateByName.count(first) > 0;
  }

  /// Reads a tensor in T, which is `element`; the first number that is out of
  /// order becomes a problem.
  template <typename T>
  Status checkTensor(const Tensor &tensor, ElementType element, double least) {
    constexpr int64_t kChunk = 1 << 14;
    std::vector<T> values(kChunk);
    int64_t count = tensor.numElements();
    for (int64_t done = 0; done < count; done += kChunk) {
      int64_t part = std::min(kChunk, count - done);
      PIPER_RETURN_IF_ERROR(
          file.read(tensor, done, part, element, values.data()));
      for (int64_t i = 0; i < part; ++i) {
        T value = values[i];
        if (std::isfinite(value) && value >= T(least))
          continue;
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", double(value));
        problems.push_back("tensor " + quote(tensor.name) + ": expects finite" +
                           (least == 0 ? " numbers of 0 or more" : " numbers") +
                           " but got " + (std::isnan(value) ? "nan" : text) +
                           " as element " + std::to_string(done + i));
        return Status::success();
      }
    }
    return Status::success();
  }

  LoadReport report() {
    for (size_t s = 0; s < sources.size(); ++s)
      if (sources[s])
        ++(program.state[s].kind == Kind::Parameter ? result.parameters
           : program.state[s].kind == Kind::Moment  ? result.moments
                                                    : result.counters);
    if (masks > 0)
      result.notes.push_back(plural(masks, "mask buffer") + " left out");
    result.text = "restored " + plural(result.parameters, "parameter");
    bool hasState = result.moments + result.counters > 0;
    if (hasState)
      result.text += ", " + plural(result.moments, "moment") + " and " +
                     plural(result.counters, "counter");
    result.text += " from '" + file.path() + "'";
    if (hasState)
      result.text +=
          " (iteration " + std::to_string(executor.counter("iteration", 0)) +
          ", update " + std::to_string(executor.counter("update", 0)) +
          ", seed " + std::to_string(executor.counter("seed", 0)) +
          (result.position
               ? std::string(", ") + unitName(result.position->unit) + " " +
                     std::to_string(result.position->value)
               : "") +
          ")";
    else
      result.text += "; moments and counters start anew";
    return result;
  }

  Executor &executor;
  const Program &program;
  const SafetensorsFile &file;
  std::unordered_map<std::string, size_t> stateByName;
  /// For each state tensor, where it comes from; null: not in the file.
  std::vector<const Tensor *> sources;
  std::vector<std::string> unknown;
  std::vector<std::string> problems;
  int64_t masks = 0;
  LoadReport result;
};
} // namespace

Result<LoadReport> piper::rt::loadCheckpoint(Executor &executor,
                                             const std::string &path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  return Loader(executor, *file).run();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running one step of an entry point.

#include "Piper/Runtime/Step.h"

#include "Program/FloatConversion.h"

#include <chrono>
#include <cmath>
#include <cstring>

using namespace piper::rt;

template <typename T> static T load(const std::byte *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

double piper::rt::readScalar(ElementType element, const std::byte *data) {
  switch (element) {
  case ElementType::F32:
    return load<float>(data);
  case ElementType::F64:
    return load<double>(data);
  case ElementType::BF16:
    return floatFromBf16(load<uint16_t>(data));
  case ElementType::I1:
    return load<uint8_t>(data) != 0;
  case ElementType::I32:
    return load<int32_t>(data);
  case ElementType::I64:
    return double(load<int64_t>(data));
  }
  return 0;
}

/// The value of output `name`, -1 where there is none. Fails where it is not
/// a scalar (`scalar`) of a type out of `types`.
static Result<int> findOutput(const EntryPoint &entry, const std::string &name,
                              bool scalar,
                              std::initializer_list<ElementType> types) {
  for (const Binding &output : entry.outputs) {
    if (output.name != name)
      continue;
    const TensorType &type = entry.values[output.value].type;
    bool fits = type.rank() == (scalar ? 0 : 1);
    bool known = false;
    for (ElementType element : types)
      known |= element == type.element;
    if (fits && known)
      return int(output.value);
    return Status::error(
        "output '" + name + "' of entry point '" + entry.name + "': expects " +
        (scalar ? "a scalar" : "one number per tensor") + " of " +
        elementName(*types.begin()) + " but got " + type.str());
  }
  return -1;
}

Result<StepRunner> StepRunner::create(Executor &executor,
                                      const std::string &entryName,
                                      BatchSource &source) {
  StepRunner runner(executor, source);
  runner.index = executor.findEntry(entryName);
  if (runner.index < 0)
    return Status::error("the program '" + executor.program().name +
                         "' has no entry point '" + entryName + "'");
  const EntryPoint &entry = executor.entry(runner.index);
  using T = ElementType;
  auto find = [&](int &value, const char *name, bool scalar,
                  std::initializer_list<T> types) -> Status {
    Result<int> found = findOutput(entry, name, scalar, types);
    if (!found.ok())
      return found.takeStatus();
    value = *found;
    return Status::success();
  };
  PIPER_RETURN_IF_ERROR(find(runner.loss, "loss", true, {T::F32, T::F64}));
  PIPER_RETURN_IF_ERROR(
      find(runner.gradNorm, "grad_norm", true, {T::F32, T::F64}));
  PIPER_RETURN_IF_ERROR(find(runner.lr, "lr", true, {T::F32, T::F64}));
  PIPER_RETURN_IF_ERROR(find(runner.ok, "ok", true, {T::I1}));
  PIPER_RETURN_IF_ERROR(find(runner.count, "count", true, {T::I64}));
  PIPER_RETURN_IF_ERROR(find(runner.nonfinite, "nonfinite", false, {T::I64}));
  PIPER_RETURN_IF_ERROR(
      find(runner.nonfiniteUpdates, "nonfinite_updates", false, {T::I64}));
  if (runner.loss < 0)
    return Status::error("entry point '" + entryName +
                         "' has no output 'loss'");
  for (const Binding &input : entry.inputs) {
    int64_t bytes = entry.values[input.value].type.numBytes();
    runner.storage.emplace_back(bytes);
    std::byte *data = runner.storage.back().data();
    runner.buffers.push_back({data, bytes});
    runner.inputs.push_back({data, bytes});
  }
  return runner;
}

void StepRunner::readOutputs() {
  const EntryPoint &entry = executor->entry(index);
  auto read = [&](int value) {
    return readScalar(entry.values[value].type.element,
                      executor->valueData(index, value));
  };
  last.loss = read(loss);
  if (gradNorm >= 0)
    last.gradNorm = read(gradNorm);
  if (lr >= 0)
    last.lr = read(lr);
  if (ok >= 0)
    last.ok = read(ok) != 0;
  if (count >= 0)
    last.count = load<int64_t>(executor->valueData(index, count));
}

Status StepRunner::run(int64_t iteration) {
  auto begin = std::chrono::steady_clock::now();
  PIPER_RETURN_IF_ERROR(source->fill(iteration, buffers));
  PIPER_RETURN_IF_ERROR(executor->run(index, inputs));
  last.step = iteration;
  readOutputs();
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  last.milliseconds = time.count();
  if (!executor->deviceTimes(index).empty())
    last.deviceMs = executor->deviceStepTime(index) / 1000;
  return Status::success();
}

/// The parameters that the elements of "nonfinite" stand for: those of the
/// gradients that the plan keeps, or else the trainable ones.
static std::vector<std::string>
gradientNames(const Program &program, const EntryPoint &entry, size_t count) {
  std::vector<std::string> kept, trainable;
  for (const Binding &gradient : entry.gradients)
    kept.push_back(gradient.name);
  for (const StateTensor &tensor : program.state)
    if (tensor.kind == StateTensor::Kind::Parameter && tensor.trainable)
      trainable.push_back(tensor.name);
  if (kept.size() == count)
    return kept;
  return trainable.size() == count ? trainable : std::vector<std::string>();
}

/// So many tensors are named; of the others only the number.
static constexpr int64_t kNamed = 8;

/// "'a', 'b' and 3 more": the tensors whose number in the vector `value` is not
/// 0; empty where there are none.
StepRunner::Named StepRunner::namesOf(int value) const {
  if (value < 0)
    return {};
  const EntryPoint &entry = executor->entry(index);
  int64_t tensors = entry.values[value].type.shape[0];
  std::vector<std::string> all =
      gradientNames(executor->program(), entry, size_t(tensors));
  Named named;
  for (int64_t i = 0; i < tensors; ++i) {
    if (load<int64_t>(executor->valueData(index, value) + 8 * i) == 0)
      continue;
    if (++named.count > kNamed)
      continue;
    named.text += named.text.empty() ? "" : ", ";
    named.text +=
        all.empty() ? "number " + std::to_string(i) : "'" + all[i] + "'";
  }
  if (named.count > kNamed)
    named.text += " and " + std::to_string(named.count - kNamed) + " more";
  return named;
}

std::string StepRunner::skipReason() const {
  auto plural = [](const Named &named) { return named.count > 1; };
  Named gradients = namesOf(nonfinite);
  if (gradients.count > 0)
    return std::string("the gradient") + (plural(gradients) ? "s" : "") +
           " of " + gradients.text + (plural(gradients) ? " are" : " is") +
           " not finite";
  if (last.count && *last.count == 0)
    return "no label of the batch is valid";
  if (!std::isfinite(last.loss))
    return "the loss is not finite";
  if (last.gradNorm && !std::isfinite(*last.gradNorm))
    return "the norm of the gradients is not finite";
  Named updates = namesOf(nonfiniteUpdates);
  if (updates.count > 0)
    return std::string("the update") + (plural(updates) ? "s" : "") + " of " +
           updates.text + " would not be finite";
  return "the norm of the gradients is too large to be clipped so far";
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dumps of gradients and outputs.

#include "Piper/Runtime/Dump.h"

#include "Piper/Runtime/Safetensors.h"
#include "Program/FloatConversion.h"

#include <cstring>
#include <list>

using namespace piper::rt;

Status piper::rt::checkKeepsGradients(const Program &program,
                                      const EntryPoint &entry) {
  // A plan keeps all or none. A parameter that the loss does not reach is
  // trainable but has none.
  if (!entry.gradients.empty())
    return Status::success();
  for (const StateTensor &tensor : program.state)
    if (tensor.kind == StateTensor::Kind::Parameter && tensor.trainable)
      return Status::error("the program '" + program.name +
                           "' does not keep the gradient of '" + tensor.name +
                           "': compile it with keep-gradients=true");
  return Status::success();
}

static std::vector<float> widen(const std::byte *data, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, data + 2 * i, sizeof(bits));
    values[i] = floatFromBf16(bits);
  }
  return values;
}

Status piper::rt::dumpGradients(const Executor &executor, int index,
                                const std::string &path, OutputBatch *batch) {
  const EntryPoint &entry = executor.entry(index);
  PIPER_RETURN_IF_ERROR(checkKeepsGradients(executor.program(), entry));
  std::vector<TensorToWrite> tensors;
  // Does not move what it holds.
  std::list<std::vector<float>> widened;
  for (const Binding &gradient : entry.gradients) {
    const TensorType &type = entry.values[gradient.value].type;
    const std::byte *data = executor.valueData(index, gradient.value);
    if (type.element != ElementType::BF16) {
      tensors.push_back(
          {gradient.name, fileTypeOf(type.element), type.shape, data});
      continue;
    }
    widened.push_back(widen(data, type.numElements()));
    tensors.push_back(
        {gradient.name, FileType::F32, type.shape, widened.back().data()});
  }
  return writeSafetensors(path, std::move(tensors), {{"piper", "gradients"}},
                          batch);
}

Status piper::rt::dumpOutputs(const Executor &executor, int index,
                              const std::string &path, OutputBatch *batch) {
  const EntryPoint &entry = executor.entry(index);
  std::vector<TensorToWrite> tensors;
  for (const Binding &output : entry.outputs) {
    const TensorType &type = entry.values[output.value].type;
    tensors.push_back({output.name, fileTypeOf(type.element), type.shape,
                       executor.valueData(index, output.value)});
  }
  return writeSafetensors(path, std::move(tensors), {{"piper", "outputs"}},
                          batch);
}

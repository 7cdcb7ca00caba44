// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saving of state, and checksums. Loading is in CheckpointLoad.cpp.

#include "Piper/Runtime/Checkpoint.h"

#include "Piper/Runtime/Safetensors.h"

#include <algorithm>

using namespace piper::rt;

static Status save(const Executor &executor, const std::string &path,
                   bool parametersOnly,
                   std::map<std::string, std::string> metadata,
                   OutputBatch *batch) {
  std::vector<TensorToWrite> tensors;
  const Program &program = executor.program();
  for (size_t s = 0; s < program.state.size(); ++s) {
    const StateTensor &tensor = program.state[s];
    if (!parametersOnly || tensor.kind == StateTensor::Kind::Parameter)
      tensors.push_back({tensor.name, fileTypeOf(tensor.type.element),
                         tensor.type.shape, executor.stateData(int(s))});
  }
  metadata["format"] = "pt";
  metadata["piper"] = parametersOnly ? "parameters" : "state";
  return writeSafetensors(path, std::move(tensors), metadata, batch);
}

Status piper::rt::saveParameters(const Executor &executor,
                                 const std::string &path, OutputBatch *batch) {
  return save(executor, path, /*parametersOnly=*/true, {}, batch);
}

Status piper::rt::saveState(const Executor &executor, const std::string &path,
                            const std::optional<DataPosition> &position,
                            OutputBatch *batch) {
  std::map<std::string, std::string> metadata;
  if (position)
    metadata = {{"position", std::to_string(position->value)},
                {"position_unit", unitName(position->unit)},
                {"position_after", position->batches}};
  return save(executor, path, /*parametersOnly=*/false, std::move(metadata),
              batch);
}

static uint64_t checksum(const std::byte *data, int64_t bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (int64_t i = 0; i < bytes; ++i)
    hash = (hash ^ uint64_t(data[i])) * 0x100000001B3;
  return hash;
}

std::vector<std::pair<std::string, uint64_t>>
piper::rt::stateChecksums(const Executor &executor) {
  std::vector<std::pair<std::string, uint64_t>> sums;
  const Program &program = executor.program();
  for (size_t s = 0; s < program.state.size(); ++s)
    sums.emplace_back(
        program.state[s].name,
        checksum(executor.stateData(int(s)), program.state[s].type.numBytes()));
  return sums;
}

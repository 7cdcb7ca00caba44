// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing of safetensors files.

#include "Piper/Runtime/Safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

using namespace piper::rt;
using Json = nlohmann::ordered_json;

static int64_t bytesOf(const TensorToWrite &tensor) {
  int64_t bytes = fileTypeBytes(tensor.type);
  for (int64_t size : tensor.shape)
    bytes *= size;
  return bytes;
}

static Status checkNames(const std::string &path,
                         const std::vector<TensorToWrite> &tensors) {
  std::set<std::string> names;
  for (const TensorToWrite &tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return Status::error("cannot write '" + path +
                           "': two tensors have the name '" + tensor.name +
                           "'");
    if (tensor.name == "__metadata__")
      return Status::error("cannot write '" + path +
                           "': the format reserves the name '__metadata__'");
  }
  return Status::success();
}

/// The header, padded with spaces so that the data starts at a multiple of 8.
static Result<std::string>
makeHeader(const std::string &path, const std::vector<TensorToWrite> &tensors,
           const std::map<std::string, std::string> &metadata) {
  Json header = Json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  int64_t offset = 0;
  for (const TensorToWrite &tensor : tensors) {
    int64_t end = offset + bytesOf(tensor);
    header[tensor.name] = {{"dtype", fileTypeName(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception &) {
    return Status::error("cannot write '" + path +
                         "': the name of a tensor is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (int64_t(text.size()) > SafetensorsFile::kMostHeaderBytes)
    return Status::error("cannot write '" + path +
                         "': the names of its tensors need more than " +
                         std::to_string(SafetensorsFile::kMostHeaderBytes) +
                         " bytes");
  return text;
}

Status piper::rt::writeSafetensors(
    const std::string &path, std::vector<TensorToWrite> tensors,
    const std::map<std::string, std::string> &metadata, OutputBatch *batch) {
  PIPER_RETURN_IF_ERROR(checkNames(path, tensors));
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorToWrite &a, const TensorToWrite &b) {
              int64_t sizeA = fileTypeBytes(a.type);
              int64_t sizeB = fileTypeBytes(b.type);
              return sizeA != sizeB ? sizeA > sizeB : a.name < b.name;
            });
  Result<std::string> header = makeHeader(path, tensors, metadata);
  if (!header.ok())
    return header.takeStatus();
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.ok())
    return file.takeStatus();
  unsigned char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = (unsigned char)(uint64_t(header->size()) >> (8 * i));
  PIPER_RETURN_IF_ERROR(file->write(length, sizeof(length)));
  PIPER_RETURN_IF_ERROR(file->write(header->data(), int64_t(header->size())));
  for (const TensorToWrite &tensor : tensors)
    PIPER_RETURN_IF_ERROR(file->write(tensor.data, bytesOf(tensor)));
  if (!batch)
    return file->commit();
  batch->add(std::move(*file));
  return Status::success();
}

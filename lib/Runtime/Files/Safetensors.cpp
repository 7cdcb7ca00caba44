// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading of safetensors files, with conversions that change no value.

#include "Piper/Runtime/Safetensors.h"

#include "Program/FloatConversion.h"
#include "SafetensorsHeader.h"

#include <cassert>
#include <cstring>

using namespace piper::rt;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

const char *piper::rt::fileTypeName(FileType type) {
  static const char *const names[] = {"F64", "F32", "BF16", "F16",
                                      "I64", "I32", "U8",   "BOOL"};
  return names[int(type)];
}

int64_t piper::rt::fileTypeBytes(FileType type) {
  static const int64_t bytes[] = {8, 4, 2, 2, 8, 4, 1, 1};
  return bytes[int(type)];
}

FileType piper::rt::fileTypeOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return FileType::F32;
  case ElementType::F64:
    return FileType::F64;
  case ElementType::BF16:
    return FileType::BF16;
  case ElementType::I1:
    return FileType::Bool;
  case ElementType::I32:
    return FileType::I32;
  case ElementType::I64:
    return FileType::I64;
  }
  return FileType::U8;
}

bool piper::rt::canReadAs(FileType from, ElementType to) {
  if (from == fileTypeOf(to))
    return true;
  bool small = from == FileType::BF16 || from == FileType::F16;
  switch (to) {
  case ElementType::F32:
    return small;
  case ElementType::F64:
    return small || from == FileType::F32;
  case ElementType::I32:
    return from == FileType::U8 || from == FileType::I64;
  case ElementType::I64:
    return from == FileType::U8 || from == FileType::I32;
  case ElementType::BF16:
  case ElementType::I1:
    return false;
  }
  return false;
}

std::string SafetensorsFile::Tensor::str() const {
  std::string text = std::string(fileTypeName(type)) + " [";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Status inFile(const std::string &path, const std::string &message) {
  return Status::error("'" + path + "': " + message);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  constexpr int64_t kLengthBytes = 8;
  if (file->size() < kLengthBytes)
    return inFile(path, "expects a safetensors file of at least 8 bytes but "
                        "it has " +
                            std::to_string(file->size()));
  unsigned char length[kLengthBytes];
  PIPER_RETURN_IF_ERROR(file->read(0, kLengthBytes, length));
  uint64_t headerBytes = 0;
  for (int64_t i = kLengthBytes - 1; i >= 0; --i)
    headerBytes = headerBytes << 8 | length[i];
  if (headerBytes > uint64_t(kMostHeaderBytes))
    return inFile(path, "expects a safetensors header of at most " +
                            std::to_string(kMostHeaderBytes) +
                            " bytes but it has " + std::to_string(headerBytes));
  int64_t dataStart = kLengthBytes + int64_t(headerBytes);
  if (dataStart > file->size())
    return inFile(path, "the file is cut off: its header ends at byte " +
                            std::to_string(dataStart) + " but it has " +
                            std::to_string(file->size()));
  std::string text(headerBytes, '\0');
  PIPER_RETURN_IF_ERROR(
      file->read(kLengthBytes, int64_t(headerBytes), text.data()));
  Result<SafetensorsHeader> header =
      parseSafetensorsHeader(text, dataStart, file->size());
  if (!header.ok())
    return inFile(path, header.takeStatus().message());
  SafetensorsFile result(std::move(*file));
  result.list = std::move(header->tensors);
  result.extra = std::move(header->metadata);
  for (size_t i = 0; i < result.list.size(); ++i)
    result.byName.emplace(result.list[i].name, i);
  return result;
}

const SafetensorsFile::Tensor *
SafetensorsFile::find(const std::string &name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &list[it->second];
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

template <typename T> static T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// The element at `from` as a double: exact for all types but I64.
static double loadFloat(FileType type, const std::byte *from) {
  switch (type) {
  case FileType::F64:
    return load<double>(from);
  case FileType::F32:
    return load<float>(from);
  case FileType::BF16:
    return floatFromBf16(load<uint16_t>(from));
  default:
    return floatFromF16(load<uint16_t>(from));
  }
}

static int64_t loadInteger(FileType type, const std::byte *from) {
  switch (type) {
  case FileType::I64:
    return load<int64_t>(from);
  case FileType::I32:
    return load<int32_t>(from);
  default:
    return load<uint8_t>(from);
  }
}

/// Converts one element; false where the value does not fit.
static bool convert(FileType from, const std::byte *source, ElementType to,
                    std::byte *destination) {
  auto store = [&](auto value) {
    std::memcpy(destination, &value, sizeof(value));
    return true;
  };
  switch (to) {
  case ElementType::F32:
    return store(float(loadFloat(from, source)));
  case ElementType::F64:
    return store(loadFloat(from, source));
  case ElementType::I64:
    return store(loadInteger(from, source));
  case ElementType::I32: {
    int64_t value = loadInteger(from, source);
    return value == int32_t(value) && store(int32_t(value));
  }
  case ElementType::I1:
    return loadInteger(from, source) <= 1 && store(load<uint8_t>(source));
  case ElementType::BF16:
    return store(load<uint16_t>(source));
  }
  return false;
}

Status SafetensorsFile::readBytes(const Tensor &tensor, int64_t first,
                                  int64_t count, void *destination) const {
  assert(first >= 0 && count >= 0 && first + count <= tensor.bytes);
  Status status = file.read(tensor.offset + first, count, destination);
  if (status.ok())
    return status;
  return std::move(status).addNote("while reading tensor '" + tensor.name +
                                   "'");
}

Status SafetensorsFile::read(const Tensor &tensor, int64_t first, int64_t count,
                             ElementType type, void *destination) const {
  int64_t width = fileTypeBytes(tensor.type);
  auto fail = [&](const std::string &message) {
    return inFile(path(), "tensor '" + tensor.name + "': " + message);
  };
  if (!canReadAs(tensor.type, type))
    return fail(std::string("expects ") + fileTypeName(fileTypeOf(type)) +
                " but got " + fileTypeName(tensor.type));
  if (tensor.type == fileTypeOf(type) && type != ElementType::I1)
    return readBytes(tensor, first * width, count * width, destination);
  std::byte *to = static_cast<std::byte *>(destination);
  constexpr int64_t kChunk = 2048;
  std::byte chunk[kChunk * 8];
  for (int64_t done = 0; done < count; done += kChunk) {
    int64_t part = std::min(kChunk, count - done);
    PIPER_RETURN_IF_ERROR(
        readBytes(tensor, (first + done) * width, part * width, chunk));
    for (int64_t i = 0; i < part; ++i, to += elementBytes(type))
      if (!convert(tensor.type, chunk + i * width, type, to))
        return fail(
            "element " + std::to_string(first + done + i) + " is " +
            std::to_string(loadInteger(tensor.type, chunk + i * width)) +
            ", which is no " + elementName(type));
  }
  return Status::success();
}

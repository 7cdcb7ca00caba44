// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of named tensors in the safetensors format
// (https://github.com/huggingface/safetensors, "Format"): 8 bytes of header
// length, a JSON header, and the bytes of all tensors without gaps. A reader
// meets files of strangers: each defect is one error naming file and tensor.

#ifndef PIPER_RUNTIME_SAFETENSORS_H
#define PIPER_RUNTIME_SAFETENSORS_H

#include "Piper/Runtime/Files.h"
#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace piper::rt {

/// The element types of files that Piper knows.
enum class FileType : uint8_t { F64, F32, BF16, F16, I64, I32, U8, Bool };

/// "F32", "BOOL", ...
const char *fileTypeName(FileType type);
int64_t fileTypeBytes(FileType type);
/// The type that a tensor of the program has in a file.
FileType fileTypeOf(ElementType type);
/// Whether every value of `from` is one of `to`, so that reading changes none:
/// equal types, wider floats, wider integers; and I64 as i32, each value
/// being checked.
bool canReadAs(FileType from, ElementType to);

class SafetensorsFile {
public:
  struct Tensor {
    std::string name;
    FileType type = FileType::F32;
    std::vector<int64_t> shape;
    /// Of its first byte, from the start of the file.
    int64_t offset = 0;
    int64_t bytes = 0;

    int64_t numElements() const { return bytes / fileTypeBytes(type); }
    /// "F32 [4, 8]".
    std::string str() const;
  };

  /// The largest header that is read, in bytes.
  static constexpr int64_t kMostHeaderBytes = 100'000'000;

  /// Reads and checks the header.
  static Result<SafetensorsFile> open(const std::string &path);

  const std::string &path() const { return file.path(); }
  /// In the order of the header.
  const std::vector<Tensor> &tensors() const { return list; }
  const Tensor *find(const std::string &name) const;
  const std::map<std::string, std::string> &metadata() const { return extra; }

  /// Reads elements first .. first + count - 1 as `type`. Fails where the
  /// types do not go together (canReadAs) or a value does not fit.
  Status read(const Tensor &tensor, int64_t first, int64_t count,
              ElementType type, void *destination) const;
  /// Reads bytes of the tensor as they are.
  Status readBytes(const Tensor &tensor, int64_t first, int64_t count,
                   void *destination) const;

private:
  SafetensorsFile(InputFile file) : file(std::move(file)) {}

  InputFile file;
  std::vector<Tensor> list;
  std::unordered_map<std::string, size_t> byName;
  std::map<std::string, std::string> extra;
};

/// A tensor to be written. `data` stays with the caller.
struct TensorToWrite {
  std::string name;
  FileType type = FileType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// Replaces the file `path` as a whole (OutputFile). Tensors are stored by
/// descending element size, so that each is aligned to it, then by name, so
/// that files of equal tensors are equal however the step was distributed. With
/// a `batch` the file takes its place with the others of it.
Status writeSafetensors(const std::string &path,
                        std::vector<TensorToWrite> tensors,
                        const std::map<std::string, std::string> &metadata,
                        OutputBatch *batch = nullptr);

} // namespace piper::rt

#endif // PIPER_RUNTIME_SAFETENSORS_H

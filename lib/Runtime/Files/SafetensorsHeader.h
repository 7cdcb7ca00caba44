// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON header of a safetensors file.

#ifndef PIPER_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H
#define PIPER_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H

#include "Piper/Runtime/Safetensors.h"

namespace piper::rt {

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses the header of a file whose tensors start at byte `dataStart` and
/// whose size is `fileBytes`, and checks that the tensors fill the rest of the
/// file without gap or overlap. Messages do not name the file.
Result<SafetensorsHeader> parseSafetensorsHeader(const std::string &text,
                                                 int64_t dataStart,
                                                 int64_t fileBytes);

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_FILES_SAFETENSORSHEADER_H

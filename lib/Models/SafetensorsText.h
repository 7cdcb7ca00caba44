// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of a small safetensors file, for the inputs of test models. Format:
// https://github.com/huggingface/safetensors#format

#ifndef PIPER_LIB_MODELS_SAFETENSORSTEXT_H
#define PIPER_LIB_MODELS_SAFETENSORSTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace mlir::piper {

class SafetensorsText {
public:
  void floats(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
              const std::vector<double> &values, bool asDouble);
  void integers(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                const std::vector<int32_t> &values);
  std::string text() const;

private:
  template <typename T>
  void append(llvm::StringRef name, llvm::StringRef type,
              llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<T> values);

  llvm::json::Object header;
  std::string data;
};

} // namespace mlir::piper

#endif // PIPER_LIB_MODELS_SAFETENSORSTEXT_H

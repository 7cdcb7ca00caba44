// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the header length, the JSON header and the data, all little-endian.

#include "SafetensorsText.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::piper;
using llvm::ArrayRef;
using llvm::StringRef;
namespace endian = llvm::support::endian;

template <typename T>
void SafetensorsText::append(StringRef name, StringRef type,
                             ArrayRef<int64_t> shape, ArrayRef<T> values) {
  int64_t begin = data.size();
  for (T value : values) {
    char bytes[sizeof(T)];
    endian::write<T, llvm::endianness::little>(bytes, value);
    data.append(bytes, sizeof(T));
  }
  int64_t end = data.size();
  header[name] = llvm::json::Object{{"dtype", type},
                                    {"shape", llvm::json::Array(shape)},
                                    {"data_offsets", {begin, end}}};
}

void SafetensorsText::floats(StringRef name, ArrayRef<int64_t> shape,
                             const std::vector<double> &values, bool asDouble) {
  if (asDouble)
    return append<double>(name, "F64", shape, values);
  std::vector<float> rounded(values.begin(), values.end());
  append<float>(name, "F32", shape, rounded);
}

void SafetensorsText::integers(StringRef name, ArrayRef<int64_t> shape,
                               const std::vector<int32_t> &values) {
  append<int32_t>(name, "I32", shape, values);
}

std::string SafetensorsText::text() const {
  std::string json;
  llvm::raw_string_ostream(json)
      << llvm::json::Value(llvm::json::Object(header));
  json.append((8 - json.size() % 8) % 8, ' ');
  char length[8];
  endian::write<uint64_t, llvm::endianness::little>(length, json.size());
  return std::string(length, 8) + json + data;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums in a written order, block by block: all terms of a block are read before
// a result of it is written.

#include "SumTerms.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace piper::rt;

namespace {
/// Integers wrap around, as those of the kernels do.
template <typename T, bool = std::is_integral_v<T>> struct SumTypeOf {
  using Type = std::make_unsigned_t<T>;
};
template <typename T> struct SumTypeOf<T, false> {
  using Type = T;
};
} // namespace

template <typename T>
static void sumTerms(int64_t count, const std::vector<const std::byte *> &terms,
                     const std::vector<std::byte *> &results) {
  using Sum = typename SumTypeOf<T>::Type;
  constexpr int64_t kBlock = 1024;
  alignas(kAlignment) Sum sum[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    int64_t size = std::min(kBlock, count - first);
    int64_t offset = first * int64_t(sizeof(T));
    std::memcpy(sum, terms[0] + offset, size * sizeof(T));
    for (size_t t = 1; t < terms.size(); ++t) {
      auto *term = reinterpret_cast<const Sum *>(terms[t] + offset);
      for (int64_t i = 0; i < size; ++i)
        sum[i] += term[i];
    }
    for (std::byte *result : results)
      std::memcpy(result + offset, sum, size * sizeof(T));
  }
}

void piper::rt::reduceTerms(const TensorType &type,
                            const std::vector<const std::byte *> &terms,
                            const std::vector<std::byte *> &results) {
  if (terms.size() == 1) {
    for (std::byte *result : results)
      if (result != terms[0])
        std::memcpy(result, terms[0], type.numBytes());
    return;
  }
  int64_t count = type.numElements();
  switch (type.element) {
  case ElementType::F32:
    return sumTerms<float>(count, terms, results);
  case ElementType::F64:
    return sumTerms<double>(count, terms, results);
  case ElementType::I32:
    return sumTerms<int32_t>(count, terms, results);
  case ElementType::I64:
    return sumTerms<int64_t>(count, terms, results);
  case ElementType::BF16:
  case ElementType::I1:
    break;
  }
}

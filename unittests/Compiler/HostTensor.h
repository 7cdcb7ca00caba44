// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in memory for tests: aligned as kernels expect, read and written as
// doubles whatever their element type.

#ifndef PIPER_UNITTESTS_COMPILER_HOSTTENSOR_H
#define PIPER_UNITTESTS_COMPILER_HOSTTENSOR_H

#include "Piper/Runtime/Program.h"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace piper::test {

class HostTensor {
public:
  /// Every byte is 0xFF: a kernel that leaves an element unwritten shows as
  /// NaN or -1.
  explicit HostTensor(rt::TensorType type);

  const rt::TensorType &type() const { return tensorType; }
  int64_t size() const { return tensorType.numElements(); }
  bool isFloat() const;
  double get(int64_t element) const;
  /// Rounds to the element type.
  void set(int64_t element, double value);
  void *data() { return lines.data(); }
  const void *data() const { return lines.data(); }
  /// All bytes equal.
  bool sameBits(const HostTensor &other) const;
  /// The largest absolute value of an element.
  double largest() const;

private:
  struct alignas(rt::kAlignment) Line {
    std::byte bytes[rt::kAlignment];
  };
  rt::TensorType tensorType;
  std::vector<Line> lines;
};

/// Fills a tensor. `rule` is one of
///   ""          uniform in (-1, 1)
///   "positive"  uniform in (0.5, 1.5)
///   "apart"     distinct multiples of 0.1, shuffled, none near 0
///   "grid"      multiples of 1/8 in [-1, 1]: exact in every float type
///   "index N"   integers in [0, N), 0 and N - 1 among them
///   "label N"   the same with each third one -1
///   "bool"      0 or 1
///   "row A B .." these numbers
/// The same seed gives the same numbers.
void fill(HostTensor &tensor, const std::string &rule, unsigned seed);

} // namespace piper::test

#endif // PIPER_UNITTESTS_COMPILER_HOSTTENSOR_H

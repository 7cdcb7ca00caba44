// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel on small tensors and compares it with numbers that the test
// computed by a plain loop: with several threads, twice, in place and as a view
// where the kernel says that it can, between guard bytes.

#ifndef PIPER_UNITTESTS_RUNTIME_CPU_KERNELTESTER_H
#define PIPER_UNITTESTS_RUNTIME_CPU_KERNELTESTER_H

#include "Piper/Runtime/Kernel.h"

#include <functional>
#include <gtest/gtest.h>

namespace piper::rt::test {

using Shape = std::vector<int64_t>;
constexpr auto F32 = ElementType::F32, F64 = ElementType::F64,
               BF16 = ElementType::BF16, I1 = ElementType::I1,
               I32 = ElementType::I32, I64 = ElementType::I64;

/// A tensor in aligned memory, with guard bytes behind it.
class Tensor {
public:
  Tensor() = default;
  /// All bytes are 0xff: NaN as a float.
  explicit Tensor(TensorType type);
  Tensor(TensorType type, const std::vector<double> &values);
  Tensor(const Tensor &other) { *this = other; }
  Tensor &operator=(const Tensor &other);

  /// Numbers from `low` to `high`, the same for one `seed`.
  static Tensor random(TensorType type, int seed, double low = -2,
                       double high = 2);
  /// Integers below `count`.
  static Tensor randomIndices(TensorType type, int seed, int64_t count);
  static Tensor scalar(ElementType element, double value);

  const TensorType &type() const { return theType; }
  const Shape &shape() const { return theType.shape; }
  int64_t size() const { return theType.numElements(); }
  double operator[](int64_t i) const;
  void set(int64_t i, double value);
  std::byte *data() { return start; }
  const std::byte *data() const { return start; }
  bool guardsIntact() const;
  bool sameBytes(const Tensor &other) const;
  std::vector<double> values() const;

private:
  static constexpr size_t kGuard = 128;
  TensorType theType;
  std::vector<std::byte> memory;
  std::byte *start = nullptr;
};

/// How far a result may be from the reference: |x - ref| <= relative * |ref| +
/// absolute.
struct Tolerance {
  double relative = 0, absolute = 0;
};
/// `f32` for an f32 result, far less for f64.
Tolerance toleranceOf(ElementType element, double f32);

/// A call of a kernel.
struct Call {
  std::string name;
  std::vector<Tensor> operands;
  std::vector<TensorType> results;
  Attributes attributes;
  int64_t salt = 0;
  int64_t microBatch = 0;

  KernelSpec spec() const;
  Call &with(std::string attribute, Attributes::Value value) {
    attributes.set(std::move(attribute), std::move(value));
    return *this;
  }
};

/// The results of a call, or its error.
Result<std::vector<Tensor>> run(const Call &call, int threads = 1);
/// The same; a failure is a failed test.
std::vector<Tensor> runOk(const Call &call, int threads = 1);
/// Runs with 1, 2 and 3 threads, twice each, in place and as a view, and
/// compares with `expected` (one list for each result).
void expectResults(const Call &call,
                   const std::vector<std::vector<double>> &expected,
                   Tolerance tolerance);
/// The message of the error that making (or running) the kernel gives.
std::string errorOf(const Call &call);

/// Calls body(element) for f32 and f64.
void forReals(const std::function<void(ElementType)> &body);

/// Values of attributes, of the right kind.
inline Attributes::Value number(double value) { return value; }
inline Attributes::Value integer(int64_t value) { return value; }
inline Attributes::Value text(const char *value) { return std::string(value); }
inline Attributes::Value list(Shape values) { return values; }

Shape stridesOf(const Shape &shape);
int64_t elementsOf(const Shape &shape);
/// Element `flat` of `result` in a tensor of `shape` that broadcasts to it.
int64_t broadcastIndex(int64_t flat, const Shape &result, const Shape &shape);

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_CPU_KERNELTESTER_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of kernels for the tests of the executor alone: as simple as can
// be, and one that fails. Linked instead of the kernels of the CPU.

#include "Piper/Runtime/Kernel.h"

#include <functional>

using namespace piper::rt;

namespace {
class Simple : public Kernel {
public:
  using Body = std::function<Status(const KernelSpec &, const KernelCall &)>;
  Simple(KernelSpec spec, Body body)
      : spec(std::move(spec)), body(std::move(body)) {}
  Status run(const KernelCall &call) const override { return body(spec, call); }

private:
  KernelSpec spec;
  Body body;
};
} // namespace

using Made = Result<std::unique_ptr<Kernel>>;

static Made make(const KernelSpec &spec, Simple::Body body) {
  return std::unique_ptr<Kernel>(
      std::make_unique<Simple>(spec, std::move(body)));
}

/// result = a + b, f32.
static Made makeAdd(const KernelSpec &spec, const Target &) {
  if (spec.results[0].element != ElementType::F32)
    return Status::error("'add' expects f32 but got " + spec.results[0].str());
  return make(spec, [](const KernelSpec &spec, const KernelCall &call) {
    auto *a = static_cast<const float *>(call.operands[0]);
    auto *b = static_cast<const float *>(call.operands[1]);
    auto *y = static_cast<float *>(call.results[0]);
    for (int64_t i = 0; i < spec.results[0].numElements(); ++i)
      y[i] = a[i] + b[i];
    return Status::success();
  });
}

/// Reverses the elements by way of its workspace; adds the salt.
static Made makeReverse(const KernelSpec &spec, const Target &) {
  return make(spec, [](const KernelSpec &spec, const KernelCall &call) {
    auto *x = static_cast<const float *>(call.operands[0]);
    auto *y = static_cast<float *>(call.results[0]);
    auto *copy = reinterpret_cast<float *>(call.workspace);
    int64_t n = spec.results[0].numElements();
    for (int64_t i = 0; i < n; ++i)
      copy[i] = x[i];
    for (int64_t i = 0; i < n; ++i)
      y[i] = copy[n - 1 - i] + float(call.salt);
    return Status::success();
  });
}

/// Copies, and fails where the first element is negative.
static Made makeFail(const KernelSpec &spec, const Target &) {
  return make(spec, [](const KernelSpec &spec, const KernelCall &call) {
    auto *x = static_cast<const float *>(call.operands[0]);
    if (x[0] < 0)
      return Status::error("expects 0 or more but got " + std::to_string(x[0]));
    auto *y = static_cast<float *>(call.results[0]);
    for (int64_t i = 0; i < spec.results[0].numElements(); ++i)
      y[i] = x[i];
    return Status::success();
  });
}

static bool anyOperand(const KernelSpec &, int, int) { return true; }

static int64_t operandBytes(const KernelSpec &spec, const Target &) {
  return spec.operands[0].numBytes();
}

static int64_t sliceOffset(const KernelSpec &spec) {
  return spec.attributes.getInt("offset") *
         elementBytes(spec.operands[0].element);
}

const KernelEntry *piper::rt::findKernel(const std::string &name) {
  static const KernelEntry table[] = {
      {"add", makeAdd, nullptr, anyOperand, nullptr},
      {"fail", makeFail, nullptr, nullptr, nullptr},
      {"reverse", makeReverse, operandBytes, nullptr, nullptr},
      // A part of the operand, from element `offset` on.
      {"slice", nullptr, nullptr, nullptr, sliceOffset},
      {"view0", nullptr, nullptr, nullptr,
       [](const KernelSpec &) { return int64_t(0); }},
  };
  for (const KernelEntry &entry : table)
    if (name == entry.name)
      return &entry;
  return nullptr;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// constant: elements known at compile time.

#include "CPU/SpecCheck.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
class ConstantKernel : public Kernel {
public:
  explicit ConstantKernel(std::vector<uint8_t> bytes)
      : bytes(std::move(bytes)) {}

  Status run(const KernelCall &call) const override {
    std::memcpy(call.results[0], bytes.data(), bytes.size());
    return Status::success();
  }

private:
  std::vector<uint8_t> bytes;
};
} // namespace

static Result<std::unique_ptr<Kernel>> createConstant(const KernelSpec &spec,
                                                      const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 0, 1));
  const Attributes::Value *value = spec.attributes.find("value");
  const auto *bytes =
      value ? std::get_if<std::vector<uint8_t>>(value) : nullptr;
  std::string expected = "an attribute 'value' of " +
                         std::to_string(spec.results[0].numBytes()) + " bytes";
  if (!bytes)
    return kernelError(spec, expected, value ? "another kind" : "none");
  if (int64_t(bytes->size()) != spec.results[0].numBytes())
    return kernelError(spec, expected, std::to_string(bytes->size()));
  return std::unique_ptr<Kernel>(std::make_unique<ConstantKernel>(*bytes));
}

void cpu::addConstantKernels(KernelTable &table) {
  table.push_back(
      {"constant", checked<createConstant>, nullptr, nullptr, nullptr});
}

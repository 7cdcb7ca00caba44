// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cast: another element type.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
class CastKernel : public Kernel {
public:
  CastKernel(const KernelSpec &spec, const Target &target)
      : loop(loops().cast[int(spec.operands[0].element)]
                         [int(spec.results[0].element)]),
        elements(spec.operands[0].numElements()),
        bytesFrom(elementBytes(spec.operands[0].element)),
        bytesTo(elementBytes(spec.results[0].element)),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const char *x = static_cast<const char *>(call.operands[0]);
    char *y = static_cast<char *>(call.results[0]);
    parallelFor(threads, elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  loop(x + begin * bytesFrom, y + begin * bytesTo, end - begin);
                });
    return Status::success();
  }

private:
  void (*loop)(const void *, void *, int64_t);
  int64_t elements, bytesFrom, bytesTo;
  int threads;
};
} // namespace

static Status checkCast(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  return expectType(spec, spec.results[0], resultName(0),
                    spec.results[0].element, spec.operands[0].shape);
}

static Result<std::unique_ptr<Kernel>> createCast(const KernelSpec &spec,
                                                  const Target &target) {
  PIPER_RETURN_IF_ERROR(checkCast(spec));
  return std::unique_ptr<Kernel>(std::make_unique<CastKernel>(spec, target));
}

// No in-place use: a loop over two types may read a vector ahead of its store.
static int64_t viewOfCast(const KernelSpec &spec) {
  return checkCast(spec).ok() && spec.operands[0] == spec.results[0] ? 0 : -1;
}

void cpu::addCastKernels(KernelTable &table) {
  table.push_back({"cast", checked<createCast>, nullptr, nullptr, viewOfCast});
}

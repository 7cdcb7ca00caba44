// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax and its gradient.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
template <typename T> class SoftmaxKernel : public Kernel {
public:
  SoftmaxKernel(const KernelSpec &spec, const Target &target)
      : length(spec.operands[0].shape.back()),
        rows(spec.operands[0].numElements() / length),
        isGradient(spec.name == "softmax_grad"), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *first = static_cast<const T *>(call.operands[0]);
    const T *y =
        isGradient ? static_cast<const T *>(call.operands[1]) : nullptr;
    T *to = static_cast<T *>(call.results[0]);
    const TypedLoops<T> &loops = typedLoops<T>();
    parallelFor(threads, rows, rowGrain(length),
                [=, &loops](int64_t begin, int64_t end, int) {
                  for (int64_t i = begin * length; i < end * length;
                       i += length)
                    if (isGradient)
                      loops.softmaxGrad(first + i, y + i, to + i, length);
                    else
                      loops.softmax(first + i, to + i, length);
                });
    return Status::success();
  }

private:
  int64_t length, rows;
  bool isGradient;
  int threads;
};
} // namespace

static Result<std::unique_ptr<Kernel>> createSoftmax(const KernelSpec &spec,
                                                     const Target &target) {
  PIPER_RETURN_IF_ERROR(
      checkSpec(spec, spec.name == "softmax_grad" ? 2 : 1, 1));
  PIPER_RETURN_IF_ERROR(expectAllEqualReal(spec));
  PIPER_RETURN_IF_ERROR(expectRank(spec, spec.operands[0], operandName(0), 1));
  return makeReal<SoftmaxKernel>(spec.operands[0].element, spec, target);
}

/// Whatever of a row is read twice is read before the row is written, or is the
/// element at hand.
static bool softmaxMayAlias(const KernelSpec &spec, int operand, int result) {
  return true;
}

void cpu::addSoftmaxKernels(KernelTable &table) {
  for (const char *name : {"softmax", "softmax_grad"})
    table.push_back(
        {name, checked<createSoftmax>, nullptr, softmaxMayAlias, nullptr});
}

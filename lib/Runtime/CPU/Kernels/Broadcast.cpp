// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// broadcast and select: elements are chosen and repeated, never computed with,
// so only their size matters.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"
#include "CPU/Strides.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// Makes Of<unsigned integer of the element's size>.
template <template <typename> class Of>
static std::unique_ptr<Kernel> makeBySize(const KernelSpec &spec,
                                          const Target &target) {
  switch (elementBytes(spec.results[0].element)) {
  case 1:
    return std::make_unique<Of<uint8_t>>(spec, target);
  case 2:
    return std::make_unique<Of<uint16_t>>(spec, target);
  case 4:
    return std::make_unique<Of<uint32_t>>(spec, target);
  default:
    return std::make_unique<Of<uint64_t>>(spec, target);
  }
}

namespace {
template <typename U> class BroadcastKernel : public Kernel {
public:
  BroadcastKernel(const KernelSpec &spec, const Target &target)
      : loop(broadcastLoop({spec.operands[0].shape}, spec.results[0].shape)),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const U *x = static_cast<const U *>(call.operands[0]);
    U *y = static_cast<U *>(call.results[0]);
    int64_t inner = loop.inner();
    bool dense = loop.innerStride(0) != 0;
    parallelFor(threads, loop.rows(), rowGrain(inner),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row) {
                    const U *from = x + loop.rowOffset(0, row);
                    U *to = y + row * inner;
                    if (dense)
                      std::memcpy(to, from, size_t(inner) * sizeof(U));
                    else
                      std::fill(to, to + inner, *from);
                  }
                });
    return Status::success();
  }

private:
  StridedLoop loop;
  int threads;
};

template <typename U> class SelectKernel : public Kernel {
public:
  SelectKernel(const KernelSpec &spec, const Target &target)
      : loop(broadcastLoop({spec.operands[0].shape, spec.operands[1].shape,
                            spec.operands[2].shape},
                           spec.results[0].shape)),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const uint8_t *mask = static_cast<const uint8_t *>(call.operands[0]);
    const U *a = static_cast<const U *>(call.operands[1]);
    const U *b = static_cast<const U *>(call.operands[2]);
    U *y = static_cast<U *>(call.results[0]);
    parallelFor(
        threads, loop.rows(), rowGrain(loop.inner()),
        [=](int64_t begin, int64_t end, int) {
          for (int64_t row = begin; row < end; ++row)
            selectRow(mask + loop.rowOffset(0, row), a + loop.rowOffset(1, row),
                      b + loop.rowOffset(2, row), y + row * loop.inner());
        });
    return Status::success();
  }

private:
  void selectRow(const uint8_t *mask, const U *a, const U *b, U *y) const {
    int64_t n = loop.inner(), stepA = loop.innerStride(1),
            stepB = loop.innerStride(2);
    if (loop.innerStride(0) == 0) {
      const U *from = *mask ? a : b;
      if ((*mask ? stepA : stepB) != 0)
        std::memmove(y, from, size_t(n) * sizeof(U));
      else
        std::fill(y, y + n, U(*from));
    } else if (stepA && stepB) {
      for (int64_t i = 0; i < n; ++i)
        y[i] = mask[i] ? a[i] : b[i];
    } else {
      for (int64_t i = 0; i < n; ++i)
        y[i] = mask[i] ? a[i * stepA] : b[i * stepB];
    }
  }

  StridedLoop loop;
  int threads;
};
} // namespace

static Status checkBroadcast(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  const TensorType &x = spec.operands[0], &y = spec.results[0];
  PIPER_RETURN_IF_ERROR(expectElement(spec, y, resultName(0), x.element));
  if (!broadcastsTo(x.shape, y.shape))
    return kernelError(spec, "an operand that broadcasts to " + y.str(),
                       x.str());
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createBroadcast(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkBroadcast(spec));
  return makeBySize<BroadcastKernel>(spec, target);
}

static int64_t viewOfBroadcast(const KernelSpec &spec) {
  bool same = checkBroadcast(spec).ok() &&
              spec.operands[0].numElements() == spec.results[0].numElements();
  return same ? 0 : -1;
}

static Status checkSelect(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 3, 1));
  const TensorType &mask = spec.operands[0], &a = spec.operands[1],
                   &b = spec.operands[2], &y = spec.results[0];
  PIPER_RETURN_IF_ERROR(
      expectElement(spec, mask, operandName(0), ElementType::I1));
  PIPER_RETURN_IF_ERROR(expectElement(spec, a, operandName(1), y.element));
  PIPER_RETURN_IF_ERROR(expectElement(spec, b, operandName(2), y.element));
  if (!broadcastTogether({mask.shape, a.shape, b.shape}, y.shape))
    return kernelError(spec, "operands that broadcast to " + y.str(),
                       mask.str() + ", " + a.str() + " and " + b.str());
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createSelect(const KernelSpec &spec,
                                                    const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSelect(spec));
  return makeBySize<SelectKernel>(spec, target);
}

static bool selectMayAlias(const KernelSpec &spec, int operand, int result) {
  return checkSelect(spec).ok() && (operand == 1 || operand == 2) &&
         result == 0 &&
         spec.operands[size_t(operand)].numElements() ==
             spec.results[0].numElements();
}

void cpu::addBroadcastKernels(KernelTable &table) {
  table.push_back({"broadcast", checked<createBroadcast>, nullptr, nullptr,
                   viewOfBroadcast});
  table.push_back(
      {"select", checked<createSelect>, nullptr, selectMayAlias, nullptr});
}

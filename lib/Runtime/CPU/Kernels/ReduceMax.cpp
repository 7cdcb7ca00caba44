// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reduce_max and its gradient.

#include "CPU/Parallel.h"
#include "Reduce.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
template <typename T> class ReduceMaxKernel : public Kernel {
public:
  ReduceMaxKernel(const KernelSpec &spec, const Target &target)
      : loop(spec), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *x = static_cast<const T *>(call.operands[0]);
    T *y = static_cast<T *>(call.results[0]);
    parallelFor(threads, loop.outputs, rowGrain(loop.inner * loop.reducedRows),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t i = begin; i < end; ++i)
                    reduce(x + loop.outputOffset(i),
                           y + (loop.alongRow ? i : i * loop.inner));
                });
    return Status::success();
  }

private:
  void reduce(const T *x, T *y) const {
    const TypedLoops<T> &loops = typedLoops<T>();
    for (int64_t r = 0; r < loop.reducedRows; ++r) {
      const T *row = x + loop.reducedOffset(r);
      if (loop.alongRow) {
        T top = loops.maximum(row, loop.inner);
        if (r == 0)
          *y = top;
        else
          loops.maximumInto(y, &top, 1);
      } else if (r == 0) {
        std::copy(row, row + loop.inner, y);
      } else {
        loops.maximumInto(y, row, loop.inner);
      }
    }
  }

  ReduceLoop loop;
  int threads;
};

/// dx = dy / count where x equals the maximum, else 0. A maximum of NaN has
/// no place: all its elements become NaN.
template <typename T> class ReduceMaxGradKernel : public Kernel {
public:
  ReduceMaxGradKernel(const KernelSpec &forward, const Target &target)
      : loop(forward), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *dy = static_cast<const T *>(call.operands[0]);
    const T *x = static_cast<const T *>(call.operands[1]);
    const T *y = static_cast<const T *>(call.operands[2]);
    T *dx = static_cast<T *>(call.results[0]);
    parallelFor(threads, loop.outputs, rowGrain(loop.inner * loop.reducedRows),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t i = begin; i < end; ++i) {
                    int64_t at = loop.outputOffset(i);
                    if (loop.alongRow)
                      spread(dy[i], y[i], x + at, dx + at, loop.inner);
                    else
                      for (int64_t j = 0; j < loop.inner; ++j)
                        spread(dy[i * loop.inner + j], y[i * loop.inner + j],
                               x + at + j, dx + at + j, 1);
                  }
                });
    return Status::success();
  }

private:
  void spread(T dy, T top, const T *x, T *dx, int64_t run) const {
    int64_t count = 0;
    for (int64_t r = 0; r < loop.reducedRows; ++r)
      for (int64_t i = 0; i < run; ++i)
        count += x[loop.reducedOffset(r) + i] == top;
    T share = dy / T(count), other = top == top ? T(0) : top;
    for (int64_t r = 0; r < loop.reducedRows; ++r)
      for (int64_t i = 0; i < run; ++i) {
        int64_t at = loop.reducedOffset(r) + i;
        dx[at] = x[at] == top ? share : other;
      }
  }

  ReduceLoop loop;
  int threads;
};
} // namespace

static Result<std::unique_ptr<Kernel>> createReduceMax(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  PIPER_RETURN_IF_ERROR(checkReduce(spec, spec.operands[0], spec.results[0],
                                    operandName(0), resultName(0)));
  return makeReal<ReduceMaxKernel>(spec.operands[0].element, spec, target);
}

static Result<std::unique_ptr<Kernel>>
createReduceMaxGrad(const KernelSpec &spec, const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 3, 1));
  const TensorType &dy = spec.operands[0], &x = spec.operands[1],
                   &y = spec.operands[2];
  PIPER_RETURN_IF_ERROR(
      checkReduce(spec, x, y, operandName(1), operandName(2)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, dy, operandName(0), y.element, y.shape));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), x.element, x.shape));
  KernelSpec forward{"reduce_max", {x}, {y}, spec.attributes};
  return makeReal<ReduceMaxGradKernel>(x.element, forward, target);
}

/// An element of x is counted before, and compared once before, it is replaced.
static bool reduceMaxGradMayAlias(const KernelSpec &spec, int operand,
                                  int result) {
  return operand == 1 && result == 0;
}

void cpu::addReduceMaxKernels(KernelTable &table) {
  table.push_back(
      {"reduce_max", checked<createReduceMax>, nullptr, nullptr, nullptr});
  table.push_back({"reduce_max_grad", checked<createReduceMaxGrad>, nullptr,
                   reduceMaxGradMayAlias, nullptr});
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// layer_norm and its gradient. The gradients of gamma and beta are summed in
// blocks of rows whose number depends on the shape alone, then block by block
// in order.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
template <typename T> class LayerNormKernel : public Kernel {
public:
  LayerNormKernel(const KernelSpec &spec, const Target &target)
      : length(spec.operands[0].shape.back()),
        rows(spec.operands[0].numElements() / length),
        eps(T(spec.attributes.getFloat("eps"))),
        saves(spec.results.size() == 3), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *x = static_cast<const T *>(call.operands[0]);
    const T *gamma = static_cast<const T *>(call.operands[1]);
    const T *beta = static_cast<const T *>(call.operands[2]);
    T *y = static_cast<T *>(call.results[0]);
    T *means = saves ? static_cast<T *>(call.results[1]) : nullptr;
    T *rstds = saves ? static_cast<T *>(call.results[2]) : nullptr;
    parallelFor(threads, rows, rowGrain(length),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row) {
                    T mean, rstd;
                    typedLoops<T>().layerNorm(x + row * length, gamma, beta,
                                              y + row * length, length, eps,
                                              &mean, &rstd);
                    if (saves) {
                      means[row] = mean;
                      rstds[row] = rstd;
                    }
                  }
                });
    return Status::success();
  }

private:
  int64_t length, rows;
  T eps;
  bool saves;
  int threads;
};

/// Rows of one block of the sums for gamma and beta: at most 64 blocks.
int64_t blockRows(int64_t rows) {
  return std::max<int64_t>(16, (rows + 63) / 64);
}
int64_t blockCount(int64_t rows) {
  return (rows + blockRows(rows) - 1) / blockRows(rows);
}

template <typename T> class LayerNormGradKernel : public Kernel {
public:
  LayerNormGradKernel(const KernelSpec &spec, const Target &target)
      : length(spec.operands[0].shape.back()),
        rows(spec.operands[0].numElements() / length),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    T *sums = reinterpret_cast<T *>(call.workspace);
    int64_t blocks = blockCount(rows);
    parallelFor(threads, blocks, rowGrain(blockRows(rows) * length),
                [&](int64_t begin, int64_t end, int) {
                  for (int64_t block = begin; block < end; ++block)
                    runBlock(call, block, sums + 2 * length * block);
                });
    // dgamma and dbeta lie side by side in a block's sums.
    int64_t columns = 2 * length;
    parallelFor(threads, columns, rowGrain(blocks),
                [&](int64_t begin, int64_t end, int) {
                  addBlocks(call, sums, begin, std::min(end, length), 0);
                  addBlocks(call, sums, std::max(begin, length), end, length);
                });
    return Status::success();
  }

private:
  void runBlock(const KernelCall &call, int64_t block, T *sums) const {
    const T *dy = static_cast<const T *>(call.operands[0]);
    const T *x = static_cast<const T *>(call.operands[1]);
    const T *gamma = static_cast<const T *>(call.operands[2]);
    const T *mean = static_cast<const T *>(call.operands[3]);
    const T *rstd = static_cast<const T *>(call.operands[4]);
    T *dx = static_cast<T *>(call.results[0]);
    std::memset(sums, 0, size_t(2 * length) * sizeof(T));
    int64_t first = block * blockRows(rows);
    for (int64_t row = first; row < std::min(first + blockRows(rows), rows);
         ++row)
      typedLoops<T>().layerNormGrad(dy + row * length, x + row * length, gamma,
                                    mean[row], rstd[row], dx + row * length,
                                    sums, sums + length, length);
  }

  /// Adds columns begin .. end - 1 of all blocks, at most 64, into dgamma or
  /// dbeta, whose columns start at `origin`.
  void addBlocks(const KernelCall &call, const T *sums, int64_t begin,
                 int64_t end, int64_t origin) const {
    if (begin >= end)
      return;
    T *to = static_cast<T *>(call.results[origin == 0 ? 1 : 2]);
    typedLoops<T>().sumRows(sums + begin, blockCount(rows), 2 * length,
                            to + (begin - origin), end - begin, false);
  }

  int64_t length, rows;
  int threads;
};
} // namespace

static Status checkLayerNorm(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 3, Arity(1, 3)));
  if (spec.results.size() == 2)
    return kernelError(spec, "1 or 3 results", "2");
  const TensorType &x = spec.operands[0];
  PIPER_RETURN_IF_ERROR(expectReal(spec, x, operandName(0)));
  PIPER_RETURN_IF_ERROR(expectRank(spec, x, operandName(0), 1));
  Shape row = {x.shape.back()}, lead(x.shape.begin(), x.shape.end() - 1);
  for (int64_t i : {1, 2})
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), x.element, row));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), x.element, x.shape));
  for (size_t i = 1; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[i],
                                     resultName(int64_t(i)), x.element, lead));
  return expectFloatAttribute(spec, "eps");
}

static Result<std::unique_ptr<Kernel>> createLayerNorm(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkLayerNorm(spec));
  return makeReal<LayerNormKernel>(spec.operands[0].element, spec, target);
}

static Status checkLayerNormGrad(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 5, 3));
  const TensorType &x = spec.operands[1];
  PIPER_RETURN_IF_ERROR(expectReal(spec, x, operandName(1)));
  PIPER_RETURN_IF_ERROR(expectRank(spec, x, operandName(1), 1));
  Shape row = {x.shape.back()}, lead(x.shape.begin(), x.shape.end() - 1);
  const Shape *operands[] = {&x.shape, &x.shape, &row, &lead, &lead};
  const Shape *results[] = {&x.shape, &row, &row};
  for (int64_t i = 0; i < 5; ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), x.element, *operands[i]));
  for (int64_t i = 0; i < 3; ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[size_t(i)],
                                     resultName(i), x.element, *results[i]));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>>
createLayerNormGrad(const KernelSpec &spec, const Target &target) {
  PIPER_RETURN_IF_ERROR(checkLayerNormGrad(spec));
  return makeReal<LayerNormGradKernel>(spec.operands[0].element, spec, target);
}

static int64_t layerNormGradWorkspace(const KernelSpec &spec, const Target &) {
  if (!checkLayerNormGrad(spec).ok())
    return 0;
  const TensorType &x = spec.operands[1];
  int64_t length = x.shape.back(), rows = x.numElements() / length;
  return blockCount(rows) * 2 * length * elementBytes(x.element);
}

/// A row of x is read before the same row of y is written.
static bool layerNormMayAlias(const KernelSpec &spec, int operand, int result) {
  return operand == 0 && result == 0;
}
static bool layerNormGradMayAlias(const KernelSpec &spec, int operand,
                                  int result) {
  return (operand == 0 || operand == 1) && result == 0;
}

void cpu::addLayerNormKernels(KernelTable &table) {
  table.push_back({"layer_norm", checked<createLayerNorm>, nullptr,
                   layerNormMayAlias, nullptr});
  table.push_back({"layer_norm_grad", checked<createLayerNormGrad>,
                   layerNormGradWorkspace, layerNormGradMayAlias, nullptr});
}

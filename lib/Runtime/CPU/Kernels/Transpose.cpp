// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// transpose: dimensions in another order. The last dimensions of operand and
// result are walked in square tiles, so that both are read and written in whole
// cache lines.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"
#include "CPU/Strides.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// The loop over the result, with the strides of operand (0) and result (1),
/// simplified.
static StridedLoop transposeLoop(const KernelSpec &spec) {
  Shape permutation = spec.attributes.getInts("permutation");
  Shape from = rowMajorStrides(spec.operands[0].shape), strides;
  for (int64_t dim : permutation)
    strides.push_back(from[size_t(dim)]);
  StridedLoop loop{spec.results[0].shape,
                   {strides, rowMajorStrides(spec.results[0].shape)}};
  loop.simplify();
  return loop;
}

/// Whether the elements stay where they are: only dimensions of 1 move.
static bool movesNothing(const StridedLoop &loop) {
  return loop.dims.size() == 1 && loop.innerStride(0) == loop.innerStride(1);
}

namespace {
template <typename U> class TransposeKernel : public Kernel {
public:
  TransposeKernel(const KernelSpec &spec, const Target &target)
      : threads(threadsOf(target)) {
    loop = transposeLoop(spec);
    columns = loop.inner();
    columnStride = loop.innerStride(0);
    if (columnStride <= 1) {
      outer = loop;
      return;
    }
    // The dimension of the result that is contiguous in the operand.
    size_t at = 0;
    while (loop.strides[0][at] != 1)
      ++at;
    rows = loop.dims[at];
    rowStride = loop.strides[1][at];
    outer = loop;
    outer.dims[at] = 1;
  }

  Status run(const KernelCall &call) const override {
    const U *x = static_cast<const U *>(call.operands[0]);
    U *y = static_cast<U *>(call.results[0]);
    int64_t bands = (rows + kTile - 1) / kTile;
    parallelFor(threads, outer.rows() * bands, rowGrain(columns * kTile),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t item = begin; item < end; ++item)
                    moveBand(x + outer.rowOffset(0, item / bands),
                             y + outer.rowOffset(1, item / bands),
                             item % bands * kTile);
                });
    return Status::success();
  }

private:
  static constexpr int64_t kTile = 16;

  /// Rows `first` .. `first` + kTile - 1 of one matrix.
  void moveBand(const U *x, U *y, int64_t first) const {
    if (columnStride <= 1) {
      std::memcpy(y, x, size_t(columns) * sizeof(U));
      return;
    }
    int64_t height = std::min(kTile, rows - first);
    for (int64_t j = 0; j < columns; j += kTile)
      moveTile(x + first + j * columnStride, y + first * rowStride + j, height,
               std::min(kTile, columns - j));
  }

  /// By way of a small buffer: each cache line is read once, even where the
  /// stride sends all of a tile to the same few sets of the cache.
  void moveTile(const U *x, U *y, int64_t height, int64_t width) const {
    if (height == kTile && width == kTile)
      copyTile(x, y, kTile, kTile);
    else
      copyTile(x, y, height, width);
  }

  /// Inlined, so that whole tiles have loops of constant length.
  inline __attribute__((always_inline)) void
  copyTile(const U *x, U *y, int64_t height, int64_t width) const {
    U tile[kTile][kTile];
    for (int64_t c = 0; c < width; ++c)
      for (int64_t i = 0; i < height; ++i)
        tile[i][c] = x[c * columnStride + i];
    for (int64_t i = 0; i < height; ++i)
      for (int64_t c = 0; c < width; ++c)
        y[i * rowStride + c] = tile[i][c];
  }

  /// `loop` without the dimension that a band walks.
  StridedLoop loop, outer;
  int64_t rows = 1, rowStride = 0, columns, columnStride;
  int threads;
};
} // namespace

static Status checkTranspose(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  const TensorType &x = spec.operands[0];
  Shape permutation = spec.attributes.getInts("permutation"), shape;
  std::vector<bool> seen(size_t(x.rank()), false);
  bool valid = int64_t(permutation.size()) == x.rank();
  for (int64_t dim : permutation) {
    valid = valid && dim >= 0 && dim < x.rank() && !seen[size_t(dim)];
    if (!valid)
      break;
    seen[size_t(dim)] = true;
    shape.push_back(x.shape[size_t(dim)]);
  }
  if (!valid)
    return kernelError(spec,
                       "'permutation' to order the " +
                           std::to_string(x.rank()) + " dimensions of " +
                           x.str(),
                       "[" + shapeText(permutation) + "]");
  return expectType(spec, spec.results[0], resultName(0), x.element, shape);
}

static Result<std::unique_ptr<Kernel>> createTranspose(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkTranspose(spec));
  std::unique_ptr<Kernel> kernel;
  switch (elementBytes(spec.results[0].element)) {
  case 1:
    kernel = std::make_unique<TransposeKernel<uint8_t>>(spec, target);
    break;
  case 2:
    kernel = std::make_unique<TransposeKernel<uint16_t>>(spec, target);
    break;
  case 4:
    kernel = std::make_unique<TransposeKernel<uint32_t>>(spec, target);
    break;
  default:
    kernel = std::make_unique<TransposeKernel<uint64_t>>(spec, target);
  }
  return kernel;
}

static int64_t viewOfTranspose(const KernelSpec &spec) {
  return checkTranspose(spec).ok() && movesNothing(transposeLoop(spec)) ? 0
                                                                        : -1;
}

void cpu::addTransposeKernels(KernelTable &table) {
  table.push_back({"transpose", checked<createTranspose>, nullptr, nullptr,
                   viewOfTranspose});
}

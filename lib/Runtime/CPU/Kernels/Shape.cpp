// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reshape, stop_gradient, slice, pad and concat: elements move as runs of
// bytes. Where a result has the bytes of its operand no kernel runs at all.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"
#include "CPU/Strides.h"

#include <cstring>
#include <emmintrin.h>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// memcpy for one of many short runs. That of glibc 2.36 takes three times as
/// long where the runs go to places 4096 bytes apart or a multiple of it (Zen
/// 4, runs of 2048 bytes); the barrier keeps the compiler from calling it.
static void copyRun(char *to, const char *from, int64_t bytes) {
  constexpr int64_t kLongest = 4096, kChunk = 64;
  int64_t i = 0;
  if (bytes <= kLongest)
    for (; i + kChunk <= bytes; i += kChunk) {
      asm volatile("" ::: "memory");
      __m128i parts[4];
      for (int j = 0; j < 4; ++j)
        parts[j] = _mm_loadu_si128(
            reinterpret_cast<const __m128i *>(from + i + 16 * j));
      for (int j = 0; j < 4; ++j)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i + 16 * j),
                         parts[j]);
    }
  std::memcpy(to + i, from + i, size_t(bytes - i));
}

//===----------------------------------------------------------------------===//
// reshape and stop_gradient
//===----------------------------------------------------------------------===//

namespace {
class CopyKernel : public Kernel {
public:
  explicit CopyKernel(int64_t bytes) : bytes(size_t(bytes)) {}
  Status run(const KernelCall &call) const override {
    std::memmove(call.results[0], call.operands[0], bytes);
    return Status::success();
  }

private:
  size_t bytes;
};
} // namespace

static Status checkReshape(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  const TensorType &x = spec.operands[0], &y = spec.results[0];
  PIPER_RETURN_IF_ERROR(expectElement(spec, y, resultName(0), x.element));
  if (spec.name == "stop_gradient")
    return expectType(spec, y, resultName(0), x.element, x.shape);
  if (x.numElements() != y.numElements())
    return kernelError(spec, "as many elements as " + x.str(), y.str());
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createReshape(const KernelSpec &spec,
                                                     const Target &) {
  PIPER_RETURN_IF_ERROR(checkReshape(spec));
  return std::unique_ptr<Kernel>(
      std::make_unique<CopyKernel>(spec.operands[0].numBytes()));
}

static int64_t viewOfReshape(const KernelSpec &spec) {
  return checkReshape(spec).ok() ? 0 : -1;
}

//===----------------------------------------------------------------------===//
// slice and pad
//===----------------------------------------------------------------------===//

/// A box of a larger tensor, as runs of bytes that are contiguous in both.
struct Box {
  /// Requires: offsets and sizes are inside `whole`.
  Box(const Shape &part, const Shape &whole, const Shape &offsets,
      int64_t bytesOfElement) {
    loop.dims = part;
    loop.strides = {rowMajorStrides(whole), rowMajorStrides(part)};
    for (size_t i = 0; i < whole.size(); ++i)
      start += offsets[i] * loop.strides[0][i] * bytesOfElement;
    for (Shape &strides : loop.strides)
      for (int64_t &stride : strides)
        stride *= bytesOfElement;
    // A last dimension of bytes, so that simplify finds the longest runs.
    loop.dims.push_back(bytesOfElement);
    loop.strides[0].push_back(1);
    loop.strides[1].push_back(1);
    loop.simplify();
    // A box of single bytes may have lost that dimension.
    if (loop.innerStride(0) != 1) {
      loop.dims.push_back(1);
      loop.strides[0].push_back(1);
      loop.strides[1].push_back(1);
    }
  }
  StridedLoop loop;
  int64_t start = 0;
};

namespace {
class SliceKernel : public Kernel {
public:
  SliceKernel(const KernelSpec &spec, const Target &target)
      : box(spec.results[0].shape, spec.operands[0].shape,
            spec.attributes.getInts("offsets"),
            elementBytes(spec.results[0].element)),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const char *x = static_cast<const char *>(call.operands[0]) + box.start;
    char *y = static_cast<char *>(call.results[0]);
    int64_t run = box.loop.inner();
    parallelFor(threads, box.loop.rows(), rowGrain(run),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row)
                    copyRun(y + row * run, x + box.loop.rowOffset(0, row), run);
                });
    return Status::success();
  }

private:
  Box box;
  int threads;
};

class PadKernel : public Kernel {
public:
  PadKernel(const KernelSpec &spec, const Target &target)
      : box(spec.operands[0].shape, spec.results[0].shape,
            spec.attributes.getInts("offsets"),
            elementBytes(spec.results[0].element)),
        bytes(spec.results[0].numBytes()), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const char *x = static_cast<const char *>(call.operands[0]);
    char *y = static_cast<char *>(call.results[0]);
    parallelFor(threads, bytes, 4 * kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  std::memset(y + begin, 0, size_t(end - begin));
                });
    int64_t run = box.loop.inner();
    char *inside = y + box.start;
    parallelFor(threads, box.loop.rows(), rowGrain(run),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row)
                    copyRun(inside + box.loop.rowOffset(0, row), x + row * run,
                            run);
                });
    return Status::success();
  }

private:
  Box box;
  int64_t bytes;
  int threads;
};
} // namespace

/// A slice reads `part` out of `whole`, a pad writes it there.
static Status checkBox(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  bool slice = spec.name == "slice";
  const TensorType &part = slice ? spec.results[0] : spec.operands[0];
  const TensorType &whole = slice ? spec.operands[0] : spec.results[0];
  PIPER_RETURN_IF_ERROR(
      expectElement(spec, spec.results[0], resultName(0), whole.element));
  PIPER_RETURN_IF_ERROR(
      expectElement(spec, spec.operands[0], operandName(0), whole.element));
  Shape offsets = spec.attributes.getInts("offsets");
  if (part.rank() != whole.rank() || int64_t(offsets.size()) != whole.rank())
    return kernelError(
        spec, "equal ranks and one offset for each dimension of " + whole.str(),
        part.str() + " and " + std::to_string(offsets.size()) + " offsets");
  for (size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] < 0 || part.shape[i] > whole.shape[i] ||
        offsets[i] > whole.shape[i] - part.shape[i])
      return kernelError(spec,
                         "dimension " + std::to_string(i) + " of " +
                             part.str() + " inside " + whole.str(),
                         "offset " + std::to_string(offsets[i]));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createSlice(const KernelSpec &spec,
                                                   const Target &target) {
  PIPER_RETURN_IF_ERROR(checkBox(spec));
  return std::unique_ptr<Kernel>(std::make_unique<SliceKernel>(spec, target));
}

static Result<std::unique_ptr<Kernel>> createPad(const KernelSpec &spec,
                                                 const Target &target) {
  PIPER_RETURN_IF_ERROR(checkBox(spec));
  return std::unique_ptr<Kernel>(std::make_unique<PadKernel>(spec, target));
}

static int64_t viewOfSlice(const KernelSpec &spec) {
  if (!checkBox(spec).ok())
    return -1;
  Box box(spec.results[0].shape, spec.operands[0].shape,
          spec.attributes.getInts("offsets"),
          elementBytes(spec.results[0].element));
  return box.loop.rows() == 1 ? box.start : -1;
}

static int64_t viewOfPad(const KernelSpec &spec) {
  return checkBox(spec).ok() && spec.operands[0] == spec.results[0] ? 0 : -1;
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

namespace {
class ConcatKernel : public Kernel {
public:
  ConcatKernel(const KernelSpec &spec, const Target &target)
      : threads(threadsOf(target)) {
    int64_t dim = spec.attributes.getInt("dim");
    const TensorType &y = spec.results[0];
    rows = product(y.shape, 0, dim);
    int64_t unit =
        product(y.shape, dim + 1, y.rank()) * elementBytes(y.element);
    for (const TensorType &part : spec.operands)
      runs.push_back(part.shape[size_t(dim)] * unit);
    rowBytes = y.shape[size_t(dim)] * unit;
  }

  Status run(const KernelCall &call) const override {
    parallelFor(threads, rows, rowGrain(rowBytes),
                [&](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row)
                    copyRow(call, row);
                });
    return Status::success();
  }

private:
  void copyRow(const KernelCall &call, int64_t row) const {
    char *to = static_cast<char *>(call.results[0]) + row * rowBytes;
    for (size_t i = 0; i < runs.size(); ++i) {
      const char *from = static_cast<const char *>(call.operands[i]);
      copyRun(to, from + row * runs[i], runs[i]);
      to += runs[i];
    }
  }

  std::vector<int64_t> runs;
  int64_t rows, rowBytes;
  int threads;
};
} // namespace

static Status checkConcat(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(1, kAnyNumber), 1));
  const TensorType &y = spec.results[0];
  int64_t dim = spec.attributes.getInt("dim", -1);
  if (dim < 0 || dim >= y.rank())
    return kernelError(spec, "'dim' to be a dimension of " + y.str(),
                       std::to_string(dim));
  int64_t total = 0;
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    Shape expected = y.shape;
    if (spec.operands[i].rank() == y.rank())
      expected[size_t(dim)] = spec.operands[i].shape[size_t(dim)];
    PIPER_RETURN_IF_ERROR(expectType(
        spec, spec.operands[i], operandName(int64_t(i)), y.element, expected));
    total += expected[size_t(dim)];
  }
  if (total != y.shape[size_t(dim)])
    return kernelError(spec,
                       "operands of " + std::to_string(y.shape[size_t(dim)]) +
                           " along dimension " + std::to_string(dim),
                       std::to_string(total));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createConcat(const KernelSpec &spec,
                                                    const Target &target) {
  PIPER_RETURN_IF_ERROR(checkConcat(spec));
  return std::unique_ptr<Kernel>(std::make_unique<ConcatKernel>(spec, target));
}

static int64_t viewOfConcat(const KernelSpec &spec) {
  return checkConcat(spec).ok() && spec.operands.size() == 1 ? 0 : -1;
}

void cpu::addShapeKernels(KernelTable &table) {
  table.push_back(
      {"reshape", checked<createReshape>, nullptr, nullptr, viewOfReshape});
  table.push_back({"stop_gradient", checked<createReshape>, nullptr, nullptr,
                   viewOfReshape});
  table.push_back(
      {"slice", checked<createSlice>, nullptr, nullptr, viewOfSlice});
  table.push_back({"pad", checked<createPad>, nullptr, nullptr, viewOfPad});
  table.push_back(
      {"concat", checked<createConcat>, nullptr, nullptr, viewOfConcat});
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dropout: which elements stay is a function of key, salt, index and the place
// of the element in the whole tensor.

#include "CPU/Parallel.h"
#include "CPU/RandomMask.h"
#include "CPU/Strides.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
template <typename T> class DropoutKernel : public Kernel {
public:
  DropoutKernel(const KernelSpec &spec, const Target &target)
      : shape(spec.operands[0].shape), global(globalShape(spec, shape)),
        globalStrides(rowMajorStrides(global)),
        index(spec.attributes.getInt("index")),
        threshold(dropoutThreshold(spec.attributes.getFloat("p"))),
        keep(T(1 / (1 - spec.attributes.getFloat("p")))),
        threads(threadsOf(target)) {
    if (spec.operands.size() == 3) {
      hasOrigin = true;
      originType = spec.operands[2].element;
    }
    // Runs of elements that are consecutive in the whole tensor too.
    loop.dims = shape;
    loop.strides = {globalStrides, rowMajorStrides(shape)};
    loop.simplify();
    // Where the last dimensions of the part have one element, neighbours of the
    // part are not neighbours of the whole.
    if (loop.innerStride(0) > 1) {
      loop.dims.push_back(1);
      for (Shape &strides : loop.strides)
        strides.push_back(1);
    }
  }

  Status run(const KernelCall &call) const override {
    const T *x = static_cast<const T *>(call.operands[0]);
    const int64_t *key = static_cast<const int64_t *>(call.operands[1]);
    T *y = static_cast<T *>(call.results[0]);
    RandomStream stream = dropoutStream(key[0], key[1], call.salt, index);
    int64_t start = 0;
    if (hasOrigin)
      PIPER_RETURN_IF_ERROR(findPieceStart("dropout", call.operands[2],
                                           originType, shape, global, start));
    int64_t inner = loop.inner();
    int64_t chunks = (inner + kMaskChunk - 1) / kMaskChunk;
    parallelFor(
        threads, loop.rows() * chunks, rowGrain(std::min(inner, kMaskChunk)),
        [=](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item) {
            int64_t first = item % chunks * kMaskChunk;
            int64_t row = item / chunks, at = row * inner + first;
            runChunk(stream, start + loop.rowOffset(0, row) + first, x + at,
                     y + at, std::min(kMaskChunk, inner - first));
          }
        });
    return Status::success();
  }

private:
  void runChunk(const RandomStream &stream, int64_t first, const T *x, T *y,
                int64_t n) const {
    uint32_t buffer[kMaskBuffer];
    const uint32_t *words = maskWords(stream, first, n, buffer);
    typedLoops<T>().dropout(words, threshold, keep, x, y, n);
  }

  Shape shape, global, globalStrides;
  int64_t index;
  uint32_t threshold;
  T keep;
  int threads;
  bool hasOrigin = false;
  ElementType originType = ElementType::I64;
  StridedLoop loop;
};
} // namespace

static Status checkDropout(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(2, 3), 1));
  const TensorType &x = spec.operands[0];
  PIPER_RETURN_IF_ERROR(expectReal(spec, x, operandName(0)));
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[1], operandName(1),
                                   ElementType::I64, {2}));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), x.element, x.shape));
  PIPER_RETURN_IF_ERROR(expectFloatAttribute(spec, "p"));
  double p = spec.attributes.getFloat("p");
  if (p < 0 || p >= 1)
    return kernelError(spec, "'p' from 0 to less than 1", std::to_string(p));
  return checkPiece(spec, x, 2);
}

static Result<std::unique_ptr<Kernel>> createDropout(const KernelSpec &spec,
                                                     const Target &target) {
  PIPER_RETURN_IF_ERROR(checkDropout(spec));
  return makeReal<DropoutKernel>(spec.operands[0].element, spec, target);
}

static bool dropoutMayAlias(const KernelSpec &spec, int operand, int result) {
  return operand == 0 && result == 0;
}

static int64_t viewOfDropout(const KernelSpec &spec) {
  return checkDropout(spec).ok() && spec.attributes.getFloat("p") == 0 ? 0 : -1;
}

void cpu::addDropoutKernels(KernelTable &table) {
  table.push_back({"dropout", checked<createDropout>, nullptr, dropoutMayAlias,
                   viewOfDropout});
}

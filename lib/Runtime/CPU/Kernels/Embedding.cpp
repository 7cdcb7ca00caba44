// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// embedding and the gradient of its table.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// An error that names the first id outside 0 .. rows - 1.
static Status checkIds(const char *kernel, const void *ids,
                       const TensorType &type, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t id = readIndex(ids, type.element, i);
    if (id < 0 || id >= rows)
      return Status::error(
          "kernel '" + std::string(kernel) + "' expects ids from 0 to " +
          std::to_string(rows - 1) + " for a table of " + std::to_string(rows) +
          " rows but got " + std::to_string(id) + " at " + placeOf(i, type));
  }
  return Status::success();
}

namespace {
class EmbeddingKernel : public Kernel {
public:
  EmbeddingKernel(const KernelSpec &spec, const Target &target)
      : tableRows(spec.operands[0].shape[0]),
        rowBytes(spec.operands[0].numBytes() / tableRows),
        idType(spec.operands[1].element), idTensor(spec.operands[1]),
        count(spec.operands[1].numElements()), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const char *table = static_cast<const char *>(call.operands[0]);
    const void *ids = call.operands[1];
    char *y = static_cast<char *>(call.results[0]);
    PIPER_RETURN_IF_ERROR(
        checkIds("embedding", ids, idTensor, count, tableRows));
    parallelFor(threads, count, rowGrain(rowBytes),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t i = begin; i < end; ++i)
                    std::memcpy(y + i * rowBytes,
                                table + readIndex(ids, idType, i) * rowBytes,
                                size_t(rowBytes));
                });
    return Status::success();
  }

private:
  int64_t tableRows, rowBytes;
  ElementType idType;
  TensorType idTensor;
  int64_t count;
  int threads;
};

/// Each thread takes columns of all rows: a row of the result is summed in the
/// order of positions whatever the number of threads.
template <typename T> class EmbeddingGradKernel : public Kernel {
public:
  EmbeddingGradKernel(const KernelSpec &spec, const Target &target)
      : tableRows(spec.results[0].shape[0]), columns(spec.results[0].shape[1]),
        idType(spec.operands[1].element), idTensor(spec.operands[1]),
        count(spec.operands[1].numElements()), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *dy = static_cast<const T *>(call.operands[0]);
    const void *ids = call.operands[1];
    T *table = static_cast<T *>(call.results[0]);
    PIPER_RETURN_IF_ERROR(
        checkIds("embedding_grad", ids, idTensor, count, tableRows));
    // Whole cache lines: two threads never write to the same one.
    constexpr int64_t kLine = 64 / int64_t(sizeof(T));
    int64_t lines = (columns + kLine - 1) / kLine;
    parallelFor(threads, lines, rowGrain((tableRows + count) * kLine),
                [=](int64_t begin, int64_t end, int) {
                  int64_t first = begin * kLine;
                  int64_t width = std::min(end * kLine, columns) - first;
                  for (int64_t row = 0; row < tableRows; ++row)
                    std::memset(table + row * columns + first, 0,
                                size_t(width) * sizeof(T));
                  for (int64_t i = 0; i < count; ++i)
                    typedLoops<T>().addInto(
                        table + readIndex(ids, idType, i) * columns + first,
                        dy + i * columns + first, width);
                });
    return Status::success();
  }

private:
  int64_t tableRows, columns;
  ElementType idType;
  TensorType idTensor;
  int64_t count;
  int threads;
};
} // namespace

/// Types of table, ids and rows, in embedding and in its gradient.
static Status checkEmbedding(const KernelSpec &spec, const TensorType &table,
                             const std::string &whichTable,
                             const TensorType &rows,
                             const std::string &whichRows) {
  const TensorType &ids = spec.operands[1];
  PIPER_RETURN_IF_ERROR(expectIndices(spec, ids, operandName(1)));
  if (table.rank() != 2)
    return kernelError(spec, "2 dimensions of " + whichTable, table.str());
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  return expectType(spec, rows, whichRows, table.element, shape);
}

static Result<std::unique_ptr<Kernel>> createEmbedding(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  PIPER_RETURN_IF_ERROR(checkEmbedding(spec, spec.operands[0], operandName(0),
                                       spec.results[0], resultName(0)));
  return std::unique_ptr<Kernel>(
      std::make_unique<EmbeddingKernel>(spec, target));
}

static Result<std::unique_ptr<Kernel>>
createEmbeddingGrad(const KernelSpec &spec, const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  PIPER_RETURN_IF_ERROR(expectReal(spec, spec.results[0], resultName(0)));
  PIPER_RETURN_IF_ERROR(checkEmbedding(spec, spec.results[0], resultName(0),
                                       spec.operands[0], operandName(0)));
  return makeReal<EmbeddingGradKernel>(spec.results[0].element, spec, target);
}

void cpu::addEmbeddingKernels(KernelTable &table) {
  table.push_back(
      {"embedding", checked<createEmbedding>, nullptr, nullptr, nullptr});
  table.push_back({"embedding_grad", checked<createEmbeddingGrad>, nullptr,
                   nullptr, nullptr});
}

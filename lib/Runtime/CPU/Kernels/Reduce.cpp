// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reduce_sum. Sums are made in a fixed order that depends on shapes alone:
// pieces of a row (kPiece elements) or of a column (kBand rows) in element
// precision, and the pieces of a row in f64.

#include "Reduce.h"

#include "CPU/Parallel.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

ReduceLoop::ReduceLoop(const KernelSpec &spec) {
  Shape shape = spec.operands[0].shape, dims = spec.attributes.getInts("dims");
  Shape strides = rowMajorStrides(shape);
  // Neighbours of one kind merge; dimensions of 1 are of either kind.
  std::vector<bool> isReduced(shape.size(), false);
  for (int64_t dim : dims)
    isReduced[size_t(dim)] = true;
  StridedLoop keptDims, reducedDims;
  keptDims.strides.resize(1);
  reducedDims.strides.resize(1);
  for (size_t i = 0; i < shape.size(); ++i) {
    StridedLoop &loop = isReduced[i] ? reducedDims : keptDims;
    loop.dims.push_back(shape[i]);
    loop.strides[0].push_back(strides[i]);
  }
  keptDims.simplify();
  reducedDims.simplify();
  // The loop that holds the contiguous dimension gives it up as the row.
  alongRow = reducedDims.innerStride(0) == 1 || keptDims.innerStride(0) != 1;
  StridedLoop &holder = alongRow ? reducedDims : keptDims;
  if (holder.innerStride(0) == 1) {
    inner = holder.inner();
    holder.dims.back() = 1;
  }
  kept = keptDims;
  reduced = reducedDims;
  // rowOffset counts all dimensions but the last one.
  for (StridedLoop *loop : {&kept, &reduced}) {
    loop->dims.push_back(1);
    loop->strides[0].push_back(0);
  }
  outputs = kept.rows();
  reducedRows = reduced.rows();
}

Status cpu::checkReduce(const KernelSpec &spec, const TensorType &x,
                        const TensorType &y, const std::string &whichX,
                        const std::string &whichY) {
  PIPER_RETURN_IF_ERROR(expectReal(spec, x, whichX));
  Shape dims = spec.attributes.getInts("dims"), shape;
  bool keep = spec.attributes.getInt("keep_dims") != 0;
  size_t next = 0;
  for (int64_t i = 0; i < x.rank(); ++i) {
    bool isReduced = next < dims.size() && dims[next] == i;
    next += isReduced;
    if (!isReduced || keep)
      shape.push_back(isReduced ? 1 : x.shape[size_t(i)]);
  }
  if (next != dims.size())
    return kernelError(spec, "'dims' to be ascending dimensions of " + x.str(),
                       "[" + shapeText(dims) + "]");
  return expectType(spec, y, whichY, x.element, shape);
}

namespace {
/// Elements of a piece of a row, rows of a band.
constexpr int64_t kPiece = 4096, kBand = 64;
/// Below this many outputs a sum along rows is cut into pieces.
constexpr int64_t kFewOutputs = 64;

template <typename T> class ReduceSumKernel : public Kernel {
public:
  ReduceSumKernel(const KernelSpec &spec, const Target &target)
      : loop(spec), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *x = static_cast<const T *>(call.operands[0]);
    T *y = static_cast<T *>(call.results[0]);
    if (!loop.alongRow)
      sumColumns(x, y);
    else if (loop.outputs >= kFewOutputs)
      sumManyRows(x, y);
    else
      sumPieces(x, y, reinterpret_cast<double *>(call.workspace));
    return Status::success();
  }

private:
  /// Each thread takes whole output rows, or columns of them.
  void sumColumns(const T *x, T *y) const {
    constexpr int64_t kColumns = 256;
    int64_t columnParts = (loop.inner + kColumns - 1) / kColumns;
    parallelFor(threads, loop.outputs * columnParts,
                rowGrain(loop.reducedRows * std::min(kColumns, loop.inner)),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t item = begin; item < end; ++item) {
                    int64_t output = item / columnParts;
                    int64_t first = item % columnParts * kColumns;
                    sumBands(x + loop.outputOffset(output) + first,
                             y + output * loop.inner + first,
                             std::min(kColumns, loop.inner - first));
                  }
                });
  }

  void sumBands(const T *x, T *y, int64_t n) const {
    int64_t r = 0;
    while (r < loop.reducedRows) {
      int64_t start = loop.reducedOffset(r), rows = 1;
      int64_t stride =
          r + 1 < loop.reducedRows ? loop.reducedOffset(r + 1) - start : 0;
      while (rows < kBand && r + rows < loop.reducedRows &&
             loop.reducedOffset(r + rows) == start + rows * stride)
        ++rows;
      typedLoops<T>().sumRows(x + start, rows, stride, y, n, r > 0);
      r += rows;
    }
  }

  void sumManyRows(const T *x, T *y) const {
    parallelFor(threads, loop.outputs, rowGrain(loop.inner * loop.reducedRows),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t i = begin; i < end; ++i) {
                    double total = 0;
                    for (int64_t r = 0; r < loop.reducedRows; ++r)
                      for (int64_t p = 0; p < loop.inner; p += kPiece)
                        total += piece(x, i, r, p);
                    y[i] = T(total);
                  }
                });
  }

  double piece(const T *x, int64_t output, int64_t row, int64_t first) const {
    return double(typedLoops<T>().sum(x + loop.outputOffset(output) +
                                          loop.reducedOffset(row) + first,
                                      std::min(kPiece, loop.inner - first)));
  }

  /// The same sum as sumManyRows, its pieces made by several threads.
  void sumPieces(const T *x, T *y, double *pieces) const {
    int64_t perRow = (loop.inner + kPiece - 1) / kPiece;
    int64_t perOutput = perRow * loop.reducedRows;
    parallelFor(threads, loop.outputs * perOutput,
                rowGrain(std::min(kPiece, loop.inner)),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t item = begin; item < end; ++item)
                    pieces[item] =
                        piece(x, item / perOutput, item % perOutput / perRow,
                              item % perRow * kPiece);
                });
    for (int64_t i = 0; i < loop.outputs; ++i) {
      double total = 0;
      for (int64_t p = 0; p < perOutput; ++p)
        total += pieces[i * perOutput + p];
      y[i] = T(total);
    }
  }

  ReduceLoop loop;
  int threads;
};
} // namespace

static Status checkReduceSum(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  return checkReduce(spec, spec.operands[0], spec.results[0], operandName(0),
                     resultName(0));
}

static Result<std::unique_ptr<Kernel>> createReduceSum(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkReduceSum(spec));
  return makeReal<ReduceSumKernel>(spec.operands[0].element, spec, target);
}

static int64_t reduceSumWorkspace(const KernelSpec &spec, const Target &) {
  if (!checkReduceSum(spec).ok())
    return 0;
  ReduceLoop loop(spec);
  if (!loop.alongRow || loop.outputs >= kFewOutputs)
    return 0;
  return loop.outputs * loop.reducedRows *
         ((loop.inner + kPiece - 1) / kPiece) * int64_t(sizeof(double));
}

static int64_t viewOfReduceSum(const KernelSpec &spec) {
  bool same = checkReduceSum(spec).ok() &&
              spec.operands[0].numElements() == spec.results[0].numElements();
  return same ? 0 : -1;
}

void cpu::addReduceKernels(KernelTable &table) {
  table.push_back({"reduce_sum", checked<createReduceSum>, reduceSumWorkspace,
                   nullptr, viewOfReduceSum});
}

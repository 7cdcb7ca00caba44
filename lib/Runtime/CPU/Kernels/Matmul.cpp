// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// matmul: f32 by oneDNN, f64 by Piper's own blocked product.

#include "CPU/BlockedProduct.h"
#include "CPU/OneDnn.h"
#include "CPU/Strides.h"
#include "Piper/Runtime/CPU/InstructionSet.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
/// A product in the fewest dimensions: batches that only lengthen one matrix
/// are folded into its rows, and neighbouring batch dimensions are merged.
struct MatmulShape {
  /// Requires: checkMatmul succeeded.
  explicit MatmulShape(const KernelSpec &spec);

  int64_t m, n, k;
  int64_t aRow, aColumn, bRow, bColumn;
  /// Batch dimensions, and the strides of a (0), b (1) and c (2) along them.
  StridedLoop batch;

  ProductSpec product() const;
  int64_t batchRows() const { return product_(batch.dims); }

private:
  static int64_t product_(const Shape &dims) { return cpu::product(dims); }
};
} // namespace

static void canonicalize(int64_t rows, int64_t columns, int64_t &rowStride,
                         int64_t &columnStride) {
  MatrixLayout layout = matrixLayout(rows, columns, rowStride, columnStride);
  canonicalizeUnitStrides(layout);
  rowStride = layout.strides[0];
  columnStride = layout.strides[1];
}

MatmulShape::MatmulShape(const KernelSpec &spec) {
  const Shape &a = spec.operands[0].shape, &b = spec.operands[1].shape,
              &c = spec.results[0].shape;
  bool transposeA = spec.attributes.getInt("transpose_a") != 0;
  bool transposeB = spec.attributes.getInt("transpose_b") != 0;
  m = c[c.size() - 2];
  n = c[c.size() - 1];
  k = a[a.size() - (transposeA ? 2 : 1)];
  aRow = transposeA ? 1 : k;
  aColumn = transposeA ? m : 1;
  bRow = transposeB ? 1 : n;
  bColumn = transposeB ? k : 1;
  Shape batchA(a.begin(), a.end() - 2), batchB(b.begin(), b.end() - 2),
      batchC(c.begin(), c.end() - 2);
  batch.dims = batchC;
  batch.strides = {broadcastStrides(batchA, batchC),
                   broadcastStrides(batchB, batchC), rowMajorStrides(batchC)};
  int64_t sizes[] = {m * k, k * n, m * n};
  for (size_t i = 0; i < 3; ++i)
    for (int64_t &stride : batch.strides[i])
      stride *= sizes[i];
  batch.simplify();
  // A vector is both transposed and not: what follows must not depend on how it
  // was written.
  canonicalize(m, k, aRow, aColumn);
  canonicalize(k, n, bRow, bColumn);
  // One B for all of a batch dimension that follows A's rows: more rows.
  if (aRow == k && aColumn == 1 && batch.innerStride(1) == 0 &&
      (batch.innerStride(0) == m * k || batch.inner() == 1)) {
    m *= batch.inner();
    batch.dims.back() = 1;
    for (Shape &strides : batch.strides)
      strides.back() = 0;
  }
}

/// The batch dimensions of one matrix for oneDNN, which marks a repeated one by
/// size 1.
static MatrixLayout withBatch(const StridedLoop &batch, size_t which,
                              MatrixLayout matrix) {
  MatrixLayout layout;
  for (size_t i = 0; i < batch.dims.size(); ++i) {
    if (batch.dims[i] == 1)
      continue;
    int64_t stride = batch.strides[which][i];
    layout.dims.push_back(stride == 0 ? 1 : batch.dims[i]);
    layout.strides.push_back(stride);
  }
  layout.dims.insert(layout.dims.end(), matrix.dims.begin(), matrix.dims.end());
  layout.strides.insert(layout.strides.end(), matrix.strides.begin(),
                        matrix.strides.end());
  return layout;
}

ProductSpec MatmulShape::product() const {
  ProductSpec spec;
  spec.a = withBatch(batch, 0, matrixLayout(m, k, aRow, aColumn));
  spec.b = withBatch(batch, 1, matrixLayout(k, n, bRow, bColumn));
  spec.c = withBatch(batch, 2, matrixLayout(m, n, n, 1));
  // Rows of B that are a multiple of 4096 bytes fall into the same lines of the
  // first cache: packed, the product takes half the time where it is reused.
  constexpr int64_t kPage = 4096 / sizeof(float);
  spec.packB = batchRows() == 1 && bColumn == 1 && n % kPage == 0 && m >= 64;
  return spec;
}

/// Whether oneDNN 2.6.3 would multiply without packing (it does below AVX-512
/// where 1/m + 1/n >= 0.0038) what lies in rows of a multiple of 2048 bytes and
/// is walked down the columns: their lines fall into the same sets of the
/// cache, and Piper's own product, which packs, is faster by a third.
static bool isSlowWithoutPacking(const MatmulShape &shape) {
  Result<InstructionSet> set = currentInstructionSet();
  if (!set.ok() || *set == InstructionSet::Avx512 || shape.aColumn == 1)
    return false;
  constexpr int64_t kHalfPage = 2048 / sizeof(float);
  bool aligned = shape.m % kHalfPage == 0 ||
                 (shape.bColumn == 1 && shape.n % kHalfPage == 0);
  return aligned && 1.0 / double(shape.m) + 1.0 / double(shape.n) >= 0.0038;
}

namespace {
/// Bytes that oneDNN gets, and that Piper's own product needs.
struct MatmulWorkspace {
  MatmulWorkspace(const MatmulShape &shape, ElementType type, int threads) {
    int64_t bytes = elementBytes(type);
    own =
        gemmBufferElements(shape.m, shape.n, shape.k, bytes) * bytes * threads;
    if (type == ElementType::F64)
      return;
    scratch = productScratchBytes(shape.m, shape.n, shape.k, threads);
    if (shape.product().packB)
      packed = packedBytes(shape.k, shape.n);
  }
  int64_t total() const { return std::max(own, scratch + packed); }
  int64_t own = 0, scratch = 0, packed = 0;
};

class OneDnnMatmul : public Kernel {
public:
  OneDnnMatmul(std::unique_ptr<Product> product, int threads)
      : product(std::move(product)), threads(threads) {}

  Status run(const KernelCall &call) const override {
    ThreadCount count(threads);
    bool done =
        product->run(static_cast<const float *>(call.operands[0]),
                     static_cast<const float *>(call.operands[1]),
                     static_cast<float *>(call.results[0]), call.workspace);
    return done ? Status::success() : productError("matmul");
  }

private:
  std::unique_ptr<Product> product;
  int threads;
};

template <typename T> class BlockedMatmul : public Kernel {
public:
  BlockedMatmul(const MatmulShape &shape, int threads)
      : shape(shape), threads(threads) {
    // rowOffset counts all dimensions but the last one.
    this->shape.batch.dims.push_back(1);
    for (Shape &strides : this->shape.batch.strides)
      strides.push_back(0);
  }

  Status run(const KernelCall &call) const override {
    GemmCall<T> gemm = {};
    gemm.m = shape.m;
    gemm.n = shape.n;
    gemm.k = shape.k;
    gemm.aRow = shape.aRow;
    gemm.aColumn = shape.aColumn;
    gemm.bRow = shape.bRow;
    gemm.bColumn = shape.bColumn;
    gemm.cRow = shape.n;
    gemm.buffer = reinterpret_cast<T *>(call.workspace);
    for (int64_t i = 0; i < shape.batch.rows(); ++i) {
      gemm.a = static_cast<const T *>(call.operands[0]) +
               shape.batch.rowOffset(0, i);
      gemm.b = static_cast<const T *>(call.operands[1]) +
               shape.batch.rowOffset(1, i);
      gemm.c = static_cast<T *>(call.results[0]) + shape.batch.rowOffset(2, i);
      parallelGemm(gemm, threads);
    }
    return Status::success();
  }

private:
  MatmulShape shape;
  int threads;
};
} // namespace

static Status checkMatmul(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  const TensorType &a = spec.operands[0], &b = spec.operands[1],
                   &c = spec.results[0];
  PIPER_RETURN_IF_ERROR(expectReal(spec, a, operandName(0)));
  PIPER_RETURN_IF_ERROR(expectElement(spec, b, operandName(1), a.element));
  PIPER_RETURN_IF_ERROR(expectElement(spec, c, resultName(0), a.element));
  PIPER_RETURN_IF_ERROR(expectRank(spec, a, operandName(0), 2));
  PIPER_RETURN_IF_ERROR(expectRank(spec, b, operandName(1), 2));
  PIPER_RETURN_IF_ERROR(expectRank(spec, c, resultName(0), 2));
  // In the order of the product: rows, then columns.
  auto matrix = [](const TensorType &type, bool transposed) {
    int64_t rows = type.shape[type.shape.size() - 2],
            columns = type.shape.back();
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(a, spec.attributes.getInt("transpose_a") != 0);
  auto [depth, n] = matrix(b, spec.attributes.getInt("transpose_b") != 0);
  if (k != depth)
    return kernelError(spec, "equal inner dimensions",
                       std::to_string(k) + " and " + std::to_string(depth));
  auto batch = [](const TensorType &type) {
    return Shape(type.shape.begin(), type.shape.end() - 2);
  };
  if (matrix(c, false) != std::pair(m, n) ||
      !broadcastTogether({batch(a), batch(b)}, batch(c)))
    return kernelError(
        spec, "a result of the product of " + a.str() + " and " + b.str(),
        c.str());
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createMatmul(const KernelSpec &spec,
                                                    const Target &target) {
  PIPER_RETURN_IF_ERROR(checkMatmul(spec));
  MatmulShape shape(spec);
  ElementType type = spec.operands[0].element;
  MatmulWorkspace workspace(shape, type, threadsOf(target));
  if (type == ElementType::F64)
    return std::unique_ptr<Kernel>(
        std::make_unique<BlockedMatmul<double>>(shape, threadsOf(target)));
  std::unique_ptr<Product> product;
  if (!isSlowWithoutPacking(shape))
    product = Product::create(shape.product(), threadsOf(target),
                              workspace.scratch, workspace.packed);
  if (!product)
    return std::unique_ptr<Kernel>(
        std::make_unique<BlockedMatmul<float>>(shape, threadsOf(target)));
  return std::unique_ptr<Kernel>(
      std::make_unique<OneDnnMatmul>(std::move(product), threadsOf(target)));
}

static int64_t matmulWorkspace(const KernelSpec &spec, const Target &target) {
  if (!checkMatmul(spec).ok())
    return 0;
  return MatmulWorkspace(MatmulShape(spec), spec.operands[0].element,
                         threadsOf(target))
      .total();
}

void cpu::addMatmulKernels(KernelTable &table) {
  table.push_back(
      {"matmul", checked<createMatmul>, matmulWorkspace, nullptr, nullptr});
}

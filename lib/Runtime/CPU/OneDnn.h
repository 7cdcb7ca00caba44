// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product of f32 made by oneDNN: static shapes, any strides, scratch
// memory of the caller. The C interface is used, as it throws nothing.

#ifndef PIPER_LIB_RUNTIME_CPU_ONEDNN_H
#define PIPER_LIB_RUNTIME_CPU_ONEDNN_H

#include "Piper/Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <dnnl.h>
#include <memory>
#include <vector>

namespace piper::rt::cpu {

/// Dimensions and strides, in elements, of one matrix or batch of them. All
/// matrices of a product have the same rank.
struct MatrixLayout {
  std::vector<int64_t> dims, strides;
};

/// A matrix of `rows` x `columns`.
inline MatrixLayout matrixLayout(int64_t rows, int64_t columns,
                                 int64_t rowStride, int64_t columnStride) {
  return {{rows, columns}, {rowStride, columnStride}};
}

/// Gives every dimension of 1 the one stride that all layouts of the same
/// elements get: rows one after the other, and columns where those have gaps.
/// oneDNN keeps its primitives for the whole process and takes layouts as equal
/// that differ in such strides only; were they not one, which kernel adds up a
/// product, and so its bits, would depend on what was made before.
void canonicalizeUnitStrides(MatrixLayout &layout);

struct ProductSpec {
  MatrixLayout a, b, c;
  /// C += A B.
  bool accumulate = false;
  /// Copies B into oneDNN's own format first.
  bool packB = false;
};

/// Bytes of scratch memory that a product of these sizes may take: above all
/// that oneDNN 2.6.3 was seen to need (1,500 random shapes on each instruction
/// set), at most 2 MiB a thread.
int64_t productScratchBytes(int64_t m, int64_t n, int64_t k, int threads);
/// Bytes of a packed B: blocks of 16 x 64 elements.
int64_t packedBytes(int64_t k, int64_t n);

/// The error of a kernel whose product failed.
Status productError(const char *kernel);

class Product {
public:
  /// Null if oneDNN has no such product. With more need than `scratchBytes` the
  /// scratch memory is oneDNN's own; B stays as it is if packed it needs more
  /// than `packBytes`.
  static std::unique_ptr<Product> create(ProductSpec spec, int threads,
                                         int64_t scratchBytes,
                                         int64_t packBytes = 0);
  ~Product();

  /// `scratch` has scratchBytes + packBytes, aligned to 64. One run of a
  /// Product at a time; the number of OpenMP threads must be that of its
  /// creation. False if oneDNN fails, which it does only without memory.
  bool run(const float *a, const float *b, float *c, std::byte *scratch) const;

  Product(const Product &) = delete;
  Product &operator=(const Product &) = delete;

private:
  Product() = default;
  bool make(const ProductSpec &spec, int64_t scratchBytes, int64_t packBytes);
  bool makeDescriptor(const ProductSpec &spec, bool pack, bool ownScratch);
  bool makeMemories(const ProductSpec &spec);

  dnnl_stream_t stream = nullptr;
  dnnl_primitive_desc_t descriptor = nullptr;
  dnnl_primitive_t product = nullptr, reorder = nullptr;
  dnnl_memory_t a = nullptr, b = nullptr, c = nullptr, scratch = nullptr;
  /// B as the caller has it, where it is packed.
  dnnl_memory_t plainB = nullptr;
  int64_t packOffset = 0;
};

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_ONEDNN_H

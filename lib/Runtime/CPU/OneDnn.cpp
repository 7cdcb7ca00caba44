// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product of f32 made by oneDNN.

#include "OneDnn.h"

#include "Parallel.h"

#include <malloc.h>

using namespace piper::rt;
using namespace piper::rt::cpu;

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int64_t piper::rt::cpu::productScratchBytes(int64_t m, int64_t n, int64_t k,
                                            int threads) {
  constexpr int64_t kMost = int64_t(2) << 20;
  int64_t rows = roundUp(std::min<int64_t>(m, 256), 16);
  int64_t columns = roundUp(std::min<int64_t>(n, 256), 64);
  int64_t depth = roundUp(std::min<int64_t>(k, 4096), 16);
  int64_t bytes = 5 * (rows * depth + depth * columns + rows * columns) + 4096;
  return roundUp(std::min(bytes, kMost), 64) * threads;
}

int64_t piper::rt::cpu::packedBytes(int64_t k, int64_t n) {
  return roundUp(k, 16) * roundUp(n, 64) * int64_t(sizeof(float));
}

/// oneDNN allocates its packing buffers anew in each call below AVX-512 and for
/// strided matrices. glibc would give them back to the system every time, and
/// the page faults would take 15% of an attention: keep them.
static void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

static dnnl_engine_t engine() {
  static dnnl_engine_t theEngine = [] {
    keepFreedMemory();
    dnnl_engine_t made = nullptr;
    dnnl_engine_create(&made, dnnl_cpu, 0);
    return made;
  }();
  return theEngine;
}

static bool succeeded(dnnl_status_t status) { return status == dnnl_success; }

static bool describe(const MatrixLayout &layout, dnnl_memory_desc_t *desc) {
  return succeeded(dnnl_memory_desc_init_by_strides(
      desc, int(layout.dims.size()), layout.dims.data(), dnnl_f32,
      layout.strides.data()));
}

void piper::rt::cpu::canonicalizeUnitStrides(MatrixLayout &layout) {
  std::vector<int64_t> &dims = layout.dims, &strides = layout.strides;
  size_t column = dims.size() - 1, row = column - 1;
  if (dims[column] == 1)
    strides[column] = 1;
  if (dims[row] == 1)
    strides[row] = strides[column] == 1 ? dims[column] : 1;
  // Of the batch: as if what is inside were dense.
  for (size_t i = row; i-- > 0;)
    if (dims[i] == 1)
      strides[i] = i + 1 == row ? dims[row] * dims[column]
                                : dims[i + 1] * strides[i + 1];
}

std::unique_ptr<Product> Product::create(ProductSpec spec, int threads,
                                         int64_t scratchBytes,
                                         int64_t packBytes) {
  if (!engine() || spec.c.dims.size() > DNNL_MAX_NDIMS)
    return nullptr;
  for (MatrixLayout *layout : {&spec.a, &spec.b, &spec.c})
    canonicalizeUnitStrides(*layout);
  ThreadCount count(threads);
  std::unique_ptr<Product> made(new Product);
  if (!made->make(spec, scratchBytes, packBytes))
    return nullptr;
  return made;
}

Product::~Product() {
  for (dnnl_memory_t memory : {a, b, c, scratch, plainB})
    if (memory)
      dnnl_memory_destroy(memory);
  for (dnnl_primitive_t primitive : {product, reorder})
    if (primitive)
      dnnl_primitive_destroy(primitive);
  if (descriptor)
    dnnl_primitive_desc_destroy(descriptor);
  if (stream)
    dnnl_stream_destroy(stream);
}

bool Product::makeDescriptor(const ProductSpec &spec, bool pack,
                             bool ownScratch) {
  if (descriptor)
    dnnl_primitive_desc_destroy(descriptor);
  descriptor = nullptr;
  dnnl_memory_desc_t descA, descB, descC;
  if (!describe(spec.a, &descA) || !describe(spec.b, &descB) ||
      !describe(spec.c, &descC))
    return false;
  if (pack && !succeeded(dnnl_memory_desc_init_by_tag(
                  &descB, int(spec.b.dims.size()), spec.b.dims.data(), dnnl_f32,
                  dnnl_format_tag_any)))
    return false;
  dnnl_matmul_desc_t matmul;
  if (!succeeded(
          dnnl_matmul_desc_init(&matmul, &descA, &descB, nullptr, &descC)))
    return false;
  dnnl_primitive_attr_t attributes = nullptr;
  dnnl_post_ops_t after = nullptr;
  bool done =
      succeeded(dnnl_primitive_attr_create(&attributes)) &&
      succeeded(dnnl_post_ops_create(&after)) &&
      (!spec.accumulate ||
       (succeeded(dnnl_post_ops_append_sum(after, 1)) &&
        succeeded(dnnl_primitive_attr_set_post_ops(attributes, after)))) &&
      succeeded(dnnl_primitive_attr_set_scratchpad_mode(
          attributes, ownScratch ? dnnl_scratchpad_mode_library
                                 : dnnl_scratchpad_mode_user)) &&
      succeeded(dnnl_primitive_desc_create(&descriptor, &matmul, attributes,
                                           engine(), nullptr));
  if (after)
    dnnl_post_ops_destroy(after);
  if (attributes)
    dnnl_primitive_attr_destroy(attributes);
  return done;
}

static int64_t describedBytes(const_dnnl_primitive_desc_t descriptor,
                              dnnl_query_t query) {
  const dnnl_memory_desc_t *desc =
      dnnl_primitive_desc_query_md(descriptor, query, 0);
  return desc ? int64_t(dnnl_memory_desc_get_size(desc)) : 0;
}

bool Product::make(const ProductSpec &spec, int64_t scratchBytes,
                   int64_t packBytes) {
  bool pack = spec.packB;
  if (!makeDescriptor(spec, pack, false))
    return false;
  if (pack && describedBytes(descriptor, dnnl_query_weights_md) > packBytes) {
    pack = false;
    if (!makeDescriptor(spec, pack, false))
      return false;
  }
  if (describedBytes(descriptor, dnnl_query_scratchpad_md) > scratchBytes &&
      !makeDescriptor(spec, pack, true))
    return false;
  packOffset = scratchBytes;
  return makeMemories(spec);
}

bool Product::makeMemories(const ProductSpec &spec) {
  const dnnl_memory_desc_t *packed =
      dnnl_primitive_desc_query_md(descriptor, dnnl_query_weights_md, 0);
  const dnnl_memory_desc_t *need =
      dnnl_primitive_desc_query_md(descriptor, dnnl_query_scratchpad_md, 0);
  dnnl_memory_desc_t descA, descB, descC;
  if (!packed || !need || !describe(spec.a, &descA) ||
      !describe(spec.b, &descB) || !describe(spec.c, &descC))
    return false;
  auto makeMemory = [](dnnl_memory_t *memory, const dnnl_memory_desc_t *desc) {
    return succeeded(
        dnnl_memory_create(memory, desc, engine(), DNNL_MEMORY_NONE));
  };
  if (!succeeded(
          dnnl_stream_create(&stream, engine(), dnnl_stream_default_flags)) ||
      !succeeded(dnnl_primitive_create(&product, descriptor)) ||
      !makeMemory(&a, &descA) || !makeMemory(&b, packed) ||
      !makeMemory(&c, &descC) || !makeMemory(&scratch, need))
    return false;
  if (dnnl_memory_desc_equal(packed, &descB))
    return true;
  dnnl_primitive_desc_t copy = nullptr;
  bool done = makeMemory(&plainB, &descB) &&
              succeeded(dnnl_reorder_primitive_desc_create(
                  &copy, &descB, engine(), packed, engine(), nullptr)) &&
              succeeded(dnnl_primitive_create(&reorder, copy));
  if (copy)
    dnnl_primitive_desc_destroy(copy);
  return done;
}

static bool setData(dnnl_memory_t memory, const void *data) {
  return succeeded(
      dnnl_memory_set_data_handle(memory, const_cast<void *>(data)));
}

Status piper::rt::cpu::productError(const char *kernel) {
  return Status::error("kernel '" + std::string(kernel) +
                       "' expects memory for oneDNN but got none");
}

bool Product::run(const float *dataA, const float *dataB, float *dataC,
                  std::byte *memory) const {
  bool set = setData(a, dataA) && setData(c, dataC) && setData(scratch, memory);
  if (reorder) {
    set = set && setData(plainB, dataB) && setData(b, memory + packOffset);
    dnnl_exec_arg_t move[] = {{DNNL_ARG_FROM, plainB}, {DNNL_ARG_TO, b}};
    set = set && succeeded(dnnl_primitive_execute(reorder, stream, 2, move));
  } else {
    set = set && setData(b, dataB);
  }
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, a},
                                 {DNNL_ARG_WEIGHTS, b},
                                 {DNNL_ARG_DST, c},
                                 {DNNL_ARG_SCRATCHPAD, scratch}};
  return set &&
         succeeded(dnnl_primitive_execute(product, stream, 4, arguments));
}

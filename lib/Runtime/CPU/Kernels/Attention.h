// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention and its gradient share: sizes, which keys a query sees,
// dropout, and the matrix products of blocks of scores.

#ifndef PIPER_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H
#define PIPER_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H

#include "CPU/BlockedProduct.h"
#include "CPU/OneDnn.h"
#include "CPU/RandomMask.h"

#include <map>
#include <tuple>

namespace piper::rt::cpu {

/// Sizes and attributes of one piper.attention.
struct AttentionShape {
  /// Requires: checkAttentionTypes succeeded. `q` is the index of the operand
  /// q.
  AttentionShape(const KernelSpec &spec, size_t q);

  int64_t batch, queries, keys, heads, keyHeads, size;
  double scale;
  bool causal;
  double dropout;
  int64_t index;
  /// [batch, heads, queries, keys], here and in the whole tensor.
  Shape scores, allScores;

  int64_t group() const { return heads / keyHeads; }
  /// Query i sees keys 0 .. visibleKeys(i) - 1.
  int64_t visibleKeys(int64_t query) const {
    return causal ? std::clamp<int64_t>(query + 1 + keys - queries, 0, keys)
                  : keys;
  }
  /// The first query that sees a key; `queries` if none does.
  int64_t firstQuery(int64_t key) const {
    return causal ? std::clamp<int64_t>(key - (keys - queries), 0, queries) : 0;
  }
  /// Elements between the rows of one head in q and in k.
  int64_t queryStride() const { return heads * size; }
  int64_t keyStride() const { return keyHeads * size; }
  /// Where row `query` of a head starts in q, row `key` of a key head in k.
  int64_t queryAt(int64_t b, int64_t query, int64_t head) const {
    return ((b * queries + query) * heads + head) * size;
  }
  int64_t keyAt(int64_t b, int64_t key, int64_t head) const {
    return ((b * keys + key) * keyHeads + head) * size;
  }
  /// How far a score is from the first one of this piece in the whole tensor.
  int64_t scoreIndex(int64_t b, int64_t head, int64_t query,
                     int64_t key) const {
    return ((b * allScores[1] + head) * allScores[2] + query) * allScores[3] +
           key;
  }
};

/// The random numbers of one run: score i of the whole tensor has word i.
struct AttentionRandom {
  RandomStream stream = {};
  /// The first score of this piece.
  int64_t start = 0;
};

/// Those of a kernel with dropout. `key` and `origin` (which may be null) are
/// the operands.
Status makeRandom(const char *kernel, const AttentionShape &shape,
                  const KernelCall &call, const void *key, const void *origin,
                  AttentionRandom &random);

/// The types of q, k, v (operands q, q + 1, q + 2), of the optional key and
/// origin (operands `key` and key + 1), and the attributes.
Status checkAttentionTypes(const KernelSpec &spec, size_t q, size_t key);

/// The sizes and strides of a product of blocks, and what tells it from others.
struct BlockProductSpec {
  int64_t m, n, k;
  int64_t aRow, aColumn, bRow, bColumn, cRow;
  bool accumulate;

  auto key() const {
    return std::tuple(m, n, k, aRow, aColumn, bRow, bColumn, cRow, accumulate);
  }
  bool operator<(const BlockProductSpec &other) const {
    return key() < other.key();
  }
  /// Bytes of scratch memory for elements of this size.
  int64_t scratchBytes(int64_t bytesOfElement) const {
    int64_t own = gemmBufferElements(m, n, k, bytesOfElement) * bytesOfElement;
    return std::max(own, productScratchBytes(m, n, k, 1));
  }
};

/// The products of an attention kernel on one thread each, in as many copies
/// as there are threads. All are made before the first run.
template <typename T> class BlockProducts {
public:
  explicit BlockProducts(int slots) : slots(slots) {}

  void add(const BlockProductSpec &spec) {
    std::vector<std::unique_ptr<Product>> &copies = products[spec];
    if (sizeof(T) != sizeof(float) || !copies.empty())
      return;
    ProductSpec wanted;
    wanted.a = matrixLayout(spec.m, spec.k, spec.aRow, spec.aColumn);
    wanted.b = matrixLayout(spec.k, spec.n, spec.bRow, spec.bColumn);
    wanted.c = matrixLayout(spec.m, spec.n, spec.cRow, 1);
    wanted.accumulate = spec.accumulate;
    for (int i = 0; i < slots; ++i)
      copies.push_back(
          Product::create(wanted, 1, spec.scratchBytes(sizeof(T))));
  }

  /// Requires: add(spec) was called. False if oneDNN fails.
  bool run(const BlockProductSpec &spec, int slot, const T *a, const T *b, T *c,
           std::byte *scratch) const {
    if constexpr (std::is_same_v<T, float>) {
      const auto &copies = products.find(spec)->second;
      if (const auto &product = copies[size_t(slot)])
        return product->run(a, b, c, scratch);
    }
    typedLoops<T>().gemm({spec.m, spec.n, spec.k, a, spec.aRow, spec.aColumn, b,
                          spec.bRow, spec.bColumn, c, spec.cRow,
                          spec.accumulate, reinterpret_cast<T *>(scratch)});
    return true;
  }

private:
  int slots;
  std::map<BlockProductSpec, std::vector<std::unique_ptr<Product>>> products;
};

/// Copies `rows` rows of `size` elements, `stride` elements apart, into
/// consecutive ones. The rows of one head lie far apart, often by a multiple of
/// 2048 bytes: products read them 10 to 50% more slowly.
template <typename T>
void gatherRows(const T *from, int64_t stride, int64_t rows, int64_t size,
                T *to) {
  constexpr int64_t kAhead = 8, kLine = 64 / int64_t(sizeof(T));
  for (int64_t i = 0; i < rows; ++i) {
    // No prefetcher of the machine follows rows this far apart.
    for (int64_t j = 0; i + kAhead < rows && j < size; j += kLine)
      __builtin_prefetch(from + (i + kAhead) * stride + j);
    std::copy(from + i * stride, from + i * stride + size, to + i * size);
  }
}

/// Rows of a block of scores are this much longer than they need to be: a row
/// length that is a multiple of 4096 bytes is slow.
constexpr int64_t kRowPadding = 16;

inline int64_t alignBytes(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// How the scores are cut: blocks of query rows, and for each the number of
/// keys that are multiplied, a multiple of `keyUnit` or all. Attention and its
/// gradient cut alike and multiply rows that are stored alike, so that one
/// product adds up each score in one order: a score has the same bits in both.
struct ScoreBlocks {
  explicit ScoreBlocks(const AttentionShape &shape) : shape(shape) {
    rows = std::min(kMostRows, shape.queries);
    // At most 16 different products.
    keyUnit = std::max<int64_t>(64, (shape.keys + 1023) / 1024 * 64);
    rowStride = (shape.keys + 15) / 16 * 16 + kRowPadding;
  }
  int64_t count() const { return (shape.queries + rows - 1) / rows; }
  int64_t rowsOf(int64_t block) const {
    return std::min(rows, shape.queries - block * rows);
  }
  int64_t keysOf(int64_t block) const {
    int64_t seen = shape.visibleKeys(block * rows + rowsOf(block) - 1);
    return std::min((seen + keyUnit - 1) / keyUnit * keyUnit, shape.keys);
  }
  /// q k^T of gathered rows.
  BlockProductSpec scores(int64_t m, int64_t n) const {
    return {m, n, shape.size, shape.size, 1, 1, shape.size, rowStride, false};
  }
  /// p v, and dS k: into the rows of one head of a tensor as large as q.
  BlockProductSpec values(int64_t m, int64_t k) const {
    return {m, shape.size,          k,    rowStride, 1, shape.size,
            1, shape.queryStride(), false};
  }
  /// Of the workspace of a thread: a block of scores, a block of gathered
  /// queries, gathered keys of one head.
  int64_t scoreBytes(int64_t bytesOfElement) const {
    return alignBytes(rows * rowStride * bytesOfElement);
  }
  int64_t queryBytes(int64_t bytesOfElement) const {
    return alignBytes(rows * shape.size * bytesOfElement);
  }
  int64_t keyBytes(int64_t bytesOfElement) const {
    return alignBytes(shape.keys * shape.size * bytesOfElement);
  }

  static constexpr int64_t kMostRows = 64;
  const AttentionShape &shape;
  int64_t rows, keyUnit, rowStride;
};

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H

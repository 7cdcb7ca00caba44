// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention: a block of query rows at a time, with all their scores in a
// thread's workspace; causal blocks leave out the keys that none of their rows
// sees.

#include "Attention.h"

#include <atomic>

using namespace piper::rt;
using namespace piper::rt::cpu;

AttentionShape::AttentionShape(const KernelSpec &spec, size_t q) {
  const Shape &queryShape = spec.operands[q].shape,
              &keyShape = spec.operands[q + 1].shape;
  batch = queryShape[0];
  queries = queryShape[1];
  heads = queryShape[2];
  size = queryShape[3];
  keys = keyShape[1];
  keyHeads = keyShape[2];
  scale = spec.attributes.getFloat("scale");
  causal = spec.attributes.getInt("causal") != 0;
  dropout = spec.attributes.getFloat("dropout");
  index = spec.attributes.getInt("index");
  scores = {batch, heads, queries, keys};
  allScores = globalShape(spec, scores);
}

Status cpu::makeRandom(const char *kernel, const AttentionShape &shape,
                       const KernelCall &call, const void *key,
                       const void *origin, AttentionRandom &random) {
  const int64_t *pair = static_cast<const int64_t *>(key);
  random.stream = dropoutStream(pair[0], pair[1], call.salt, shape.index);
  if (!origin)
    return Status::success();
  return findPieceStart(kernel, origin, ElementType::I64, shape.scores,
                        shape.allScores, random.start);
}

/// The operands `random` of an attention with dropout.
static Status checkRandom(const KernelSpec &spec, size_t q, size_t key) {
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[key],
                                   operandName(int64_t(key)), ElementType::I64,
                                   {2}));
  if (spec.operands.size() > key + 1)
    PIPER_RETURN_IF_ERROR(expectElement(spec, spec.operands[key + 1],
                                        operandName(int64_t(key) + 1),
                                        ElementType::I64));
  const Shape &query = spec.operands[q].shape;
  // Its elements are never stored: count them as bytes.
  return checkPiece(
      spec,
      {ElementType::I1,
       {query[0], query[2], query[1], spec.operands[q + 1].shape[1]}},
      key + 1);
}

Status cpu::checkAttentionTypes(const KernelSpec &spec, size_t q, size_t key) {
  const TensorType &query = spec.operands[q], &keys = spec.operands[q + 1];
  PIPER_RETURN_IF_ERROR(expectReal(spec, query, operandName(int64_t(q))));
  for (size_t i = q; i < q + 3; ++i)
    if (spec.operands[i].rank() != 4)
      return kernelError(spec, "4 dimensions of " + operandName(int64_t(i)),
                         spec.operands[i].str());
  Shape shape = keys.shape;
  shape[0] = query.shape[0];
  shape[3] = query.shape[3];
  for (size_t i = q + 1; i < q + 3; ++i)
    PIPER_RETURN_IF_ERROR(expectType(
        spec, spec.operands[i], operandName(int64_t(i)), query.element, shape));
  if (query.shape[2] % keys.shape[2] != 0)
    return kernelError(spec, "a number of key heads that divides that of heads",
                       std::to_string(keys.shape[2]) + " and " +
                           std::to_string(query.shape[2]));
  if (product(query.shape, 0, 3) > (int64_t(1) << 58) / keys.shape[1])
    return kernelError(spec, "fewer than 2^58 scores",
                       query.str() + " and " + keys.str());
  PIPER_RETURN_IF_ERROR(expectFloatAttribute(spec, "scale"));
  double dropout = spec.attributes.getFloat("dropout");
  if (!(dropout >= 0 && dropout < 1))
    return kernelError(spec, "'dropout' from 0 to less than 1",
                       std::to_string(dropout));
  if (spec.operands.size() > key)
    return checkRandom(spec, q, key);
  if (dropout > 0)
    return kernelError(spec, "a key with 'dropout'", "none");
  return Status::success();
}

namespace {
struct ForwardBlocks : ScoreBlocks {
  using ScoreBlocks::ScoreBlocks;
  /// Of the workspace of a thread: scores, queries, keys, values, scratch.
  int64_t threadBytes(int64_t bytesOfElement) const {
    int64_t scratch =
        std::max(scores(rows, shape.keys).scratchBytes(bytesOfElement),
                 values(rows, shape.keys).scratchBytes(bytesOfElement));
    return scoreBytes(bytesOfElement) + queryBytes(bytesOfElement) +
           2 * keyBytes(bytesOfElement) + alignBytes(scratch);
  }
};

template <typename T> class AttentionKernel : public Kernel {
public:
  AttentionKernel(const KernelSpec &spec, const Target &target)
      : shape(spec, 0), blocks(shape), products(threadsOf(target)),
        threshold(dropoutThreshold(shape.dropout)),
        keep(T(1 / (1 - shape.dropout))), saves(spec.results.size() == 3),
        hasOrigin(spec.operands.size() > 4), threads(threadsOf(target)) {
    for (int64_t block = 0; block < blocks.count(); ++block) {
      int64_t m = blocks.rowsOf(block), n = blocks.keysOf(block);
      if (n == 0)
        continue;
      products.add(blocks.scores(m, n));
      products.add(blocks.values(m, n));
    }
  }

  Status run(const KernelCall &call) const override {
    AttentionRandom random;
    if (shape.dropout > 0)
      PIPER_RETURN_IF_ERROR(
          makeRandom("attention", shape, call, call.operands[3],
                     hasOrigin ? call.operands[4] : nullptr, random));
    std::atomic<bool> failed{false};
    int64_t perHead = blocks.count();
    int64_t work = blocks.rows * shape.keys * shape.size;
    parallelFor(
        threads, shape.batch * shape.heads * perHead, rowGrain(work / 8),
        [&](int64_t begin, int64_t end, int slot) {
          ThreadCount single(1);
          Memory memory = memoryOf(call, slot);
          int64_t gathered = -1;
          for (int64_t item = begin; item < end; ++item) {
            int64_t b = item / perHead / shape.heads;
            int64_t head = item / perHead % shape.heads;
            int64_t keyHead = b * shape.keyHeads + head / shape.group();
            if (keyHead != gathered)
              gatherHead(call, b, head / shape.group(), memory);
            gathered = keyHead;
            if (!runBlock(call, random, memory, slot, b, head, item % perHead))
              failed = true;
          }
        });
    return failed ? productError("attention") : Status::success();
  }

private:
  /// The workspace of a thread.
  struct Memory {
    T *scores, *queries, *keys, *values;
    std::byte *scratch;
  };

  Memory memoryOf(const KernelCall &call, int slot) const {
    std::byte *at = call.workspace + slot * blocks.threadBytes(sizeof(T));
    std::byte *queries = at + blocks.scoreBytes(sizeof(T));
    std::byte *keys = queries + blocks.queryBytes(sizeof(T));
    int64_t head = blocks.keyBytes(sizeof(T));
    return {reinterpret_cast<T *>(at), reinterpret_cast<T *>(queries),
            reinterpret_cast<T *>(keys), reinterpret_cast<T *>(keys + head),
            keys + 2 * head};
  }

  void gatherHead(const KernelCall &call, int64_t b, int64_t keyHead,
                  const Memory &memory) const {
    int64_t at = shape.keyAt(b, 0, keyHead);
    gatherRows(static_cast<const T *>(call.operands[1]) + at, shape.keyStride(),
               shape.keys, shape.size, memory.keys);
    gatherRows(static_cast<const T *>(call.operands[2]) + at, shape.keyStride(),
               shape.keys, shape.size, memory.values);
  }

  /// False if oneDNN fails.
  bool runBlock(const KernelCall &call, const AttentionRandom &random,
                const Memory &memory, int slot, int64_t b, int64_t head,
                int64_t block) const {
    int64_t first = block * blocks.rows, m = blocks.rowsOf(block),
            n = blocks.keysOf(block), at = shape.queryAt(b, first, head);
    const T *q = static_cast<const T *>(call.operands[0]) + at;
    T *y = static_cast<T *>(call.results[0]) + at;
    T totals[ForwardBlocks::kMostRows];
    gatherRows(q, shape.queryStride(), m, shape.size, memory.queries);
    if (n > 0 && !products.run(blocks.scores(m, n), slot, memory.queries,
                               memory.keys, memory.scores, memory.scratch))
      return false;
    for (int64_t i = 0; i < m; ++i)
      totals[i] = softmaxRow(call, random, b, head, first + i, n,
                             memory.scores + i * blocks.rowStride);
    if (n > 0 && !products.run(blocks.values(m, n), slot, memory.scores,
                               memory.values, y, memory.scratch))
      return false;
    for (int64_t i = 0; i < m; ++i) {
      T *row = y + i * shape.queryStride();
      if (shape.visibleKeys(first + i) == 0)
        std::fill(row, row + shape.size, T(0));
      else
        typedLoops<T>().scaleInto(row, T(1) / totals[i], shape.size);
    }
    return true;
  }

  /// Turns the n scores of a query into unscaled weights, the sum of which is
  /// returned.
  T softmaxRow(const KernelCall &call, const AttentionRandom &random, int64_t b,
               int64_t head, int64_t query, int64_t n, T *row) const {
    int64_t seen = shape.visibleKeys(query);
    T top = -std::numeric_limits<T>::infinity(), total = 0;
    if (seen > 0)
      total = typedLoops<T>().attentionRow(row, seen, T(shape.scale), &top);
    std::fill(row + seen, row + n, T(0));
    if (saves) {
      int64_t at = (b * shape.heads + head) * shape.queries + query;
      static_cast<T *>(call.results[1])[at] = top;
      static_cast<T *>(call.results[2])[at] = total;
    }
    if (shape.dropout > 0)
      dropRow(random.stream, random.start + shape.scoreIndex(b, head, query, 0),
              row, seen);
    return total;
  }

  void dropRow(const RandomStream &stream, int64_t first, T *row,
               int64_t n) const {
    uint32_t buffer[kMaskBuffer];
    for (int64_t i = 0; i < n; i += kMaskChunk) {
      int64_t count = std::min(kMaskChunk, n - i);
      const uint32_t *words = maskWords(stream, first + i, count, buffer);
      typedLoops<T>().dropout(words, threshold, keep, row + i, row + i, count);
    }
  }

  AttentionShape shape;
  ForwardBlocks blocks;
  BlockProducts<T> products;
  uint32_t threshold;
  T keep;
  bool saves, hasOrigin;
  int threads;
};
} // namespace

static Status checkAttention(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(3, 5), Arity(1, 3)));
  PIPER_RETURN_IF_ERROR(checkAttentionTypes(spec, 0, 3));
  const TensorType &q = spec.operands[0];
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), q.element, q.shape));
  if (spec.results.size() == 2)
    return kernelError(spec, "1 or 3 results", "2");
  for (size_t i = 1; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[i],
                                     resultName(int64_t(i)), q.element,
                                     {q.shape[0], q.shape[2], q.shape[1]}));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createAttention(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkAttention(spec));
  return makeReal<AttentionKernel>(spec.operands[0].element, spec, target);
}

static int64_t attentionWorkspace(const KernelSpec &spec,
                                  const Target &target) {
  if (!checkAttention(spec).ok())
    return 0;
  AttentionShape shape(spec, 0);
  return threadsOf(target) * ForwardBlocks(shape).threadBytes(
                                 elementBytes(spec.operands[0].element));
}

void cpu::addAttentionKernels(KernelTable &table) {
  table.push_back({"attention", checked<createAttention>, attentionWorkspace,
                   nullptr, nullptr});
}

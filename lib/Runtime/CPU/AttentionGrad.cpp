// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention_grad: the gradients of one key head are made by one thread, a block
// of keys at a time, against chunks of the query rows that see it. The order of
// all sums depends on shapes alone. With P the weights, D the dropout mask: dv
// = (P D)^T dy, dS = scale P ((dy v^T) D - delta), delta = rows of dy y, dq =
// dS k, dk = dS^T q.

#include "Attention.h"

#include <atomic>

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
/// How the scores are cut: `keyRows` keys by at most `chunk` queries. A chunk
/// that is cut by causality starts at a multiple of `unit`.
struct BackwardBlocks {
  explicit BackwardBlocks(const AttentionShape &shape) : shape(shape) {
    keyRows = std::min<int64_t>(64, shape.keys);
    rowStride = (keyRows + 15) / 16 * 16 + kRowPadding;
  }

  struct Block {
    int64_t key, keys, query, queries;
  };
  /// Calls body(Block) for all blocks that are not wholly masked, in order.
  template <typename Body> void forEach(Body body) const {
    for (int64_t key = 0; key < shape.keys; key += keyRows) {
      int64_t keys = std::min(keyRows, shape.keys - key);
      int64_t query = shape.firstQuery(key) / unit * unit;
      if (shape.firstQuery(key) >= shape.queries)
        continue;
      while (query < shape.queries) {
        int64_t end = std::min((query / chunk + 1) * chunk, shape.queries);
        body(Block{key, keys, query, end - query});
        query = end;
      }
    }
  }

  // All operands are gathered rows, but for the results dk and dv.
  BlockProductSpec scores(const Block &b) const {
    return {b.queries, b.keys,     shape.size, shape.size, 1,
            1,         shape.size, rowStride,  false};
  }
  /// dS^T q and P^T dy.
  BlockProductSpec keyGradient(const Block &b, bool accumulate) const {
    return {b.keys,     shape.size, b.queries,         1,         rowStride,
            shape.size, 1,          shape.keyStride(), accumulate};
  }
  BlockProductSpec queryGradient(const Block &b) const {
    return {b.queries,  shape.size, b.keys,     rowStride, 1,
            shape.size, 1,          shape.size, true};
  }

  /// Of the workspace of a thread: P, dS; q, dy, dq; k, v of a block; delta;
  /// scratch.
  int64_t scoreBytes(int64_t bytesOfElement) const {
    int64_t rows = std::min(chunk, shape.queries);
    return alignBytes(rows * rowStride * bytesOfElement);
  }
  int64_t headBytes(int64_t bytesOfElement) const {
    return alignBytes(shape.queries * shape.size * bytesOfElement);
  }
  int64_t keyBytes(int64_t bytesOfElement) const {
    return alignBytes(keyRows * shape.size * bytesOfElement);
  }
  int64_t deltaBytes(int64_t bytesOfElement) const {
    return alignBytes(shape.queries * bytesOfElement);
  }
  int64_t threadBytes(int64_t bytesOfElement) const {
    Block whole = {0, keyRows, 0, std::min(chunk, shape.queries)};
    int64_t scratch =
        std::max({scores(whole).scratchBytes(bytesOfElement),
                  keyGradient(whole, true).scratchBytes(bytesOfElement),
                  queryGradient(whole).scratchBytes(bytesOfElement)});
    return 2 * scoreBytes(bytesOfElement) + 3 * headBytes(bytesOfElement) +
           2 * keyBytes(bytesOfElement) + deltaBytes(bytesOfElement) +
           alignBytes(scratch);
  }

  static constexpr int64_t chunk = 512, unit = 64;
  const AttentionShape &shape;
  int64_t keyRows, rowStride;
};

template <typename T> class AttentionGradKernel : public Kernel {
public:
  AttentionGradKernel(const KernelSpec &spec, const Target &target)
      : shape(spec, 1), blocks(shape), products(threadsOf(target)),
        threshold(dropoutThreshold(shape.dropout)),
        keep(T(1 / (1 - shape.dropout))), hasOrigin(spec.operands.size() > 7),
        threads(threadsOf(target)) {
    blocks.forEach([&](const BackwardBlocks::Block &block) {
      products.add(blocks.scores(block));
      products.add(blocks.queryGradient(block));
      products.add(blocks.keyGradient(block, false));
      products.add(blocks.keyGradient(block, true));
    });
  }

  Status run(const KernelCall &call) const override {
    Run run = makeRun(call);
    if (shape.dropout > 0)
      PIPER_RETURN_IF_ERROR(
          makeRandom("attention_grad", shape, call, call.operands[6],
                     hasOrigin ? call.operands[7] : nullptr, run.random));
    std::atomic<bool> failed{false};
    int64_t work = shape.queries * shape.keys * shape.size * shape.group();
    parallelFor(threads, shape.batch * shape.keyHeads, rowGrain(work / 8),
                [&](int64_t begin, int64_t end, int slot) {
                  ThreadCount single(1);
                  for (int64_t item = begin; item < end; ++item)
                    if (!runKeyHead(run, slot, item / shape.keyHeads,
                                    item % shape.keyHeads))
                      failed = true;
                });
    return failed ? productError("attention_grad") : Status::success();
  }

private:
  /// The addresses of one run.
  struct Run {
    const T *dy, *q, *k, *v, *y, *logSums;
    T *dq, *dk, *dv;
    std::byte *workspace;
    AttentionRandom random;
  };
  /// The workspace of a thread.
  struct Memory {
    T *p, *dp, *q, *dy, *dq, *k, *v, *delta;
    std::byte *scratch;
  };

  Run makeRun(const KernelCall &call) const {
    auto in = [&](int i) { return static_cast<const T *>(call.operands[i]); };
    auto out = [&](int i) { return static_cast<T *>(call.results[i]); };
    return {in(0),  in(1),  in(2),  in(3),          in(4), in(5),
            out(0), out(1), out(2), call.workspace, {}};
  }

  Memory memoryOf(const Run &run, int slot) const {
    std::byte *at = run.workspace + slot * blocks.threadBytes(sizeof(T));
    auto take = [&](int64_t bytes) {
      std::byte *taken = at;
      at += bytes;
      return reinterpret_cast<T *>(taken);
    };
    int64_t scores = blocks.scoreBytes(sizeof(T)),
            head = blocks.headBytes(sizeof(T)),
            keys = blocks.keyBytes(sizeof(T));
    Memory memory = {};
    memory.p = take(scores);
    memory.dp = take(scores);
    memory.q = take(head);
    memory.dy = take(head);
    memory.dq = take(head);
    memory.k = take(keys);
    memory.v = take(keys);
    memory.delta = take(blocks.deltaBytes(sizeof(T)));
    memory.scratch = at;
    return memory;
  }

  /// Like runHead and runBlock: false if oneDNN fails.
  bool runKeyHead(const Run &run, int slot, int64_t b, int64_t keyHead) const {
    bool done = true;
    for (int64_t g = 0; g < shape.group(); ++g)
      done = runHead(run, slot, b, keyHead, g) && done;
    return done;
  }

  bool runHead(const Run &run, int slot, int64_t b, int64_t keyHead,
               int64_t g) const {
    Memory memory = memoryOf(run, slot);
    int64_t head = keyHead * shape.group() + g;
    int64_t first = shape.queryAt(b, 0, head), stride = shape.queryStride(),
            size = shape.size;
    gatherRows(run.q + first, stride, shape.queries, size, memory.q);
    gatherRows(run.dy + first, stride, shape.queries, size, memory.dy);
    std::fill(memory.dq, memory.dq + shape.queries * size, T(0));
    for (int64_t i = 0; i < shape.queries; ++i)
      memory.delta[i] = typedLoops<T>().dot(memory.dy + i * size,
                                            run.y + first + i * stride, size);
    if (g == 0)
      clearUnseen(run, b, keyHead);
    int64_t lastKey = -1;
    bool done = true;
    blocks.forEach([&](const BackwardBlocks::Block &block) {
      int64_t keys = shape.keyAt(b, block.key, keyHead);
      if (block.key != lastKey) {
        gatherRows(run.k + keys, shape.keyStride(), block.keys, size, memory.k);
        gatherRows(run.v + keys, shape.keyStride(), block.keys, size, memory.v);
      }
      bool accumulate = g > 0 || block.key == lastKey;
      lastKey = block.key;
      done = runBlock(run, memory, slot, b, head, block, accumulate) && done;
    });
    for (int64_t i = 0; i < shape.queries; ++i)
      std::copy(memory.dq + i * size, memory.dq + (i + 1) * size,
                run.dq + first + i * stride);
    return done;
  }

  /// Keys that no query sees have no block.
  void clearUnseen(const Run &run, int64_t b, int64_t keyHead) const {
    for (int64_t key = 0; key < shape.keys; ++key) {
      if (shape.firstQuery(key) < shape.queries)
        continue;
      int64_t at = shape.keyAt(b, key, keyHead);
      std::fill(run.dk + at, run.dk + at + shape.size, T(0));
      std::fill(run.dv + at, run.dv + at + shape.size, T(0));
    }
  }

  bool runBlock(const Run &run, const Memory &memory, int slot, int64_t b,
                int64_t head, const BackwardBlocks::Block &block,
                bool accumulate) const {
    int64_t rows = block.query * shape.size;
    int64_t keys = shape.keyAt(b, block.key, head / shape.group());
    auto multiply = [&](const BlockProductSpec &product, const T *a, const T *b,
                        T *c) {
      return products.run(product, slot, a, b, c, memory.scratch);
    };
    BlockProductSpec scores = blocks.scores(block),
                     keyGradient = blocks.keyGradient(block, accumulate);
    if (!multiply(scores, memory.q + rows, memory.k, memory.p) ||
        !multiply(scores, memory.dy + rows, memory.v, memory.dp))
      return false;
    for (int64_t i = 0; i < block.queries; ++i)
      differentiateRow(run, memory, b, head, block, i);
    return multiply(keyGradient, memory.p, memory.dy + rows, run.dv + keys) &&
           multiply(keyGradient, memory.dp, memory.q + rows, run.dk + keys) &&
           multiply(blocks.queryGradient(block), memory.dp, memory.k,
                    memory.dq + rows);
  }

  /// Turns row i of the scores and of dy v^T into those of P D and dS.
  void differentiateRow(const Run &run, const Memory &memory, int64_t b,
                        int64_t head, const BackwardBlocks::Block &block,
                        int64_t i) const {
    int64_t query = block.query + i;
    int64_t seen = std::clamp<int64_t>(shape.visibleKeys(query) - block.key, 0,
                                       block.keys);
    T *p = memory.p + i * blocks.rowStride;
    T *dp = memory.dp + i * blocks.rowStride;
    T logSum = run.logSums[(b * shape.heads + head) * shape.queries + query];
    const TypedLoops<T> &loops = typedLoops<T>();
    if (shape.dropout > 0) {
      uint32_t buffer[kMaskBuffer];
      T mask[kMaskChunk];
      const uint32_t *words = maskWords(
          run.random.stream,
          run.random.start + shape.scoreIndex(b, head, query, block.key), seen,
          buffer);
      loops.dropoutMask(words, threshold, keep, mask, seen);
      loops.attentionGradDropRow(p, dp, mask, seen, T(shape.scale), logSum,
                                 memory.delta[query]);
    } else {
      loops.attentionGradRow(p, dp, seen, T(shape.scale), logSum,
                             memory.delta[query]);
    }
    std::fill(p + seen, p + block.keys, T(0));
    std::fill(dp + seen, dp + block.keys, T(0));
  }

  AttentionShape shape;
  BackwardBlocks blocks;
  BlockProducts<T> products;
  uint32_t threshold;
  T keep;
  bool hasOrigin;
  int threads;
};
} // namespace

static Status checkAttentionGrad(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(6, 8), 3));
  PIPER_RETURN_IF_ERROR(checkAttentionTypes(spec, 1, 6));
  const TensorType &q = spec.operands[1];
  for (int64_t i : {0, 4})
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), q.element, q.shape));
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[5], operandName(5),
                                   q.element,
                                   {q.shape[0], q.shape[2], q.shape[1]}));
  for (int64_t i = 0; i < 3; ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[size_t(i)],
                                     resultName(i), q.element,
                                     spec.operands[size_t(i) + 1].shape));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>>
createAttentionGrad(const KernelSpec &spec, const Target &target) {
  PIPER_RETURN_IF_ERROR(checkAttentionGrad(spec));
  return makeReal<AttentionGradKernel>(spec.operands[1].element, spec, target);
}

static int64_t attentionGradWorkspace(const KernelSpec &spec,
                                      const Target &target) {
  if (!checkAttentionGrad(spec).ok())
    return 0;
  AttentionShape shape(spec, 1);
  return threadsOf(target) * BackwardBlocks(shape).threadBytes(
                                 elementBytes(spec.operands[1].element));
}

void cpu::addAttentionGradKernels(KernelTable &table) {
  table.push_back({"attention_grad", checked<createAttentionGrad>,
                   attentionGradWorkspace, nullptr, nullptr});
}

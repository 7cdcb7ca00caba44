// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention_grad: the gradients of one key head are made by one thread, a block
// of query rows at a time, against all keys that they see. The order of all
// sums depends on shapes alone. With P the weights, D the dropout mask: dv = (P
// D)^T dy, dS = scale P ((dy v^T) D - delta), delta = rows of P D (dy v^T), dq
// = dS k, dk = dS^T q.

#include "Attention.h"

#include <atomic>

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
struct BackwardBlocks : ScoreBlocks {
  using ScoreBlocks::ScoreBlocks;
  /// dS^T q and P^T dy, of m queries and n keys.
  BlockProductSpec keyGradient(int64_t m, int64_t n, bool accumulate) const {
    return {n,          shape.size, m,          1,         rowStride,
            shape.size, 1,          shape.size, accumulate};
  }
  /// Of the workspace of a thread: P, dS; q and dy of a block; k, v, dk, dv of
  /// a head; the dropout mask of a row; scratch.
  int64_t maskBytes(int64_t bytesOfElement) const {
    return shape.dropout > 0 ? alignBytes(shape.keys * bytesOfElement) : 0;
  }
  int64_t threadBytes(int64_t bytesOfElement) const {
    int64_t scratch = std::max(
        {scores(rows, shape.keys).scratchBytes(bytesOfElement),
         keyGradient(rows, shape.keys, true).scratchBytes(bytesOfElement),
         values(rows, shape.keys).scratchBytes(bytesOfElement)});
    return 2 * scoreBytes(bytesOfElement) + 2 * queryBytes(bytesOfElement) +
           4 * keyBytes(bytesOfElement) + maskBytes(bytesOfElement) +
           alignBytes(scratch);
  }
};

template <typename T> class AttentionGradKernel : public Kernel {
public:
  AttentionGradKernel(const KernelSpec &spec, const Target &target)
      : shape(spec, 1), blocks(shape), products(threadsOf(target)),
        threshold(dropoutThreshold(shape.dropout)),
        keep(T(1 / (1 - shape.dropout))), hasOrigin(spec.operands.size() > 7),
        threads(threadsOf(target)) {
    for (int64_t block = 0; block < blocks.count(); ++block) {
      int64_t m = blocks.rowsOf(block), n = blocks.keysOf(block);
      if (n == 0)
        continue;
      products.add(blocks.scores(m, n));
      products.add(blocks.values(m, n));
      for (bool accumulate : {false, true})
        products.add(blocks.keyGradient(m, n, accumulate));
    }
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
    const T *dy, *q, *k, *v, *tops, *totals;
    T *dq, *dk, *dv;
    std::byte *workspace;
    AttentionRandom random;
  };
  /// The workspace of a thread.
  struct Memory {
    T *p, *dp, *q, *dy, *k, *v, *dk, *dv, *mask;
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
            queries = blocks.queryBytes(sizeof(T)),
            keys = blocks.keyBytes(sizeof(T));
    Memory memory = {};
    memory.p = take(scores);
    memory.dp = take(scores);
    memory.q = take(queries);
    memory.dy = take(queries);
    memory.k = take(keys);
    memory.v = take(keys);
    memory.dk = take(keys);
    memory.dv = take(keys);
    memory.mask = take(blocks.maskBytes(sizeof(T)));
    memory.scratch = at;
    return memory;
  }

  /// Like runBlock: false if oneDNN fails.
  bool runKeyHead(const Run &run, int slot, int64_t b, int64_t keyHead) const {
    Memory memory = memoryOf(run, slot);
    int64_t first = shape.keyAt(b, 0, keyHead), stride = shape.keyStride(),
            size = shape.size;
    gatherRows(run.k + first, stride, shape.keys, size, memory.k);
    gatherRows(run.v + first, stride, shape.keys, size, memory.v);
    // The last block sees all keys: it comes first, and the others add to it.
    bool done = true, accumulate = false;
    for (int64_t g = 0; g < shape.group(); ++g)
      for (int64_t block = blocks.count(); block-- > 0; accumulate = true)
        done = runBlock(run, memory, slot, b, keyHead * shape.group() + g,
                        block, accumulate) &&
               done;
    for (int64_t i = 0; i < shape.keys; ++i) {
      std::copy(memory.dk + i * size, memory.dk + (i + 1) * size,
                run.dk + first + i * stride);
      std::copy(memory.dv + i * size, memory.dv + (i + 1) * size,
                run.dv + first + i * stride);
    }
    return done;
  }

  bool runBlock(const Run &run, const Memory &memory, int slot, int64_t b,
                int64_t head, int64_t block, bool accumulate) const {
    int64_t first = block * blocks.rows, m = blocks.rowsOf(block),
            n = blocks.keysOf(block), at = shape.queryAt(b, first, head),
            stride = shape.queryStride();
    if (n == 0) {
      for (int64_t i = 0; i < m; ++i)
        std::fill(run.dq + at + i * stride,
                  run.dq + at + i * stride + shape.size, T(0));
      return true;
    }
    gatherRows(run.q + at, stride, m, shape.size, memory.q);
    gatherRows(run.dy + at, stride, m, shape.size, memory.dy);
    auto multiply = [&](const BlockProductSpec &product, const T *a, const T *b,
                        T *c) {
      return products.run(product, slot, a, b, c, memory.scratch);
    };
    BlockProductSpec scores = blocks.scores(m, n),
                     keyGradient = blocks.keyGradient(m, n, accumulate);
    if (!multiply(scores, memory.q, memory.k, memory.p) ||
        !multiply(scores, memory.dy, memory.v, memory.dp))
      return false;
    for (int64_t i = 0; i < m; ++i)
      differentiateRow(run, memory, b, head, first + i, n,
                       i * blocks.rowStride);
    return multiply(keyGradient, memory.p, memory.dy, memory.dv) &&
           multiply(keyGradient, memory.dp, memory.q, memory.dk) &&
           multiply(blocks.values(m, n), memory.dp, memory.k, run.dq + at);
  }

  /// Turns the n scores of a query, and its row of dy v^T, into those of P D
  /// and dS.
  void differentiateRow(const Run &run, const Memory &memory, int64_t b,
                        int64_t head, int64_t query, int64_t n,
                        int64_t offset) const {
    int64_t seen = shape.visibleKeys(query);
    T *p = memory.p + offset, *dp = memory.dp + offset;
    int64_t row = (b * shape.heads + head) * shape.queries + query;
    T top = run.tops[row], inverse = T(1) / run.totals[row],
      scale = T(shape.scale);
    if (shape.dropout > 0) {
      makeMask(run.random, shape.scoreIndex(b, head, query, 0), seen,
               memory.mask);
      typedLoops<T>().attentionGradDropRow(p, dp, memory.mask, seen, scale, top,
                                           inverse);
    } else {
      typedLoops<T>().attentionGradRow(p, dp, seen, scale, top, inverse);
    }
    std::fill(p + seen, p + n, T(0));
    std::fill(dp + seen, dp + n, T(0));
  }

  void makeMask(const AttentionRandom &random, int64_t first, int64_t n,
                T *mask) const {
    uint32_t buffer[kMaskBuffer];
    for (int64_t i = 0; i < n; i += kMaskChunk) {
      int64_t count = std::min(kMaskChunk, n - i);
      const uint32_t *words =
          maskWords(random.stream, random.start + first + i, count, buffer);
      typedLoops<T>().dropoutMask(words, threshold, keep, mask + i, count);
    }
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
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[0], operandName(0), q.element, q.shape));
  for (int64_t i : {4, 5})
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), q.element,
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

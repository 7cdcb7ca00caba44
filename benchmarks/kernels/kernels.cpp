// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of every kernel of one training step of a GPT (6 layers x 512 wide x
// 512 long, batch 4, vocabulary 256, 8 heads, f32, AdamW), beside the time of
// the matrix products that it contains. Kernels are run in turn, several
// rounds; the best round counts, as other work on the machine only ever makes
// one slower.
//
//   piper-bench-kernels [THREADS = 1] [ROUNDS = 7]

#include "Piper/Runtime/CPU/InstructionSet.h"
#include "Piper/Runtime/Kernel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace piper::rt;

namespace {
using Shape = std::vector<int64_t>;
constexpr int64_t kLayers = 6, kBatch = 4, kLength = 512, kWidth = 512,
                  kVocabulary = 256, kHeads = 8, kHeadSize = kWidth / kHeads,
                  kTokens = kBatch * kLength;

TensorType real(Shape shape) { return {ElementType::F32, std::move(shape)}; }

/// Memory of a tensor: small numbers, or for integers zero.
class Buffer {
public:
  explicit Buffer(const TensorType &type) : Buffer(type.numBytes()) {
    if (type.element == ElementType::F32)
      for (int64_t i = 0; i < type.numElements(); ++i)
        static_cast<float *>(data)[i] = float(i % 977) / 977 - 0.5f;
    // A flag that is true, an update counter that is not zero.
    if (type.element == ElementType::I1 || type.rank() == 0)
      if (type.element != ElementType::F32)
        *static_cast<uint8_t *>(data) = 1;
  }
  explicit Buffer(int64_t bytes)
      : data(std::aligned_alloc(kAlignment,
                                size_t(bytes / kAlignment + 1) * kAlignment)) {
    std::memset(data, 0, size_t(bytes));
  }
  ~Buffer() { std::free(data); }
  Buffer(Buffer &&other) : data(other.data) { other.data = nullptr; }
  void *data;
};

/// A kernel with its memory, how often a step runs it, and its best time.
class Bench {
public:
  Bench(const char *title, int64_t perStep, KernelSpec spec, int threads)
      : title(title), perStep(perStep) {
    const KernelEntry *entry = findKernel(spec.name);
    Target target{"cpu", threads};
    Result<std::unique_ptr<Kernel>> made =
        entry ? entry->create(spec, target)
              : Result<std::unique_ptr<Kernel>>(Status::error("no kernel"));
    if (!made.ok()) {
      std::fprintf(stderr, "%s: %s\n", title, made.takeStatus().str().c_str());
      std::exit(1);
    }
    kernel = std::move(*made);
    for (const TensorType &type : spec.operands)
      buffers.emplace_back(type);
    for (const TensorType &type : spec.results)
      buffers.emplace_back(type);
    buffers.emplace_back(
        entry->workspaceBytes ? entry->workspaceBytes(spec, target) : 0);
    for (size_t i = 0; i < spec.operands.size(); ++i)
      operands.push_back(buffers[i].data);
    for (size_t i = 0; i < spec.results.size(); ++i)
      results.push_back(buffers[spec.operands.size() + i].data);
    // In place, as the plan does it.
    for (size_t o = 0; entry->mayAlias && o < spec.operands.size(); ++o)
      for (size_t r = 0; r < spec.results.size(); ++r)
        if (spec.name == "adamw" && entry->mayAlias(spec, int(o), int(r)))
          results[r] = buffers[o].data;
  }

  void run() {
    KernelCall call{operands.data(), results.data(),
                    static_cast<std::byte *>(buffers.back().data), 0};
    auto start = std::chrono::steady_clock::now();
    Status status = kernel->run(call);
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    if (!status.ok()) {
      std::fprintf(stderr, "%s: %s\n", title, status.str().c_str());
      std::exit(1);
    }
    best = std::fmin(best, time.count());
  }

  double milliseconds() const { return best * 1e3; }

  const char *title;
  int64_t perStep;
  /// Floating-point operations of its products in one run; the indices of the
  /// benches that measure the products of an attention alone, and how often
  /// each is in it.
  double flops = 0;
  std::vector<std::pair<size_t, double>> products;

private:
  std::unique_ptr<Kernel> kernel;
  std::vector<Buffer> buffers;
  std::vector<const void *> operands;
  std::vector<void *> results;
  double best = 1e9;
};

class Step {
public:
  explicit Step(int threads) : threads(threads) {
    addLinear("qkv", kLayers, kWidth, 3 * kWidth);
    addLinear("attention out", kLayers, kWidth, kWidth);
    addLinear("mlp in", kLayers, kWidth, 4 * kWidth);
    addLinear("mlp out", kLayers, 4 * kWidth, kWidth);
    addHead();
    addAttention();
    addRows();
    addEnd();
  }

  std::vector<Bench> benches;

private:
  Bench &
  add(const char *title, int64_t perStep, const char *name,
      std::vector<TensorType> operands, std::vector<TensorType> results,
      std::vector<std::pair<const char *, Attributes::Value>> attributes = {}) {
    KernelSpec spec{name, std::move(operands), std::move(results), {}};
    for (auto &[attribute, value] : attributes)
      spec.attributes.set(attribute, value);
    benches.emplace_back(title, perStep, std::move(spec), threads);
    return benches.back();
  }

  size_t addProduct(const char *title, int64_t perStep, Shape a, Shape b,
                    Shape c, bool transposeA, bool transposeB) {
    double depth = double(a[a.size() - (transposeA ? 2 : 1)]);
    Bench &bench = add(title, perStep, "matmul", {real(a), real(b)}, {real(c)},
                       {{"transpose_a", int64_t(transposeA)},
                        {"transpose_b", int64_t(transposeB)}});
    bench.flops = 2 * depth * double(real(c).numElements());
    return benches.size() - 1;
  }

  void addLinear(const char *title, int64_t count, int64_t in, int64_t out) {
    addProduct(title, count, {kTokens, in}, {in, out}, {kTokens, out}, false,
               false);
    addProduct("  its dx", count, {kTokens, out}, {in, out}, {kTokens, in},
               false, true);
    addProduct("  its dw", count, {kTokens, in}, {kTokens, out}, {in, out},
               true, false);
    add("  its bias", count, "add", {real({kTokens, out}), real({out})},
        {real({kTokens, out})});
    add("  its dbias", count, "reduce_sum", {real({kTokens, out})},
        {real({out})}, {{"dims", Shape{0}}});
  }

  void addHead() {
    addProduct("head", 1, {kTokens, kWidth}, {kVocabulary, kWidth},
               {kTokens, kVocabulary}, false, true);
    addProduct("  its dx", 1, {kTokens, kVocabulary}, {kVocabulary, kWidth},
               {kTokens, kWidth}, false, false);
    addProduct("  its dw", 1, {kTokens, kVocabulary}, {kTokens, kWidth},
               {kVocabulary, kWidth}, true, false);
  }

  void addAttention() {
    TensorType q = real({kBatch, kLength, kHeads, kHeadSize});
    TensorType perQuery = real({kBatch, kHeads, kLength});
    int64_t pairs = kBatch * kHeads;
    Shape rows = {pairs, kLength, kHeadSize},
          scores = {pairs, kLength, kLength};
    size_t qk =
        addProduct("(q k^T, whole)", 0, rows, rows, scores, false, true);
    size_t pv = addProduct("(p v, whole)", 0, scores, rows, rows, false, false);
    size_t tp =
        addProduct("(p^T dy, whole)", 0, scores, rows, rows, true, false);
    for (bool causal : {true, false}) {
      Bench &forward = add(causal ? "attention, causal" : "(attention, whole)",
                           causal ? kLayers : 0, "attention", {q, q, q},
                           {q, perQuery, perQuery},
                           {{"scale", 0.125}, {"causal", int64_t(causal)}});
      forward.products = {{qk, 1}, {pv, 1}};
      Bench &gradient = add(causal ? "  its gradient" : "(  its gradient)",
                            causal ? kLayers : 0, "attention_grad",
                            {q, q, q, q, perQuery, perQuery}, {q, q, q},
                            {{"scale", 0.125}, {"causal", int64_t(causal)}});
      gradient.products = {{qk, 2}, {pv, 1}, {tp, 2}};
    }
  }

  void addRows() {
    TensorType x = real({kTokens, kWidth}), row = real({kWidth}),
               lead = real({kTokens}), inner = real({kTokens, 4 * kWidth});
    TensorType qkv = real({kBatch, kLength, 3 * kWidth}),
               third = real({kBatch, kLength, kWidth});
    int64_t norms = 2 * kLayers + 1;
    add("layer_norm", norms, "layer_norm", {x, row, row}, {x, lead, lead},
        {{"eps", 1e-5}});
    add("  its gradient", norms, "layer_norm_grad", {x, x, row, lead, lead},
        {x, row, row});
    add("gelu", kLayers, "gelu", {inner}, {inner},
        {{"approximate", int64_t(1)}});
    add("  its gradient", kLayers, "gelu_grad", {inner, inner}, {inner},
        {{"approximate", int64_t(1)}});
    add("residual add", 4 * kLayers, "add", {x, x}, {x});
    add("slice of qkv", 3 * kLayers, "slice", {qkv}, {third},
        {{"offsets", Shape{0, 0, kWidth}}});
    add("concat to dqkv", kLayers, "concat", {third, third, third}, {qkv},
        {{"dim", int64_t(2)}});
    add("(dropout)", 0, "dropout", {x, {ElementType::I64, {2}}}, {x},
        {{"p", 0.1}});
    add("(softmax)", 0, "softmax", {real({kTokens, kLength})},
        {real({kTokens, kLength})});
    add("(exp)", 0, "exp", {inner}, {inner});
    add("(transpose)", 0, "transpose", {inner}, {real({4 * kWidth, kTokens})},
        {{"permutation", Shape{1, 0}}});
  }

  void addEnd() {
    TensorType ids{ElementType::I32, {kTokens}}, scalar = real({}),
                                                 count{ElementType::I64, {}},
                                                 flag{ElementType::I1, {}};
    TensorType table = real({kVocabulary, kWidth}), x = real({kTokens, kWidth}),
               logits = real({kTokens, kVocabulary}), lead = real({kTokens});
    add("embedding", 1, "embedding", {table, ids}, {x});
    add("  its gradient", 1, "embedding_grad", {x, ids}, {table});
    add("cross_entropy", 1, "cross_entropy", {logits, ids},
        {scalar, lead, lead});
    add("  its gradient", 1, "cross_entropy_grad",
        {scalar, logits, ids, lead, lead}, {logits});
    TensorType weights = real({12 * kWidth, kWidth});
    add("norm_table", kLayers, "norm_table", {weights},
        {{ElementType::I64, {68}}, {ElementType::I64, {1}}});
    add("adamw", kLayers, "adamw",
        {weights, weights, weights, weights, scalar, count, scalar, flag},
        {weights, weights, weights},
        {{"beta1", 0.9},
         {"beta2", 0.999},
         {"eps", 1e-8},
         {"weight_decay", 0.1}});
  }

  int threads;
};
} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  if (threads < 1 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: piper-bench-kernels [THREADS = 1] [ROUNDS = 7]\n");
    return 1;
  }
  Step step(threads);
  for (int round = 0; round < rounds; ++round)
    for (Bench &bench : step.benches)
      bench.run();

  std::printf("%d thread%s, %s\n", threads, threads > 1 ? "s" : "",
              cpu::instructionSetName(*cpu::currentInstructionSet()));
  std::printf("%-20s %6s %10s %10s %10s\n", "kernel", "times", "ms each",
              "ms a step", "products");
  double total = 0, products = 0;
  for (const Bench &bench : step.benches) {
    double each = bench.milliseconds();
    double alone = bench.flops > 0 ? each : 0;
    for (auto &[index, times] : bench.products)
      alone += times * step.benches[index].milliseconds();
    std::printf("%-20s %6lld %10.3f %10.2f", bench.title,
                static_cast<long long>(bench.perStep), each,
                each * double(bench.perStep));
    if (alone > 0)
      std::printf(" %10.2f",
                  alone * double(std::max<int64_t>(bench.perStep, 1)));
    if (bench.flops > 0)
      std::printf("   %.0f GFLOP/s", bench.flops / each * 1e-6);
    std::printf("\n");
    total += each * double(bench.perStep);
    products += alone * double(bench.perStep);
  }
  std::printf("step %.1f ms, its products alone %.1f ms (attention not cut by "
              "causality), ratio %.3f\n",
              total, products, total / products);
  return 0;
}

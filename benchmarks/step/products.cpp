// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix products of one training step of a GPT-2, alone, by oneDNN: what a
// step would cost if all else were free. Every product is tried in several
// forms (operands packed or as they lie, blocks of attention of several sizes)
// and measured in the best. Then, for every line "step" on standard input, all
// run once and "WALL-MS CPU-MS" is printed.

#include "Clock.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <iostream>
#include <memory>
#include <omp.h>
#include <random>
#include <string>
#include <vector>

using piper::bench::Time;

namespace {
using Tag = dnnl::memory::format_tag;

struct Sizes {
  int64_t layers, width, heads, vocabulary, batch, length;
  int64_t tokens() const { return batch * length; }
  int64_t headSize() const { return width / heads; }
};

dnnl::engine &engine() {
  static dnnl::engine theEngine(dnnl::engine::kind::cpu, 0);
  return theEngine;
}

/// Sizes of a product and the strides of its operands, in elements.
struct Layout {
  int64_t m, n, k;
  int64_t aRow, aColumn, bRow, bColumn, cRow;
};

/// C = A B in one form: what is packed is packed again in every run, as the
/// weights of a training step are new in every step.
class Product {
public:
  Product(const Layout &layout, bool packA, bool packB) {
    using dnnl::memory;
    constexpr auto f32 = memory::data_type::f32;
    memory::desc plainA({layout.m, layout.k}, f32,
                        {layout.aRow, layout.aColumn});
    memory::desc plainB({layout.k, layout.n}, f32,
                        {layout.bRow, layout.bColumn});
    memory::desc c({layout.m, layout.n}, f32, {layout.cRow, 1});
    memory::desc anyA({layout.m, layout.k}, f32, Tag::any);
    memory::desc anyB({layout.k, layout.n}, f32, Tag::any);
    dnnl::matmul::desc matmul(packA ? anyA : plainA, packB ? anyB : plainB, c);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::matmul::primitive_desc made(matmul, attributes, engine());
    primitive = dnnl::matmul(made);
    stream = dnnl::stream(engine());
    operands[0] = Operand(plainA, made.src_desc());
    operands[1] = Operand(plainB, made.weights_desc());
    result = memory(c, engine(), nullptr);
    scratch = memory(made.scratchpad_desc(), engine());
  }

  void run(const float *a, const float *b, float *c) {
    const float *data[] = {a, b};
    for (int i = 0; i < 2; ++i)
      operands[i].fetch(stream, data[i]);
    result.set_data_handle(c);
    primitive.execute(stream, {{DNNL_ARG_SRC, operands[0].used},
                               {DNNL_ARG_WEIGHTS, operands[1].used},
                               {DNNL_ARG_DST, result},
                               {DNNL_ARG_SCRATCHPAD, scratch}});
  }

private:
  struct Operand {
    Operand() = default;
    Operand(const dnnl::memory::desc &given, const dnnl::memory::desc &wanted)
        : packs(given != wanted), plain(given, engine(), nullptr) {
      used = packs ? dnnl::memory(wanted, engine())
                   : dnnl::memory(given, engine(), nullptr);
      if (packs)
        reorder = dnnl::reorder(plain, used);
    }
    void fetch(dnnl::stream &stream, const float *data) {
      (packs ? plain : used).set_data_handle(const_cast<float *>(data));
      if (packs)
        reorder.execute(stream, plain, used);
    }
    bool packs = false;
    dnnl::memory plain, used;
    dnnl::reorder reorder;
  };

  dnnl::matmul primitive;
  dnnl::stream stream;
  Operand operands[2];
  dnnl::memory result, scratch;
};

class Numbers {
public:
  explicit Numbers(int64_t count) : values(size_t(count)) {
    std::minstd_rand random(1);
    for (float &value : values)
      value = float(random() % 2048) / 2048 - 0.5f;
  }
  float *data() { return values.data(); }

private:
  std::vector<float> values;
};

/// Milliseconds of the fastest of three calls.
template <typename Body> double best(Body body) {
  double least = 1e30;
  for (int i = 0; i < 3; ++i) {
    Time begin = Time::now();
    body();
    least = std::min(least, Time::now().since(begin).cpu);
  }
  return least;
}

/// A product of all threads, `count` times a step, in its best form.
class Linear {
public:
  Linear(const char *name, int64_t count, const Layout &layout)
      : count(count), a(layout.m * layout.k), b(layout.k * layout.n),
        c(layout.m * layout.n) {
    double least = 1e30;
    int form = 0;
    for (int packs = 0; packs < 4; ++packs) {
      auto tried = std::make_unique<Product>(layout, packs & 1, packs & 2);
      double time = best([&] { tried->run(a.data(), b.data(), c.data()); });
      if (time >= least)
        continue;
      least = time;
      form = packs;
      chosen = std::move(tried);
    }
    static const char *const forms[] = {"as they lie", "A packed", "B packed",
                                        "both packed"};
    flops = 2.0 * double(layout.m * layout.n * layout.k) * double(count);
    std::fprintf(
        stderr,
        "%-12s %5ld x %4ld x %4ld  %6.2f ms  %4.0f GFLOP/s per thread, %s\n",
        name, long(layout.m), long(layout.n), long(layout.k), least,
        flops / double(count) / least * 1e-6, forms[form]);
  }
  void run() {
    for (int64_t i = 0; i < count; ++i)
      chosen->run(a.data(), b.data(), c.data());
  }
  double flops = 0;

private:
  int64_t count;
  Numbers a, b, c;
  std::unique_ptr<Product> chosen;
};

/// The products of causal attention, forward (q k^T, p v) and backward (q k^T
/// again, dy v^T, p^T dy, ds k, ds^T q), a block of query rows at a time
/// against the keys that they see. One head is the work of one thread.
class Attention {
public:
  Attention(const Sizes &sizes, int64_t rows, int threads)
      : sizes(sizes), rows(rows) {
    for (int slot = 0; slot < threads; ++slot)
      slots.push_back(std::make_unique<Slot>(sizes, rows));
  }

  /// All layers, forward and backward.
  void run() {
    int64_t heads = sizes.layers * sizes.batch * sizes.heads;
#pragma omp parallel num_threads(int(slots.size()))
    {
      omp_set_num_threads(1);
      Slot &slot = *slots[size_t(omp_get_thread_num())];
#pragma omp for schedule(static)
      for (int64_t head = 0; head < heads; ++head)
        slot.run(rows);
    }
    omp_set_num_threads(int(slots.size()));
  }

  double flops() const {
    double total = 0;
    for (int64_t keys = rows; keys <= sizes.length; keys += rows)
      total += 7 * 2.0 * double(rows * keys * sizes.headSize());
    return total * double(sizes.layers * sizes.batch * sizes.heads);
  }

private:
  /// What one thread works with; the rows of a head lie together.
  struct Slot {
    Slot(const Sizes &sizes, int64_t rows)
        : headSize(sizes.headSize()), q(sizes.length * headSize),
          k(sizes.length * headSize), v(sizes.length * headSize),
          out(sizes.length * headSize), p(rows * (sizes.length + kPadding)),
          ds(rows * (sizes.length + kPadding)) {
      int64_t row = sizes.length + kPadding;
      for (int64_t keys = rows; keys <= sizes.length; keys += rows) {
        scores.emplace_back(
            Layout{rows, keys, headSize, headSize, 1, 1, headSize, row}, false,
            false);
        values.emplace_back(
            Layout{rows, headSize, keys, row, 1, headSize, 1, headSize}, false,
            false);
        transposed.emplace_back(
            Layout{keys, headSize, rows, 1, row, headSize, 1, headSize}, false,
            false);
      }
    }

    void run(int64_t rows) {
      for (size_t i = 0; i < scores.size(); ++i) {
        float *query = q.data() + int64_t(i) * rows * headSize;
        float *result = out.data() + int64_t(i) * rows * headSize;
        scores[i].run(query, k.data(), p.data());
        values[i].run(p.data(), v.data(), result);
      }
      for (size_t i = 0; i < scores.size(); ++i) {
        float *query = q.data() + int64_t(i) * rows * headSize;
        float *result = out.data() + int64_t(i) * rows * headSize;
        scores[i].run(query, k.data(), p.data());
        scores[i].run(query, v.data(), ds.data());
        transposed[i].run(p.data(), query, out.data());
        values[i].run(ds.data(), k.data(), result);
        transposed[i].run(ds.data(), query, out.data());
      }
    }

    /// A row length that is a multiple of 4096 bytes is slow.
    static constexpr int64_t kPadding = 16;
    int64_t headSize;
    Numbers q, k, v, out, p, ds;
    std::vector<Product> scores, values, transposed;
  };

  Sizes sizes;
  int64_t rows;
  std::vector<std::unique_ptr<Slot>> slots;
};

/// All products of a step.
class Step {
public:
  Step(const Sizes &sizes, int threads) {
    addLinear("qkv", sizes.layers, sizes.tokens(), sizes.width,
              3 * sizes.width);
    addLinear("out", sizes.layers, sizes.tokens(), sizes.width, sizes.width);
    addLinear("mlp in", sizes.layers, sizes.tokens(), sizes.width,
              4 * sizes.width);
    addLinear("mlp out", sizes.layers, sizes.tokens(), 4 * sizes.width,
              sizes.width);
    addHead(sizes);
    chooseAttention(sizes, threads);
  }

  void run() {
    for (auto &linear : linears)
      linear->run();
    attention->run();
  }

  double flops() const {
    double total = attention->flops();
    for (auto &linear : linears)
      total += linear->flops;
    return total;
  }

private:
  void add(const char *name, int64_t count, const Layout &layout) {
    linears.push_back(std::make_unique<Linear>(name, count, layout));
  }

  /// y = x W with W [in, out], dx = dy W^T, dW = x^T dy.
  void addLinear(const char *name, int64_t count, int64_t rows, int64_t in,
                 int64_t out) {
    add(name, count, {rows, out, in, in, 1, out, 1, out});
    add("  dx", count, {rows, in, out, out, 1, 1, out, in});
    add("  dW", count, {in, out, rows, 1, in, out, 1, out});
  }

  /// The head's weights are [vocabulary, width].
  void addHead(const Sizes &s) {
    add("head", 1,
        {s.tokens(), s.vocabulary, s.width, s.width, 1, 1, s.width,
         s.vocabulary});
    add("  dx", 1,
        {s.tokens(), s.width, s.vocabulary, s.vocabulary, 1, s.width, 1,
         s.width});
    add("  dW", 1,
        {s.vocabulary, s.width, s.tokens(), 1, s.vocabulary, s.width, 1,
         s.width});
  }

  void chooseAttention(const Sizes &sizes, int threads) {
    double least = 1e30;
    int64_t chosen = 0;
    for (int64_t rows : {64, 128, 256}) {
      if (sizes.length % rows)
        continue;
      auto tried = std::make_unique<Attention>(sizes, rows, threads);
      double time = best([&] { tried->run(); });
      if (time >= least)
        continue;
      least = time;
      chosen = rows;
      attention = std::move(tried);
    }
    if (!attention) {
      std::fprintf(stderr, "expects a length that is a multiple of 64\n");
      std::exit(1);
    }
    std::fprintf(stderr,
                 "attention, all layers, blocks of %ld rows  %6.1f ms  %4.0f "
                 "GFLOP/s per thread\n",
                 long(chosen), least, attention->flops() / least * 1e-6);
  }

  std::vector<std::unique_ptr<Linear>> linears;
  std::unique_ptr<Attention> attention;
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: piper-bench-products LAYERS WIDTH HEADS "
                         "VOCABULARY BATCH LENGTH THREADS\n");
    return 1;
  }
  int64_t numbers[7];
  for (int i = 0; i < 7; ++i)
    numbers[i] = std::atoll(argv[i + 1]);
  Sizes sizes{numbers[0], numbers[1], numbers[2],
              numbers[3], numbers[4], numbers[5]};
  omp_set_num_threads(int(numbers[6]));
  Step step(sizes, int(numbers[6]));
  const dnnl_version_t *version = dnnl_version();
  std::printf("ready oneDNN %d.%d.%d, %.1f GFLOP in products\n", version->major,
              version->minor, version->patch, step.flops() * 1e-9);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    Time begin = Time::now();
    step.run();
    Time time = Time::now().since(begin);
    std::printf("%.3f %.3f\n", time.wall, time.cpu);
    std::fflush(stdout);
  }
  return 0;
}

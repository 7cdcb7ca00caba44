// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two small training programs with the kernels of the CPU: a linear regression
// by SGD, and a table of next tokens ("bigram") by AdamW.

#ifndef PIPER_UNITTESTS_RUNTIME_TESTPROGRAMS_H
#define PIPER_UNITTESTS_RUNTIME_TESTPROGRAMS_H

#include "Piper/Runtime/Executor.h"
#include "ProgramBuilder.h"

#include <limits>

namespace piper::rt::test {

/// All state as bytes.
inline std::string stateOf(const Executor &executor) {
  std::string bytes;
  const Program &program = executor.program();
  for (size_t s = 0; s < program.state.size(); ++s)
    bytes.append(reinterpret_cast<const char *>(executor.stateData(int(s))),
                 program.state[s].type.numBytes());
  return bytes;
}

/// The counters and what the end of a step needs.
struct StepParts {
  int32_t iteration, update, seed;
  int32_t learningRate, norm, advance;
};

/// Adds the functions "learning_rate", "norm" (of gradients of these types)
/// and "advance", and the counters.
inline StepParts addStepParts(ProgramBuilder &b,
                              const std::vector<TensorType> &gradients,
                              double lr, double maxNorm, bool hasCount) {
  StepParts parts;
  parts.iteration = b.addCounter("iteration");
  parts.update = b.addCounter("update");
  parts.seed = b.addCounter("seed");
  FunctionBuilder rate("learning_rate", {i64()});
  parts.learningRate = b.addFunction(rate.finish(
      {rate.op("learning_rate", {0}, f32(),
               {{"schedule", std::string("constant")}, {"lr", lr}})}));

  std::vector<TensorType> operands = gradients;
  if (hasCount)
    operands.push_back(i64());
  FunctionBuilder norm("norm", operands);
  std::vector<int32_t> all;
  for (size_t g = 0; g < gradients.size(); ++g)
    all.push_back(int32_t(g));
  std::vector<int32_t> table = norm.step(
      "norm_table", all, {i64({68}), i64({int64_t(gradients.size())})});
  std::vector<int32_t> clipOperands = table;
  if (hasCount)
    clipOperands.push_back(int32_t(gradients.size()));
  std::vector<int32_t> clip = norm.step(
      "clip", clipOperands, {f32(), f32(), i1()}, {{"max_norm", maxNorm}});
  parts.norm =
      b.addFunction(norm.finish({table[1], clip[0], clip[1], clip[2]}));

  FunctionBuilder advance("advance", {i64(), i64(), i1()});
  parts.advance = b.addFunction(
      advance.finish(advance.step("advance", {0, 1, 2}, {i64(), i64()})));
  return parts;
}

/// loss = sum((x w - t)^2) / rows, x f32[rows, in], t f32[rows, out]; SGD with
/// momentum 0.9. Entry points train (keeps its gradient) and eval.
inline Program makeRegression(int64_t rows = 4, int64_t in = 3, int64_t out = 2,
                              double lr = 0.05, bool keepGradients = true) {
  ProgramBuilder b;
  b.program.name = "regression";
  TensorType x = f32({rows, in}), w = f32({in, out}), y = f32({rows, out});
  FunctionBuilder forward("forward", {w, x, y});
  int32_t product = forward.op("matmul", {1, 0}, y);
  int32_t error = forward.op("sub", {product, 2}, y);
  int32_t square = forward.op("square", {error}, y);
  int32_t sum = forward.op("reduce_sum", {square}, f32(),
                           {{"dims", std::vector<int64_t>{0, 1}}});
  int32_t loss =
      forward.op("scale", {sum}, f32(), {{"factor", 1.0 / double(rows)}});
  int32_t forwardFunction = b.addFunction(forward.finish({loss, error}));

  FunctionBuilder backward("backward", {x, y});
  int32_t scaled =
      backward.op("scale", {1}, y, {{"factor", 2.0 / double(rows)}});
  int32_t backwardFunction = b.addFunction(backward.finish(
      {backward.op("matmul", {0, scaled}, w, {{"transpose_a", int64_t(1)}})}));

  int32_t weights = b.addState("w", w, StateTensor::Kind::Parameter,
                               StateTensor::Init::Normal, 0.5);
  int32_t velocity = b.addState("w.v", w, StateTensor::Kind::Moment);
  StepParts parts =
      addStepParts(b, {w}, lr, std::numeric_limits<double>::infinity(), false);
  FunctionBuilder sgd("sgd", {w, w, f32(), f32(), i1(), w});
  int32_t sgdFunction = b.addFunction(
      sgd.finish(sgd.step("sgd", {0, 1, 2, 3, 4, 5}, {w, w},
                          {{"momentum", 0.9}, {"weight_decay", 0.0}})));

  for (std::string name : {"train", "eval"}) {
    b.beginEntry(name);
    int32_t xs = b.input("x", x, {"rows", "in"});
    int32_t targets = b.input("t", y, {"rows", "out"});
    auto made = b.call(forwardFunction, {b.stateValue(weights), xs, targets},
                       "F", "layer = 0");
    b.output("loss", made[0]);
    if (name == "eval")
      continue;
    int32_t gradient =
        b.call(backwardFunction, {xs, made[1]}, "B", "layer = 0")[0];
    if (keepGradients)
      b.gradient("w", gradient);
    auto norm = b.call(parts.norm, {gradient}, "once");
    int32_t rate =
        b.call(parts.learningRate, {b.stateValue(parts.update)}, "once")[0];
    b.call(sgdFunction,
           {b.stateValue(weights), gradient, rate, norm[2], norm[3],
            b.stateValue(velocity)},
           "U", "", {{0, weights}, {1, velocity}});
    b.call(parts.advance,
           {b.stateValue(parts.iteration), b.stateValue(parts.update), norm[3]},
           "once", "", {{0, parts.iteration}, {1, parts.update}});
    b.output("grad_norm", norm[1]);
    b.output("ok", norm[3]);
    b.output("lr", rate);
    b.output("nonfinite", norm[0]);
  }
  return b.finish();
}

/// logits = table[tokens]; loss = mean cross entropy. Entry points train, eval,
/// predict. Parameters: "transformer.wte.weight" f32[vocabulary, vocabulary].
inline Program makeBigram(int64_t batch = 2, int64_t seq = 4,
                          int64_t vocabulary = 256, double lr = 0.1) {
  ProgramBuilder b;
  b.program.name = "bigram";
  TensorType table = f32({vocabulary, vocabulary}), ids = i32({batch, seq});
  TensorType logits = f32({batch, seq, vocabulary}),
             perToken = f32({batch, seq});
  FunctionBuilder count("count", {ids});
  int32_t countFunction =
      b.addFunction(count.finish({count.op("count_valid", {0}, i64())}));
  FunctionBuilder embed("embed", {table, ids});
  int32_t embedFunction =
      b.addFunction(embed.finish({embed.op("embedding", {0, 1}, logits)}));
  FunctionBuilder head("head", {logits, ids, i64()});
  auto sums = head.step("cross_entropy", {0, 1}, {f32(), perToken, perToken});
  int32_t headFunction = b.addFunction(
      head.finish({head.op("divide", {sums[0], 2}, f32()), sums[1], sums[2]}));
  FunctionBuilder backward("backward",
                           {logits, ids, perToken, perToken, i64(), ids});
  int32_t seed = backward.op("reciprocal", {4}, f32());
  int32_t dlogits =
      backward.op("cross_entropy_grad", {seed, 0, 1, 2, 3}, logits);
  int32_t backwardFunction = b.addFunction(
      backward.finish({backward.op("embedding_grad", {dlogits, 5}, table)}));

  const std::string name = "transformer.wte.weight";
  int32_t wte = b.addState(name, table, StateTensor::Kind::Parameter,
                           StateTensor::Init::Normal, 0.02);
  int32_t m = b.addState(name + ".m", table, StateTensor::Kind::Moment);
  int32_t v = b.addState(name + ".v", table, StateTensor::Kind::Moment);
  StepParts parts = addStepParts(b, {table}, lr, 1.0, true);
  FunctionBuilder adamw(
      "adamw", {table, table, table, table, f32(), i64(), f32(), i1()});
  int32_t adamwFunction = b.addFunction(adamw.finish(
      adamw.step("adamw", {0, 1, 2, 3, 4, 5, 6, 7}, {table, table, table},
                 {{"beta1", 0.9},
                  {"beta2", 0.999},
                  {"eps", 1e-5},
                  {"weight_decay", 0.0}})));

  b.beginEntry("predict");
  int32_t tokens = b.input("tokens", ids, {"batch", "seq"});
  b.output("logits", b.call(embedFunction, {b.stateValue(wte), tokens})[0]);
  for (std::string entry : {"train", "eval"}) {
    b.beginEntry(entry);
    tokens = b.input("tokens", ids, {"batch", "seq"});
    int32_t labels = b.input("labels", ids, {"batch", "seq"});
    int32_t valid = b.call(countFunction, {labels}, "once")[0];
    int32_t z =
        b.call(embedFunction, {b.stateValue(wte), tokens}, "F", "layer = 0")[0];
    auto made = b.call(headFunction, {z, labels, valid}, "F", "layer = 1");
    b.output("loss", made[0]);
    b.output("count", valid);
    if (entry == "eval")
      continue;
    int32_t gradient = b.call(
        backwardFunction, {z, labels, made[1], made[2], valid, tokens}, "B")[0];
    b.gradient(name, gradient);
    auto norm = b.call(parts.norm, {gradient, valid}, "once");
    int32_t rate =
        b.call(parts.learningRate, {b.stateValue(parts.update)}, "once")[0];
    b.call(adamwFunction,
           {b.stateValue(wte), gradient, b.stateValue(m), b.stateValue(v), rate,
            b.stateValue(parts.update), norm[2], norm[3]},
           "U", "", {{0, wte}, {1, m}, {2, v}});
    b.call(parts.advance,
           {b.stateValue(parts.iteration), b.stateValue(parts.update), norm[3]},
           "once", "", {{0, parts.iteration}, {1, parts.update}});
    b.output("grad_norm", norm[1]);
    b.output("ok", norm[3]);
    b.output("lr", rate);
    b.output("nonfinite", norm[0]);
  }
  return b.finish();
}

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_TESTPROGRAMS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One valid spec of each kernel.

#include "SampleSpecs.h"

using namespace piper::rt;
using namespace piper::rt::test;

std::vector<KernelSpec> test::validSpecs() {
  TensorType x{F32, {4, 8}}, row{F32, {8}}, lead{F32, {4}}, scalar{F32, {}},
      count{I64, {}}, flag{I1, {}};
  TensorType ids{I32, {4}}, key{I64, {2}}, place{I64, {4}},
      q{F32, {2, 3, 4, 8}}, k{F32, {2, 5, 2, 8}}, perQuery{F32, {2, 4, 3}};
  TensorType digits{I64, {68}}, bad{I64, {2}};
  std::vector<KernelSpec> specs;
  auto add = [&](const char *name, std::vector<TensorType> operands,
                 std::vector<TensorType> results,
                 std::vector<std::pair<const char *, Attributes::Value>>
                     attributes = {}) {
    KernelSpec spec{name, operands, results, {}};
    for (auto &[attribute, value] : attributes)
      spec.attributes.set(attribute, value);
    specs.push_back(spec);
  };
  for (const char *name :
       {"neg", "exp", "log", "rsqrt", "square", "tanh", "sigmoid", "relu",
        "silu", "softmax", "stop_gradient"})
    add(name, {x}, {x});
  add("gelu", {x}, {x}, {{"approximate", integer(1)}});
  add("scale", {x}, {x}, {{"factor", number(2)}});
  for (const char *name : {"tanh_grad", "sigmoid_grad", "relu_grad",
                           "silu_grad", "gelu_grad", "softmax_grad"})
    add(name, {x, x}, {x});
  for (const char *name : {"add", "sub", "mul", "div"})
    add(name, {x, row}, {x});
  add("select", {{I1, {4, 1}}, x, row}, {x});
  add("matmul", {x, x}, {{F32, {4, 4}}}, {{"transpose_b", integer(1)}});
  add("reduce_sum", {x}, {lead}, {{"dims", list({1})}});
  add("reduce_max", {x}, {lead}, {{"dims", list({1})}});
  add("reduce_max_grad", {lead, x, lead}, {x}, {{"dims", list({1})}});
  add("reshape", {x}, {{F32, {32}}});
  add("transpose", {x}, {{F32, {8, 4}}}, {{"permutation", list({1, 0})}});
  add("slice", {x}, {{F32, {4, 2}}}, {{"offsets", list({0, 4})}});
  add("pad", {{F32, {4, 2}}}, {x}, {{"offsets", list({0, 4})}});
  add("concat", {x, x}, {{F32, {4, 16}}}, {{"dim", integer(1)}});
  add("broadcast", {row}, {x});
  add("cast", {x}, {{BF16, {4, 8}}});
  add("constant", {}, {{I32, {2}}}, {{"value", std::vector<uint8_t>(8)}});
  add("embedding", {x, ids}, {{F32, {4, 8}}});
  add("embedding_grad", {x, ids}, {{F32, {9, 8}}});
  add("layer_norm", {x, row, row}, {x, lead, lead}, {{"eps", number(1e-5)}});
  add("layer_norm_grad", {x, x, row, lead, lead}, {x, row, row});
  add("attention", {q, k, k, key, place}, {q, perQuery, perQuery},
      {{"scale", number(1)}, {"causal", integer(1)}, {"dropout", number(0.1)}});
  add("attention_grad", {q, q, k, k, perQuery, perQuery, key, place}, {q, k, k},
      {{"scale", number(1)}, {"dropout", number(0.1)}});
  add("origin", {}, {key}, {{"step", list({4, 0})}});
  add("random_key", {count, count}, {key});
  add("dropout", {x, key, key}, {x},
      {{"p", number(0.5)}, {"global_shape", list({8, 8})}});
  add("cross_entropy", {x, ids}, {scalar, lead, lead});
  add("cross_entropy_grad", {scalar, x, ids, lead, lead}, {x});
  add("count_valid", {ids}, {count});
  add("divide", {scalar, count}, {scalar});
  add("reciprocal", {count}, {scalar});
  add("learning_rate", {count}, {scalar},
      {{"schedule", text("cosine")}, {"lr", number(1)}});
  add("norm_table", {x, row}, {digits, bad});
  add("clip", {digits, bad, count}, {scalar, scalar, flag},
      {{"max_norm", number(1)}});
  add("sgd", {x, x, scalar, scalar, flag, x}, {x, x},
      {{"momentum", number(0.9)}});
  add("adamw", {x, x, x, x, scalar, count, scalar, flag}, {x, x, x},
      {{"beta1", number(0.9)},
       {"beta2", number(0.9)},
       {"eps", number(1e-5)},
       {"weight_decay", number(0)}});
  add("sgd_check", {x, x, scalar, scalar, scalar, x}, {{I64, {1}}},
      {{"momentum", number(0.9)}});
  add("adamw_check", {x, x, x, x, scalar, count, scalar, scalar}, {{I64, {1}}},
      {{"beta1", number(0.9)},
       {"beta2", number(0.9)},
       {"eps", number(1e-5)},
       {"weight_decay", number(0)}});
  add("advance", {count, count, flag}, {count, count});
  return specs;
}

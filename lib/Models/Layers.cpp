// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers that model families share, each a few ops.

#include "Piper/Models/ModelBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::piper;

Value ModelBuilder::add(StringRef name, Value x, Value y) {
  return write<AddOp>(name, x.getType(), x, y);
}

Value ModelBuilder::matmul(StringRef name, Value x, Value weight,
                           bool transposed) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape.back() = shapeOf(weight)[transposed ? 0 : 1];
  return write<MatmulOp>(name, floats(shape), x, weight, /*transpose_a=*/false,
                         /*transpose_b=*/transposed);
}

Value ModelBuilder::linear(StringRef prefix, Value x, int64_t out,
                           StringRef inDim, StringRef outDim, double scale) {
  Value weight = param((prefix + ".weight").str(), {shapeOf(x).back(), out},
                       {inDim, outDim}, normal(scale));
  Value bias = param((prefix + ".bias").str(), {out}, {outDim}, zeros());
  StringRef name = prefix.rsplit('.').second;
  return add(name, matmul(name, x, weight), bias);
}

Value ModelBuilder::layerNorm(StringRef prefix, Value x, double eps,
                              StringRef dim) {
  int64_t size = shapeOf(x).back();
  Value gamma = param((prefix + ".weight").str(), {size}, {dim}, ones());
  Value beta = param((prefix + ".bias").str(), {size}, {dim}, zeros());
  auto norm =
      write<LayerNormOp>(prefix.rsplit('.').second, x.getType(), TypeRange(), x,
                         gamma, beta, builder.getF64FloatAttr(eps));
  return norm.getY();
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
enum class Activation { Gelu, GeluTanh, Relu, Silu, Tanh, Sigmoid };

struct ActivationName {
  StringLiteral name;
  Activation kind;
};
} // namespace

/// The names of transformers' table of activations (transformers 5.24,
/// activations.py, ACT2CLS) that the dialect has an op for.
static constexpr ActivationName kActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_python", Activation::Gelu},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu_python_tanh", Activation::GeluTanh},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_accurate", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
    {"tanh", Activation::Tanh},
    {"sigmoid", Activation::Sigmoid},
};

static const ActivationName *findActivation(StringRef name) {
  return llvm::find_if(kActivations, [&](const ActivationName &entry) {
    return entry.name == name;
  });
}

bool ModelBuilder::isActivation(StringRef name) {
  return findActivation(name) != std::end(kActivations);
}

std::string ModelBuilder::activationNames() {
  std::string names;
  llvm::raw_string_ostream os(names);
  llvm::interleaveComma(kActivations, os,
                        [&](const ActivationName &entry) { os << entry.name; });
  return names;
}

Value ModelBuilder::activation(StringRef name, Value x) {
  switch (findActivation(name)->kind) {
  case Activation::Gelu:
    return write<GeluOp>("gelu", x.getType(), x, /*approximate=*/false);
  case Activation::GeluTanh:
    return write<GeluOp>("gelu", x.getType(), x, /*approximate=*/true);
  case Activation::Relu:
    return write<ReluOp>("relu", x.getType(), x);
  case Activation::Silu:
    return write<SiluOp>("silu", x.getType(), x);
  case Activation::Tanh:
    return write<TanhOp>("tanh", x.getType(), x);
  case Activation::Sigmoid:
    return write<SigmoidOp>("sigmoid", x.getType(), x);
  }
  llvm_unreachable("every kind is handled above");
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

void ModelBuilder::makeRandomKey() {
  randomKey = write<RandomKeyOp>(
      "key", RankedTensorType::get({2}, builder.getI64Type()), ValueRange());
}

Value ModelBuilder::dropout(Value x, double p, int64_t index) {
  if (p == 0)
    return x;
  return write<DropoutOp>("dropout", x.getType(), x, randomKey,
                          /*origin=*/Value(), builder.getF64FloatAttr(p),
                          builder.getI64IntegerAttr(index),
                          /*global_shape=*/DenseI64ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

Value ModelBuilder::meanCrossEntropy(Value logits, Value labels) {
  Type scalar = floats({});
  Value sum = write<CrossEntropyOp>("sum", scalar, TypeRange(), logits, labels)
                  .getSum();
  untagged();
  Value count = write<CountValidOp>(
      "count", RankedTensorType::get({}, builder.getI64Type()), labels);
  return write<DivideOp>("loss", scalar, sum, count);
}

Value ModelBuilder::squaredError(Value x, Value target, int64_t rows) {
  Type scalar = floats({});
  Value error = write<SubOp>("error", x.getType(), x, target);
  Value square = write<SquareOp>("square", x.getType(), error);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
  Value sum = write<ReduceSumOp>("sum", scalar, square, dims);
  untagged();
  auto count = DenseElementsAttr::get(
      RankedTensorType::get({}, builder.getI64Type()), rows);
  return write<DivideOp>("loss", scalar, sum,
                         write<ConstantOp>("rows", count).getResult());
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The multi-layer perceptron.

#include "Piper/Models/TestModels.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

static Value affine(ModelBuilder &b, Value x, int64_t index, int64_t out) {
  int64_t in = b.shapeOf(x).back();
  std::string prefix = "layers." + std::to_string(index);
  Value weight = b.param(prefix + ".weight", {out, in}, {"out", "in"},
                         b.normal(1 / std::sqrt(static_cast<double>(in))));
  Value bias = b.param(prefix + ".bias", {out}, {"out"}, b.zeros());
  return b.add("y", b.matmul("y", x, weight, /*transposed=*/true), bias);
}

llvm::Expected<OwningModule>
mlir::piper::buildMLP(MLIRContext *context, const MLPConfig &config,
                      const ModelOptions &options) {
  if (config.layers > 10000)
    return llvm::createStringError("expects at most 10000 layers but got %lld",
                                   static_cast<long long>(config.layers));
  ModelBuilder b(context, options);
  b.beginFunction("train");
  Value y = b.input("x", b.floats({config.batch, config.features}),
                    {"batch", "feature"});
  Value wanted = config.regression
                     ? b.input("t", b.floats({config.batch, config.outputs}),
                               {"batch", "target"})
                     : b.input("labels", b.integers({config.batch}), {"batch"});
  for (int64_t index = 0; index < config.layers; ++index) {
    bool last = index + 1 == config.layers;
    b.tag(index, "layer");
    y = affine(b, y, index, last ? config.outputs : config.hidden);
    if (!last)
      y = b.activation(config.activation, y);
  }
  Value loss = config.regression ? b.squaredError(y, wanted, config.batch)
                                 : b.meanCrossEntropy(y, wanted);
  b.endFunction({{loss, "loss"}});
  return b.finish();
}

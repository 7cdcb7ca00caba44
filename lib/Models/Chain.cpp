// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CHAIN: products and tanh, all of it by formula, so that every number of a run
// can be worked out elsewhere.

#include "Piper/Models/TestModels.h"

#include "SafetensorsText.h"

using namespace mlir;
using namespace mlir::piper;

static constexpr int64_t kWidth = 4;

/// Weight k; the double nearest to each tenth, then rounded to the element
/// type.
static Attribute weight(RankedTensorType type, int64_t k) {
  SmallVector<APFloat> values;
  for (int64_t i = 0; i < kWidth; ++i)
    for (int64_t j = 0; j < kWidth; ++j) {
      APFloat value(((i + 2 * j + 3 * k) % 7 - 3) / 10.0);
      bool inexact = false;
      value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &inexact);
      values.push_back(value);
    }
  return DenseElementsAttr::get(type, values);
}

llvm::Expected<OwningModule>
mlir::piper::buildChain(MLIRContext *context, const ChainConfig &config,
                        const ModelOptions &options) {
  ModelBuilder b(context, options);
  b.beginFunction("train");
  auto rows = b.floats({config.rows, kWidth});
  Value y = b.input("x", rows, {"batch", "feature"});
  Value target = b.input("t", rows, {"batch", "feature"});
  for (int64_t k = 0; k < config.layers; ++k) {
    b.tag(k, "layer");
    Value w = b.param("w" + std::to_string(k), {kWidth, kWidth}, {"in", "out"},
                      weight(b.floats({kWidth, kWidth}), k));
    y = b.matmul("y", y, w);
    if (k + 1 < config.layers)
      y = b.activation("tanh", y);
  }
  b.endFunction({{b.squaredError(y, target, config.rows), "loss"}});
  return b.finish();
}

std::string mlir::piper::chainInputs(const ChainConfig &config, int64_t steps,
                                     bool doublePrecision) {
  SafetensorsText file;
  std::vector<double> x, t;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t i = 0; i < config.rows; ++i)
      for (int64_t j = 0; j < kWidth; ++j) {
        x.push_back(0.25 * ((3 * i + j) % 5) - 0.5);
        t.push_back((i + j) % 3 - 1);
      }
  file.floats("x", {steps, config.rows, kWidth}, x, doublePrecision);
  file.floats("t", {steps, config.rows, kWidth}, t, doublePrecision);
  return file.text();
}

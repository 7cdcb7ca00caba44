// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LM: the smallest language model with residual blocks and a head that may be
// tied.

#include "Piper/Models/TestModels.h"

#include "SafetensorsText.h"

using namespace mlir;
using namespace mlir::piper;

static constexpr int64_t kVocab = 11, kWidth = 8, kInner = 16, kLength = 6;
static constexpr double kScale = 0.3;

static Value logits(ModelBuilder &b, const LMConfig &config, Value tokens) {
  b.tag(0, "embed");
  Value table = b.param("embed.weight", {kVocab, kWidth}, {"vocab", "embed"},
                        b.normal(kScale));
  Value x = b.write<EmbeddingOp>("x", b.floats({config.rows, kLength, kWidth}),
                                 table, tokens);
  for (int64_t k = 0; k < config.blocks; ++k) {
    b.tag(k + 1, "block");
    std::string prefix = "blocks." + std::to_string(k);
    Value up = b.param(prefix + ".up.weight", {kWidth, kInner},
                       {"embed", "inner"}, b.normal(kScale));
    Value down = b.param(prefix + ".down.weight", {kInner, kWidth},
                         {"inner", "embed"}, b.normal(kScale));
    Value inner = b.activation("gelu", b.matmul("up", x, up));
    x = b.add("x", x, b.matmul("down", inner, down));
  }
  b.tag(config.blocks + 1, "head");
  Value head = b.param(config.tied ? "embed.weight" : "head.weight",
                       {kVocab, kWidth}, {"vocab", "embed"}, b.normal(kScale));
  return b.matmul("logits", x, head, /*transposed=*/true);
}

llvm::Expected<OwningModule> mlir::piper::buildLM(MLIRContext *context,
                                                  const LMConfig &config,
                                                  const ModelOptions &options) {
  ModelBuilder b(context, options);
  auto type = b.integers({config.rows, kLength});
  b.beginFunction("train");
  Value tokens = b.input("tokens", type, {"batch", "seq"});
  Value labels = b.input("labels", type, {"batch", "seq"});
  b.endFunction(
      {{b.meanCrossEntropy(logits(b, config, tokens), labels), "loss"}});
  b.beginFunction("predict");
  tokens = b.input("tokens", type, {"batch", "seq"});
  b.endFunction({{logits(b, config, tokens), "logits"}});
  return b.finish();
}

std::string mlir::piper::lmInputs(const LMConfig &config, int64_t steps) {
  std::vector<int32_t> tokens, labels;
  for (int64_t s = 0; s < steps; ++s)
    for (int64_t b = 0; b < config.rows; ++b) {
      auto text = [&](int64_t i) -> int32_t {
        return (s + 3 * b + 2 * i + (b + s) * i * i) % kVocab;
      };
      for (int64_t i = 0; i < kLength; ++i) {
        tokens.push_back(text(i));
        labels.push_back((s + b + i + 1) % 4 == 0 ? -1 : text(i + 1));
      }
    }
  SafetensorsText file;
  file.integers("tokens", {steps, config.rows, kLength}, tokens);
  file.integers("labels", {steps, config.rows, kLength}, labels);
  return file.text();
}

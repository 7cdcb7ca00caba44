// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-2 as a Level 0 model: pre-norm blocks of causal attention and a
// feed-forward layer, learned positions, embeddings tied to the head.

#include "Piper/Models/GPT2.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

/// The text of a model grows with its layers; a typing error shall not fill the
/// disk.
static constexpr int64_t kMostLayers = 10000;

namespace {
/// Writes the functions of one model.
class GPT2 {
public:
  GPT2(ModelBuilder &b, const GPT2Config &c) : b(b), c(c) {
    // As GPT-2: the residual stream gets 2 layers terms, each scaled down.
    projectionScale = c.initializerRange / std::sqrt(2.0 * c.layers);
  }

  void train();
  void predict();

private:
  Value logits(Value tokens);
  Value embed(Value tokens);
  Value block(Value x, int64_t index);
  Value attention(const std::string &prefix, Value x, int64_t index);
  Value feedForward(const std::string &prefix, Value x);
  Value head(StringRef name, Value qkv, int64_t part);

  ModelBuilder &b;
  const GPT2Config &c;
  double projectionScale;
  bool training = false;
  double rate(double p) const { return training ? p : 0; }
};
} // namespace

/// Random ops of one block, told apart by number.
enum RandomIndex {
  kAttentionScores = 0,
  kAttentionOutput = 1,
  kFeedForward = 2
};

Value GPT2::embed(Value tokens) {
  b.tag(0, "embed");
  Value table = b.param("transformer.wte.weight", {c.vocab, c.hidden},
                        {"vocab", "embed"}, b.normal(c.initializerRange));
  Value places = b.param("transformer.wpe.weight", {c.positions, c.hidden},
                         {"positions", "embed"}, b.normal(c.initializerRange));
  Value x = b.write<EmbeddingOp>("wte", b.floats({c.batch, c.seq, c.hidden}),
                                 table, tokens);
  if (c.positions != c.seq)
    places = b.write<SliceOp>("wpe", b.floats({c.seq, c.hidden}), places,
                              ArrayRef<int64_t>{0, 0});
  return b.dropout(b.add("x", x, places), rate(c.embeddingDropout), 0);
}

/// Query, key or value (part 0, 1, 2) of the joint projection, by heads.
Value GPT2::head(StringRef name, Value qkv, int64_t part) {
  Value slice = b.write<SliceOp>(name, b.floats({c.batch, c.seq, c.hidden}),
                                 qkv, ArrayRef<int64_t>{0, 0, part * c.hidden});
  auto type = b.floats({c.batch, c.seq, c.heads, c.hidden / c.heads});
  return b.write<ReshapeOp>(name, type, slice);
}

Value GPT2::attention(const std::string &prefix, Value x, int64_t index) {
  Value qkv = b.linear(prefix + ".c_attn", x, 3 * c.hidden, "embed", "qkv",
                       c.initializerRange);
  Value q = head("q", qkv, 0), k = head("k", qkv, 1), v = head("v", qkv, 2);
  double scale = 1;
  if (c.scaleAttention)
    scale /= std::sqrt(static_cast<double>(c.hidden / c.heads));
  if (c.scaleByInverseLayer)
    scale /= index + 1;
  double p = rate(c.attentionDropout);
  Builder &attributes = b.ops();
  Value mixed = b.write<AttentionOp>(
                     "attn", q.getType(), TypeRange(), q, k, v,
                     p > 0 ? ValueRange(b.getRandomKey()) : ValueRange(),
                     attributes.getF64FloatAttr(scale),
                     attributes.getUnitAttr(), attributes.getF64FloatAttr(p),
                     attributes.getI64IntegerAttr(kAttentionScores),
                     /*global_shape=*/DenseI64ArrayAttr())
                    .getY();
  Value joined = b.write<ReshapeOp>("attn", x.getType(), mixed);
  Value y = b.linear(prefix + ".c_proj", joined, c.hidden, "attn", "embed",
                     projectionScale);
  return b.dropout(y, rate(c.residualDropout), kAttentionOutput);
}

Value GPT2::feedForward(const std::string &prefix, Value x) {
  Value inner = b.linear(prefix + ".c_fc", x, c.inner, "embed", "inner",
                         c.initializerRange);
  Value y = b.linear(prefix + ".c_proj", b.activation(c.activation, inner),
                     c.hidden, "inner", "embed", projectionScale);
  return b.dropout(y, rate(c.residualDropout), kFeedForward);
}

Value GPT2::block(Value x, int64_t index) {
  b.tag(index + 1, "block");
  std::string prefix = "transformer.h." + std::to_string(index);
  Value attended =
      attention(prefix + ".attn",
                b.layerNorm(prefix + ".ln_1", x, c.epsilon, "embed"), index);
  x = b.add("x", attended, x);
  Value fed = feedForward(prefix + ".mlp",
                          b.layerNorm(prefix + ".ln_2", x, c.epsilon, "embed"));
  return b.add("x", x, fed);
}

Value GPT2::logits(Value tokens) {
  Value x = embed(tokens);
  for (int64_t index = 0; index < c.layers; ++index)
    x = block(x, index);
  b.tag(c.layers + 1, "head");
  Value y = b.layerNorm("transformer.ln_f", x, c.epsilon, "embed");
  Value table = b.param(c.tied ? "transformer.wte.weight" : "lm_head.weight",
                        {c.vocab, c.hidden}, {"vocab", "embed"},
                        b.normal(c.initializerRange));
  return b.matmul("logits", y, table, /*transposed=*/true);
}

void GPT2::train() {
  training = true;
  b.beginFunction("train");
  auto type = b.integers({c.batch, c.seq});
  Value tokens = b.input("tokens", type, {"batch", "seq"});
  Value labels = b.input("labels", type, {"batch", "seq"});
  if (c.embeddingDropout > 0 || c.attentionDropout > 0 || c.residualDropout > 0)
    b.makeRandomKey();
  Value loss = b.meanCrossEntropy(logits(tokens), labels);
  b.endFunction({{loss, "loss"}});
}

void GPT2::predict() {
  training = false;
  b.beginFunction("predict");
  Value tokens =
      b.input("tokens", b.integers({c.batch, c.seq}), {"batch", "seq"});
  b.endFunction({{logits(tokens), "logits"}});
}

llvm::Expected<OwningModule>
mlir::piper::buildGPT2(MLIRContext *context, GPT2Config config,
                       const ModelOptions &options) {
  if (!config.positions)
    config.positions = config.seq;
  if (!config.inner)
    config.inner = 4 * config.hidden;
  if (config.layers > kMostLayers)
    return llvm::createStringError("expects at most %lld layers but got %lld",
                                   static_cast<long long>(kMostLayers),
                                   static_cast<long long>(config.layers));
  if (config.hidden % config.heads)
    return llvm::createStringError("expects the hidden size to be a multiple "
                                   "of the heads but got %lld and "
                                   "%lld",
                                   static_cast<long long>(config.hidden),
                                   static_cast<long long>(config.heads));
  if (config.seq > config.positions)
    return llvm::createStringError(
        "expects a sequence of at most %lld positions but got %lld",
        static_cast<long long>(config.positions),
        static_cast<long long>(config.seq));
  ModelBuilder builder(context, options);
  GPT2 model(builder, config);
  model.train();
  model.predict();
  return builder.finish();
}

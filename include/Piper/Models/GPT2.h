// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPT-2 family: sizes, the Hugging Face config they come from, the model.

#ifndef PIPER_MODELS_GPT2_H
#define PIPER_MODELS_GPT2_H

#include "Piper/Models/ModelBuilder.h"

#include "llvm/Support/JSON.h"

namespace mlir::piper {

/// Sizes and settings of a GPT-2 language model (Radford et al. 2019, with the
/// names, storage and formulas of transformers' GPT2LMHeadModel). The defaults
/// beside the sizes are those of GPT2Config but for dropout, which is off.
struct GPT2Config {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t vocab = 0;
  int64_t batch = 0;
  int64_t seq = 0;
  /// Rows of the position table; 0 = seq.
  int64_t positions = 0;
  /// Width of the feed-forward layer; 0 = 4 hidden.
  int64_t inner = 0;
  bool tied = true;
  double embeddingDropout = 0;
  double attentionDropout = 0;
  double residualDropout = 0;
  double epsilon = 1e-5;
  /// Standard deviation of initial weights; that of the projections back to
  /// the residual stream is divided by sqrt(2 layers).
  double initializerRange = 0.02;
  std::string activation = "gelu_new";
  /// Divide scores by sqrt(head size), and by (layer index + 1).
  bool scaleAttention = true;
  bool scaleByInverseLayer = false;
};

/// Reads the config of a GPT2LMHeadModel; batch and seq are not in it. Keys
/// that are absent have GPT2Config's defaults (with dropout 0.1). A key with a
/// value that Piper does not support and that changes the result is an error
/// naming it; `warnings` gets one line per key that is not known.
llvm::Expected<GPT2Config> readGPT2Config(const llvm::json::Object &json,
                                          std::vector<std::string> &warnings);

/// `@train(tokens, labels, parameters) -> loss` and
/// `@predict(tokens, parameters) -> logits`.
llvm::Expected<OwningModule> buildGPT2(MLIRContext *context, GPT2Config config,
                                       const ModelOptions &options);

} // namespace mlir::piper

#endif // PIPER_MODELS_GPT2_H

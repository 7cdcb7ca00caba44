// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small models for tests: a multi-layer perceptron, the chain of products, and
// the language model without attention; with the inputs that go with them.

#ifndef PIPER_MODELS_TESTMODELS_H
#define PIPER_MODELS_TESTMODELS_H

#include "Piper/Models/ModelBuilder.h"

namespace mlir::piper {

/// `layers` affine maps with an activation after all but the last, as
/// `layers.K.weight` [out, in] (PyTorch's nn.Linear) and `layers.K.bias`.
/// Either a classifier (labels, cross entropy) or a regression (targets,
/// squared error, mean over rows of the row's sum).
struct MLPConfig {
  int64_t features = 16;
  int64_t hidden = 32;
  int64_t layers = 2;
  /// Classes, or numbers to predict.
  int64_t outputs = 10;
  int64_t batch = 32;
  bool regression = false;
  std::string activation = "relu";
};
llvm::Expected<OwningModule> buildMLP(MLIRContext *context,
                                      const MLPConfig &config,
                                      const ModelOptions &options);

/// CHAIN: x [rows, 4] times `layers` weights w0.. of [4, 4], tanh after all but
/// the last; loss = mean over rows of the row's squared error sum. Weight
/// k is `((i + 2j + 3k) mod 7 - 3) / 10`, layer k has the tag `layer = k`.
struct ChainConfig {
  int64_t layers = 4;
  int64_t rows = 8;
};
llvm::Expected<OwningModule> buildChain(MLIRContext *context,
                                        const ChainConfig &config,
                                        const ModelOptions &options);

/// LM: vocabulary 11, width 8, length 6, residual blocks 8 -> 16, gelu, 16 ->
/// 8, no norm, no bias, weights N(0, 0.3), head 8 -> 11.
struct LMConfig {
  int64_t blocks = 4;
  int64_t rows = 8;
  bool tied = false;
};
llvm::Expected<OwningModule> buildLM(MLIRContext *context,
                                     const LMConfig &config,
                                     const ModelOptions &options);

/// Inputs of `steps` steps as the bytes of a safetensors file, each with a
/// leading step dimension. Those of CHAIN are the same in each step: x = 0.25
/// ((3i + j) mod 5) - 0.5, t = (i + j) mod 3 - 1.
std::string chainInputs(const ChainConfig &config, int64_t steps,
                        bool doublePrecision);
/// In step s, row b, the text is `(s + 3b + 2i + (b + s) i i) mod 11`; labels
/// are the next tokens, and -1 at position i where s + b + i + 1 is a multiple
/// of 4.
std::string lmInputs(const LMConfig &config, int64_t steps);

} // namespace mlir::piper

#endif // PIPER_MODELS_TESTMODELS_H

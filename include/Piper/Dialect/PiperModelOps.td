// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The larger blocks of a transformer, each one kernel: embedding, norm,
// softmax, attention, dropout, cross entropy.

#ifndef PIPER_DIALECT_MODELOPS_TD
#define PIPER_DIALECT_MODELOPS_TD

include "Piper/Dialect/PiperComputeBase.td"

//===----------------------------------------------------------------------===//
// embedding
//===----------------------------------------------------------------------===//

def EmbeddingOp : Piper_ComputeOp<"embedding", [], ["buildGradient"], ["getBytes"]> {
  let summary = "Rows of a table by index";
  let description = [{
    The `piper.embedding` operation reads the rows `ids` of `table`:
    `[V, D], [..] -> [.., D]`. An id outside 0..V-1 is an error of the run.

    Example:
    ```mlir
    %x = piper.embedding %wte, %tokens : (tensor<256x64xf32>, tensor<16x128xi32>) -> tensor<16x128x64xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$table, Piper_IndexTensor:$ids);
  let results = (outs Piper_FloatTensor:$y);
  let hasVerifier = 1;
}

def EmbeddingGradOp : Piper_PlainOp<"embedding_grad"> {
  let summary = "Gradient of the table of piper.embedding";
  let description = [{
    The `piper.embedding_grad` operation adds each row of `dy` to the row `ids`
    of the result, in ascending order of position. Made by `piper-autodiff`.

    Example:
    ```mlir
    %d = piper.embedding_grad %dy, %tokens : (tensor<16x128x64xf32>, tensor<16x128xi32>) -> tensor<256x64xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$dy, Piper_IndexTensor:$ids);
  let results = (outs Piper_FloatTensor:$dtable);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

def LayerNormOp : Piper_ComputeOp<"layer_norm", [], ["buildGradient", "getSavedTypes"]> {
  let summary = "Layer normalisation over the last dimension";
  let description = [{
    The `piper.layer_norm` operation computes
    `(x - mean) / sqrt(var + eps) * gamma + beta` over the last dimension, var being the
    mean squared deviation (Ba et al., arXiv 1607.06450, section 3). `saved` is nothing, or mean and
    `1/sqrt(var + eps)` of each row, f32 (f64 for f64 operands), for the gradient.

    Example:
    ```mlir
    %y = piper.layer_norm %x, %g, %b {eps = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x, Piper_FloatTensor:$gamma,
                       Piper_FloatTensor:$beta, F64Attr:$eps);
  let results = (outs Piper_FloatTensor:$y, Variadic<Piper_FloatTensor>:$saved);
  let hasVerifier = 1;
}

def LayerNormGradOp : Piper_PlainOp<"layer_norm_grad"> {
  let summary = "Gradient of piper.layer_norm";
  let description = [{
    The `piper.layer_norm_grad` operation returns the gradients of x, gamma and
    beta. Made by `piper-autodiff`.

    Example:
    ```mlir
    %dx, %dg, %db = piper.layer_norm_grad %dy, %x, %g, %mean, %rstd
        : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>)
        -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$dy, Piper_FloatTensor:$x, Piper_FloatTensor:$gamma,
                       Piper_FloatTensor:$mean, Piper_FloatTensor:$rstd);
  let results = (outs Piper_FloatTensor:$dx, Piper_FloatTensor:$dgamma, Piper_FloatTensor:$dbeta);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

def SoftmaxOp : Piper_ComputeOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "Softmax over the last dimension";
  let description = [{
    The `piper.softmax` operation computes `e^(x - max) / sum e^(x - max)` over
    the last dimension.

    Example:
    ```mlir
    %y = piper.softmax %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x);
  let results = (outs Piper_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def SoftmaxGradOp : Piper_UnaryGradOp<"softmax_grad"> {
  let summary = "Gradient of piper.softmax";
  let description = [{
    The `piper.softmax_grad` operation computes `y (dy - sum(dy y))` over the
    last dimension, from the result y. Made by `piper-autodiff`.

    Example:
    ```mlir
    %dx = piper.softmax_grad %dy, %y : tensor<4x8xf32>
    ```
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

/// The members of PositionOpInterface that an op's own operands do not give.
defvar kPosition = [{
    ::mlir::piper::ShardingRule::Dims getPositionDims(const ::mlir::piper::ShardingRule &rule);
    void setPosition(::mlir::Value origin, ::llvm::ArrayRef<int64_t> globalShape);
  }];

/// The operands `random` of attention and its gradient.
defvar kAttentionRandom = kPosition # [{
    /// The key, or null without dropout.
    ::mlir::Value getKey() { return getRandom().empty() ? ::mlir::Value() : getRandom()[0]; }
    /// The origin, or null where the scores are all there are.
    ::mlir::Value getOrigin() { return getRandom().size() < 2 ? ::mlir::Value() : getRandom()[1]; }
  }];

def AttentionOp : Piper_ComputeOp<"attention", [PositionOpInterface], ["buildGradient", "getSavedTypes"]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    The `piper.attention` operation computes, for each sequence and head,
    `dropout(softmax(scale q k^T)) v` (Vaswani et al., arXiv 1706.03762,
    section 3.2.1) without keeping the matrix of scores. `q` is `[batch, queries, heads, head size]`,
    `k` and `v` are `[batch, keys, key heads, head size]`; key heads divide heads, and query
    head h reads key head h / (heads / key heads). With `causal` query i sees keys 0..i (+ keys -
    queries). With `dropout` p > 0 `random` is a key (see `piper.random_key`), and `index` tells the random
    numbers of several ops of one task apart; a second operand in `random` is an origin, as that of `piper.dropout`: where these scores lie among
    all, `[batch, heads, queries, keys]`, which `global_shape` counts. `saved` is nothing, or what the gradient needs to make the weights again, `[batch, heads,
    queries]`, f32 (f64 for f64): q k of the key with the largest score, and the sum of `e^(score - largest score)` over the keys. Apart
    they are as good for scores of a million as for small ones; their log-sum-exp is not.

    Example:
    ```mlir
    %o = piper.attention %q, %k, %v {causal, scale = 2.500000e-01 : f64}
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$q, Piper_FloatTensor:$k, Piper_FloatTensor:$v,
                       Variadic<Piper_RandomKey>:$random,
                       F64Attr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       DefaultValuedAttr<I64Attr, "0">:$index,
                       OptionalAttr<DenseI64ArrayAttr>:$global_shape);
  let results = (outs Piper_FloatTensor:$y, Variadic<Piper_FloatTensor>:$saved);
  let hasVerifier = 1;
  let extraClassDeclaration = kAttentionRandom;
}

def AttentionGradOp : Piper_PlainOp<"attention_grad", [PositionOpInterface]> {
  let summary = "Gradient of piper.attention";
  let description = [{
    The `piper.attention_grad` operation returns the gradients of q, k and v from
    that of the result, making the scores again block by block, with the same bits (after Dao,
    arXiv 2307.08691, section 3.1.2). `top` and `total` are the saved results of the attention. Made by `piper-autodiff`.

    Example:
    ```mlir
    %dq, %dk, %dv = piper.attention_grad %do, %q, %k, %v, %top, %total {causal, scale = 2.500000e-01 : f64}
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>)
        -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$dy, Piper_FloatTensor:$q, Piper_FloatTensor:$k,
                       Piper_FloatTensor:$v, Piper_FloatTensor:$top, Piper_FloatTensor:$total,
                       Variadic<Piper_RandomKey>:$random,
                       F64Attr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       DefaultValuedAttr<I64Attr, "0">:$index,
                       OptionalAttr<DenseI64ArrayAttr>:$global_shape);
  let results = (outs Piper_FloatTensor:$dq, Piper_FloatTensor:$dk, Piper_FloatTensor:$dv);
  let hasVerifier = 1;
  let extraClassDeclaration = kAttentionRandom;
}

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

def RandomKeyOp : Piper_Op<"random_key", [Pure,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "What this step's random numbers depend on";
  let description = [{
    The `piper.random_key` operation makes the pair (seed, update) that ops with
    random numbers take. A model has no operands here; `piper-optimizer` adds
    the seed and the `update` counter.

    Example:
    ```mlir
    %key = piper.random_key : () -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Variadic<Piper_Count>:$counters);
  let results = (outs Piper_RandomKey:$key);
  let assemblyFormat = "($counters^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def OriginOp : Piper_PlainOp<"origin"> {
  let summary = "Where the rows of a micro-batch lie in the whole tensor";
  let description = [{
    The `piper.origin` operation returns `step` times the micro-batch of the task that runs it (0 where
    it has none): the place of the first element of the rows of this micro-batch in the whole tensor, one number per dimension. Ops with random
    numbers take it as `origin`. Made by `piper-split`.

    Example:
    ```mlir
    %o = piper.origin {step = array<i64: 2, 0, 0>} : () -> tensor<3xi64>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$step);
  let results = (outs Piper_Origin:$origin);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DropoutOp : Piper_ComputeOp<"dropout", [PositionOpInterface], ["buildGradient", "isCheapToRecompute"]> {
  let summary = "Sets elements to zero at random";
  let description = [{
    The `piper.dropout` operation keeps each element with probability 1 - p,
    divided by 1 - p, and sets the others to zero. Which ones is a function of
    `key`, the salt of the task, `index` (unique among the ops of one segment) and the element's
    global index: `origin` (one number per dimension, default zeros) says where the operand lies in
    the whole tensor, whose shape is `global_shape` (default: the operand's). The gradient is the same op applied to `dy`.

    Example:
    ```mlir
    %y = piper.dropout %x, %key {p = 1.000000e-01 : f64, index = 1 : i64} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$x, Piper_RandomKey:$key,
                       Optional<Piper_IndexTensor>:$origin,
                       F64Attr:$p, DefaultValuedAttr<I64Attr, "0">:$index,
                       OptionalAttr<DenseI64ArrayAttr>:$global_shape);
  let results = (outs Piper_FloatTensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = kPosition;
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

def CrossEntropyOp : Piper_ComputeOp<"cross_entropy", [], ["buildGradient", "getSavedTypes"]> {
  let summary = "Cross entropy of logits and labels, summed over valid labels";
  let description = [{
    The `piper.cross_entropy` operation returns the sum of
    `logsumexp(logits) - logits[label]` over the positions whose label is not
    negative: `[.., V], [..] -> []`. A label of V or more is an error of the run. `saved` is nothing, or the
    largest logit of each position and the sum of `e^(logit - largest)`, f32 (f64 for f64), for the gradient. Divide by `piper.count_valid` for the mean.

    Example:
    ```mlir
    %s = piper.cross_entropy %z, %labels : (tensor<16x128x256xf32>, tensor<16x128xi32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$logits, Piper_IndexTensor:$labels);
  let results = (outs Piper_FloatTensor:$sum, Variadic<Piper_FloatTensor>:$saved);
  let hasVerifier = 1;
}

def CrossEntropyGradOp : Piper_PlainOp<"cross_entropy_grad"> {
  let summary = "Gradient of piper.cross_entropy";
  let description = [{
    The `piper.cross_entropy_grad` operation computes
    `dsum (softmax(logits) - onehot(label))`, zero where the label is negative.
    Made by `piper-autodiff`.

    Example:
    ```mlir
    %dz = piper.cross_entropy_grad %ds, %z, %labels, %top, %total
        : (tensor<f32>, tensor<16x128x256xf32>, tensor<16x128xi32>, tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128x256xf32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$dsum, Piper_FloatTensor:$logits,
                       Piper_IndexTensor:$labels, Piper_FloatTensor:$top,
                       Piper_FloatTensor:$total);
  let results = (outs Piper_FloatTensor:$dlogits);
  let hasVerifier = 1;
}

def CountValidOp : Piper_PlainOp<"count_valid"> {
  let summary = "The number of labels that are not negative";
  let description = [{
    The `piper.count_valid` operation counts the positions that the loss counts. It has no
    gradient: its operand is of integers.

    Example:
    ```mlir
    %n = piper.count_valid %labels : (tensor<16x128xi32>) -> tensor<i64>
    ```
  }];
  let arguments = (ins Piper_IndexTensor:$labels);
  let results = (outs Piper_Count:$count);
}

def DivideOp : Piper_ComputeOp<"divide"> {
  let summary = "A sum divided by a count";
  let description = [{
    The `piper.divide` operation makes a mean from a sum and a count of the
    whole step. With a count of 0 the result is NaN and the step is skipped.

    Example:
    ```mlir
    %l = piper.divide %s, %n : (tensor<f32>, tensor<i64>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$sum, Piper_Count:$count);
  let results = (outs Piper_FloatTensor:$mean);
  let hasVerifier = 1;
}

def ReciprocalOp : Piper_PlainOp<"reciprocal"> {
  let summary = "One divided by a count";
  let description = [{
    The `piper.reciprocal` operation makes the seed of the backward, `1/count`,
    or 0 for a count of 0. Made by `piper-autodiff`.

    Example:
    ```mlir
    %seed = piper.reciprocal %n : (tensor<i64>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Piper_Count:$count);
  let results = (outs Piper_Scalar:$y);
}

#endif // PIPER_DIALECT_MODELOPS_TD

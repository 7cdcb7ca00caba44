// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the end of a step: norm, decision, learning rate, updates. Made
// by piper-optimizer; none has a gradient.

#ifndef PIPER_DIALECT_STEPOPS_TD
#define PIPER_DIALECT_STEPOPS_TD

include "Piper/Dialect/PiperComputeBase.td"

def LearningRateOp : Piper_PlainOp<"learning_rate"> {
  let summary = "The learning rate of a step";
  let description = [{
    The `piper.learning_rate` operation computes the rate from the number u of
    updates applied so far. With w = `warmup_steps` and u < w: `lr (u + 1) / w`.
    After that `constant`: lr; `linear`: from lr down to `min_lr` at `total_steps`; `cosine`:
    `min_lr + (lr - min_lr) (1 + cos(pi t)) / 2` with `t = (u - w) / (total_steps - w)`, at most 1 (Loshchilov and
    Hutter, arXiv 1608.03983, equation 5).

    Example:
    ```mlir
    %lr = piper.learning_rate %u {schedule = "cosine", lr = 1.000000e-03 : f64, min_lr = 1.000000e-04 : f64, warmup_steps = 10 : i64, total_steps = 100 : i64}
        : (tensor<i64>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Piper_Count:$update, StrAttr:$schedule, F64Attr:$lr,
                       DefaultValuedAttr<F64Attr, "0.0">:$min_lr,
                       DefaultValuedAttr<I64Attr, "0">:$warmup_steps,
                       DefaultValuedAttr<I64Attr, "0">:$total_steps);
  let results = (outs Piper_Scalar:$y);
  let hasVerifier = 1;
}

def NormTableOp : Piper_PlainOp<"norm_table"> {
  let summary = "The exact sum of squares of gradients";
  let description = [{
    The `piper.norm_table` operation sums the squares of all elements of its
    operands in a way that does not depend on how they are split: the squares of each block of
    64 consecutive elements are added in f64 in a fixed order, the blocks are added exactly, as
    integers. `sum` holds the digits of the total in base 2^32 (digit i has weight
    `2^(32 i - 1088)`), not carried, so that tables of several ranks are added element by element.
    `nonfinite` counts, per operand, the blocks whose sum is inf or NaN (these are not in `sum`).

    Example:
    ```mlir
    %t, %bad = piper.norm_table %g0, %g1 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<68xi64>, tensor<2xi64>)
    ```
  }];
  let arguments = (ins Variadic<Piper_FloatTensor>:$gradients);
  let results = (outs Piper_IndexTensor:$sum, Piper_IndexTensor:$nonfinite);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Digits of the sum, and the weight of digit 0 as a power of two. They
    /// cover every finite f64.
    static constexpr int64_t kDigits = 68;
    static constexpr int64_t kLowestExponent = -1088;
  }];
}

def ClipOp : Piper_PlainOp<"clip"> {
  let summary = "The norm, the clipping factor and the decision to update";
  let description = [{
    The `piper.clip` operation returns `norm` (root of the sum of squares, NaN if a gradient is not finite),
    `scale = min(1, max_norm / (norm + 1e-6))` and `ok`, true if no gradient has
    an element that is not finite, the norm is finite, `scale` is a normal number, and `count` is positive. `max_norm = inf` measures and
    does not clip. A program without a count has none as operand. `nonfinite` may also count what else has to be finite: the loss,
    and what the updates would write.

    Example:
    ```mlir
    %norm, %scale, %ok = piper.clip %t, %bad, %n {max_norm = 1.000000e+00 : f64}
        : (tensor<68xi64>, tensor<2xi64>, tensor<i64>) -> (tensor<f32>, tensor<f32>, tensor<i1>)
    ```
  }];
  let arguments = (ins Piper_IndexTensor:$sum, Piper_IndexTensor:$nonfinite,
                       Optional<Piper_Count>:$count, F64Attr:$max_norm);
  let results = (outs Piper_Scalar:$norm, Piper_Scalar:$scale, Piper_Flag:$ok);
  let hasVerifier = 1;
}

def SgdOp : Piper_PlainOp<"sgd"> {
  let summary = "Update by stochastic gradient descent, with momentum";
  let description = [{
    The `piper.sgd` operation computes `g = scale grad + weight_decay w;
    v' = momentum v + g; w' = w - lr v'` (without `velocity`: `w' = w - lr g`). Where
    `ok` is false the results are the operands, bit for bit.

    Example:
    ```mlir
    %w1, %v1 = piper.sgd %w, %g, %lr, %scale, %ok, %v {momentum = 9.000000e-01 : f64, weight_decay = 0.000000e+00 : f64}
        : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$param, Piper_FloatTensor:$grad, Piper_Scalar:$lr,
                       Piper_Scalar:$scale, Piper_Flag:$ok, Optional<Piper_FloatTensor>:$velocity,
                       DefaultValuedAttr<F64Attr, "0.0">:$momentum,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
  let results = (outs Variadic<Piper_FloatTensor>:$updated);
  let hasVerifier = 1;
}

def AdamWOp : Piper_PlainOp<"adamw"> {
  let summary = "Update by AdamW";
  let description = [{
    The `piper.adamw` operation is Adam with decoupled weight decay (Loshchilov
    and Hutter, arXiv 1711.05101, algorithm 2), t = `update` + 1: `g = scale grad; m' = beta1 m + (1 - beta1) g;
    v' = beta2 v + (1 - beta2) g^2; w' = w - lr (m'/(1 - beta1^t) / (sqrt(v'/(1 - beta2^t)) + eps) + weight_decay w)`.
    Where `ok` is false the results are the operands, bit for bit.

    Example:
    ```mlir
    %w1, %m1, %v1 = piper.adamw %w, %g, %m, %v, %lr, %u, %scale, %ok {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, eps = 1.000000e-08 : f64, weight_decay = 1.000000e-01 : f64}
        : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<i1>)
        -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$param, Piper_FloatTensor:$grad,
                       Piper_FloatTensor:$m, Piper_FloatTensor:$v, Piper_Scalar:$lr,
                       Piper_Count:$update, Piper_Scalar:$scale, Piper_Flag:$ok,
                       F64Attr:$beta1, F64Attr:$beta2, F64Attr:$eps, F64Attr:$weight_decay);
  let results = (outs Piper_FloatTensor:$new_param, Piper_FloatTensor:$new_m, Piper_FloatTensor:$new_v);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What an update would write
//===----------------------------------------------------------------------===//

class Piper_UpdateCheckOp<string mnemonic>
    : Piper_PlainOp<mnemonic, [DeclareOpInterfaceMethods<UpdateCheckOpInterface>]> {
  let results = (outs Piper_IndexTensor:$nonfinite);
  let hasVerifier = 1;
}

def SgdCheckOp : Piper_UpdateCheckOp<"sgd_check"> {
  let summary = "How much of an update by SGD would not be finite";
  let description = [{
    The `piper.sgd_check` operation does what `piper.sgd` does with these operands, rounding by rounding, and
    writes nothing: `nonfinite` is the number of elements of which a result is inf or NaN. Parameter and velocity are finite,
    and no element of the gradient is larger than `norm`, so that most often a few numbers tell that none is.

    Example:
    ```mlir
    %bad = piper.sgd_check %w, %g, %lr, %scale, %norm, %v {momentum = 9.000000e-01 : f64}
        : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4x8xf32>) -> tensor<1xi64>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$param, Piper_FloatTensor:$grad, Piper_Scalar:$lr,
                       Piper_Scalar:$scale, Piper_Scalar:$norm, Optional<Piper_FloatTensor>:$velocity,
                       DefaultValuedAttr<F64Attr, "0.0">:$momentum,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
}

def AdamWCheckOp : Piper_UpdateCheckOp<"adamw_check"> {
  let summary = "How much of an update by AdamW would not be finite";
  let description = [{
    The `piper.adamw_check` operation does what `piper.adamw` does with these operands, rounding by rounding, and
    writes nothing: `nonfinite` is the number of elements of which a result, or the root that
    divides (an infinite one would keep a parameter where it is), is inf or NaN. Parameter and moments are finite, the
    second moment 0 or more, and no element of the gradient is larger than `norm`, so that most often the largest
    moments tell that none is.

    Example:
    ```mlir
    %bad = piper.adamw_check %w, %g, %m, %v, %lr, %u, %scale, %norm {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, eps = 1.000000e-08 : f64, weight_decay = 1.000000e-01 : f64}
        : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1xi64>
    ```
  }];
  let arguments = (ins Piper_FloatTensor:$param, Piper_FloatTensor:$grad,
                       Piper_FloatTensor:$m, Piper_FloatTensor:$v, Piper_Scalar:$lr,
                       Piper_Count:$update, Piper_Scalar:$scale, Piper_Scalar:$norm,
                       F64Attr:$beta1, F64Attr:$beta2, F64Attr:$eps, F64Attr:$weight_decay);
}

def AdvanceOp : Piper_PlainOp<"advance"> {
  let summary = "The counters of the next step";
  let description = [{
    The `piper.advance` operation returns `iteration + 1`, and `update + 1` where
    `ok` is true or `update` elsewhere.

    Example:
    ```mlir
    %i1, %u1 = piper.advance %i, %u, %ok : (tensor<i64>, tensor<i64>, tensor<i1>) -> (tensor<i64>, tensor<i64>)
    ```
  }];
  let arguments = (ins Piper_Count:$iteration, Piper_Count:$update, Piper_Flag:$ok);
  let results = (outs Piper_Count:$next_iteration, Piper_Count:$next_update);
}

#endif // PIPER_DIALECT_STEPOPS_TD

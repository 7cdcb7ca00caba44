// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops of the kernels: single-threaded, over contiguous rows, with
// the same interface for every instruction set. This header is included by
// files compiled for different sets: it must not define any function.

#ifndef PIPER_LIB_RUNTIME_CPU_LOOPS_LOOPS_H
#define PIPER_LIB_RUNTIME_CPU_LOOPS_LOOPS_H

#include <cstdint>

namespace piper::rt::cpu {

enum class UnaryOp {
  Neg,
  Exp,
  Log,
  Rsqrt,
  Square,
  Tanh,
  Sigmoid,
  Relu,
  Silu,
  Gelu,
  GeluTanh,
  Scale,
  Count
};

enum class UnaryGradOp { Tanh, Sigmoid, Relu, Silu, Gelu, GeluTanh, Count };

enum class BinaryOp { Add, Sub, Mul, Div, Count };

/// Constants of one AdamW step; see piper.adamw.
template <typename T> struct AdamWStep {
  T scale, beta1, beta2, oneMinusBeta1, oneMinusBeta2;
  /// 1/(1 - beta1^t) and 1/(1 - beta2^t).
  T correction1, correction2;
  T eps, lr, weightDecay;
};

/// Constants of one SGD step; see piper.sgd.
template <typename T> struct SgdStep {
  T scale, lr, momentum, weightDecay;
};

/// C[m, n] = A[m, k] B[k, n], or C += with `accumulate`. Element (i, j) of A is
/// a[i * aRow + j * aColumn], of B likewise; C has rows of `cRow` elements.
/// `buffer` holds gemmBufferElements(m, n, k) elements.
template <typename T> struct GemmCall {
  int64_t m, n, k;
  const T *a;
  int64_t aRow, aColumn;
  const T *b;
  int64_t bRow, bColumn;
  T *c;
  int64_t cRow;
  bool accumulate;
  T *buffer;
};

/// Block sizes of the matrix product: the parts of A and B that are packed
/// at a time. Rows are a multiple of kGemmRows, columns of 128 bytes.
constexpr int64_t kGemmRows = 6;
constexpr int64_t kGemmBlockM = 96, kGemmBlockN = 256, kGemmBlockK = 128;

/// The loops of f32 or f64. Sums over a row are made in a fixed number of
/// lanes, so that their order depends on the length alone. Where not said
/// otherwise, a result may lie on an operand of the same length.
template <typename T> struct TypedLoops {
  /// y[i] = op(x[i]); `parameter` is the factor of Scale.
  void (*unary[int(UnaryOp::Count)])(const T *x, T *y, int64_t n, T parameter);
  /// dx[i] from dy[i] and what the op saved.
  void (*unaryGrad[int(UnaryGradOp::Count)])(const T *dy, const T *saved, T *dx,
                                             int64_t n);
  /// y[i] = a[i] op b[i]; [op][1] repeats a[0], [op][2] repeats b[0].
  void (*binary[int(BinaryOp::Count)][3])(const T *a, const T *b, T *y,
                                          int64_t n);
  /// The sum of a row.
  T (*sum)(const T *x, int64_t n);
  /// The maximum of a row; NaN if an element is.
  T (*maximum)(const T *x, int64_t n);
  /// y[i] = maximum(y[i], x[i]), NaN if one of them is.
  void (*maximumInto)(T *y, const T *x, int64_t n);
  /// y[j] (+)= the sum over r of x[r * stride + j], r < rows <= 64.
  void (*sumRows)(const T *x, int64_t rows, int64_t stride, T *y, int64_t n,
                  bool accumulate);
  /// y[i] += x[i].
  void (*addInto)(T *y, const T *x, int64_t n);
  /// y[i] *= factor.
  void (*scaleInto)(T *y, T factor, int64_t n);
  /// The sum of a[i] * b[i].
  T (*dot)(const T *a, const T *b, int64_t n);

  /// One row of piper.layer_norm.
  void (*layerNorm)(const T *x, const T *gamma, const T *beta, T *y, int64_t n,
                    T eps, T *mean, T *rstd);
  /// One row of its gradient; adds to dgamma and dbeta.
  void (*layerNormGrad)(const T *dy, const T *x, const T *gamma, T mean, T rstd,
                        T *dx, T *dgamma, T *dbeta, int64_t n);

  /// One row of piper.softmax and of its gradient.
  void (*softmax)(const T *x, T *y, int64_t n);
  void (*softmaxGrad)(const T *dy, const T *y, T *dx, int64_t n);
  /// The sum of exp(x - max(x)) of a row, and that maximum.
  T (*expSum)(const T *x, int64_t n, T *top);
  /// y[i] = factor * exp(x[i] - shift).
  void (*expScaled)(const T *x, T *y, int64_t n, T shift, T factor);
  /// x[i] = exp(scale * (x[i] - top)), the sum of which is returned; `*top` is
  /// the x with the largest scale * x.
  T (*attentionRow)(T *x, int64_t n, T scale, T *top);
  /// p[i] (scores before scaling) becomes exp(scale * (p[i] - top)) * inverse;
  /// dp[i] becomes scale * p[i] * (dp[i] - sum(p dp)).
  void (*attentionGradRow)(T *p, T *dp, int64_t n, T scale, T top, T inverse);
  /// The same with dropout: dp is masked first, and p masked last. The mask is
  /// overwritten.
  void (*attentionGradDropRow)(T *p, T *dp, T *mask, int64_t n, T scale, T top,
                               T inverse);
  /// mask[i] = 0 where words[i] < threshold, else keep.
  void (*dropoutMask)(const uint32_t *words, uint32_t threshold, T keep,
                      T *mask, int64_t n);

  /// y[i] = 0 where words[i] < threshold, else x[i] * keep.
  void (*dropout)(const uint32_t *words, uint32_t threshold, T keep, const T *x,
                  T *y, int64_t n);

  void (*adamw)(const AdamWStep<T> &step, const T *param, const T *grad,
                const T *m, const T *v, T *newParam, T *newM, T *newV,
                int64_t n);
  /// `velocity` and `newVelocity` are null without momentum.
  void (*sgd)(const SgdStep<T> &step, const T *param, const T *grad,
              const T *velocity, T *newParam, T *newVelocity, int64_t n);
  /// The number of elements for which these would write, or AdamW would divide
  /// by, a number that is not finite. Requires: param and state are finite, v
  /// is 0 or more, no element of grad larger than norm.
  int64_t (*adamwCheck)(const AdamWStep<T> &step, T norm, const T *param,
                        const T *grad, const T *m, const T *v, int64_t n);
  int64_t (*sgdCheck)(const SgdStep<T> &step, T norm, const T *param,
                      const T *grad, const T *velocity, int64_t n);

  /// The sums of squares, in f64, of blocks of 64 elements, the last one
  /// shorter: ceil(n / 64) results.
  void (*squareBlocks)(const T *x, int64_t n, double *sums);

  void (*gemm)(const GemmCall<T> &call);
};

/// The number of element types; the order is that of ElementType.
constexpr int kElementTypes = 6;

struct Loops {
  TypedLoops<float> f32;
  TypedLoops<double> f64;
  /// y[i] = x[i] in another type: [from][to].
  void (*cast[kElementTypes][kElementTypes])(const void *x, void *y, int64_t n);
  /// Words first .. first + n - 1 of the stream with this key and upper counter
  /// half; `first` is a multiple of 4, and n of 64.
  void (*randomWords)(const uint32_t key[2], const uint32_t high[2],
                      uint64_t first, uint32_t *words, int64_t n);
};

namespace baseline {
extern const Loops kLoops;
}
namespace avx2 {
extern const Loops kLoops;
}
namespace avx512 {
extern const Loops kLoops;
}

/// The loops of this process's instruction set.
const Loops &loops();

} // namespace piper::rt::cpu

#endif // PIPER_LIB_RUNTIME_CPU_LOOPS_LOOPS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unary and binary element-wise kernels and the gradients of the unary ones.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"
#include "CPU/Strides.h"

using namespace piper::rt;
using namespace piper::rt::cpu;

static bool approximate(const KernelSpec &spec) {
  return spec.attributes.getInt("approximate") != 0;
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static UnaryOp unaryOp(const KernelSpec &spec) {
  static constexpr std::pair<const char *, UnaryOp> kOps[] = {
      {"neg", UnaryOp::Neg},         {"exp", UnaryOp::Exp},
      {"log", UnaryOp::Log},         {"rsqrt", UnaryOp::Rsqrt},
      {"square", UnaryOp::Square},   {"tanh", UnaryOp::Tanh},
      {"sigmoid", UnaryOp::Sigmoid}, {"relu", UnaryOp::Relu},
      {"silu", UnaryOp::Silu},       {"scale", UnaryOp::Scale}};
  for (auto &[name, op] : kOps)
    if (spec.name == name)
      return op;
  return approximate(spec) ? UnaryOp::GeluTanh : UnaryOp::Gelu;
}

static UnaryGradOp unaryGradOp(const KernelSpec &spec) {
  static constexpr std::pair<const char *, UnaryGradOp> kOps[] = {
      {"tanh_grad", UnaryGradOp::Tanh},
      {"sigmoid_grad", UnaryGradOp::Sigmoid},
      {"relu_grad", UnaryGradOp::Relu},
      {"silu_grad", UnaryGradOp::Silu}};
  for (auto &[name, op] : kOps)
    if (spec.name == name)
      return op;
  return approximate(spec) ? UnaryGradOp::GeluTanh : UnaryGradOp::Gelu;
}

namespace {
template <typename T> class UnaryKernel : public Kernel {
public:
  UnaryKernel(const KernelSpec &spec, const Target &target)
      : loop(typedLoops<T>().unary[int(unaryOp(spec))]),
        elements(spec.operands[0].numElements()), threads(threadsOf(target)),
        factor(T(spec.attributes.getFloat("factor"))) {}

  Status run(const KernelCall &call) const override {
    const T *x = static_cast<const T *>(call.operands[0]);
    T *y = static_cast<T *>(call.results[0]);
    parallelFor(threads, elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  loop(x + begin, y + begin, end - begin, factor);
                });
    return Status::success();
  }

private:
  void (*loop)(const T *, T *, int64_t, T);
  int64_t elements;
  int threads;
  T factor;
};

template <typename T> class UnaryGradKernel : public Kernel {
public:
  UnaryGradKernel(const KernelSpec &spec, const Target &target)
      : loop(typedLoops<T>().unaryGrad[int(unaryGradOp(spec))]),
        elements(spec.operands[0].numElements()), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *dy = static_cast<const T *>(call.operands[0]);
    const T *saved = static_cast<const T *>(call.operands[1]);
    T *dx = static_cast<T *>(call.results[0]);
    parallelFor(threads, elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  loop(dy + begin, saved + begin, dx + begin, end - begin);
                });
    return Status::success();
  }

private:
  void (*loop)(const T *, const T *, T *, int64_t);
  int64_t elements;
  int threads;
};
} // namespace

static Result<std::unique_ptr<Kernel>> createUnary(const KernelSpec &spec,
                                                   const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  PIPER_RETURN_IF_ERROR(expectAllEqualReal(spec));
  if (spec.name == "scale")
    PIPER_RETURN_IF_ERROR(expectFloatAttribute(spec, "factor"));
  return makeReal<UnaryKernel>(spec.operands[0].element, spec, target);
}

static Result<std::unique_ptr<Kernel>> createUnaryGrad(const KernelSpec &spec,
                                                       const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  PIPER_RETURN_IF_ERROR(expectAllEqualReal(spec));
  return makeReal<UnaryGradKernel>(spec.operands[0].element, spec, target);
}

static bool aliasAny(const KernelSpec &spec, int operand, int result) {
  return true;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static BinaryOp binaryOp(const KernelSpec &spec) {
  if (spec.name == "add")
    return BinaryOp::Add;
  if (spec.name == "sub")
    return BinaryOp::Sub;
  return spec.name == "mul" ? BinaryOp::Mul : BinaryOp::Div;
}

namespace {
template <typename T> class BinaryKernel : public Kernel {
public:
  BinaryKernel(const KernelSpec &spec, const Target &target)
      : loop(broadcastLoop({spec.operands[0].shape, spec.operands[1].shape},
                           spec.results[0].shape)),
        threads(threadsOf(target)) {
    // A single element is repeated: there is only one.
    bool repeatA = loop.innerStride(0) == 0, repeatB = loop.innerStride(1) == 0;
    row = typedLoops<T>().binary[int(binaryOp(spec))][repeatB   ? 2
                                                      : repeatA ? 1
                                                                : 0];
  }

  Status run(const KernelCall &call) const override {
    const T *a = static_cast<const T *>(call.operands[0]);
    const T *b = static_cast<const T *>(call.operands[1]);
    T *y = static_cast<T *>(call.results[0]);
    int64_t inner = loop.inner(), stepA = loop.innerStride(0),
            stepB = loop.innerStride(1);
    if (loop.rows() == 1) {
      parallelFor(
          threads, inner, kGrainElements, [=](int64_t begin, int64_t end, int) {
            row(a + begin * stepA, b + begin * stepB, y + begin, end - begin);
          });
      return Status::success();
    }
    parallelFor(threads, loop.rows(), rowGrain(inner),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t i = begin; i < end; ++i)
                    row(a + loop.rowOffset(0, i), b + loop.rowOffset(1, i),
                        y + i * inner, inner);
                });
    return Status::success();
  }

private:
  StridedLoop loop;
  void (*row)(const T *, const T *, T *, int64_t);
  int threads;
};

/// `U` is the unsigned type of the element's size: sums wrap around.
template <typename U> class IntegerAddKernel : public Kernel {
public:
  IntegerAddKernel(const KernelSpec &spec, const Target &target)
      : loop(broadcastLoop({spec.operands[0].shape, spec.operands[1].shape},
                           spec.results[0].shape)),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const U *a = static_cast<const U *>(call.operands[0]);
    const U *b = static_cast<const U *>(call.operands[1]);
    U *y = static_cast<U *>(call.results[0]);
    int64_t inner = loop.inner(), stepA = loop.innerStride(0),
            stepB = loop.innerStride(1);
    parallelFor(threads, loop.rows(), rowGrain(inner),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row) {
                    const U *fromA = a + loop.rowOffset(0, row);
                    const U *fromB = b + loop.rowOffset(1, row);
                    for (int64_t i = 0; i < inner; ++i)
                      y[row * inner + i] = fromA[i * stepA] + fromB[i * stepB];
                  }
                });
    return Status::success();
  }

private:
  StridedLoop loop;
  int threads;
};
} // namespace

/// Integers, which are added up as counts are.
static bool isIntegerAdd(const KernelSpec &spec) {
  return spec.name == "add" && spec.results.size() == 1 &&
         (spec.results[0].element == ElementType::I32 ||
          spec.results[0].element == ElementType::I64);
}

static Status checkBinary(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  const TensorType &y = spec.results[0];
  if (!isIntegerAdd(spec))
    PIPER_RETURN_IF_ERROR(expectReal(spec, y, resultName(0)));
  const TensorType &a = spec.operands[0], &b = spec.operands[1];
  PIPER_RETURN_IF_ERROR(expectElement(spec, a, operandName(0), y.element));
  PIPER_RETURN_IF_ERROR(expectElement(spec, b, operandName(1), y.element));
  if (!broadcastTogether({a.shape, b.shape}, y.shape))
    return kernelError(spec, "operands that broadcast to " + y.str(),
                       a.str() + " and " + b.str());
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createBinary(const KernelSpec &spec,
                                                    const Target &target) {
  PIPER_RETURN_IF_ERROR(checkBinary(spec));
  if (!isIntegerAdd(spec))
    return makeReal<BinaryKernel>(spec.results[0].element, spec, target);
  if (spec.results[0].element == ElementType::I32)
    return std::unique_ptr<Kernel>(
        std::make_unique<IntegerAddKernel<uint32_t>>(spec, target));
  return std::unique_ptr<Kernel>(
      std::make_unique<IntegerAddKernel<uint64_t>>(spec, target));
}

static bool aliasSameSize(const KernelSpec &spec, int operand, int result) {
  return checkBinary(spec).ok() && operand >= 0 && operand < 2 && result == 0 &&
         spec.operands[size_t(operand)].numElements() ==
             spec.results[0].numElements();
}

void cpu::addElementwiseKernels(KernelTable &table) {
  for (const char *name : {"neg", "exp", "log", "rsqrt", "square", "tanh",
                           "sigmoid", "relu", "silu", "gelu", "scale"})
    table.push_back({name, checked<createUnary>, nullptr, aliasAny, nullptr});
  for (const char *name :
       {"tanh_grad", "sigmoid_grad", "relu_grad", "silu_grad", "gelu_grad"})
    table.push_back(
        {name, checked<createUnaryGrad>, nullptr, aliasAny, nullptr});
  for (const char *name : {"add", "sub", "mul", "div"})
    table.push_back(
        {name, checked<createBinary>, nullptr, aliasSameSize, nullptr});
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sgd and adamw: one pass over parameter and state, in place where the plan
// says so. Without `ok` the results are the operands, bit for bit.

#include "Parallel.h"
#include "SpecCheck.h"

#include <cmath>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// Copies an operand to its result, unless they are the same memory.
static void keepOld(const void *from, void *to, int64_t bytes) {
  if (from != to)
    std::memmove(to, from, size_t(bytes));
}

namespace {
template <typename T> class AdamWKernel : public Kernel {
public:
  AdamWKernel(const KernelSpec &spec, const Target &target)
      : elements(spec.operands[0].numElements()),
        lrType(spec.operands[4].element), scaleType(spec.operands[6].element),
        beta1(spec.attributes.getFloat("beta1")),
        beta2(spec.attributes.getFloat("beta2")),
        eps(spec.attributes.getFloat("eps")),
        weightDecay(spec.attributes.getFloat("weight_decay")),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *param = static_cast<const T *>(call.operands[0]);
    const T *grad = static_cast<const T *>(call.operands[1]);
    const T *m = static_cast<const T *>(call.operands[2]);
    const T *v = static_cast<const T *>(call.operands[3]);
    T *newParam = static_cast<T *>(call.results[0]);
    T *newM = static_cast<T *>(call.results[1]);
    T *newV = static_cast<T *>(call.results[2]);
    if (!*static_cast<const uint8_t *>(call.operands[7])) {
      int64_t bytes = elements * int64_t(sizeof(T));
      keepOld(param, newParam, bytes);
      keepOld(m, newM, bytes);
      keepOld(v, newV, bytes);
      return Status::success();
    }
    AdamWStep<T> step = makeStep(call);
    parallelFor(threads, elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  typedLoops<T>().adamw(step, param + begin, grad + begin,
                                        m + begin, v + begin, newParam + begin,
                                        newM + begin, newV + begin,
                                        end - begin);
                });
    return Status::success();
  }

private:
  AdamWStep<T> makeStep(const KernelCall &call) const {
    double t = double(*static_cast<const int64_t *>(call.operands[5])) + 1;
    AdamWStep<T> step;
    step.scale = T(readReal(call.operands[6], scaleType));
    step.beta1 = T(beta1);
    step.beta2 = T(beta2);
    step.oneMinusBeta1 = T(1 - beta1);
    step.oneMinusBeta2 = T(1 - beta2);
    step.correction1 = T(1 / (1 - std::pow(beta1, t)));
    step.correction2 = T(1 / (1 - std::pow(beta2, t)));
    step.eps = T(eps);
    step.lr = T(readReal(call.operands[4], lrType));
    step.weightDecay = T(weightDecay);
    return step;
  }

  int64_t elements;
  ElementType lrType, scaleType;
  double beta1, beta2, eps, weightDecay;
  int threads;
};

template <typename T> class SgdKernel : public Kernel {
public:
  SgdKernel(const KernelSpec &spec, const Target &target)
      : elements(spec.operands[0].numElements()),
        lrType(spec.operands[2].element), scaleType(spec.operands[3].element),
        hasVelocity(spec.operands.size() == 6),
        momentum(T(spec.attributes.getFloat("momentum"))),
        weightDecay(T(spec.attributes.getFloat("weight_decay"))),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *param = static_cast<const T *>(call.operands[0]);
    const T *grad = static_cast<const T *>(call.operands[1]);
    const T *velocity =
        hasVelocity ? static_cast<const T *>(call.operands[5]) : nullptr;
    T *newParam = static_cast<T *>(call.results[0]);
    T *newVelocity = hasVelocity ? static_cast<T *>(call.results[1]) : nullptr;
    if (!*static_cast<const uint8_t *>(call.operands[4])) {
      int64_t bytes = elements * int64_t(sizeof(T));
      keepOld(param, newParam, bytes);
      if (hasVelocity)
        keepOld(velocity, newVelocity, bytes);
      return Status::success();
    }
    SgdStep<T> step = {T(readReal(call.operands[3], scaleType)),
                       T(readReal(call.operands[2], lrType)), momentum,
                       weightDecay};
    bool has = hasVelocity;
    parallelFor(threads, elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  typedLoops<T>().sgd(
                      step, param + begin, grad + begin,
                      has ? velocity + begin : nullptr, newParam + begin,
                      has ? newVelocity + begin : nullptr, end - begin);
                });
    return Status::success();
  }

private:
  int64_t elements;
  ElementType lrType, scaleType;
  bool hasVelocity;
  T momentum, weightDecay;
  int threads;
};
} // namespace

/// The type of the parameter for each of these operands and all results.
static Status expectLikeParam(const KernelSpec &spec,
                              std::initializer_list<int64_t> operands) {
  const TensorType &param = spec.operands[0];
  PIPER_RETURN_IF_ERROR(expectReal(spec, param, operandName(0)));
  for (int64_t i : operands)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), param.element,
                                     param.shape));
  for (size_t i = 0; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[i],
                                     resultName(int64_t(i)), param.element,
                                     param.shape));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createAdamW(const KernelSpec &spec,
                                                   const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 8, 3));
  PIPER_RETURN_IF_ERROR(expectLikeParam(spec, {1, 2, 3}));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[4], operandName(4)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[5], operandName(5), ElementType::I64, {}));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[6], operandName(6)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[7], operandName(7), ElementType::I1, {}));
  for (const char *name : {"beta1", "beta2", "eps", "weight_decay"})
    PIPER_RETURN_IF_ERROR(expectFloatAttribute(spec, name));
  return makeReal<AdamWKernel>(spec.operands[0].element, spec, target);
}

static Result<std::unique_ptr<Kernel>> createSgd(const KernelSpec &spec,
                                                 const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(5, 6), Arity(1, 2)));
  size_t results = spec.operands.size() == 6 ? 2 : 1;
  if (spec.results.size() != results)
    return kernelError(spec, "a result for parameter and each velocity",
                       std::to_string(spec.results.size()) + " results for " +
                           std::to_string(spec.operands.size()) + " operands");
  PIPER_RETURN_IF_ERROR(expectLikeParam(spec, {1}));
  if (results == 2)
    PIPER_RETURN_IF_ERROR(expectLikeParam(spec, {5}));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[2], operandName(2)));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[3], operandName(3)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[4], operandName(4), ElementType::I1, {}));
  return makeReal<SgdKernel>(spec.operands[0].element, spec, target);
}

/// Each state over itself. Not the gradient: without `ok` its result is the
/// parameter, copied before the other results.
static bool adamwMayAlias(const KernelSpec &spec, int operand, int result) {
  return (operand == 0 && result == 0) || (operand == 2 && result == 1) ||
         (operand == 3 && result == 2);
}
static bool sgdMayAlias(const KernelSpec &spec, int operand, int result) {
  return (operand == 0 && result == 0) || (operand == 5 && result == 1);
}

void cpu::addUpdateKernels(KernelTable &table) {
  table.push_back(
      {"adamw", checked<createAdamW>, nullptr, adamwMayAlias, nullptr});
  table.push_back({"sgd", checked<createSgd>, nullptr, sgdMayAlias, nullptr});
}

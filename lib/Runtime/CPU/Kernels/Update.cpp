// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sgd and adamw: one pass over parameter and state, in place where the plan
// says so. Without `ok` the results are the operands, bit for bit. And the
// checks, which make the same numbers and count those that are not finite.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

#include <atomic>
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
/// What the update by AdamW and its check have in common: operands 0 to 6.
template <typename T> class AdamW : public Kernel {
public:
  AdamW(const KernelSpec &spec, const Target &target)
      : elements(spec.operands[0].numElements()), threads(threadsOf(target)),
        normType(spec.operands[7].element), lrType(spec.operands[4].element),
        scaleType(spec.operands[6].element),
        beta1(spec.attributes.getFloat("beta1")),
        beta2(spec.attributes.getFloat("beta2")),
        eps(spec.attributes.getFloat("eps")),
        weightDecay(spec.attributes.getFloat("weight_decay")) {}

protected:
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
  int threads;
  /// Of the operand that an update has its decision for.
  ElementType normType;

private:
  ElementType lrType, scaleType;
  double beta1, beta2, eps, weightDecay;
};

template <typename T> class AdamWKernel : public AdamW<T> {
public:
  using AdamW<T>::AdamW;

  Status run(const KernelCall &call) const override {
    const T *param = static_cast<const T *>(call.operands[0]);
    const T *grad = static_cast<const T *>(call.operands[1]);
    const T *m = static_cast<const T *>(call.operands[2]);
    const T *v = static_cast<const T *>(call.operands[3]);
    T *newParam = static_cast<T *>(call.results[0]);
    T *newM = static_cast<T *>(call.results[1]);
    T *newV = static_cast<T *>(call.results[2]);
    if (!*static_cast<const uint8_t *>(call.operands[7])) {
      int64_t bytes = this->elements * int64_t(sizeof(T));
      keepOld(param, newParam, bytes);
      keepOld(m, newM, bytes);
      keepOld(v, newV, bytes);
      return Status::success();
    }
    AdamWStep<T> step = this->makeStep(call);
    parallelFor(this->threads, this->elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  typedLoops<T>().adamw(step, param + begin, grad + begin,
                                        m + begin, v + begin, newParam + begin,
                                        newM + begin, newV + begin,
                                        end - begin);
                });
    return Status::success();
  }
};

template <typename T> class AdamWCheckKernel : public AdamW<T> {
public:
  using AdamW<T>::AdamW;

  Status run(const KernelCall &call) const override {
    const T *param = static_cast<const T *>(call.operands[0]);
    const T *grad = static_cast<const T *>(call.operands[1]);
    const T *m = static_cast<const T *>(call.operands[2]);
    const T *v = static_cast<const T *>(call.operands[3]);
    AdamWStep<T> step = this->makeStep(call);
    T norm = T(readReal(call.operands[7], this->normType));
    std::atomic<int64_t> count{0};
    parallelFor(this->threads, this->elements, kGrainElements,
                [=, &count](int64_t begin, int64_t end, int) {
                  count += typedLoops<T>().adamwCheck(step, norm, param + begin,
                                                      grad + begin, m + begin,
                                                      v + begin, end - begin);
                });
    *static_cast<int64_t *>(call.results[0]) = count;
    return Status::success();
  }
};

/// What the update by SGD and its check have in common: operands 0 to 3, and
/// the velocity.
template <typename T> class Sgd : public Kernel {
public:
  Sgd(const KernelSpec &spec, const Target &target)
      : elements(spec.operands[0].numElements()), threads(threadsOf(target)),
        normType(spec.operands[4].element),
        hasVelocity(spec.operands.size() == 6),
        lrType(spec.operands[2].element), scaleType(spec.operands[3].element),
        momentum(T(spec.attributes.getFloat("momentum"))),
        weightDecay(T(spec.attributes.getFloat("weight_decay"))) {}

protected:
  SgdStep<T> makeStep(const KernelCall &call) const {
    return {T(readReal(call.operands[3], scaleType)),
            T(readReal(call.operands[2], lrType)), momentum, weightDecay};
  }
  /// Null without momentum.
  const T *velocityOf(const KernelCall &call) const {
    return hasVelocity ? static_cast<const T *>(call.operands[5]) : nullptr;
  }

  int64_t elements;
  int threads;
  /// Of the operand that an update has its decision for.
  ElementType normType;

private:
  bool hasVelocity;
  ElementType lrType, scaleType;
  T momentum, weightDecay;
};

template <typename T> class SgdKernel : public Sgd<T> {
public:
  using Sgd<T>::Sgd;

  Status run(const KernelCall &call) const override {
    const T *param = static_cast<const T *>(call.operands[0]);
    const T *grad = static_cast<const T *>(call.operands[1]);
    const T *velocity = this->velocityOf(call);
    T *newParam = static_cast<T *>(call.results[0]);
    T *newVelocity = velocity ? static_cast<T *>(call.results[1]) : nullptr;
    if (!*static_cast<const uint8_t *>(call.operands[4])) {
      int64_t bytes = this->elements * int64_t(sizeof(T));
      keepOld(param, newParam, bytes);
      if (velocity)
        keepOld(velocity, newVelocity, bytes);
      return Status::success();
    }
    SgdStep<T> step = this->makeStep(call);
    parallelFor(this->threads, this->elements, kGrainElements,
                [=](int64_t begin, int64_t end, int) {
                  typedLoops<T>().sgd(
                      step, param + begin, grad + begin,
                      velocity ? velocity + begin : nullptr, newParam + begin,
                      velocity ? newVelocity + begin : nullptr, end - begin);
                });
    return Status::success();
  }
};

template <typename T> class SgdCheckKernel : public Sgd<T> {
public:
  using Sgd<T>::Sgd;

  Status run(const KernelCall &call) const override {
    const T *param = static_cast<const T *>(call.operands[0]);
    const T *grad = static_cast<const T *>(call.operands[1]);
    const T *velocity = this->velocityOf(call);
    SgdStep<T> step = this->makeStep(call);
    T norm = T(readReal(call.operands[4], this->normType));
    std::atomic<int64_t> count{0};
    parallelFor(this->threads, this->elements, kGrainElements,
                [=, &count](int64_t begin, int64_t end, int) {
                  count += typedLoops<T>().sgdCheck(
                      step, norm, param + begin, grad + begin,
                      velocity ? velocity + begin : nullptr, end - begin);
                });
    *static_cast<int64_t *>(call.results[0]) = count;
    return Status::success();
  }
};
} // namespace

/// The type of the parameter for each of these operands.
static Status expectLikeParam(const KernelSpec &spec,
                              std::initializer_list<int64_t> operands) {
  const TensorType &param = spec.operands[0];
  PIPER_RETURN_IF_ERROR(expectReal(spec, param, operandName(0)));
  for (int64_t i : operands)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), param.element,
                                     param.shape));
  return Status::success();
}

static Status expectResultsLikeParam(const KernelSpec &spec) {
  const TensorType &param = spec.operands[0];
  for (size_t i = 0; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[i],
                                     resultName(int64_t(i)), param.element,
                                     param.shape));
  return Status::success();
}

static Status expectFlag(const KernelSpec &spec, int64_t operand) {
  return expectType(spec, spec.operands[size_t(operand)], operandName(operand),
                    ElementType::I1, {});
}

/// The result of a check.
static Status expectCount(const KernelSpec &spec) {
  return expectType(spec, spec.results[0], resultName(0), ElementType::I64,
                    {1});
}

static Status checkAdamW(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(expectLikeParam(spec, {1, 2, 3}));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[4], operandName(4)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[5], operandName(5), ElementType::I64, {}));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[6], operandName(6)));
  for (const char *name : {"beta1", "beta2", "eps", "weight_decay"})
    PIPER_RETURN_IF_ERROR(expectFloatAttribute(spec, name));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>> createAdamW(const KernelSpec &spec,
                                                   const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 8, 3));
  PIPER_RETURN_IF_ERROR(checkAdamW(spec));
  PIPER_RETURN_IF_ERROR(expectFlag(spec, 7));
  PIPER_RETURN_IF_ERROR(expectResultsLikeParam(spec));
  return makeReal<AdamWKernel>(spec.operands[0].element, spec, target);
}

static Result<std::unique_ptr<Kernel>> createAdamWCheck(const KernelSpec &spec,
                                                        const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 8, 1));
  PIPER_RETURN_IF_ERROR(checkAdamW(spec));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[7], operandName(7)));
  PIPER_RETURN_IF_ERROR(expectCount(spec));
  return makeReal<AdamWCheckKernel>(spec.operands[0].element, spec, target);
}

static Status checkSgd(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(expectLikeParam(spec, {1}));
  if (spec.operands.size() == 6)
    PIPER_RETURN_IF_ERROR(expectLikeParam(spec, {5}));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[2], operandName(2)));
  return expectScalarReal(spec, spec.operands[3], operandName(3));
}

static Result<std::unique_ptr<Kernel>> createSgd(const KernelSpec &spec,
                                                 const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(5, 6), Arity(1, 2)));
  size_t results = spec.operands.size() == 6 ? 2 : 1;
  if (spec.results.size() != results)
    return kernelError(spec, "a result for parameter and each velocity",
                       std::to_string(spec.results.size()) + " results for " +
                           std::to_string(spec.operands.size()) + " operands");
  PIPER_RETURN_IF_ERROR(checkSgd(spec));
  PIPER_RETURN_IF_ERROR(expectFlag(spec, 4));
  PIPER_RETURN_IF_ERROR(expectResultsLikeParam(spec));
  return makeReal<SgdKernel>(spec.operands[0].element, spec, target);
}

static Result<std::unique_ptr<Kernel>> createSgdCheck(const KernelSpec &spec,
                                                      const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, Arity(5, 6), 1));
  PIPER_RETURN_IF_ERROR(checkSgd(spec));
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[4], operandName(4)));
  PIPER_RETURN_IF_ERROR(expectCount(spec));
  return makeReal<SgdCheckKernel>(spec.operands[0].element, spec, target);
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
  table.push_back(
      {"adamw_check", checked<createAdamWCheck>, nullptr, nullptr, nullptr});
  table.push_back(
      {"sgd_check", checked<createSgdCheck>, nullptr, nullptr, nullptr});
}

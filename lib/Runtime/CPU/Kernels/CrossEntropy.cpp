// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cross_entropy and its gradient. The losses of the positions are added in
// order, in f64.

#include "CPU/Parallel.h"
#include "CPU/SpecCheck.h"

#include <cmath>
#include <cstring>

using namespace piper::rt;
using namespace piper::rt::cpu;

/// An error that names the first label of `classes` or more.
static Status checkLabels(const char *kernel, const void *labels,
                          const TensorType &type, int64_t count,
                          int64_t classes) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t label = readIndex(labels, type.element, i);
    if (label >= classes)
      return Status::error("kernel '" + std::string(kernel) +
                           "' expects labels below " + std::to_string(classes) +
                           ", the number of classes, but got " +
                           std::to_string(label) + " at " + placeOf(i, type));
  }
  return Status::success();
}

namespace {
template <typename T> class CrossEntropyKernel : public Kernel {
public:
  CrossEntropyKernel(const KernelSpec &spec, const Target &target)
      : classes(spec.operands[0].shape.back()),
        rows(spec.operands[1].numElements()),
        labelType(spec.operands[1].element), labelTensor(spec.operands[1]),
        saves(spec.results.size() == 3), threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    const T *logits = static_cast<const T *>(call.operands[0]);
    const void *labels = call.operands[1];
    PIPER_RETURN_IF_ERROR(
        checkLabels("cross_entropy", labels, labelTensor, rows, classes));
    T *tops = saves ? static_cast<T *>(call.results[1]) : nullptr;
    T *totals = saves ? static_cast<T *>(call.results[2]) : nullptr;
    double *losses = reinterpret_cast<double *>(call.workspace);
    parallelFor(threads, rows, rowGrain(classes),
                [=](int64_t begin, int64_t end, int) {
                  for (int64_t row = begin; row < end; ++row) {
                    const T *x = logits + row * classes;
                    T top;
                    T total = typedLoops<T>().expSum(x, classes, &top);
                    int64_t label = readIndex(labels, labelType, row);
                    // The difference first: large logits leave it exact.
                    losses[row] = label < 0 ? 0
                                            : (double(top) - double(x[label])) +
                                                  std::log(double(total));
                    if (saves) {
                      tops[row] = top;
                      totals[row] = total;
                    }
                  }
                });
    double total = 0;
    for (int64_t row = 0; row < rows; ++row)
      total += losses[row];
    *static_cast<T *>(call.results[0]) = T(total);
    return Status::success();
  }

private:
  int64_t classes, rows;
  ElementType labelType;
  TensorType labelTensor;
  bool saves;
  int threads;
};

template <typename T> class CrossEntropyGradKernel : public Kernel {
public:
  CrossEntropyGradKernel(const KernelSpec &spec, const Target &target)
      : classes(spec.operands[1].shape.back()),
        rows(spec.operands[2].numElements()),
        labelType(spec.operands[2].element), labelTensor(spec.operands[2]),
        threads(threadsOf(target)) {}

  Status run(const KernelCall &call) const override {
    T dsum = *static_cast<const T *>(call.operands[0]);
    const T *logits = static_cast<const T *>(call.operands[1]);
    const void *labels = call.operands[2];
    const T *tops = static_cast<const T *>(call.operands[3]);
    const T *totals = static_cast<const T *>(call.operands[4]);
    T *dlogits = static_cast<T *>(call.results[0]);
    PIPER_RETURN_IF_ERROR(
        checkLabels("cross_entropy_grad", labels, labelTensor, rows, classes));
    parallelFor(
        threads, rows, rowGrain(classes), [=](int64_t begin, int64_t end, int) {
          for (int64_t row = begin; row < end; ++row) {
            int64_t label = readIndex(labels, labelType, row);
            T *to = dlogits + row * classes;
            if (label < 0) {
              std::memset(to, 0, size_t(classes) * sizeof(T));
              continue;
            }
            typedLoops<T>().expScaled(logits + row * classes, to, classes,
                                      tops[row], dsum / totals[row]);
            to[label] -= dsum;
          }
        });
    return Status::success();
  }

private:
  int64_t classes, rows;
  ElementType labelType;
  TensorType labelTensor;
  int threads;
};
} // namespace

/// Types of logits, labels and one number for each position.
static Status checkLoss(const KernelSpec &spec, const TensorType &logits,
                        const std::string &whichLogits,
                        const TensorType &labels,
                        const std::string &whichLabels) {
  PIPER_RETURN_IF_ERROR(expectReal(spec, logits, whichLogits));
  PIPER_RETURN_IF_ERROR(expectRank(spec, logits, whichLogits, 1));
  PIPER_RETURN_IF_ERROR(expectIndices(spec, labels, whichLabels));
  return expectType(spec, labels, whichLabels, labels.element,
                    Shape(logits.shape.begin(), logits.shape.end() - 1));
}

static Status checkCrossEntropy(const KernelSpec &spec) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, Arity(1, 3)));
  const TensorType &logits = spec.operands[0], &labels = spec.operands[1];
  PIPER_RETURN_IF_ERROR(
      checkLoss(spec, logits, operandName(0), labels, operandName(1)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), logits.element, {}));
  if (spec.results.size() == 2)
    return kernelError(spec, "1 or 3 results", "2");
  for (size_t i = 1; i < spec.results.size(); ++i)
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[i],
                                     resultName(int64_t(i)), logits.element,
                                     labels.shape));
  return Status::success();
}

static Result<std::unique_ptr<Kernel>>
createCrossEntropy(const KernelSpec &spec, const Target &target) {
  PIPER_RETURN_IF_ERROR(checkCrossEntropy(spec));
  return makeReal<CrossEntropyKernel>(spec.operands[0].element, spec, target);
}

static int64_t crossEntropyWorkspace(const KernelSpec &spec, const Target &) {
  if (!checkCrossEntropy(spec).ok())
    return 0;
  return spec.operands[1].numElements() * int64_t(sizeof(double));
}

static Result<std::unique_ptr<Kernel>>
createCrossEntropyGrad(const KernelSpec &spec, const Target &target) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 5, 1));
  const TensorType &logits = spec.operands[1], &labels = spec.operands[2];
  PIPER_RETURN_IF_ERROR(
      checkLoss(spec, logits, operandName(1), labels, operandName(2)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[0], operandName(0), logits.element, {}));
  for (int64_t i : {3, 4})
    PIPER_RETURN_IF_ERROR(expectType(spec, spec.operands[size_t(i)],
                                     operandName(i), logits.element,
                                     labels.shape));
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[0], resultName(0),
                                   logits.element, logits.shape));
  return makeReal<CrossEntropyGradKernel>(logits.element, spec, target);
}

static bool crossEntropyGradMayAlias(const KernelSpec &spec, int operand,
                                     int result) {
  return operand == 1 && result == 0;
}

void cpu::addCrossEntropyKernels(KernelTable &table) {
  table.push_back({"cross_entropy", checked<createCrossEntropy>,
                   crossEntropyWorkspace, nullptr, nullptr});
  table.push_back({"cross_entropy_grad", checked<createCrossEntropyGrad>,
                   nullptr, crossEntropyGradMayAlias, nullptr});
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a few numbers: random key, origin, counters, learning rate,
// counts and their quotients.

#include "CPU/SpecCheck.h"

#include <cmath>
#include <cstring>
#include <functional>

using namespace piper::rt;
using namespace piper::rt::cpu;

namespace {
/// A kernel that is one small function.
class ScalarKernel : public Kernel {
public:
  explicit ScalarKernel(std::function<void(const KernelCall &)> body)
      : body(std::move(body)) {}
  Status run(const KernelCall &call) const override {
    body(call);
    return Status::success();
  }

private:
  std::function<void(const KernelCall &)> body;
};
} // namespace

static std::unique_ptr<Kernel>
makeScalar(std::function<void(const KernelCall &)> body) {
  return std::make_unique<ScalarKernel>(std::move(body));
}

static int64_t readCount(const void *data) {
  return *static_cast<const int64_t *>(data);
}

/// count + 1, wrapping like the counters of a program that ran for 2^63 steps.
static int64_t next(int64_t count) { return int64_t(uint64_t(count) + 1); }

static Status expectCount(const KernelSpec &spec, const TensorType &type,
                          const std::string &which) {
  return expectType(spec, type, which, ElementType::I64, {});
}

static Result<std::unique_ptr<Kernel>> createRandomKey(const KernelSpec &spec,
                                                       const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[0], operandName(0)));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[1], operandName(1)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), ElementType::I64, {2}));
  return makeScalar([](const KernelCall &call) {
    int64_t *key = static_cast<int64_t *>(call.results[0]);
    key[0] = readCount(call.operands[0]);
    key[1] = readCount(call.operands[1]);
  });
}

static Result<std::unique_ptr<Kernel>> createOrigin(const KernelSpec &spec,
                                                    const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 0, 1));
  std::vector<int64_t> step = spec.attributes.getInts("step");
  PIPER_RETURN_IF_ERROR(expectType(spec, spec.results[0], resultName(0),
                                   ElementType::I64, {int64_t(step.size())}));
  return makeScalar([=](const KernelCall &call) {
    int64_t *origin = static_cast<int64_t *>(call.results[0]);
    for (size_t i = 0; i < step.size(); ++i)
      origin[i] = int64_t(uint64_t(step[i]) * uint64_t(call.microBatch));
  });
}

static Result<std::unique_ptr<Kernel>> createAdvance(const KernelSpec &spec,
                                                     const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 3, 2));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[0], operandName(0)));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[1], operandName(1)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.operands[2], operandName(2), ElementType::I1, {}));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.results[0], resultName(0)));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.results[1], resultName(1)));
  return makeScalar([](const KernelCall &call) {
    int64_t iteration = readCount(call.operands[0]);
    int64_t update = readCount(call.operands[1]);
    bool ok = *static_cast<const uint8_t *>(call.operands[2]);
    *static_cast<int64_t *>(call.results[0]) = next(iteration);
    *static_cast<int64_t *>(call.results[1]) = ok ? next(update) : update;
  });
}

static bool advanceMayAlias(const KernelSpec &spec, int operand, int result) {
  return operand < 2 && operand == result;
}

static Result<std::unique_ptr<Kernel>> createCountValid(const KernelSpec &spec,
                                                        const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  PIPER_RETURN_IF_ERROR(expectIndices(spec, spec.operands[0], operandName(0)));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.results[0], resultName(0)));
  ElementType type = spec.operands[0].element;
  int64_t elements = spec.operands[0].numElements();
  return makeScalar([=](const KernelCall &call) {
    int64_t count = 0;
    for (int64_t i = 0; i < elements; ++i)
      count += readIndex(call.operands[0], type, i) >= 0;
    *static_cast<int64_t *>(call.results[0]) = count;
  });
}

static Result<std::unique_ptr<Kernel>> createDivide(const KernelSpec &spec,
                                                    const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 2, 1));
  ElementType type = spec.operands[0].element;
  PIPER_RETURN_IF_ERROR(
      expectScalarReal(spec, spec.operands[0], operandName(0)));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[1], operandName(1)));
  PIPER_RETURN_IF_ERROR(
      expectType(spec, spec.results[0], resultName(0), type, {}));
  return makeScalar([=](const KernelCall &call) {
    int64_t count = readCount(call.operands[1]);
    double sum = readReal(call.operands[0], type);
    writeReal(call.results[0], type, count == 0 ? NAN : sum / double(count));
  });
}

static bool divideMayAlias(const KernelSpec &spec, int operand, int result) {
  return operand == 0 && result == 0;
}

static Result<std::unique_ptr<Kernel>> createReciprocal(const KernelSpec &spec,
                                                        const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[0], operandName(0)));
  PIPER_RETURN_IF_ERROR(expectScalarReal(spec, spec.results[0], resultName(0)));
  ElementType type = spec.results[0].element;
  return makeScalar([=](const KernelCall &call) {
    int64_t count = readCount(call.operands[0]);
    writeReal(call.results[0], type, count == 0 ? 0 : 1 / double(count));
  });
}

//===----------------------------------------------------------------------===//
// learning_rate
//===----------------------------------------------------------------------===//

namespace {
struct RateSchedule {
  explicit RateSchedule(const Attributes &attributes)
      : name(attributes.getString("schedule")), lr(attributes.getFloat("lr")),
        minLr(attributes.getFloat("min_lr")),
        warmup(double(attributes.getInt("warmup_steps"))),
        total(double(attributes.getInt("total_steps"))) {}

  double rate(double update) const {
    if (update < warmup)
      return lr * (update + 1) / warmup;
    if (name == "constant")
      return lr;
    double t = total > warmup ? (update - warmup) / (total - warmup) : 1;
    t = std::fmin(t, 1);
    if (name == "linear")
      return lr + (minLr - lr) * t;
    return minLr + (lr - minLr) * (1 + std::cos(M_PI * t)) / 2;
  }

  std::string name;
  double lr, minLr, warmup, total;
};
} // namespace

static Result<std::unique_ptr<Kernel>>
createLearningRate(const KernelSpec &spec, const Target &) {
  PIPER_RETURN_IF_ERROR(checkSpec(spec, 1, 1));
  PIPER_RETURN_IF_ERROR(expectCount(spec, spec.operands[0], operandName(0)));
  PIPER_RETURN_IF_ERROR(expectScalarReal(spec, spec.results[0], resultName(0)));
  PIPER_RETURN_IF_ERROR(expectFloatAttribute(spec, "lr"));
  RateSchedule schedule(spec.attributes);
  if (schedule.name != "constant" && schedule.name != "linear" &&
      schedule.name != "cosine")
    return kernelError(spec,
                       "'schedule' to be 'constant', 'linear' or 'cosine'",
                       "'" + schedule.name + "'");
  ElementType type = spec.results[0].element;
  return makeScalar([=](const KernelCall &call) {
    double update = double(readCount(call.operands[0]));
    writeReal(call.results[0], type, schedule.rate(update));
  });
}

void cpu::addScalarKernels(KernelTable &table) {
  table.push_back(
      {"advance", checked<createAdvance>, nullptr, advanceMayAlias, nullptr});
  table.push_back(
      {"count_valid", checked<createCountValid>, nullptr, nullptr, nullptr});
  table.push_back(
      {"divide", checked<createDivide>, nullptr, divideMayAlias, nullptr});
  table.push_back({"learning_rate", checked<createLearningRate>, nullptr,
                   nullptr, nullptr});
  table.push_back({"origin", checked<createOrigin>, nullptr, nullptr, nullptr});
  table.push_back(
      {"random_key", checked<createRandomKey>, nullptr, nullptr, nullptr});
  table.push_back(
      {"reciprocal", checked<createReciprocal>, nullptr, nullptr, nullptr});
}

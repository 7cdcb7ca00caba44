// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that note their times and hand on to those of the table.

#include "KernelTimer.h"

#include "Clock.h"
#include "Piper/Runtime/Kernel.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace piper;
using namespace piper::rt;

/// The mangled name of findKernel, as --wrap wants it.
#define FIND_KERNEL                                                            \
  _ZN5piper2rt10findKernelERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
#define JOIN(a, b) a##b
#define NAMED(prefix, name) JOIN(prefix, name)

extern "C" const KernelEntry *NAMED(__real_, FIND_KERNEL)(const std::string &);

namespace {
/// The calls of one kernel in the order of a step.
struct Record {
  std::string name;
  double flops = 0;
  std::vector<double> fastest;
  size_t next = 0;

  void note(double time) {
    if (next == fastest.size())
      fastest.push_back(time);
    fastest[next] = std::min(fastest[next], time);
    ++next;
  }
};
} // namespace

static bool timing = false;

/// One record per kernel object: they are made once and never move.
static std::vector<std::unique_ptr<Record>> &records() {
  static std::vector<std::unique_ptr<Record>> all;
  return all;
}

static std::string describe(const KernelSpec &spec) {
  std::string text = spec.name;
  for (const TensorType &type : spec.operands)
    if (text.size() < 60)
      text += " " + type.str().substr(sizeof("tensor") - 1);
  for (const char *name : {"transpose_a", "transpose_b"})
    if (spec.attributes.getInt(name))
      text += std::string(" ") + name;
  return text;
}

static double productFlops(const KernelSpec &spec) {
  if (spec.name != "matmul")
    return 0;
  const std::vector<int64_t> &a = spec.operands[0].shape;
  bool transposed = spec.attributes.getInt("transpose_a") != 0;
  double depth = double(a[a.size() - (transposed ? 2 : 1)]);
  return 2 * depth * double(spec.results[0].numElements());
}

namespace {
class TimedKernel : public Kernel {
public:
  TimedKernel(std::unique_ptr<Kernel> kernel, const KernelSpec &spec)
      : kernel(std::move(kernel)) {
    auto made = std::make_unique<Record>();
    made->name = describe(spec);
    made->flops = productFlops(spec);
    record = made.get();
    records().push_back(std::move(made));
  }

  Status run(const KernelCall &call) const override {
    if (!timing)
      return kernel->run(call);
    double begin = bench::milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    Status status = kernel->run(call);
    record->note(bench::milliseconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
    return status;
  }

private:
  std::unique_ptr<Kernel> kernel;
  Record *record;
};
} // namespace

static Result<std::unique_ptr<Kernel>> createTimed(const KernelSpec &spec,
                                                   const Target &target) {
  Result<std::unique_ptr<Kernel>> kernel =
      NAMED(__real_, FIND_KERNEL)(spec.name)->create(spec, target);
  if (!kernel.ok())
    return kernel.takeStatus();
  return std::unique_ptr<Kernel>(
      std::make_unique<TimedKernel>(std::move(*kernel), spec));
}

extern "C" const KernelEntry *NAMED(__wrap_,
                                    FIND_KERNEL)(const std::string &name) {
  static std::map<std::string, KernelEntry> timed;
  const KernelEntry *entry = NAMED(__real_, FIND_KERNEL)(name);
  if (!entry)
    return nullptr;
  auto [at, added] = timed.emplace(name, *entry);
  if (added)
    at->second.create = createTimed;
  return &at->second;
}

void bench::startTiming() { timing = true; }

void bench::nextStep() {
  for (const std::unique_ptr<Record> &record : records())
    record->next = 0;
}

std::vector<bench::KernelCost> bench::kernelCosts() {
  std::map<std::string, KernelCost> byName;
  for (const std::unique_ptr<Record> &record : records()) {
    if (record->fastest.empty())
      continue;
    KernelCost &cost = byName[record->name];
    cost.name = record->name;
    cost.calls += int64_t(record->fastest.size());
    cost.flops += record->flops * double(record->fastest.size());
    for (double time : record->fastest)
      cost.milliseconds += time;
  }
  std::vector<KernelCost> costs;
  for (auto &[name, cost] : byName)
    costs.push_back(std::move(cost));
  std::sort(costs.begin(), costs.end(),
            [](const KernelCost &a, const KernelCost &b) {
              return a.milliseconds > b.milliseconds;
            });
  return costs;
}

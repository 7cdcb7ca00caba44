// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparison of two programs, step by step.

#include "Piper/Runtime/Compare.h"

#include "Piper/Runtime/Dump.h"
#include "Piper/Runtime/Report.h"
#include "Piper/Runtime/Step.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace piper::rt;
using Kind = StateTensor::Kind;

/// "[2, 5]" for a flat index.
static std::string describeIndex(const TensorType &type, int64_t flat) {
  std::string text;
  for (int64_t d = type.rank() - 1; d >= 0; --d) {
    text = std::to_string(flat % type.shape[d]) + (text.empty() ? "" : ", ") +
           text;
    flat /= type.shape[d];
  }
  return "[" + text + "]";
}

static std::string formatNumber(double value) {
  return piper::rt::formatNumber("%.9g", value);
}

/// Whether the plan updates parameters by AdamW.
static bool usesAdamW(const Plan &plan) {
  for (const Program &program : plan.programs)
    for (const Function &function : program.functions)
      for (const Function::Step &step : function.steps)
        if (step.spec.name == "adamw")
          return true;
  return false;
}

namespace {
class Comparer {
public:
  Comparer(Executor &executor, BatchSource &source, Executor &reference,
           BatchSource &referenceSource, const CompareOptions &options)
      : executor(executor), source(source), reference(reference),
        referenceSource(referenceSource), options(options),
        isAdamW(usesAdamW(reference.plan())) {}

  Status run();

private:
  struct Difference {
    double excess;
    std::string text;
  };

  Status checkPrograms(const StepRunner &a, const StepRunner &b) const;
  Status checkInputs(const EntryPoint &a, const EntryPoint &b) const;
  void compareTensor(const std::string &what, const TensorView &value,
                     const TensorView &ref, double bound = 0);
  void compareStep(const StepRunner &a, const StepRunner &b);
  void compareParameters(double lr);
  Status report(const std::string &where);

  Executor &executor;
  BatchSource &source;
  Executor &reference;
  BatchSource &referenceSource;
  CompareOptions options;
  /// Adam's division turns rounding noise into steps of size lr, so that after
  /// the first step only the parameters can be compared, and those to a part of
  /// lr.
  bool isAdamW;
  std::vector<Difference> differences;
  int64_t compared = 0;
};
} // namespace

Status Comparer::checkInputs(const EntryPoint &a, const EntryPoint &b) const {
  for (const auto *entry : {&a, &b})
    for (const Binding &input : entry->inputs) {
      const EntryPoint &other = entry == &a ? b : a;
      auto it = std::find_if(
          other.inputs.begin(), other.inputs.end(),
          [&](const Binding &binding) { return binding.name == input.name; });
      if (it == other.inputs.end())
        return Status::error("only one of the programs has the input '" +
                             input.name + "'");
      const TensorType &type = entry->values[input.value].type;
      const TensorType &otherType = other.values[it->value].type;
      // The element type may differ: f64 against f32.
      if (type.shape != otherType.shape)
        return Status::error("input '" + input.name +
                             "' differs between the programs: " + type.str() +
                             " and " + otherType.str());
    }
  return Status::success();
}

Status Comparer::checkPrograms(const StepRunner &a, const StepRunner &b) const {
  PIPER_RETURN_IF_ERROR(checkInputs(executor.entry(a.entryIndex()),
                                    reference.entry(b.entryIndex())));
  const Program &pa = executor.program(), &pb = reference.program();
  for (const auto *program : {&pa, &pb})
    for (const StateTensor &tensor : program->state) {
      if (tensor.kind != Kind::Parameter)
        continue;
      const Program &other = program == &pa ? pb : pa;
      const StateTensor *match = other.findState(tensor.name);
      if (!match || match->kind != Kind::Parameter)
        return Status::error("only one of the programs has the parameter '" +
                             tensor.name + "'");
      if (match->type.shape != tensor.type.shape)
        return Status::error("parameter '" + tensor.name +
                             "' differs between the programs: " +
                             tensor.type.str() + " and " + match->type.str());
    }
  PIPER_RETURN_IF_ERROR(
      checkKeepsGradients(pa, executor.entry(a.entryIndex())));
  return checkKeepsGradients(pb, reference.entry(b.entryIndex()));
}

void Comparer::compareTensor(const std::string &what, const TensorView &value,
                             const TensorView &ref, double bound) {
  ++compared;
  MatchResult result =
      bound > 0 ? matchWithin(value, ref, bound) : matchTensors(value, ref);
  if (result.match)
    return;
  double difference = std::abs(result.value - result.reference);
  double excess = difference / result.allowed;
  differences.push_back({std::isnan(excess) ? HUGE_VAL : excess,
                         what + ", element " +
                             describeIndex(ref.type, result.element) + ": " +
                             formatNumber(result.value) + " against " +
                             formatNumber(result.reference) + ", differs by " +
                             formatNumber(difference) + " of " +
                             formatNumber(result.allowed) + " allowed"});
}

void Comparer::compareStep(const StepRunner &a, const StepRunner &b) {
  if (a.result().count != b.result().count)
    differences.push_back({HUGE_VAL, "the numbers of valid labels differ"});
  if (a.result().ok != b.result().ok)
    differences.push_back(
        {HUGE_VAL, "only one of the programs skips the step"});
  if (isAdamW && compared > 0)
    return;
  TensorType scalar{ElementType::F64, {}};
  double losses[2] = {a.result().loss, b.result().loss};
  compareTensor("loss",
                {reinterpret_cast<const std::byte *>(&losses[0]), scalar},
                {reinterpret_cast<const std::byte *>(&losses[1]), scalar});
  const EntryPoint &entry = executor.entry(a.entryIndex());
  const EntryPoint &other = reference.entry(b.entryIndex());
  for (const Binding &gradient : other.gradients)
    for (const Binding &mine : entry.gradients)
      if (mine.name == gradient.name)
        compareTensor("gradient '" + gradient.name + "'",
                      {executor.valueData(a.entryIndex(), mine.value),
                       entry.values[mine.value].type},
                      {reference.valueData(b.entryIndex(), gradient.value),
                       other.values[gradient.value].type});
}

void Comparer::compareParameters(double lr) {
  const Program &mine = executor.program(), &theirs = reference.program();
  double bound = isAdamW ? 0.05 * lr : 0;
  for (size_t r = 0; r < theirs.state.size(); ++r)
    for (size_t s = 0; s < mine.state.size(); ++s)
      if (theirs.state[r].kind == Kind::Parameter &&
          mine.state[s].name == theirs.state[r].name)
        compareTensor("parameter '" + theirs.state[r].name + "'",
                      {executor.stateData(int(s)), mine.state[s].type},
                      {reference.stateData(int(r)), theirs.state[r].type},
                      bound);
}

Status Comparer::report(const std::string &where) {
  if (differences.empty())
    return Status::success();
  std::stable_sort(differences.begin(), differences.end(),
                   [](const Difference &a, const Difference &b) {
                     return a.excess > b.excess;
                   });
  Status status = Status::error(
      "'" + executor.program().name + "' does not match '" +
      reference.program().name + "' " + where + ": " +
      std::to_string(differences.size()) + " of " + std::to_string(compared) +
      " comparisons fail; worst: " + differences.front().text);
  for (size_t i = 1; i < differences.size(); ++i)
    status.addNote(differences[i].text);
  return status;
}

Status Comparer::run() {
  Result<StepRunner> a = StepRunner::create(executor, "train", source);
  if (!a.ok())
    return a.takeStatus();
  Result<StepRunner> b =
      StepRunner::create(reference, "train", referenceSource);
  if (!b.ok())
    return b.takeStatus();
  PIPER_RETURN_IF_ERROR(checkPrograms(*a, *b));
  double lr = 0;
  for (int64_t s = 0; s < options.steps; ++s) {
    int64_t iteration = executor.counter("iteration", s);
    if (iteration != reference.counter("iteration", s))
      return Status::error(
          "the programs are at different steps: " + std::to_string(iteration) +
          " and " + std::to_string(reference.counter("iteration", s)));
    PIPER_RETURN_IF_ERROR(a->run(iteration));
    PIPER_RETURN_IF_ERROR(b->run(iteration));
    lr = std::max(lr, b->result().lr.value_or(0));
    compareStep(*a, *b);
    PIPER_RETURN_IF_ERROR(report("at step " + std::to_string(iteration)));
  }
  compareParameters(lr);
  PIPER_RETURN_IF_ERROR(
      report("after " + std::to_string(options.steps) + " steps"));
  if (options.out)
    *options.out << "'" << executor.program().name << "' matches '"
                 << reference.program().name << "': " << compared
                 << " comparisons over " << options.steps
                 << (options.steps == 1 ? " step\n" : " steps\n");
  return Status::success();
}

Status piper::rt::compare(Executor &executor, BatchSource &source,
                          Executor &reference, BatchSource &referenceSource,
                          const CompareOptions &options) {
  return Comparer(executor, source, reference, referenceSource, options).run();
}

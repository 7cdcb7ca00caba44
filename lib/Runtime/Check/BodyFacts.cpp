// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, views and results in place of a body.

#include "BodyFacts.h"

using namespace piper::rt;

int64_t piper::rt::viewOffsetOf(const KernelSpec &spec,
                                const KernelEntry &kernel) {
  return kernel.viewOffset ? kernel.viewOffset(spec) : -1;
}

BodyFacts::BodyFacts(const Function &function) {
  bytes.reserve(function.values.size());
  for (const FunctionValue &value : function.values)
    bytes.push_back(value.type.numBytes());
  steps.reserve(function.steps.size());
  for (const Function::Step &step : function.steps) {
    const KernelEntry &kernel = *findKernel(step.spec.name);
    Step facts;
    facts.viewOffset = viewOffsetOf(step.spec, kernel);
    facts.numResults = step.results.size();
    for (size_t o = 0; o < step.operands.size(); ++o)
      for (size_t r = 0; r < step.results.size(); ++r)
        facts.aliases.push_back(kernel.mayAlias &&
                                bytes[step.operands[o]] ==
                                    bytes[step.results[r]] &&
                                kernel.mayAlias(step.spec, int(o), int(r)));
    steps.push_back(std::move(facts));
  }
}

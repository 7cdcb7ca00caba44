// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tasks cost, from a file of costs and the ops of their bodies.

#include "Directives/Directive.h"

using namespace mlir;
using namespace mlir::piper;

FailureOr<::piper::rt::TaskCosts>
mlir::piper::getTaskCosts(const Directives &directives,
                          const Origins &origins) {
  if (directives.options.costs.empty())
    return ::piper::rt::TaskCosts();
  auto costs = ::piper::rt::readTaskCosts(directives.options.costs);
  if (!costs.ok())
    return origins.error(directives.options.costsNumber, "options")
           << costs.takeStatus().str();
  return std::move(*costs);
}

TaskCostTable::TaskCostTable(ModuleOp module, ::piper::rt::TaskCosts costs)
    : given(std::move(costs)), symbols(module) {}

static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
}

double TaskCostTable::of(TaskOp task) {
  auto [found, isNew] = bodies.try_emplace(task.getCallee());
  Work &work = found->second;
  if (isNew)
    if (auto body = symbols.lookup<func::FuncOp>(task.getCallee()))
      body.walk([&](CostOpInterface op) {
        work.flops = add(work.flops, op.getFlops());
        work.bytes = add(work.bytes, op.getBytes());
      });
  std::string function = task.getCallee().str();
  if (!task.getInto().empty())
    function += ".into";
  return given.ofTask(function, stringifyPassKind(task.getPass()).str(),
                      work.flops, work.bytes);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function of piper ops kernel by kernel.

#include "Interpreter.h"

#include "Piper/Target/BuildProgram.h"

#include "gtest/gtest.h"

using namespace piper::rt;
using namespace piper::test;

HostTensor piper::test::makeWorkspace(int64_t bytes) {
  return HostTensor({ElementType::I1, {bytes}});
}

Interpreter::Interpreter(mlir::func::FuncOp function) {
  auto add = [&](mlir::Value value) {
    index[value] = int(types.size());
    types.push_back(mlir::piper::convertType(value.getType()));
  };
  mlir::Block &body = function.front();
  llvm::for_each(body.getArguments(), add);
  for (mlir::Operation &op : body.without_terminator()) {
    llvm::for_each(op.getResults(), add);
    addStep(&op);
  }
  for (mlir::Value value : body.getTerminator()->getOperands())
    returned.push_back(index[value]);
}

void Interpreter::addStep(mlir::Operation *op) {
  Target target;
  auto entry = mlir::piper::lookupKernel(op);
  auto spec = mlir::piper::buildKernelSpec(op);
  if (failed(entry) || failed(spec)) {
    ADD_FAILURE() << "no kernel for " << op->getName().getStringRef().str();
    return;
  }
  auto kernel = (*entry)->create(*spec, target);
  if (!kernel.ok()) {
    ADD_FAILURE() << spec->name << ": " << kernel.takeStatus().str();
    return;
  }
  Step step;
  step.kernel = std::move(*kernel);
  for (mlir::Value value : op->getOperands())
    step.operands.push_back(index[value]);
  for (mlir::Value value : op->getResults())
    step.results.push_back(index[value]);
  if ((*entry)->workspaceBytes)
    step.workspaceBytes = (*entry)->workspaceBytes(*spec, target);
  steps.push_back(std::move(step));
}

std::vector<HostTensor>
Interpreter::run(const std::vector<HostTensor> &operands,
                 int64_t microBatch) const {
  std::vector<HostTensor> values = operands;
  for (size_t i = values.size(); i < types.size(); ++i)
    values.emplace_back(types[i]);
  for (const Step &step : steps) {
    std::vector<const void *> in;
    std::vector<void *> out;
    for (int value : step.operands)
      in.push_back(values[value].data());
    for (int value : step.results)
      out.push_back(values[value].data());
    HostTensor workspace = makeWorkspace(step.workspaceBytes);
    KernelCall call{in.data(), out.data(),
                    static_cast<std::byte *>(workspace.data()), kSalt,
                    microBatch};
    Status status = step.kernel->run(call);
    EXPECT_TRUE(status.ok()) << status.str();
  }
  std::vector<HostTensor> results;
  for (int value : returned)
    results.push_back(values[value]);
  return results;
}

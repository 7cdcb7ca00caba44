// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function of piper ops kernel by kernel, each value in memory of its
// own: the plainest way to run one, with no planner between op and kernel.

#ifndef PIPER_UNITTESTS_COMPILER_INTERPRETER_H
#define PIPER_UNITTESTS_COMPILER_INTERPRETER_H

#include "HostTensor.h"

#include "Piper/Runtime/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace piper::test {

/// The salt of every run.
constexpr int64_t kSalt = 11;

/// Scratch memory for one kernel.
HostTensor makeWorkspace(int64_t bytes);

class Interpreter {
public:
  /// Makes the kernels. What goes wrong here or in a run is a test failure.
  explicit Interpreter(mlir::func::FuncOp function);

  std::vector<HostTensor> run(const std::vector<HostTensor> &operands,
                              int64_t microBatch = 0) const;

private:
  struct Step {
    std::unique_ptr<rt::Kernel> kernel;
    std::vector<int> operands, results;
    int64_t workspaceBytes = 0;
  };
  void addStep(mlir::Operation *op);

  std::vector<rt::TensorType> types;
  llvm::DenseMap<mlir::Value, int> index;
  std::vector<Step> steps;
  std::vector<int> returned;
};

} // namespace piper::test

#endif // PIPER_UNITTESTS_COMPILER_INTERPRETER_H

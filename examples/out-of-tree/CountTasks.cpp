// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An opt tool with one pass more than piper-opt: it says how many tasks there
// are.

#include "Piper/Transforms/Pipelines.h"

#include "Piper/Dialect/PiperDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

struct CountTasks : mlir::PassWrapper<CountTasks, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountTasks)
  llvm::StringRef getArgument() const override { return "count-tasks"; }
  void runOnOperation() override {
    int count = 0;
    getOperation()->walk([&](mlir::piper::TaskOp) { ++count; });
    llvm::errs() << count << " tasks\n";
  }
};

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::piper::PiperDialect, mlir::func::FuncDialect>();
  mlir::piper::registerPiperPasses();
  mlir::PassRegistration<CountTasks>();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "count-tasks\n", registry));
}

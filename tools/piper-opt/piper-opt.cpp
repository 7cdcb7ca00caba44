// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-opt: runs passes on .mlir files, in the manner of mlir-opt.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::piper::PiperDialect, mlir::func::FuncDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::piper::registerPiperPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Piper: passes over training programs\n",
                        registry));
}

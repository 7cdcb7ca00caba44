// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-lsp-server: the language server that editors start for .mlir files
// with the piper dialect.

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::piper::PiperDialect, mlir::func::FuncDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

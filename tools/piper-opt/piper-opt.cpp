// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-opt: runs passes on .mlir files, in the manner of mlir-opt.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Driver/SourceFile.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

#include <csignal>

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that grows past a limit is an error of the write, not a signal
  // (LLVM has just taken that for a crash).
  std::signal(SIGXFSZ, SIG_IGN);
  mlir::DialectRegistry registry;
  registry.insert<mlir::piper::PiperDialect, mlir::func::FuncDialect>();
  // One line for each error; --mlir-print-op-on-diagnostic asks for more.
  registry.addExtension(
      +[](mlir::MLIRContext *context, mlir::piper::PiperDialect *) {
        context->printOpOnDiagnostic(false);
      });
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::piper::registerPiperPasses();
  auto [inputPath, outputPath] = mlir::registerAndParseCLIOptions(
      argc, argv, "Piper: passes over training programs\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();

  std::string error;
  auto input = mlir::piper::openSource(inputPath, error);
  auto output = input ? mlir::openOutputFile(outputPath, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (failed(
          mlir::MlirOptMain(output->os(), std::move(input), registry, config)))
    return 1;
  output->keep();
  return 0;
}

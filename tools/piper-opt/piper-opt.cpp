// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-opt: runs passes on .mlir files, in the manner of mlir-opt.

#include "OptFiles.h"
#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Driver/CommandLine.h"
#include "Piper/Driver/SourceFile.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/StringSaver.h"

#include <csignal>

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that grows past a limit is an error of the write, not a signal
  // (LLVM has just taken that for a crash).
  std::signal(SIGXFSZ, SIG_IGN);
  // Response files are read here: options of passes point into their texts.
  llvm::BumpPtrAllocator texts;
  llvm::StringSaver saver(texts);
  llvm::SmallVector<const char *> args(argv, argv + argc);
  llvm::cl::ExpandResponseFiles(saver, llvm::cl::TokenizeGNUCommandLine, args);
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
      args.size(), const_cast<char **>(args.data()),
      "Piper: passes over training programs\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();

  auto fail = [](const std::string &message) {
    llvm::errs() << "piper-opt: error: " << message << "\n";
    return 1;
  };
  std::string error = mlir::piper::findRepeatedFlag();
  if (!error.empty())
    return fail(error);
  piper::rt::Status status = checkOptFiles(llvm::ArrayRef(args).drop_front(),
                                           inputPath, outputPath, config);
  if (!status.ok())
    return fail(status.message());
  auto input = mlir::piper::openSource(inputPath, error);
  if (!input) {
    llvm::errs() << error << "\n";
    return 1;
  }
  bool failed = false;
  status = runOpt(std::move(input), outputPath, registry, config, failed);
  if (!status.ok())
    return fail(status.message());
  return failed;
}

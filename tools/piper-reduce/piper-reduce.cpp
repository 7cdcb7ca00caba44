// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-reduce: makes an .mlir file that shows a bug as small as it can, in the
// manner of mlir-reduce, whose main opens its output before it reads its input.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Driver/CommandLine.h"
#include "Piper/Driver/SourceFile.h"
#include "Piper/Runtime/CommandFiles.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Tools/ParseUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/StringSaver.h"

#include <csignal>

using namespace piper::rt;
namespace cl = llvm::cl;

/// Diagnostics have said what is wrong where the result is empty.
static std::string reduce(mlir::MLIRContext &context, const std::string &path,
                          bool explicitModule,
                          const mlir::PassPipelineCLParser &parser) {
  std::string error;
  auto buffer = mlir::piper::openSource(path, error);
  if (!buffer) {
    llvm::errs() << error << "\n";
    return "";
  }
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
  mlir::ParserConfig config(&context);
  mlir::OwningOpRef<mlir::Operation *> op =
      mlir::parseSourceFileForTool(sources, config, !explicitModule);
  if (!op)
    return "";
  mlir::PassManager passes(&context, op.get()->getName().getStringRef());
  auto emit = [&](const llvm::Twine &message) {
    return mlir::emitError(mlir::UnknownLoc::get(&context), message);
  };
  if (failed(parser.addToPipeline(passes, emit)) ||
      failed(passes.run(op.get())))
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  op.get()->print(os);
  return text;
}

static Status check(llvm::ArrayRef<const char *> arguments,
                    const std::string &output) {
  std::string error = mlir::piper::findRepeatedFlag();
  if (!error.empty())
    return Status::error(error);
  // The result may take the place of what it was made from, and of nothing else
  // that is read.
  CommandFiles files;
  for (const std::string &file : mlir::piper::findFileOptions(
           arguments, {"test", "file", "costs", "directives", "schedule"}))
    files.addInput(file);
  return files.addOutput(output);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that grows past a limit is an error of the write, not a signal
  // (LLVM has just taken that for a crash).
  std::signal(SIGXFSZ, SIG_IGN);
  // Response files are read here: options of passes point into their texts.
  llvm::BumpPtrAllocator texts;
  llvm::StringSaver saver(texts);
  llvm::SmallVector<const char *> args(argv, argv + argc);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, args);
  mlir::DialectRegistry registry;
  registry.insert<mlir::piper::PiperDialect, mlir::func::FuncDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerReducerPasses();
  mlir::piper::registerPiperPasses();
  cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"),
                             cl::init("-"));
  cl::opt<std::string> output(
      "o", cl::desc("Output filename for the reduced test case"),
      cl::value_desc("filename"), cl::init("-"));
  cl::opt<bool> explicitModule(
      "no-implicit-module",
      cl::desc("Disable implicit addition of a top-level module op"));
  mlir::PassPipelineCLParser parser("", "Reduction Passes to Run");
  cl::ParseCommandLineOptions(args.size(), args.data(),
                              "MLIR test case reduction tool.\n");
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  Status status = check(llvm::ArrayRef(args).drop_front(), output);
  std::string text;
  if (status.ok()) {
    text = reduce(context, input, explicitModule, parser);
    if (text.empty())
      return 1;
    status = writeFile(output, text);
  }
  if (status.ok())
    return 0;
  llvm::errs() << "piper-reduce: error: " << status.message() << "\n";
  return 1;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piper-model: writes Level 0 models, from sizes or from a Hugging Face config.

#include "ModelFlags.h"
#include "Piper/Runtime/CommandFiles.h"
#include "Piper/Runtime/Files.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/InitLLVM.h"

#include <csignal>

using namespace mlir;
using namespace mlir::piper;
namespace rt = ::piper::rt;

static llvm::Expected<OwningModule> build(MLIRContext *context,
                                          const ModelRequest &request) {
  const ModelOptions &options = request.options;
  if (auto *config = std::get_if<GPT2Config>(&request.config))
    return buildGPT2(context, *config, options);
  if (auto *config = std::get_if<MLPConfig>(&request.config))
    return buildMLP(context, *config, options);
  if (auto *config = std::get_if<ChainConfig>(&request.config))
    return buildChain(context, *config, options);
  return buildLM(context, std::get<LMConfig>(request.config), options);
}

static std::string modelText(ModuleOp module, bool bytecode) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytecode)
    (void)writeBytecodeToFile(module, os);
  else
    module->print(os, OpPrintingFlags().printNameLocAsPrefix());
  return text;
}

static std::string inputText(const ModelRequest &request) {
  if (auto *config = std::get_if<ChainConfig>(&request.config))
    return chainInputs(*config, request.steps, request.options.doublePrecision);
  return lmInputs(std::get<LMConfig>(request.config), request.steps);
}

static llvm::Error toError(rt::Status status) {
  return status.ok() ? llvm::Error::success()
                     : llvm::createStringError(status.message());
}

/// Before anything is built or written: no output takes the place of the config
/// or of the other.
static rt::Status checkFiles(const ModelRequest &request) {
  rt::CommandFiles files;
  files.addInput(request.configFile);
  for (const std::string *path : {&request.output, &request.inputs})
    if (!path->empty())
      PIPER_RETURN_IF_ERROR(files.addOutput(*path));
  return rt::Status::success();
}

static llvm::Error run(const ModelRequest &request) {
  if (llvm::Error error = toError(checkFiles(request)))
    return error;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = build(&context, request);
  if (!module)
    return module.takeError();
  std::vector<std::pair<std::string, std::string>> files;
  if (!request.output.empty())
    files.emplace_back(request.output,
                       modelText(module->get(), request.bytecode));
  if (!request.inputs.empty())
    files.emplace_back(request.inputs, inputText(request));
  return toError(rt::writeFiles(files));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that grows past a limit is an error of the write, not a signal
  // (LLVM has just taken that for a crash).
  std::signal(SIGXFSZ, SIG_IGN);
  auto request = parseModelFlags(argc, argv);
  llvm::Error error = request ? llvm::Error::success() : request.takeError();
  if (!error) {
    for (const std::string &warning : request->warnings)
      llvm::errs() << "piper-model: warning: " << warning << "\n";
    error = run(*request);
  }
  if (!error)
    return 0;
  std::string message = llvm::toString(std::move(error));
  if (!message.empty()) // or LLVM's parser of flags has said it
    llvm::errs() << "piper-model: error: " << message << "\n";
  return 1;
}

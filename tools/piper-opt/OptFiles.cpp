// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piper-opt reads and writes beside its input and -o: files that options
// of passes name, reproducers, logs.

#include "OptFiles.h"

#include "Piper/Driver/CommandLine.h"
#include "Piper/Runtime/CommandFiles.h"
#include "Piper/Runtime/Files.h"

using namespace piper::rt;
using mlir::piper::findFileOptions;

/// The value of a flag of MLIR's that no config gives out.
static std::string textOf(llvm::StringRef flag) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto it = options.find(flag);
  if (it == options.end())
    return "";
  return *static_cast<llvm::cl::opt<std::string> *>(it->second);
}

Status checkOptFiles(llvm::ArrayRef<const char *> arguments,
                     const std::string &input, const std::string &output,
                     const mlir::MlirOptMainConfig &config) {
  CommandFiles files;
  files.addInput(config.getIrdlFile().str());
  for (const std::string &file :
       findFileOptions(arguments, {"file", "costs", "directives", "schedule"}))
    files.addInput(file);
  PIPER_RETURN_IF_ERROR(files.addOutput(output));
  files.addInput(input);
  std::vector<std::string> others = findFileOptions(arguments, {"output"});
  others.push_back(textOf("mlir-pass-pipeline-crash-reproducer"));
  others.push_back(config.getReproducerFilename().str());
  others.push_back(config.getRemarksOutputFile());
  others.push_back(config.getDebugConfig().getLogActionsTo().str());
  others.push_back(config.getDebugConfig().getProfileActionsTo().str());
  for (const std::string &file : others)
    if (!file.empty() && file != "-")
      PIPER_RETURN_IF_ERROR(files.addOutput(file));
  return Status::success();
}

Status runOpt(std::unique_ptr<llvm::MemoryBuffer> input,
              const std::string &output, mlir::DialectRegistry &registry,
              const mlir::MlirOptMainConfig &config, bool &failed) {
  std::string text;
  llvm::raw_string_ostream buffer(text);
  llvm::raw_fd_ostream &out = llvm::outs();
  bool isStandard = output == "-";
  llvm::raw_ostream &os = isStandard ? (llvm::raw_ostream &)out : buffer;
  failed =
      mlir::failed(mlir::MlirOptMain(os, std::move(input), registry, config));
  if (!isStandard) {
    if (failed)
      return Status::success();
    PIPER_RETURN_IF_ERROR(checkUnread(output));
    return writeFile(output, text);
  }
  out.flush();
  std::error_code error = out.error();
  out.clear_error(); // or the destructor ends the process
  return error ? Status::error("cannot write to standard output: " +
                               error.message())
               : Status::success();
}

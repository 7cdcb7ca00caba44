// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a file, model or plan, to the runtime's Plan.

#include "Piper/Driver/LoadPlan.h"

#include "Piper/Driver/SourceFile.h"
#include "Piper/Target/BuildProgram.h"
#include "Piper/Transforms/BodyTable.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::piper;

/// The string of options with those that came as flags of their own.
static std::string compileText(const LoadOptions &options) {
  std::string text = options.compile;
  for (const auto &[key, value] : options.keys)
    text += " " + key + "=" + value;
  if (options.keepGradients && !StringRef(text).contains("keep-gradients"))
    text += " keep-gradients=true";
  return text;
}

/// Where a diagnostic with its place has said it all.
static rt::Status saidAlready() { return rt::Status::error(""); }

static rt::Status compileModel(ModuleOp module, const LoadOptions &options) {
  CompileOptions compile;
  std::string problem = compile.parse(compileText(options));
  if (!problem.empty())
    return rt::Status::error("--piper-compile: " + problem);
  if (options.oneDevice) {
    // The strategy may also say how to update.
    if (failed(takeStrategy(module, compile)))
      return saidAlready();
    compile.pipeline = PiperPipelineOptions();
    compile.directives = PiperDirectivesOptions();
    module->removeAttr(PiperDialect::DirectivesAttrHelper::getNameStr());
  }
  PassManager passes(module.getContext());
  buildCompilePipeline(passes, compile);
  if (failed(passes.run(module)))
    return saidAlready();
  return rt::Status::success();
}

/// A plan was compiled already: what it should have been compiled with comes
/// too late.
static rt::Status checkPlanOptions(const std::string &path,
                                   const LoadOptions &options) {
  if (options.modelsOnly)
    return rt::Status::success();
  for (const auto &[key, value] : options.keys)
    return rt::Status::error("--" + key + " sets a key of a model, but '" +
                             path + "' is a plan: compile it with " + key +
                             "=" + value);
  if (!options.compile.empty())
    return rt::Status::error("--piper-compile needs a model, but '" + path +
                             "' is a plan");
  return rt::Status::success();
}

rt::Result<rt::Plan> mlir::piper::loadPlan(const std::string &path,
                                           const LoadOptions &options,
                                           bool *isModel) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openSource(path, error);
  if (!buffer)
    return rt::Status::error(error);
  DialectRegistry registry;
  registry.insert<PiperDialect, func::FuncDialect>();
  // One module is compiled by one thread: a pool would only cost its start.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // A diagnostic names a place; the program around it would be a screenful.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  // Remarks explain the compiler's choices: a line each, without the place.
  int64_t errors = 0;
  ScopedDiagnosticHandler remarks(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
      return failure();
    llvm::errs() << "remark: " << diagnostic.str() << "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  auto fail = [&](const std::string &message) {
    return errors ? saidAlready() : rt::Status::error(message);
  };
  if (!module)
    return fail("'" + path + "' cannot be read");
  Level level = getLevel(*module);
  if (isModel)
    *isModel = level == Level::Model;
  if (level == Level::Model)
    PIPER_RETURN_IF_ERROR(compileModel(*module, options));
  else if (level == Level::Plan)
    PIPER_RETURN_IF_ERROR(checkPlanOptions(path, options));
  else
    return rt::Status::error("'" + path + "' is at level '" +
                             stringifyLevel(level).str() +
                             "': expects a model or a plan");
  FailureOr<rt::Plan> plan = buildPlan(*module);
  if (failed(plan))
    return fail("'" + path + "' is no valid plan");
  // Messages say which of two plans they mean; in the files both are @main.
  plan->name = path;
  if (plan->programs.size() == 1)
    plan->programs.front().name = path;
  return std::move(*plan);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes.

#include "Piper/Transforms/Pipelines.h"

#include "Piper/Transforms/BodyTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::piper;

/// All passes, for one set of options.
static void addPasses(OpPassManager &passes, const CompileOptions &options) {
  // Files first: what is wrong with one shows at once.
  if (!options.directives.file.empty())
    passes.addPass(createPiperDirectives(options.directives));
  // What a user wrote wrong is said in the user's terms, before anything
  // changes.
  passes.addPass(createPiperVerifyModel());
  // While dropout still stands next to what it drops: evaluation has none.
  passes.addPass(createPiperAddEvaluation());
  // Tasks are what everything after this places, orders and differentiates.
  passes.addPass(createPiperOutlineSegments());
  // On shared bodies: a block is differentiated once, not once per layer.
  passes.addPass(createPiperAutodiff());
  // Needs the gradients; the end of the step is one place's business as well
  // as another's, so it comes before places are chosen.
  passes.addPass(createPiperOptimizer(options.optimizer));
  // The wall of level 1.
  passes.addPass(createPiperVerifyDag());
  // Needs the backward, whose cost counts in the balance of stages. From here
  // on directives are all there is: the passes below execute them.
  passes.addPass(createPiperPipeline(options.pipeline));
  // Before micro-batches multiply the tasks: a segment is changed once.
  passes.addPass(createPiperRecompute());
  // Before places: a micro-batch is the unit that is sent.
  passes.addPass(createPiperSplit());
  // After the split, which makes the accumulators of the weights' half.
  passes.addPass(createPiperSplitBackward());
  // With all tasks there are, so that every edge between coordinates is known.
  passes.addPass(createPiperPlace());
  // The wall of level 2.
  passes.addPass(createPiperVerifyPlaced());
  // With transfers, whose time the order hides.
  passes.addPass(createPiperApplySchedule());
  // The same by hand, for what a schedule does not order.
  passes.addPass(createPiperOrder());
  // From one global block to what each place runs.
  passes.addPass(createPiperPartition(options.partition));
  // Every offset depends on the order and the set of all tasks.
  passes.addPass(createPiperPlanMemory());
  // Last, and without trust in any of the above.
  passes.addPass(createPiperVerifyPlan());
}

namespace {
/// Runs all passes with the options given and those of the module's strategy,
/// which are not known before there is a module. Its textual form, as in crash
/// reproducers, has the options that were given.
class CompilePass : public PassWrapper<CompilePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompilePass)

  explicit CompilePass(CompileOptions options) : options(std::move(options)) {
    declareOptions();
  }
  CompilePass(const CompilePass &other)
      : PassWrapper(other), options(other.options) {
    declareOptions();
  }
  StringRef getName() const override { return "PiperCompile"; }
  StringRef getArgument() const override { return "piper-compile"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<PiperDialect, func::FuncDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (Level level = getLevel(module); level != Level::Model) {
      emitProgramError(module) << "--piper-compile expects a model but got a "
                                  "program of level '"
                               << stringifyLevel(level) << "'";
      return signalPassFailure();
    }
    CompileOptions all = options;
    std::string problem = all.problem;
    if (problem.empty() && failed(takeStrategy(module, all)))
      return signalPassFailure();
    if (problem.empty())
      problem = all.verify();
    if (!problem.empty()) {
      emitProgramError(module) << "--piper-compile: " << problem;
      return signalPassFailure();
    }
    OpPassManager passes(ModuleOp::getOperationName());
    addPasses(passes, all);
    if (failed(runPipeline(passes, module)))
      signalPassFailure();
  }

private:
  void declareOptions() {
    for (const auto &[name, text] : options.texts) {
      auto shown = std::make_unique<Option<std::string>>(*this, name);
      *shown = text;
      declared.push_back(std::move(shown));
    }
  }

  CompileOptions options;
  std::vector<std::unique_ptr<Option<std::string>>> declared;
};
} // namespace

void mlir::piper::buildCompilePipeline(OpPassManager &passes,
                                       const CompileOptions &options) {
  passes.addPass(std::make_unique<CompilePass>(options));
}

void mlir::piper::registerPiperPasses() {
  registerPiperTransformsPasses();
  registerPassPipeline(
      "piper-compile",
      "Take a model to a plan. Keys, as key=value:\n" + CompileOptions::help(),
      [](OpPassManager &passes, StringRef text,
         function_ref<LogicalResult(const Twine &)> report) -> LogicalResult {
        StringRef anchor = passes.getOpAnchorName();
        if (anchor != ModuleOp::getOperationName() &&
            anchor != OpPassManager::getAnyOpAnchorName())
          return report("piper-compile expects to run on 'builtin.module' but "
                        "got '" +
                        anchor + "'");
        CompileOptions options;
        options.problem = options.parse(text);
        buildCompilePipeline(passes, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}

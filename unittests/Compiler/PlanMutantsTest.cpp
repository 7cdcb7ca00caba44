// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ten compiled plans with one thing changed: every change of a message, a wait,
// the order, an id, a type or a size, and every task dropped or doubled is
// refused.

#include "../Runtime/PlanMutants.h"
#include "OpCase.h"

#include "Piper/Models/TestModels.h"
#include "Piper/Target/BuildProgram.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace piper::test;
namespace rt = piper::rt;

static mlir::piper::OwningModule makeChain() {
  mlir::piper::ChainConfig config;
  return llvm::cantFail(mlir::piper::buildChain(&testContext(), config, {}));
}

static mlir::piper::OwningModule makeLM(bool tied) {
  mlir::piper::LMConfig config;
  config.tied = tied;
  return llvm::cantFail(mlir::piper::buildLM(&testContext(), config, {}));
}

/// The plan of a model; empty, and a failure of the test, where there is none.
static rt::Plan compile(mlir::piper::OwningModule module,
                        const std::string &keys) {
  mlir::piper::CompileOptions options;
  std::string problem = options.parse("threads=1 " + keys);
  EXPECT_EQ(problem, "");
  mlir::PassManager passes(&testContext());
  mlir::piper::buildCompilePipeline(passes, options);
  if (failed(passes.run(*module))) {
    ADD_FAILURE() << keys << ": does not compile";
    return {};
  }
  auto plan = mlir::piper::buildPlan(*module);
  if (failed(plan)) {
    ADD_FAILURE() << keys << ": no plan";
    return {};
  }
  return std::move(*plan);
}

static void expectAllRefused(mlir::piper::OwningModule module,
                             const std::string &keys) {
  rt::Plan plan = compile(std::move(module), keys);
  ASSERT_FALSE(plan.programs.empty());
  rt::Status right = rt::checkPlan(plan);
  ASSERT_TRUE(right.ok()) << keys << ": " << right.str();
  int count = 0, accepted = 0;
  rt::test::forEachMutant(plan, [&](const std::string &change,
                                    const rt::Plan &mutant, size_t program) {
    ++count;
    if (rt::test::isRefused(mutant, program) || ++accepted > 5)
      return;
    ADD_FAILURE() << keys << ": nothing is wrong with " << change;
  });
  EXPECT_EQ(accepted, 0) << keys;
  EXPECT_GT(count, 200) << keys;
}

TEST(PlanMutants, CompiledChains) {
  expectAllRefused(makeChain(), "pipeline-parallel=2 micro-batches=2");
  expectAllRefused(makeChain(),
                   "pipeline-parallel=4 micro-batches=4 schedule=gpipe");
  expectAllRefused(makeChain(), "pipeline-parallel=2 micro-batches=4 "
                                "schedule=eager_1f1b buffering=2 prefetch=2");
}

TEST(PlanMutants, CompiledModels) {
  expectAllRefused(makeLM(true), "pipeline-parallel=2 micro-batches=4");
  expectAllRefused(makeLM(false), "pipeline-parallel=2 micro-batches=4 "
                                  "schedule=interleaved_1f1b chunks=2");
  expectAllRefused(makeLM(false),
                   "pipeline-parallel=2 micro-batches=4 schedule=dualpipe");
  expectAllRefused(makeLM(true), "pipeline-parallel=2 micro-batches=4 "
                                 "schedule=zbv buffering=1");
  expectAllRefused(makeLM(true), "pipeline-parallel=3 micro-batches=4 "
                                 "schedule=zb_h1 recompute=true");
  expectAllRefused(makeLM(false), "pipeline-parallel=2 micro-batches=2 "
                                  "schedule=looped_bfs chunks=2 prefetch=0");
  expectAllRefused(makeLM(true), "pipeline-parallel=4 micro-batches=4 "
                                 "schedule=1f1b keep-gradients=true");
}

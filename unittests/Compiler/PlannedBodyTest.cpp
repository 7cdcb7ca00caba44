// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every gradient of the table as a planned body (views, results written over
// operands, a shared workspace) has the bits of the same ops run one by one.

#include "GradientFunction.h"
#include "Interpreter.h"

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Target/PlanBody.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace mlir::piper;
using namespace piper::test;
namespace rt = piper::rt;

/// Whether the body returns operands, or one value twice: a task's body does
/// not, so that each result has memory of its own.
static bool returnsSharedValues(mlir::func::FuncOp function) {
  llvm::SmallDenseSet<mlir::Value> seen;
  for (mlir::Value value : function.front().getTerminator()->getOperands())
    if (mlir::isa<mlir::BlockArgument>(value) || !seen.insert(value).second)
      return true;
  return function.getNumResults() == 0;
}

/// Runs a planned body. Results may share the memory of operands.
static void runFunction(const rt::Function &function,
                        llvm::ArrayRef<std::byte *> operands,
                        llvm::ArrayRef<std::byte *> results) {
  HostTensor workspace = makeWorkspace(function.workspaceBytes);
  auto *scratch = static_cast<std::byte *>(workspace.data());
  auto address = [&](int32_t index) {
    const rt::FunctionValue &value = function.values[index];
    switch (value.base) {
    case rt::FunctionValue::Base::Operand:
      return operands[value.index] + value.offset;
    case rt::FunctionValue::Base::Result:
      return results[value.index] + value.offset;
    case rt::FunctionValue::Base::Workspace:
      break;
    }
    EXPECT_LE(value.offset + value.type.numBytes(), function.workspaceBytes);
    return scratch + value.offset;
  };
  for (const rt::Function::Step &step : function.steps) {
    std::vector<const void *> in;
    std::vector<void *> out;
    for (int32_t value : step.operands)
      in.push_back(address(value));
    for (int32_t value : step.results)
      out.push_back(address(value));
    EXPECT_LE(step.workspaceOffset + step.workspaceBytes,
              function.workspaceBytes);
    auto kernel = rt::findKernel(step.spec.name)->create(step.spec, {});
    ASSERT_TRUE(kernel.ok());
    rt::Status status = (*kernel)->run(
        {in.data(), out.data(), scratch + step.workspaceOffset, kSalt});
    EXPECT_TRUE(status.ok()) << status.str();
  }
}

class PlannedBodyTest : public testing::TestWithParam<size_t> {};

TEST_P(PlannedBodyTest, HasTheBitsOfTheOps) {
  const OpCase &row = allOpCases()[GetParam()];
  CaseModule module(row);
  ASSERT_TRUE(module.op());
  bool differentiable = mlir::isa<DifferentiableOpInterface>(module.op()) &&
                        isFloatTensor(module.op()->getResult(0));
  mlir::func::FuncOp function = differentiable
                                    ? buildGradientFunction(module).function
                                    : module.function();
  if (returnsSharedValues(function))
    return;
  std::vector<HostTensor> operands = makeOperands(row, module);
  if (differentiable) {
    operands.emplace_back(convertType(function.getArgumentTypes().back()));
    fill(operands.back(), "grid", 1000);
  }
  std::vector<HostTensor> expected = Interpreter(function).run(operands);

  llvm::SmallVector<InPlacePair> inPlace;
  ASSERT_TRUE(succeeded(planBody(function, rt::Target(), &inPlace)));
  auto planned = buildFunction(function, rt::Target());
  ASSERT_TRUE(succeeded(planned));
  std::vector<HostTensor> results;
  std::vector<std::byte *> in, out;
  for (mlir::Type type : function.getResultTypes())
    results.emplace_back(convertType(type));
  for (HostTensor &operand : operands)
    in.push_back(static_cast<std::byte *>(operand.data()));
  for (HostTensor &result : results)
    out.push_back(static_cast<std::byte *>(result.data()));
  // Each result and each operand in one pair at most.
  std::vector<bool> taken(operands.size(), false);
  std::vector<bool> placed(results.size(), false);
  for (InPlacePair pair : inPlace) {
    if (taken[pair.operand] || placed[pair.result])
      continue;
    taken[pair.operand] = placed[pair.result] = true;
    out[pair.result] = in[pair.operand];
  }
  runFunction(*planned, in, out);
  // Memory may come from an operand of another shape: compare bytes.
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(
        std::memcmp(out[i], expected[i].data(), expected[i].type().numBytes()),
        0)
        << row.str() << ", result " << i;
}

static std::vector<size_t> allRows() {
  std::vector<size_t> rows(allOpCases().size());
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = i;
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, PlannedBodyTest, testing::ValuesIn(allRows()),
                         [](const auto &info) { return caseName(info.param); });

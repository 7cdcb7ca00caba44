// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the table of ops as functions and operands.

#include "OpCase.h"

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Target/BuildProgram.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

using namespace piper::test;

std::string OpCase::typeText(const std::string &operand) {
  return "tensor<" + operand.substr(0, operand.find(' ')) + ">";
}

std::string OpCase::fillRule(const std::string &operand) {
  size_t space = operand.find(' ');
  return space == std::string::npos ? "" : operand.substr(space + 1);
}

/// "(tensor<..>, tensor<..>)".
static std::string typeList(const std::vector<std::string> &values) {
  std::vector<std::string> types;
  for (const std::string &value : values)
    types.push_back(OpCase::typeText(value));
  return "(" + llvm::join(types, ", ") + ")";
}

std::string OpCase::str() const {
  return "piper." + op + " {" + attributes + "} : " + typeList(operands) +
         " -> " + typeList(results);
}

bool OpCase::hasNarrowFloats() const {
  std::string types = typeList(operands) + typeList(results);
  return types.find("f32") != std::string::npos ||
         types.find("bf16") != std::string::npos;
}

const std::vector<OpCase> &piper::test::allOpCases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all;
    addMathCases(all);
    addShapeCases(all);
    addModelCases(all);
    addStepCases(all);
    return all;
  }();
  return cases;
}

std::string piper::test::caseName(size_t index) {
  return llvm::convertToCamelFromSnakeCase(allOpCases()[index].op, true) +
         std::to_string(index);
}

mlir::MLIRContext &piper::test::testContext() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registry.insert<mlir::piper::PiperDialect, mlir::func::FuncDialect>();
    auto *made =
        new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

/// @f in the generic form of the op.
static std::string functionText(const OpCase &row) {
  std::vector<std::string> arguments, operands, results;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    operands.push_back("%a" + std::to_string(i));
    arguments.push_back(operands[i] + ": " + OpCase::typeText(row.operands[i]));
  }
  for (size_t i = 0; i < row.results.size(); ++i)
    results.push_back("%r#" + std::to_string(i));
  std::string resultTypes = typeList(row.results);
  std::string properties =
      row.attributes.empty() ? "" : " <{" + row.attributes + "}>";
  return "func.func @f(" + llvm::join(arguments, ", ") + ") -> " + resultTypes +
         " {\n  %r:" + std::to_string(row.results.size()) + " = \"piper." +
         row.op + "\"(" + llvm::join(operands, ", ") + ")" + properties +
         " : " + typeList(row.operands) + " -> " + resultTypes + "\n  return " +
         llvm::join(results, ", ") + " : " +
         resultTypes.substr(1, resultTypes.size() - 2) + "\n}\n";
}

CaseModule::CaseModule(const OpCase &row) {
  owner = mlir::parseSourceString<mlir::ModuleOp>(functionText(row),
                                                  &testContext());
  EXPECT_TRUE(bool(owner)) << functionText(row);
}

mlir::func::FuncOp CaseModule::function() const {
  return owner ? *module().getOps<mlir::func::FuncOp>().begin()
               : mlir::func::FuncOp();
}

mlir::Operation *CaseModule::op() const {
  return owner ? &function().front().front() : nullptr;
}

std::vector<HostTensor> piper::test::makeOperands(const OpCase &row,
                                                  CaseModule &module,
                                                  unsigned variant) {
  std::vector<HostTensor> operands;
  for (auto [index, type] :
       llvm::enumerate(module.function().getArgumentTypes())) {
    operands.emplace_back(mlir::piper::convertType(type));
    fill(operands.back(), OpCase::fillRule(row.operands[index]),
         100 * variant + unsigned(index));
  }
  return operands;
}

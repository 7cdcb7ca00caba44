// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of ops that the tests of gradients, sharding rules and costs go
// through. A new op is tested by a new row (several, where shapes matter).

#ifndef PIPER_UNITTESTS_COMPILER_OPCASE_H
#define PIPER_UNITTESTS_COMPILER_OPCASE_H

#include "HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace piper::test {

struct OpCase {
  /// The op without the dialect: "matmul".
  std::string op;
  /// As in the generic form: "transpose_a, dims = array<i64: 0>".
  std::string attributes;
  /// What stands between < and > of the type, then a rule of `fill`:
  /// "5x3xf64 positive".
  std::vector<std::string> operands;
  std::vector<std::string> results;
  /// The cost, worked out by hand; -1 where another row of the op has it.
  int64_t flops = -1;
  int64_t bytes = -1;

  /// The type and the rule of an operand.
  static std::string typeText(const std::string &operand);
  static std::string fillRule(const std::string &operand);
  /// The row as one line, for messages.
  std::string str() const;
  /// An operand or result of f32 or bf16: numbers must be exact in these for
  /// tests at the precision of f64.
  bool hasNarrowFloats() const;
};

/// All rows: arithmetic and shapes, blocks of a transformer, ends of a step.
const std::vector<OpCase> &allOpCases();
void addMathCases(std::vector<OpCase> &cases);
void addShapeCases(std::vector<OpCase> &cases);
void addModelCases(std::vector<OpCase> &cases);
void addStepCases(std::vector<OpCase> &cases);

/// A name for gtest: "Matmul3" for the row with that index.
std::string caseName(size_t index);

/// A context with the dialects that tests need.
mlir::MLIRContext &testContext();

/// One function @f with the op alone, verified.
class CaseModule {
public:
  explicit CaseModule(const OpCase &row);
  /// Null where the row does not parse: a test failure already.
  mlir::Operation *op() const;
  mlir::func::FuncOp function() const;
  mlir::ModuleOp module() const { return owner.get(); }

private:
  mlir::OwningOpRef<mlir::ModuleOp> owner;
};

/// The operands of a row. Another `variant` has other numbers for the
/// operands filled at random.
std::vector<HostTensor> makeOperands(const OpCase &row, CaseModule &module,
                                     unsigned variant = 0);

} // namespace piper::test

#endif // PIPER_UNITTESTS_COMPILER_OPCASE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of one op as a function.

#include "GradientFunction.h"

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/Shapes.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace piper::test {

bool isFloatTensor(Value value) {
  return isa<FloatType>(mlir::piper::elementTypeOf(value));
}

/// A copy of `op` on the arguments of `block` that returns what it saves.
static Operation *cloneWithSaved(Operation *op, Block &block) {
  SmallVector<Type> types(op->getResultTypes());
  cast<mlir::piper::DifferentiableOpInterface>(op).getSavedTypes(types);
  ValueRange operands = block.getArguments().take_front(op->getNumOperands());
  Operation *clone = Operation::create(
      op->getLoc(), op->getName(), types, operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage());
  block.push_back(clone);
  return clone;
}

GradientFunction buildGradientFunction(CaseModule &row,
                                       const std::vector<bool> &wanted) {
  Operation *op = row.op();
  SmallVector<Type> arguments(op->getOperandTypes());
  arguments.push_back(op->getResult(0).getType());
  OpBuilder builder(op->getContext());
  GradientFunction result;
  result.function = func::FuncOp::create(
      op->getLoc(), "g", builder.getFunctionType(arguments, TypeRange()));
  row.module().push_back(result.function);
  Block &block = *result.function.addEntryBlock();
  Operation *clone = cloneWithSaved(op, block);

  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> resultGrads(clone->getNumResults());
  resultGrads[0] = block.getArguments().back();
  SmallVector<Value> grads(op->getNumOperands()), returned;
  SmallVector<bool> wantedFlags(wanted.begin(), wanted.end());
  cast<mlir::piper::DifferentiableOpInterface>(clone).buildGradient(
      builder, resultGrads, wantedFlags, grads);
  for (auto [index, grad] : llvm::enumerate(grads)) {
    if (!grad)
      continue;
    EXPECT_TRUE(wanted[index]) << "operand " << index;
    EXPECT_TRUE(grad.getType() == op->getOperand(index).getType())
        << "operand " << index;
    result.operands.push_back(int(index));
    returned.push_back(grad);
  }
  func::ReturnOp::create(builder, op->getLoc(), returned);
  result.function.setType(
      builder.getFunctionType(arguments, TypeRange(ValueRange(returned))));
  EXPECT_TRUE(succeeded(verify(result.function)));
  return result;
}

GradientFunction buildGradientFunction(CaseModule &row) {
  std::vector<bool> wanted;
  for (Value operand : row.op()->getOperands())
    wanted.push_back(isFloatTensor(operand));
  return buildGradientFunction(row, wanted);
}

} // namespace piper::test

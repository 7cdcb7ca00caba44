// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks, entry points and their verifiers.

#include "Piper/Dialect/PiperDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// TaskOp
//===----------------------------------------------------------------------===//

/// Reports the first pair of types that differ between a call and its callee.
/// Values of a placed step are compared by what a rank stores of them.
static LogicalResult verifyTypes(TaskOp task, Operation *callee, StringRef kind,
                                 TypeRange got, TypeRange expected) {
  if (got.size() != expected.size()) {
    InFlightDiagnostic diagnostic = task.emitOpError()
                                    << "expects " << expected.size() << " "
                                    << kind << "s of '" << task.getCallee()
                                    << "' but got " << got.size();
    diagnostic.attachNote(callee->getLoc()) << "the callee is here";
    return diagnostic;
  }
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(got, expected))) {
    auto [type, wanted] = pair;
    if (type == wanted || getLocalTensor(type) == wanted)
      continue;
    InFlightDiagnostic diagnostic = task.emitOpError()
                                    << "expects " << kind << " #" << index
                                    << " of '" << task.getCallee() << "' to be "
                                    << wanted << " but got " << type;
    diagnostic.attachNote(callee->getLoc()) << "the callee is here";
    return diagnostic;
  }
  return success();
}

/// An accumulator has the type of the result it is tied to.
static LogicalResult verifyInto(TaskOp task) {
  size_t count = task.getInto().size(), results = task.getOuts().size();
  if (count > results)
    return task.emitOpError() << "expects at most one operand of 'into' for "
                                 "each of its "
                              << results << " results but got " << count;
  for (auto [index, operand] : llvm::enumerate(task.getInto())) {
    OpResult result = task->getResult(results - count + index);
    if (operand.getType() != result.getType())
      return task.emitOpError()
             << "expects operand #" << index << " of 'into' to be of the type "
             << result.getType() << " of result #" << result.getResultNumber()
             << " but got " << operand.getType();
    if (!isa<FloatType, IntegerType>(
            getLocalTensor(operand.getType()).getElementType()) ||
        getLocalTensor(operand.getType()).getElementType().isInteger(1))
      return task.emitOpError()
             << "cannot add up values of type " << operand.getType();
  }
  return success();
}

/// A task runs on the coordinates of its results; its operands are there.
static LogicalResult verifyCoordinates(TaskOp task) {
  ArrayRef<int64_t> on;
  for (OpResult result : task->getResults()) {
    ArrayRef<int64_t> own = getCoordinates(result.getType());
    if (result.getResultNumber() > 0 && own != on)
      return task.emitOpError()
             << "expects all results on the same coordinates but result #0 is "
             << task->getResult(0).getType() << " and result #"
             << result.getResultNumber() << " is " << result.getType();
    on = own;
  }
  for (OpOperand &operand : task->getOpOperands()) {
    ArrayRef<int64_t> own = getCoordinates(operand.get().getType());
    if (own.empty())
      continue;
    for (int64_t coordinate : on)
      if (!llvm::is_contained(own, coordinate))
        return task.emitOpError()
               << "runs on pp = " << coordinate << " but operand #"
               << operand.getOperandNumber() << " is "
               << operand.get().getType();
    if (on.empty() && !task->getResults().empty())
      return task.emitOpError()
             << "expects results with coordinates, as operand #"
             << operand.getOperandNumber() << " is " << operand.get().getType();
  }
  return success();
}

LogicalResult TaskOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // A body may be shared by all programs of the module: look outward.
  func::FuncOp callee;
  for (Operation *scope = (*this)->getParentOp(); scope && !callee;
       scope = scope->getParentOp())
    if (scope->hasTrait<OpTrait::SymbolTable>())
      callee = symbols.lookupSymbolIn<func::FuncOp>(scope, getCalleeAttr());
  if (!callee)
    return emitOpError() << "expects a function '" << getCallee()
                         << "' but the module has none";
  if (callee.isExternal())
    return emitOpError() << "expects function '" << getCallee()
                         << "' to have a body";
  if (failed(verifyTypes(*this, callee, "operand", getInputs().getTypes(),
                         callee.getArgumentTypes())) ||
      failed(verifyTypes(*this, callee, "result", getOuts().getTypes(),
                         callee.getResultTypes())))
    return failure();
  if (failed(verifyInto(*this)) || failed(verifyCoordinates(*this)))
    return failure();
  if (std::optional<ArrayRef<int64_t>> offsets = getOffsets())
    if (offsets->size() != getOuts().size())
      return emitOpError() << "expects one offset for each of its "
                           << getOuts().size() << " results but got "
                           << offsets->size();
  return success();
}

//===----------------------------------------------------------------------===//
// EntryOp, ReturnOp
//===----------------------------------------------------------------------===//

ParseResult EntryOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType =
      [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag, std::string &) -> Type {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void EntryOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult ReturnOp::verify() {
  auto entry = cast<EntryOp>((*this)->getParentOp());
  TypeRange got = getOuts().getTypes(), expected = entry.getResultTypes();
  if (got == expected)
    return success();
  return emitOpError() << "expects the result types (" << expected
                       << ") of entry '" << entry.getSymName() << "' but got ("
                       << got << ")";
}

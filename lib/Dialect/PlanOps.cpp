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
    if (type == wanted)
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

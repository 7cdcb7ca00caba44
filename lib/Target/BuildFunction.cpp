// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a body whose values have places to the runtime's Function.

#include "Piper/Target/BuildProgram.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::piper;

/// Whether the first result of a step lies in the first operand by the kernel's
/// nature, so that nothing is written.
static bool isView(const rt::Function &function, const rt::Function::Step &step,
                   const rt::KernelEntry &kernel) {
  int64_t offset = kernel.viewOffset ? kernel.viewOffset(step.spec) : -1;
  if (offset < 0)
    return false;
  const rt::FunctionValue &source = function.values[step.operands[0]];
  const rt::FunctionValue &view = function.values[step.results[0]];
  return source.base == view.base && source.index == view.index &&
         source.offset + offset == view.offset;
}

/// What lies in result #i at the end of the body must be the value that is
/// returned there. `writes` has the values that steps write, in order.
static LogicalResult checkReturned(func::FuncOp function,
                                   const rt::Function &result,
                                   ArrayRef<int32_t> writes,
                                   const DenseMap<Value, int32_t> &index) {
  using Base = rt::FunctionValue::Base;
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    int32_t number = operand.getOperandNumber();
    int32_t returned = index.lookup(operand.get());
    const rt::FunctionValue &place = result.values[returned];
    if (place.base != Base::Result || place.index != number ||
        place.offset != 0)
      return function.emitOpError()
             << "expects the value returned as result #" << number
             << " to lie there but its place is another";
    const int32_t *from = llvm::find(writes, returned);
    for (int32_t later :
         llvm::make_range(from == writes.end() ? from : from + 1, writes.end()))
      if (result.values[later].base == Base::Result &&
          result.values[later].index == number)
        return function.emitOpError()
               << "overwrites result #" << number
               << " after the value that is returned there";
  }
  return success();
}

/// Stays at the largest number instead of overflowing.
static void addTo(int64_t &sum, int64_t cost) {
  if (llvm::AddOverflow(sum, cost, sum))
    sum = std::numeric_limits<int64_t>::max();
}

FailureOr<rt::Function> mlir::piper::buildFunction(func::FuncOp function,
                                                   const rt::Target &target) {
  auto memory = function->getAttrOfType<MemoryAttr>(
      PiperDialect::MemoryAttrHelper::getNameStr());
  if (!memory)
    return function.emitOpError()
           << "expects the attribute '"
           << PiperDialect::MemoryAttrHelper::getNameStr()
           << "' that piper-plan-memory sets";
  Block &body = function.front();
  size_t numResults = 0, numOps = 0;
  for (Operation &op : body.without_terminator()) {
    numResults += op.getNumResults();
    ++numOps;
  }
  if (memory.getValues().size() != 3 * numResults ||
      memory.getKernels().size() != numOps)
    return function.emitOpError()
           << "expects the places of " << numResults
           << " values and the scratch of " << numOps << " kernels but got "
           << memory.getValues().size() / 3 << " and "
           << memory.getKernels().size();

  if (failed(checkTypes(function, body.getArgumentTypes(), "argument")) ||
      failed(checkTypes(function, function.getResultTypes(), "result")))
    return failure();
  rt::Function result;
  result.name = function.getSymName().str();
  result.workspaceBytes = memory.getBytes();
  DenseMap<Value, int32_t> index;
  for (BlockArgument argument : body.getArguments()) {
    index[argument] = result.values.size();
    result.operands.push_back(convertType(argument.getType()));
    result.values.push_back({result.operands.back(),
                             rt::FunctionValue::Base::Operand,
                             static_cast<int32_t>(argument.getArgNumber()), 0});
  }
  for (Type type : function.getResultTypes())
    result.results.push_back(convertType(type));

  SmallVector<int32_t> writes;
  auto places = memory.getValues().begin();
  for (auto [number, op] : llvm::enumerate(body.without_terminator())) {
    if (failed(checkTypes(&op, op.getResultTypes(), "result")))
      return failure();
    for (Value value : op.getResults()) {
      int64_t base = *places++, of = *places++, offset = *places++;
      if (base < 0 || base > 2)
        return op.emitOpError()
               << "expects a base of 0, 1 or 2 for its place but got " << base;
      index[value] = result.values.size();
      result.values.push_back({convertType(value.getType()),
                               static_cast<rt::FunctionValue::Base>(base),
                               static_cast<int32_t>(of), offset});
    }
    FailureOr<const rt::KernelEntry *> kernel = lookupKernel(&op);
    FailureOr<rt::KernelSpec> spec = buildKernelSpec(&op);
    if (failed(kernel) || failed(spec))
      return failure();
    rt::Function::Step step;
    step.spec = std::move(*spec);
    for (Value operand : op.getOperands())
      step.operands.push_back(index[operand]);
    for (Value value : op.getResults())
      step.results.push_back(index[value]);
    int64_t scratch = memory.getKernels()[number];
    step.workspaceOffset = std::max<int64_t>(scratch, 0);
    step.workspaceBytes = scratch < 0 || !(*kernel)->workspaceBytes
                              ? 0
                              : (*kernel)->workspaceBytes(step.spec, target);
    if (!isView(result, step, **kernel))
      llvm::append_range(writes, step.results);
    if (auto cost = dyn_cast<CostOpInterface>(op)) {
      addTo(result.flops, cost.getFlops());
      addTo(result.bytes, cost.getBytes());
    }
    result.steps.push_back(std::move(step));
  }
  if (failed(checkReturned(function, result, writes, index)))
    return failure();
  return result;
}

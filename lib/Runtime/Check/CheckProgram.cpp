// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be checked of a Program piece by piece: state and functions. Entry
// points are in CheckEntry.cpp, who overwrites what in MemoryWalk.cpp.

#include "Piper/Runtime/CheckProgram.h"

#include "CheckParts.h"
#include "MemoryWalk.h"
#include "Piper/Runtime/Kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace piper::rt;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

std::string piper::rt::describeInstruction(const Program &program,
                                           const EntryPoint &entry,
                                           int64_t instruction) {
  const Instruction &call = entry.instructions[instruction];
  std::string text = "instruction " + std::to_string(instruction) + " (";
  std::string end = ") of entry point " + quote(entry.name);
  switch (call.kind) {
  case Instruction::Kind::Task:
    break;
  case Instruction::Kind::Send:
    return text + "send " + std::to_string(call.id) + " to " +
           std::to_string(call.peer) + end;
  case Instruction::Kind::Receive:
    return text + "receive " + std::to_string(call.id) + " from " +
           std::to_string(call.peer) + end;
  case Instruction::Kind::AllReduce:
    return text + "reduce " + std::to_string(call.id) + end;
  }
  bool known =
      call.function >= 0 && call.function < int64_t(program.functions.size());
  text +=
      known ? quote(program.functions[call.function].name) : "unknown function";
  if (!call.tags.empty())
    text += ", " + call.tags;
  if (!call.pass.empty())
    text += ", " + call.pass;
  return text + end;
}

Status piper::rt::checkType(const TensorType &type, What what) {
  for (int64_t size : type.shape)
    if (size < 0)
      return Status::error(
          what() + ": expects dimensions of 0 or more but got " + type.str());
  if (type.numBytes() == std::numeric_limits<int64_t>::max())
    return Status::error(what() + ": " + type.str() +
                         " has more bytes than an offset can express");
  return Status::success();
}

Status piper::rt::checkRange(int64_t offset, int64_t bytes, int64_t limit,
                             int64_t alignment, What what) {
  if (offset < 0 || offset % alignment != 0)
    return Status::error(what() + ": expects an offset that is a multiple of " +
                         std::to_string(alignment) + " but got " +
                         std::to_string(offset));
  if (bytes < 0 || bytes > limit || offset > limit - bytes)
    return Status::error(what() + ": " + std::to_string(bytes) +
                         " bytes at offset " + std::to_string(offset) +
                         " do not fit into " + std::to_string(limit));
  return Status::success();
}

Status piper::rt::checkIndex(int64_t index, size_t count, What what) {
  if (index >= 0 && index < int64_t(count))
    return Status::success();
  return Status::error(what() + ": expects an index from 0 to " +
                       std::to_string(int64_t(count) - 1) + " but got " +
                       std::to_string(index));
}

Status piper::rt::checkCount(size_t got, size_t expected, What what) {
  if (got == expected)
    return Status::success();
  return Status::error(what() + ": expects " + std::to_string(expected) +
                       " but got " + std::to_string(got));
}

Status piper::rt::checkSameType(const TensorType &got,
                                const TensorType &expected, What what) {
  if (got == expected)
    return Status::success();
  return Status::error(what() + ": expects " + expected.str() + " but got " +
                       got.str());
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

static bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 ||
         type == ElementType::BF16;
}

static Status checkInit(const StateTensor &tensor, What what) {
  switch (tensor.init) {
  case StateTensor::Init::Zeros:
  case StateTensor::Init::Ones:
    return Status::success();
  case StateTensor::Init::Normal:
    if (!isFloat(tensor.type.element))
      return Status::error(what() +
                           ": normal initial values need a float type "
                           "but it is " +
                           tensor.type.str());
    if (!std::isfinite(tensor.scale) || tensor.scale < 0)
      return Status::error(what() +
                           ": expects a standard deviation of 0 or more "
                           "but got " +
                           std::to_string(tensor.scale));
    return Status::success();
  case StateTensor::Init::Data:
    return checkCount(tensor.data.size(), size_t(tensor.type.numBytes()),
                      what + ", bytes of initial values");
  }
  return Status::error(what() + ": unknown kind of initial values");
}

static Status checkStateTensor(const Program &program,
                               const StateTensor &tensor) {
  auto what = [&] { return "state " + quote(tensor.name); };
  if (tensor.name.empty())
    return Status::error("a state tensor has no name");
  PIPER_RETURN_IF_ERROR(checkType(tensor.type, what));
  PIPER_RETURN_IF_ERROR(checkRange(tensor.offset, tensor.type.numBytes(),
                                   program.arenaBytes, kAlignment, what));
  if (tensor.kind == StateTensor::Kind::Counter)
    PIPER_RETURN_IF_ERROR(
        checkSameType(tensor.type, {ElementType::I64, {}}, what));
  return checkInit(tensor, what);
}

static Status checkState(const Program &program) {
  std::set<std::string> names;
  std::vector<const StateTensor *> byOffset;
  for (const StateTensor &tensor : program.state) {
    PIPER_RETURN_IF_ERROR(checkStateTensor(program, tensor));
    if (!names.insert(tensor.name).second)
      return Status::error("two state tensors have the name " +
                           quote(tensor.name));
    if (tensor.type.numBytes() > 0)
      byOffset.push_back(&tensor);
  }
  std::sort(byOffset.begin(), byOffset.end(),
            [](const StateTensor *a, const StateTensor *b) {
              return a->offset < b->offset;
            });
  for (size_t i = 1; i < byOffset.size(); ++i) {
    const StateTensor &a = *byOffset[i - 1], &b = *byOffset[i];
    if (a.offset + a.type.numBytes() > b.offset)
      return Status::error("state " + quote(a.name) + " and state " +
                           quote(b.name) + " overlap at offset " +
                           std::to_string(b.offset));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Status checkFunctionValue(const Function &function, int64_t index,
                                 bool isDefined) {
  const FunctionValue &value = function.values[index];
  auto what = [&] {
    return "value " + std::to_string(index) + " of function " +
           quote(function.name);
  };
  PIPER_RETURN_IF_ERROR(checkType(value.type, what));
  int64_t alignment = elementBytes(value.type.element);
  int64_t bytes = value.type.numBytes();
  if (value.base == FunctionValue::Base::Workspace) {
    if (!isDefined)
      return Status::error(what() + " is made by no step");
    return checkRange(value.offset, bytes, function.workspaceBytes, alignment,
                      what + " in the workspace");
  }
  bool isOperand = value.base == FunctionValue::Base::Operand;
  const auto &types = isOperand ? function.operands : function.results;
  auto part = what + (isOperand ? " in an operand" : " in a result");
  PIPER_RETURN_IF_ERROR(checkIndex(value.index, types.size(), part));
  const TensorType &base = types[value.index];
  PIPER_RETURN_IF_ERROR(
      checkRange(value.offset, bytes, base.numBytes(), alignment, part));
  if (isDefined)
    return Status::success();
  if (!isOperand)
    return Status::error(part() + " is made by no step");
  if (value.offset != 0)
    return Status::error(part() + ": an operand itself has offset 0 but got " +
                         std::to_string(value.offset));
  return checkSameType(value.type, base, part);
}

static Status checkValueList(const Function &function,
                             const std::vector<int32_t> &values,
                             const std::vector<TensorType> &types, What what) {
  PIPER_RETURN_IF_ERROR(checkCount(values.size(), types.size(), what + "s"));
  for (size_t i = 0; i < values.size(); ++i) {
    auto which = [&] { return what() + " " + std::to_string(i); };
    PIPER_RETURN_IF_ERROR(checkIndex(values[i], function.values.size(), which));
    PIPER_RETURN_IF_ERROR(
        checkSameType(function.values[values[i]].type, types[i], which));
  }
  return Status::success();
}

static Status checkKernel(const Program &program, const Function &function,
                          const Function::Step &step, What what) {
  const KernelEntry *kernel = findKernel(step.spec.name);
  if (!kernel)
    return Status::error(what() + ": there is no kernel of this name");
  int64_t needed = kernel->workspaceBytes
                       ? kernel->workspaceBytes(step.spec, program.target)
                       : 0;
  if (step.workspaceBytes < needed)
    return Status::error(what() + ": expects a workspace of " +
                         std::to_string(needed) + " bytes but got " +
                         std::to_string(step.workspaceBytes));
  PIPER_RETURN_IF_ERROR(checkRange(step.workspaceOffset, step.workspaceBytes,
                                   function.workspaceBytes, kAlignment,
                                   what + ", workspace"));
  if (!kernel->viewOffset)
    return Status::success();
  int64_t offset = kernel->viewOffset(step.spec);
  if (offset < 0)
    return Status::success();
  if (step.spec.operands.empty() || step.spec.results.size() != 1)
    return Status::error(what() + ": a view has one result and an operand");
  return checkRange(
      offset, step.spec.results[0].numBytes(), step.spec.operands[0].numBytes(),
      elementBytes(step.spec.results[0].element), what + ", view");
}

static Status checkStep(const Program &program, const Function &function,
                        const Function::Step &step, What what,
                        std::vector<bool> &defined,
                        const std::vector<bool> &everDefined) {
  for (const TensorType &type : step.spec.operands)
    PIPER_RETURN_IF_ERROR(checkType(type, what));
  for (const TensorType &type : step.spec.results)
    PIPER_RETURN_IF_ERROR(checkType(type, what));
  PIPER_RETURN_IF_ERROR(checkValueList(function, step.operands,
                                       step.spec.operands, what + ", operand"));
  PIPER_RETURN_IF_ERROR(checkValueList(function, step.results,
                                       step.spec.results, what + ", result"));
  for (int32_t operand : step.operands)
    if (everDefined[operand] && !defined[operand])
      return Status::error(what() + " reads value " + std::to_string(operand) +
                           " before it is made");
  for (int32_t result : step.results) {
    if (defined[result])
      return Status::error(what() + " makes value " + std::to_string(result) +
                           " a second time");
    defined[result] = true;
  }
  return checkKernel(program, function, step, what);
}

/// Whether some step makes the whole of result `index`.
static bool makesResult(const Function &function, size_t index,
                        const std::vector<bool> &defined) {
  for (size_t v = 0; v < function.values.size(); ++v) {
    const FunctionValue &value = function.values[v];
    if (defined[v] && value.base == FunctionValue::Base::Result &&
        size_t(value.index) == index && value.offset == 0 &&
        value.type == function.results[index])
      return true;
  }
  return false;
}

static Status checkFunction(const Program &program, const Function &function) {
  auto what = [&] { return "function " + quote(function.name); };
  for (const auto *types : {&function.operands, &function.results})
    for (const TensorType &type : *types)
      PIPER_RETURN_IF_ERROR(checkType(type, what));
  PIPER_RETURN_IF_ERROR(checkRange(0, function.workspaceBytes,
                                   program.arenaBytes, kAlignment,
                                   what + ", workspace"));
  std::vector<bool> everDefined(function.values.size());
  for (const Function::Step &step : function.steps)
    for (int32_t result : step.results)
      if (result >= 0 && size_t(result) < everDefined.size())
        everDefined[result] = true;
  for (size_t v = 0; v < function.values.size(); ++v)
    PIPER_RETURN_IF_ERROR(checkFunctionValue(function, v, everDefined[v]));

  std::vector<bool> defined(function.values.size());
  for (size_t s = 0; s < function.steps.size(); ++s) {
    const Function::Step &step = function.steps[s];
    auto where = [&] {
      return "step " + std::to_string(s) + " (" + quote(step.spec.name) +
             ") of " + what();
    };
    PIPER_RETURN_IF_ERROR(
        checkStep(program, function, step, where, defined, everDefined));
  }
  for (size_t r = 0; r < function.results.size(); ++r)
    if (!makesResult(function, r, defined))
      return Status::error("result " + std::to_string(r) + " of " + what() +
                           " is made by no step");
  return Status::success();
}

static Status checkTarget(const Target &target) {
  if (target.device != "cpu")
    return Status::error("the program is made for the device " +
                         quote(target.device) + " but this runtime has 'cpu'");
  constexpr int kMostThreads = 1024;
  if (target.threads < 1 || target.threads > kMostThreads)
    return Status::error("expects 1 to " + std::to_string(kMostThreads) +
                         " threads but got " + std::to_string(target.threads));
  return Status::success();
}

Status piper::rt::checkProgram(const Program &program) {
  PIPER_RETURN_IF_ERROR(checkTarget(program.target));
  if (program.arenaBytes < 0)
    return Status::error("expects an arena of 0 or more bytes but got " +
                         std::to_string(program.arenaBytes));
  PIPER_RETURN_IF_ERROR(checkState(program));
  std::set<std::string> names;
  for (const Function &function : program.functions) {
    PIPER_RETURN_IF_ERROR(checkFunction(program, function));
    if (!names.insert(function.name).second)
      return Status::error("two functions have the name " +
                           quote(function.name));
  }
  names.clear();
  for (const EntryPoint &entry : program.entries) {
    PIPER_RETURN_IF_ERROR(checkEntry(program, entry));
    if (!names.insert(entry.name).second)
      return Status::error("two entry points have the name " +
                           quote(entry.name));
    PIPER_RETURN_IF_ERROR(MemoryWalk(program, entry).check());
  }
  return Status::success();
}

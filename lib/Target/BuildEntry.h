// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of one program as the runtime's structures.

#ifndef PIPER_LIB_TARGET_BUILDENTRY_H
#define PIPER_LIB_TARGET_BUILDENTRY_H

#include "Piper/Target/BuildProgram.h"
#include "Piper/Target/ValueNumbers.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::piper {

/// The bodies of a plan for one target, each built once for all programs.
class FunctionCache {
public:
  explicit FunctionCache(ModuleOp module) : symbols(module) {}
  /// Emits an error at `task` if there is no such function.
  FailureOr<const rt::Function *> lookup(TaskOp task, const rt::Target &target);

private:
  SymbolTable symbols;
  llvm::StringMap<rt::Function> known;
};

/// Adds entry points to a program, with the state and functions they need.
class EntryBuilder {
public:
  EntryBuilder(rt::Program &program, FunctionCache &cache)
      : program(program), cache(cache) {}

  /// `ops` gets the op of each instruction.
  LogicalResult add(EntryOp entry, std::vector<Operation *> &ops);

private:
  LogicalResult addArguments();
  FailureOr<int32_t> addState(unsigned argument, int64_t offset);
  LogicalResult addOp(Operation &op);
  LogicalResult addTask(TaskOp task, rt::Instruction &instruction);
  LogicalResult addSend(SendOp send, rt::Instruction &instruction);
  LogicalResult addReceive(ReceiveOp receive, rt::Instruction &instruction);
  LogicalResult addReduce(ReduceOp reduce, rt::Instruction &instruction);
  LogicalResult addView(MicroBatchOp view);
  LogicalResult addResults();
  LogicalResult setId(Operation &op, int64_t id);
  LogicalResult setWaits(Operation &op, std::optional<ArrayRef<int64_t>> waits,
                         rt::Instruction &instruction);
  LogicalResult addValues(Operation &op,
                          std::optional<ArrayRef<int64_t>> offsets,
                          rt::Instruction &instruction);
  FailureOr<int32_t> functionIndex(TaskOp task);

  rt::Program &program;
  FunctionCache &cache;
  llvm::StringMap<int32_t> functions;
  llvm::StringMap<int32_t> states;
  /// Of the entry in hand.
  EntryOp entry;
  rt::EntryPoint *point = nullptr;
  /// The numbers of its values are the indices of the entry point.
  ValueNumbers values;
  /// The reading form of tags that tasks have.
  DenseMap<TagsAttr, std::string> tagTexts;
  /// The instruction of each id.
  DenseMap<int64_t, int32_t> instructions;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TARGET_BUILDENTRY_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bodies of a module's tasks: private functions, equal ones once.

#ifndef PIPER_TRANSFORMS_BODYTABLE_H
#define PIPER_TRANSFORMS_BODYTABLE_H

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/ProgramLocation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::piper {

class BodyTable {
public:
  using Results = SmallVector<Value>;

  /// Starts with the private functions that `module` has.
  explicit BodyTable(ModuleOp module);

  /// The body with these operand types that `fill` builds; `fill` returns its
  /// results. If an equal body exists (with `share` false: one asked for under
  /// the same name), that one is returned. `name` is made unique.
  func::FuncOp build(StringRef name, Location loc, TypeRange operands,
                     function_ref<Results(OpBuilder &, ValueRange)> fill,
                     bool share = true);

  /// The body made of clones of `ops`, in order, without their tags.
  func::FuncOp clone(StringRef name, ArrayRef<Operation *> ops,
                     ValueRange operands, ValueRange results);

  func::FuncOp lookup(TaskOp task) const;

  /// Erases the private functions that no task of the module calls, and
  /// forgets all others: the last call.
  void eraseUnused();

private:
  std::string key(func::FuncOp function) const;

  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> known;
};

/// A call of `body`, as the op it becomes.
TaskOp createTask(OpBuilder &builder, Location loc, func::FuncOp body,
                  ValueRange operands, PassKind pass, TagsAttr tags = {},
                  int64_t salt = 0);

/// The level of a module; a module without the attribute is a model.
Level getLevel(ModuleOp module);
void setLevel(ModuleOp module, Level level);
/// Emits an error naming `pass`, the level it expects, and the one it got.
LogicalResult expectLevel(ModuleOp module, StringRef pass, Level level);

/// The functions that become entry points, in order.
SmallVector<func::FuncOp> getEntryFunctions(ModuleOp module);

/// Micro-batches of an entry: 1 + the largest of a task, 1 if there are none.
int64_t getMicroBatches(func::FuncOp entry);
/// The micro-batches that the step was split into: the most of an entry point.
/// Its inputs have them also where no task runs once for each.
int64_t getMicroBatches(ModuleOp module);

} // namespace mlir::piper

#endif // PIPER_TRANSFORMS_BODYTABLE_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bodies of a module's tasks, found again by their text.

#include "Piper/Transforms/BodyTable.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::piper;

BodyTable::BodyTable(ModuleOp module) : module(module), symbols(module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPrivate() && !function.isExternal())
      known.try_emplace(key(function), function);
}

/// Two bodies are equal if this text is: types, ops, attributes, but neither
/// name nor locations.
std::string BodyTable::key(func::FuncOp function) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << function.getFunctionType() << "\n";
  OpPrintingFlags flags;
  flags.useLocalScope().elideLargeElementsAttrs(INT64_MAX).printGenericOpForm();
  AsmState state(function, flags);
  for (Operation &op : function.front()) {
    op.print(os, state);
    os << "\n";
  }
  return text;
}

func::FuncOp
BodyTable::build(StringRef name, Location loc, TypeRange operands,
                 function_ref<Results(OpBuilder &, ValueRange)> fill,
                 bool share) {
  OpBuilder builder(module.getContext());
  auto function = func::FuncOp::create(
      loc, name, builder.getFunctionType(operands, TypeRange()));
  function.setPrivate();
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  Results results = fill(builder, block->getArguments());
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(
      builder.getFunctionType(operands, ValueRange(results).getTypes()));
  std::string text = key(function);
  if (!share)
    text += name;
  auto [found, isNew] = known.try_emplace(text, function);
  if (!isNew) {
    function.erase();
    return found->second;
  }
  // Bodies stand at the end of the module, in the order in which they were
  // made.
  symbols.insert(function);
  return function;
}

func::FuncOp BodyTable::clone(StringRef name, ArrayRef<Operation *> ops,
                              ValueRange operands, ValueRange results) {
  Location loc = ops.empty() ? module.getLoc() : ops.front()->getLoc();
  return build(name, loc, operands.getTypes(),
               [&](OpBuilder &builder, ValueRange arguments) {
                 IRMapping mapping;
                 mapping.map(operands, arguments);
                 for (Operation *op : ops)
                   builder.clone(*op, mapping)
                       ->removeAttr(PiperDialect::TagsAttrHelper::getNameStr());
                 return llvm::map_to_vector(results, [&](Value value) {
                   return mapping.lookup(value);
                 });
               });
}

func::FuncOp BodyTable::lookup(TaskOp task) const {
  return symbols.lookup<func::FuncOp>(task.getCallee());
}

void BodyTable::eraseUnused() {
  DenseSet<StringRef> used;
  module.walk([&](TaskOp task) { used.insert(task.getCallee()); });
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function.isPrivate() && !used.contains(function.getSymName()))
      symbols.erase(function);
  known.clear();
}

TaskOp mlir::piper::createTask(OpBuilder &builder, Location loc,
                               func::FuncOp body, ValueRange operands,
                               PassKind pass, TagsAttr tags, int64_t salt) {
  OperationState state(loc, TaskOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(body.getResultTypes());
  auto &properties = state.getOrAddProperties<TaskOp::Properties>();
  properties.setCallee(FlatSymbolRefAttr::get(body.getSymNameAttr()));
  properties.setPass(pass);
  properties.setSalt(salt);
  properties.operandSegmentSizes = {static_cast<int32_t>(operands.size()), 0};
  properties.setTags(tags);
  return cast<TaskOp>(builder.create(state));
}

Level mlir::piper::getLevel(ModuleOp module) {
  auto level = module->getAttrOfType<LevelAttr>(
      PiperDialect::LevelAttrHelper::getNameStr());
  return level ? level.getValue() : Level::Model;
}

void mlir::piper::setLevel(ModuleOp module, Level level) {
  module->setAttr(PiperDialect::LevelAttrHelper::getNameStr(),
                  LevelAttr::get(module.getContext(), level));
}

LogicalResult mlir::piper::expectLevel(ModuleOp module, StringRef pass,
                                       Level level) {
  Level got = getLevel(module);
  if (got == level)
    return success();
  return emitProgramError(module)
         << "'" << pass << "' expects level '" << stringifyLevel(level)
         << "' but got '" << stringifyLevel(got) << "'";
}

SmallVector<func::FuncOp> mlir::piper::getEntryFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entries.push_back(function);
  return entries;
}

int64_t mlir::piper::getMicroBatches(func::FuncOp entry) {
  int64_t count = 1;
  for (auto task : entry.getOps<TaskOp>())
    count = std::max(count, task.getMb() + 1);
  return count;
}

int64_t mlir::piper::getMicroBatches(ModuleOp module) {
  int64_t count = 1;
  for (func::FuncOp entry : getEntryFunctions(module)) {
    count = std::max(count, getMicroBatches(entry));
    for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
      auto input = entry.getArgAttrOfType<InputAttr>(
          index, PiperDialect::InputAttrHelper::getNameStr());
      if (input && input.getSplit() >= 0)
        count = std::max(count, cast<RankedTensorType>(type).getDimSize(0));
    }
  }
  return count;
}

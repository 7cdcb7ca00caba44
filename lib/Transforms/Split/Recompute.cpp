// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs chosen segments again before their backward.
//
// 1. Find the forward tasks that the `recompute` directives match.
// 2. Of each, drop the results that only the backward reads: the task calls a
//    body without them.
// 3. A task of pass R makes the dropped results again, right before their first
//    reader, and no more than those.

#include "Recompute.h"

#include "Directives/Directive.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/BodySlice.h"
#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPERRECOMPUTE
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

/// A body that makes some of the results of another.
struct Part {
  func::FuncOp body;
  /// The operands of the other that it takes.
  SmallVector<unsigned> operands;
};

class Recomputer {
public:
  Recomputer(func::FuncOp train, BodyTable &bodies);
  void recompute(TaskOp forward);

private:
  Part &partOf(TaskOp task, ArrayRef<unsigned> results, StringRef suffix);
  TaskOp call(OpBuilder &builder, TaskOp forward, ArrayRef<unsigned> results,
              StringRef suffix, PassKind pass);
  TaskOp firstReader(TaskOp forward, ArrayRef<unsigned> results);

  BodyTable &bodies;
  DenseMap<Operation *, int64_t> positions;
  /// By the name of the body, the suffix and the results.
  llvm::StringMap<Part> parts;
};

} // namespace

Recomputer::Recomputer(func::FuncOp train, BodyTable &bodies) : bodies(bodies) {
  for (Operation &op : train.front())
    positions[&op] = positions.size();
}

/// Whether `value` is read, and by backward tasks only.
static bool isSaved(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *user) {
           auto task = dyn_cast<TaskOp>(user);
           return task && isBackward(task);
         });
}

namespace {
/// The results of a forward task by what becomes of them.
struct Results {
  SmallVector<unsigned> kept, dropped;
};
} // namespace

static Results sortResults(TaskOp forward) {
  Results results;
  unsigned numPlain = forward.getOuts().size() - forward.getInto().size();
  for (auto [index, value] : llvm::enumerate(forward.getOuts()))
    if (index >= numPlain) // An accumulator is never made twice.
      results.kept.push_back(index);
    else if (isSaved(value))
      results.dropped.push_back(index);
    else if (!value.use_empty())
      results.kept.push_back(index);
  return results;
}

bool mlir::piper::canRecompute(TaskOp forward) {
  Results results = sortResults(forward);
  return !results.dropped.empty() && !results.kept.empty();
}

/// Replaces an op by the form that saves nothing for the gradient, if all that
/// it saves is unused.
static void dropSavedResults(Operation *op) {
  if (!isa<DifferentiableOpInterface>(op))
    return;
  for (unsigned count = 1; count < op->getNumResults(); ++count) {
    ResultRange saved = op->getResults().drop_front(count);
    if (llvm::any_of(saved, [](Value value) { return !value.use_empty(); }))
      continue;
    OpBuilder builder(op);
    OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                         TypeRange(op->getResultTypes()).take_front(count),
                         op->getAttrs());
    Operation *smaller = builder.create(state);
    SmallVector<Type> types;
    cast<DifferentiableOpInterface>(smaller).getSavedTypes(types);
    if (TypeRange(types) != saved.getTypes()) {
      smaller->erase();
      continue;
    }
    for (auto [from, to] : llvm::zip(op->getResults(), smaller->getResults()))
      from.replaceAllUsesWith(to);
    op->erase();
    return;
  }
}

/// Builds the body that makes `results` of `body` and nothing else.
static Part buildPart(BodyTable &bodies, func::FuncOp body,
                      ArrayRef<unsigned> results, StringRef suffix) {
  OwningOpRef<func::FuncOp> copy = body.clone();
  Block &block = copy->front();
  Operation *terminator = block.getTerminator();
  auto returned = [&] {
    return llvm::map_to_vector(
        results, [&](unsigned index) { return terminator->getOperand(index); });
  };
  SmallVector<Operation *> ops = findSlice(block, returned());
  DenseSet<Operation *> needed(ops.begin(), ops.end());
  terminator->setOperands(returned());
  SmallVector<Operation *> all;
  for (Operation &op : block.without_terminator())
    all.push_back(&op);
  for (Operation *op : llvm::reverse(all))
    if (needed.contains(op))
      dropSavedResults(op);
    else
      op->erase();
  ops.clear();
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  SmallVector<Value> values(terminator->getOperands());
  SmallVector<BlockArgument> arguments = findArguments(block, ops, values);
  Part part;
  for (BlockArgument argument : arguments)
    part.operands.push_back(argument.getArgNumber());
  part.body = bodies.clone(
      deriveName(body.getSymName(), ".fw", suffix), ops,
      SmallVector<Value>(arguments.begin(), arguments.end()), values);
  return part;
}

Part &Recomputer::partOf(TaskOp task, ArrayRef<unsigned> results,
                         StringRef suffix) {
  std::string key = task.getCallee().str() + suffix.str();
  for (unsigned index : results)
    key += "," + std::to_string(index);
  auto [found, isNew] = parts.try_emplace(key);
  if (isNew)
    found->second = buildPart(bodies, bodies.lookup(task), results, suffix);
  return found->second;
}

/// Calls the part of the body of `forward` that makes `results`, with its
/// operands, and lets their readers read those of the call.
TaskOp Recomputer::call(OpBuilder &builder, TaskOp forward,
                        ArrayRef<unsigned> results, StringRef suffix,
                        PassKind pass) {
  Part &part = partOf(forward, results, suffix);
  SmallVector<Value> operands =
      llvm::map_to_vector(part.operands, [&](unsigned index) -> Value {
        return forward.getInputs()[index];
      });
  TaskOp task = createTaskLike(builder, forward, part.body, operands, pass);
  for (auto [index, result] : llvm::zip_equal(results, task.getOuts()))
    forward.getResult(index).replaceAllUsesWith(result);
  return task;
}

TaskOp Recomputer::firstReader(TaskOp forward, ArrayRef<unsigned> results) {
  Operation *first = nullptr;
  for (unsigned index : results)
    for (Operation *user : forward.getResult(index).getUsers())
      if (!first || positions.lookup(user) < positions.lookup(first))
        first = user;
  return cast<TaskOp>(first);
}

void Recomputer::recompute(TaskOp forward) {
  if (!canRecompute(forward))
    return;
  auto [kept, dropped] = sortResults(forward);
  OpBuilder builder(firstReader(forward, dropped));
  call(builder, forward, dropped, ".re", PassKind::R);
  builder.setInsertionPoint(forward);
  TaskOp smaller = call(builder, forward, kept, "", PassKind::F);
  smaller.getIntoMutable().assign(forward.getInto());
  forward.erase();
}

/// The forward tasks of `train` that the directives match, in program order. A
/// directive that changes nothing is an error where the user can know it, and a
/// remark where it depends on what the backward reads.
static FailureOr<SmallVector<TaskOp>>
findTasks(ModuleOp module, func::FuncOp train, const Directives &directives) {
  std::string tag = directives.microBatchTag();
  Origins origins(module);
  DenseMap<Operation *, int64_t> directiveOf;
  SmallVector<TaskOp> forwards;
  if (train)
    for (auto task : train.getOps<TaskOp>())
      if (task.getPass() == PassKind::F)
        forwards.push_back(task);
  for (const RecomputeDirective &directive : directives.recompute) {
    bool any = false, isNew = false, hasEffect = false;
    int64_t other = 0;
    for (TaskOp task : forwards) {
      if (!directive.filter.matches(task, tag))
        continue;
      any = true;
      hasEffect |= canRecompute(task);
      auto [found, added] = directiveOf.try_emplace(task, directive.number);
      isNew |= added;
      if (!added)
        other = found->second;
    }
    if (!any)
      return origins.error(directive.number, "recompute")
             << "filter " << directive.filter.text()
             << " matches no forward task";
    if (!isNew)
      return origins.error(directive.number, "recompute")
             << "all that filter " << directive.filter.text()
             << " matches runs again already, as "
             << origins.name(other, "recompute") << " says";
    if (!hasEffect)
      emitRemark(origins.place(directive.number))
          << origins.name(directive.number, "recompute")
          << " changes nothing: what filter " << directive.filter.text()
          << " matches keeps only its inputs for the backward";
  }
  llvm::erase_if(forwards,
                 [&](TaskOp task) { return !directiveOf.contains(task); });
  return forwards;
}

namespace {
class PiperRecomputePass
    : public mlir::piper::impl::PiperRecomputeBase<PiperRecomputePass> {
public:
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
        failed(verifyTasks(module)))
      return signalPassFailure();
    FailureOr<Directives> directives = readDirectives(module);
    if (failed(directives))
      return signalPassFailure();
    if (directives->recompute.empty())
      return;
    auto train = module.lookupSymbol<func::FuncOp>("train");
    auto tasks = findTasks(module, train, *directives);
    if (failed(tasks))
      return signalPassFailure();
    BodyTable bodies(module);
    Recomputer recomputer(train, bodies);
    for (TaskOp task : *tasks)
      recomputer.recompute(task);
    bodies.eraseUnused();
  }
};
} // namespace

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the end of the step to `train`.
//
// 1. State arguments: moments beside each parameter with a gradient, then the
//    counters `iteration`, `update` and `seed`.
// 2. Random keys are made from seed and update.
// 3. The learning rate, the norm of all gradients, the clipping factor.
// 4. A check of what each update would write, and the decision.
// 5. One update for each parameter, the next counters.
// 6. Results: outputs, next state, and the gradients if they are kept.

#include "OptimizerParts.h"

#include "Tasks/VerifyTasks.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPEROPTIMIZER
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

class PiperOptimizerPass
    : public mlir::piper::impl::PiperOptimizerBase<PiperOptimizerPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult collect(func::FuncOp train);
  void addStates();
  void insertResults();
  void addResult(Value value, StringRef key, StringAttr name);
  void replaceRandomKeys();
  Type elementType();
  Type vectorOf(int64_t size);
  void addNorm();
  void addDecision();
  void addUpdate(Trained &trained);
  TaskOp call(StringRef name, ValueRange operands, PassKind pass,
              function_ref<Operation *(OpBuilder &, ValueRange)> build);

  PiperOptimizerOptions options;
  func::FuncOp train;
  BodyTable *bodies = nullptr;
  Operation *terminator = nullptr;
  SmallVector<Trained> all;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
  Value iteration, seed, count, loss;
  /// The sum of squares, and of each gradient whether it is finite.
  Value sum, nonfinite;
  StepScalars scalars;
};

} // namespace

/// One task whose body is one op.
TaskOp PiperOptimizerPass::call(
    StringRef name, ValueRange operands, PassKind pass,
    function_ref<Operation *(OpBuilder &, ValueRange)> build) {
  func::FuncOp body = bodies->build(
      name, train.getLoc(), operands.getTypes(),
      [&](OpBuilder &builder, ValueRange arguments) {
        return SmallVector<Value>(build(builder, arguments)->getResults());
      });
  OpBuilder builder(terminator);
  return createTask(builder, train.getLoc(), body, operands, pass);
}

static Type scalarOf(Type element) {
  return RankedTensorType::get({}, element);
}

LogicalResult PiperOptimizerPass::collect(func::FuncOp function) {
  train = function;
  terminator = train.front().getTerminator();
  llvm::StringMap<BlockArgument> parameters;
  for (BlockArgument argument : train.getArguments()) {
    if (train.getArgAttr(argument.getArgNumber(),
                         PiperDialect::StateAttrHelper::getNameStr()))
      return train.emitOpError()
             << "expects a step without an optimizer but has its state already";
    if (auto param = train.getArgAttrOfType<ParamAttr>(
            argument.getArgNumber(),
            PiperDialect::ParamAttrHelper::getNameStr()))
      parameters[param.getName()] = argument;
  }
  BitVector dropped(train.getNumResults());
  for (unsigned i = 0; i < train.getNumResults(); ++i) {
    Value value = terminator->getOperand(i);
    auto output = train.getResultAttrOfType<StringAttr>(
        i, PiperDialect::OutputAttrHelper::getNameStr());
    if (output && output == "count")
      count = value;
    if (output && output == "loss")
      loss = value;
    auto name = train.getResultAttrOfType<StringAttr>(
        i, PiperDialect::GradientAttrHelper::getNameStr());
    if (!name)
      continue;
    BlockArgument argument = parameters.lookup(name);
    if (!argument || argument.getType() != value.getType())
      return train.emitOpError()
             << "expects result #" << i
             << " to be the gradient of a parameter of its type but "
                "there is no such parameter '"
             << name.getValue() << "'";
    all.push_back({train.getArgAttrOfType<ParamAttr>(
                       argument.getArgNumber(),
                       PiperDialect::ParamAttrHelper::getNameStr()),
                   argument,
                   value,
                   {}});
    if (!keepGradients)
      dropped.set(i);
  }
  (void)train.eraseResults(dropped);
  terminator->eraseOperands(dropped);
  return success();
}

void PiperOptimizerPass::addStates() {
  Builder builder(&getContext());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Type type, const Twine &name, StringAttr of) {
    types.push_back(type);
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        PiperDialect::StateAttrHelper::getNameStr(),
        StateAttr::get(&getContext(), builder.getStringAttr(name), of))));
  };
  SmallVector<StringRef> suffixes = momentSuffixes(options);
  for (Trained &trained : all)
    for (StringRef suffix : suffixes)
      add(trained.value.getType(), trained.param.getName().getValue() + suffix,
          trained.param.getName());
  Type counter = scalarOf(builder.getI64Type());
  for (StringRef name : {"iteration", "update", "seed"})
    add(counter, name, {});

  // All at once: one by one the function type would be made again each time.
  unsigned index = train.getNumArguments();
  (void)train.insertArguments(
      SmallVector<unsigned>(types.size(), index), types, attributes,
      SmallVector<Location>(types.size(), train.getLoc()));
  for (Trained &trained : all)
    for (size_t i = 0; i < suffixes.size(); ++i)
      trained.moments.push_back(train.getArgument(index++));
  iteration = train.getArgument(index);
  scalars.update = train.getArgument(index + 1);
  seed = train.getArgument(index + 2);
}

void PiperOptimizerPass::addResult(Value value, StringRef key,
                                   StringAttr name) {
  Builder builder(&getContext());
  results.push_back(value);
  resultAttributes.push_back(
      builder.getDictionaryAttr(builder.getNamedAttr(key, name)));
}

void PiperOptimizerPass::insertResults() {
  unsigned index = train.getNumResults();
  (void)train.insertResults(SmallVector<unsigned>(results.size(), index),
                            ValueRange(results).getTypes(), resultAttributes);
  terminator->insertOperands(index, results);
}

/// A key is made from the seed and the number of updates.
void PiperOptimizerPass::replaceRandomKeys() {
  for (auto task : llvm::make_early_inc_range(train.front().getOps<TaskOp>())) {
    func::FuncOp body = bodies->lookup(task);
    if (!isa<RandomKeyOp>(body.front().front()) || task.getNumOperands() != 0)
      continue;
    Operation *end = terminator;
    terminator = task;
    TaskOp key =
        call("random_key", {seed, scalars.update}, PassKind::Once,
             [](OpBuilder &builder, ValueRange operands) {
               auto type = RankedTensorType::get({2}, builder.getI64Type());
               return RandomKeyOp::create(builder, builder.getUnknownLoc(),
                                          type, operands);
             });
    terminator = end;
    task.getResult(0).replaceAllUsesWith(key.getResult(0));
    task.erase();
  }
}

/// f32, or f64 in an f64 program.
Type PiperOptimizerPass::elementType() {
  for (Trained &trained : all)
    if (getElementTypeOrSelf(trained.gradient.getType()).isF64())
      return Float64Type::get(&getContext());
  return Float32Type::get(&getContext());
}

Type PiperOptimizerPass::vectorOf(int64_t size) {
  return RankedTensorType::get({size}, IntegerType::get(&getContext(), 64));
}

void PiperOptimizerPass::addNorm() {
  Builder builder(&getContext());
  Location loc = train.getLoc();
  SmallVector<Value> gradients = llvm::map_to_vector(
      all, [](Trained &trained) { return trained.gradient; });
  Type scalar = scalarOf(elementType());

  TaskOp rate = call(
      "learning_rate", {scalars.update}, PassKind::Once,
      [&](OpBuilder &b, ValueRange operands) {
        return LearningRateOp::create(
            b, loc, scalar, operands[0], b.getStringAttr(options.schedule),
            b.getF64FloatAttr(options.lr), b.getF64FloatAttr(options.minLr),
            b.getI64IntegerAttr(options.warmupSteps),
            b.getI64IntegerAttr(options.totalSteps));
      });
  scalars.lr = rate.getResult(0);
  TaskOp table =
      call("norm_table", gradients, PassKind::Once,
           [&](OpBuilder &b, ValueRange operands) {
             return NormTableOp::create(b, loc, vectorOf(NormTableOp::kDigits),
                                        vectorOf(operands.size()), operands);
           });
  sum = table.getResult(0);
  nonfinite = table.getResult(1);
  SmallVector<Value> operands(table.getResults());
  if (count)
    operands.push_back(count);
  TaskOp clipped =
      call("clip", operands, PassKind::Once, [&](OpBuilder &b, ValueRange o) {
        return ClipOp::create(b, loc, scalar, scalar, scalarOf(b.getI1Type()),
                              o[0], o[1], o.size() > 2 ? o[2] : Value(),
                              APFloat(options.clip));
      });
  scalars.norm = clipped.getResult(0);
  scalars.scale = clipped.getResult(1);
  StringRef output = PiperDialect::OutputAttrHelper::getNameStr();
  addResult(scalars.norm, output, builder.getStringAttr("grad_norm"));
}

/// Gradients, loss and what the updates would write are finite, and there is a
/// label: `ok` of a clip whose counts are those of all of these.
void PiperOptimizerPass::addDecision() {
  Builder builder(&getContext());
  Location loc = train.getLoc();
  SmallVector<Value> counts;
  for (Trained &trained : all) {
    TaskOp check =
        call(optimizer + "_check", checkOperands(options, trained, scalars),
             PassKind::Once, [&](OpBuilder &b, ValueRange o) {
               return createCheck(b, loc, options, o);
             });
    counts.push_back(check.getResult(0));
  }
  Value unsafe = call("check_table", counts, PassKind::Once,
                      [&](OpBuilder &b, ValueRange o) {
                        return ConcatOp::create(b, loc, vectorOf(o.size()), o,
                                                b.getI64IntegerAttr(0));
                      })
                     .getResult(0);
  SmallVector<Value> operands = {sum, nonfinite, unsafe, loss};
  if (count)
    operands.push_back(count);
  Type scalar = scalarOf(elementType());
  func::FuncOp body = bodies->build(
      "decide", loc, ValueRange(operands).getTypes(),
      [&](OpBuilder &b, ValueRange o) -> SmallVector<Value> {
        auto ofLoss = NormTableOp::create(
            b, loc, vectorOf(NormTableOp::kDigits), vectorOf(1), o[3]);
        Value counts =
            ConcatOp::create(b, loc, vectorOf(2 * all.size() + 1),
                             ValueRange{o[1], o[2], ofLoss.getNonfinite()},
                             b.getI64IntegerAttr(0));
        auto decision = ClipOp::create(
            b, loc, scalar, scalar, scalarOf(b.getI1Type()), o[0], counts,
            o.size() > 4 ? o[4] : Value(), APFloat(options.clip));
        return {decision.getOk()};
      });
  OpBuilder end(terminator);
  TaskOp decision = createTask(end, loc, body, operands, PassKind::Once);
  scalars.ok = decision.getResult(0);
  StringRef output = PiperDialect::OutputAttrHelper::getNameStr();
  addResult(scalars.ok, output, builder.getStringAttr("ok"));
  addResult(scalars.lr, output, builder.getStringAttr("lr"));
  addResult(nonfinite, output, builder.getStringAttr("nonfinite"));
  addResult(unsafe, output, builder.getStringAttr("nonfinite_updates"));
}

void PiperOptimizerPass::addUpdate(Trained &trained) {
  Location loc = train.getLoc();
  TaskOp task = call(optimizer, updateOperands(options, trained, scalars),
                     PassKind::U, [&](OpBuilder &b, ValueRange o) {
                       return createUpdate(b, loc, options, o);
                     });
  StringRef next = PiperDialect::NextAttrHelper::getNameStr();
  addResult(task.getResult(0), next, trained.param.getName());
  for (auto [moment, value] :
       llvm::zip_equal(trained.moments, task.getResults().drop_front())) {
    auto state = train.getArgAttrOfType<StateAttr>(
        cast<BlockArgument>(moment).getArgNumber(),
        PiperDialect::StateAttrHelper::getNameStr());
    addResult(value, next, state.getName());
  }
}

void PiperOptimizerPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(expectLevel(module, getArgument(), Level::DAG)) ||
      failed(verifyTasks(module)))
    return signalPassFailure();
  options = {optimizer,  lr,          momentum,     beta1,    beta2,
             eps,        weightDecay, clip,         schedule, warmupSteps,
             totalSteps, minLr,       keepGradients};
  if (failed(checkOptimizerOptions(module, options)))
    return signalPassFailure();
  BodyTable table(module);
  bodies = &table;
  for (func::FuncOp entry : getEntryFunctions(module))
    if (entry.getSymName() == "train" && failed(collect(entry)))
      return signalPassFailure();
  if (!train || all.empty()) {
    emitProgramError(module)
        << "expects a parameter to train but the loss depends on no "
           "trainable parameter";
    return signalPassFailure();
  }
  if (failed(checkOptimizerNumbers(module, options, elementType())))
    return signalPassFailure();
  addStates();
  replaceRandomKeys();
  addNorm();
  addDecision();
  for (Trained &trained : all)
    addUpdate(trained);
  Builder builder(&getContext());
  Type counter = scalarOf(builder.getI64Type());
  TaskOp advance = call("advance", {iteration, scalars.update, scalars.ok},
                        PassKind::Once, [&](OpBuilder &b, ValueRange o) {
                          return AdvanceOp::create(b, train.getLoc(), counter,
                                                   counter, o[0], o[1], o[2]);
                        });
  StringRef next = PiperDialect::NextAttrHelper::getNameStr();
  addResult(advance.getResult(0), next, builder.getStringAttr("iteration"));
  addResult(advance.getResult(1), next, builder.getStringAttr("update"));
  insertResults();
  table.eraseUnused();
}

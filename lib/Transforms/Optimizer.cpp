// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the end of the step to `train`.
//
// 1. State arguments: moments beside each parameter with a gradient, then the
//    counters `iteration`, `update` and `seed`.
// 2. Random keys are made from seed and update.
// 3. The norm of all gradients, the clipping factor, the decision.
// 4. One update for each parameter, the learning rate, the next counters.
// 5. Results: outputs, next state, and the gradients if they are kept.

#include "Piper/Transforms/Passes.h"
#include "Piper/Transforms/Verify.h"

#include "llvm/Support/Format.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPEROPTIMIZER
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

/// A parameter, its gradient and its moments.
struct Trained {
  ParamAttr param;
  Value value, gradient;
  SmallVector<Value> moments;
};

class PiperOptimizerPass
    : public mlir::piper::impl::PiperOptimizerBase<PiperOptimizerPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult checkOptions(ModuleOp module);
  LogicalResult collect(func::FuncOp train);
  void addStates();
  void insertResults();
  void addResult(Value value, StringRef key, StringAttr name);
  void replaceRandomKeys();
  Type elementType();
  void addDecision();
  void addUpdate(Trained &trained);
  TaskOp call(StringRef name, ValueRange operands, PassKind pass,
              function_ref<Operation *(OpBuilder &, ValueRange)> build);

  func::FuncOp train;
  BodyTable *bodies = nullptr;
  Operation *terminator = nullptr;
  SmallVector<Trained> all;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
  Value iteration, update, seed, count, loss;
  Value lr_, norm, scale, ok;
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

LogicalResult PiperOptimizerPass::checkOptions(ModuleOp module) {
  auto refuse = [&](StringRef option, StringRef expects, double got) {
    // As a person would write it: 0.1 and not 1.000000e-01.
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", got);
    return emitProgramError(module) << "option '" << option << "' expects "
                                    << expects << " but got " << text;
  };
  auto unit = [](double x) { return x >= 0 && x < 1; };
  auto finite = [](double x) { return std::isfinite(x); };
  if (optimizer != "adamw" && optimizer != "sgd")
    return emitProgramError(module)
           << "option 'optimizer' expects adamw or sgd but got '" << optimizer
           << "'";
  if (!llvm::is_contained({"constant", "linear", "cosine"},
                          schedule.getValue()))
    return emitProgramError(module) << "option 'lr-schedule' expects constant, "
                                       "linear or cosine but got '"
                                    << schedule << "'";
  if (!finite(lr) || lr < 0)
    return refuse("lr", "a finite number of 0 or more", lr);
  if (!unit(momentum))
    return refuse("momentum", "a number from 0 to below 1", momentum);
  if (!unit(beta1))
    return refuse("beta1", "a number from 0 to below 1", beta1);
  if (!unit(beta2))
    return refuse("beta2", "a number from 0 to below 1", beta2);
  if (!finite(eps) || !(eps > 0))
    return refuse("eps", "a positive finite number", eps);
  if (!finite(weightDecay) || weightDecay < 0)
    return refuse("weight-decay", "a finite number of 0 or more", weightDecay);
  if (!(clip > 0))
    return refuse("clip", "a positive number, or inf to measure only,", clip);
  if (!finite(minLr) || minLr < 0 || minLr > lr)
    return refuse("min-lr", "a number from 0 to lr", minLr);
  if (warmupSteps < 0)
    return refuse("warmup-steps", "a number of 0 or more", warmupSteps);
  if (schedule != "constant" && totalSteps <= warmupSteps)
    return refuse(
        "total-steps",
        "more steps than warmup-steps for a schedule that is not constant",
        totalSteps);
  return success();
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
  SmallVector<StringRef> suffixes;
  if (optimizer == "adamw")
    suffixes = {".m", ".v"};
  else if (momentum > 0)
    suffixes = {".v"};
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
  update = train.getArgument(index + 1);
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
        call("random_key", {seed, update}, PassKind::Once,
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

void PiperOptimizerPass::addDecision() {
  Builder builder(&getContext());
  Location loc = train.getLoc();
  Type i64 = builder.getI64Type();
  SmallVector<Value> gradients = llvm::map_to_vector(
      all, [](Trained &trained) { return trained.gradient; });
  Type scalar = scalarOf(elementType());

  TaskOp rate = call(
      "learning_rate", {update}, PassKind::Once,
      [&](OpBuilder &b, ValueRange operands) {
        return LearningRateOp::create(
            b, loc, scalar, operands[0], b.getStringAttr(schedule),
            b.getF64FloatAttr(lr), b.getF64FloatAttr(minLr),
            b.getI64IntegerAttr(warmupSteps), b.getI64IntegerAttr(totalSteps));
      });
  lr_ = rate.getResult(0);
  TaskOp table = call(
      "norm_table", gradients, PassKind::Once,
      [&](OpBuilder &b, ValueRange operands) {
        return NormTableOp::create(
            b, loc, RankedTensorType::get({NormTableOp::kDigits}, i64),
            RankedTensorType::get({static_cast<int64_t>(operands.size())}, i64),
            operands);
      });
  SmallVector<Value> operands(table.getResults());
  operands.push_back(loss);
  if (count)
    operands.push_back(count);
  func::FuncOp body = bodies->build(
      "clip", loc, ValueRange(operands).getTypes(),
      [&](OpBuilder &b, ValueRange o) -> SmallVector<Value> {
        auto clipBy = [&](Value nonfinite) {
          return ClipOp::create(b, loc, scalar, scalar, scalarOf(b.getI1Type()),
                                o[0], nonfinite, o.size() > 3 ? o[3] : Value(),
                                APFloat(static_cast<double>(clip)));
        };
        // Norm and scale are those of the gradients; a loss that is not finite
        // decides like a gradient that is not.
        auto ofLoss = NormTableOp::create(
            b, loc, RankedTensorType::get({NormTableOp::kDigits}, i64),
            RankedTensorType::get({1}, i64), o[2]);
        int64_t tables = all.size() + 1;
        Value nonfinite = ConcatOp::create(
            b, loc, RankedTensorType::get({tables}, i64),
            ValueRange{o[1], ofLoss.getNonfinite()}, b.getI64IntegerAttr(0));
        ClipOp ofGradients = clipBy(o[1]);
        return {ofGradients.getNorm(), ofGradients.getScale(),
                clipBy(nonfinite).getOk()};
      });
  OpBuilder end(terminator);
  TaskOp decision = createTask(end, loc, body, operands, PassKind::Once);
  norm = decision.getResult(0);
  scale = decision.getResult(1);
  ok = decision.getResult(2);
  StringRef output = PiperDialect::OutputAttrHelper::getNameStr();
  addResult(norm, output, builder.getStringAttr("grad_norm"));
  addResult(ok, output, builder.getStringAttr("ok"));
  addResult(lr_, output, builder.getStringAttr("lr"));
  addResult(table.getResult(1), output, builder.getStringAttr("nonfinite"));
}

void PiperOptimizerPass::addUpdate(Trained &trained) {
  Location loc = train.getLoc();
  Type type = trained.value.getType();
  bool isMatrix = cast<RankedTensorType>(type).getRank() >= 2;
  double decay = isMatrix ? static_cast<double>(weightDecay) : 0.0;
  TaskOp task;
  if (optimizer == "adamw") {
    task = call("adamw",
                {trained.value, trained.gradient, trained.moments[0],
                 trained.moments[1], lr_, update, scale, ok},
                PassKind::U, [&](OpBuilder &b, ValueRange o) {
                  return AdamWOp::create(
                      b, loc, type, type, type, o[0], o[1], o[2], o[3], o[4],
                      o[5], o[6], o[7], APFloat(static_cast<double>(beta1)),
                      APFloat(static_cast<double>(beta2)),
                      APFloat(static_cast<double>(eps)), APFloat(decay));
                });
  } else {
    SmallVector<Value> operands = {trained.value, trained.gradient, lr_, scale,
                                   ok};
    llvm::append_range(operands, trained.moments);
    task = call("sgd", operands, PassKind::U, [&](OpBuilder &b, ValueRange o) {
      SmallVector<Type> types(1 + trained.moments.size(), type);
      return SgdOp::create(b, loc, types, o[0], o[1], o[2], o[3], o[4],
                           o.size() > 5 ? o[5] : Value(),
                           b.getF64FloatAttr(momentum),
                           b.getF64FloatAttr(decay));
    });
  }
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
      failed(verifyTasks(module)) || failed(checkOptions(module)))
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
  if (elementType().isF32() && lr > std::numeric_limits<float>::max()) {
    emitProgramError(module)
        << "option 'lr' expects a number that f32 can hold but got "
        << static_cast<double>(lr);
    return signalPassFailure();
  }
  addStates();
  replaceRandomKeys();
  addDecision();
  for (Trained &trained : all)
    addUpdate(trained);
  Builder builder(&getContext());
  Type counter = scalarOf(builder.getI64Type());
  TaskOp advance = call("advance", {iteration, update, ok}, PassKind::Once,
                        [&](OpBuilder &b, ValueRange o) {
                          return AdvanceOp::create(b, train.getLoc(), counter,
                                                   counter, o[0], o[1], o[2]);
                        });
  StringRef next = PiperDialect::NextAttrHelper::getNameStr();
  addResult(advance.getResult(0), next, builder.getStringAttr("iteration"));
  addResult(advance.getResult(1), next, builder.getStringAttr("update"));
  insertResults();
  table.eraseUnused();
}

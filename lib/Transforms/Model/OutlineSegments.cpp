// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups runs of ops with equal tags into tasks.
//
// 1. Drop what no result needs. Follow the batch dimension from the inputs, and
// what depends on parameters.
// 2. Sort ops into prologue, body and epilogue by what they depend on.
// 3. Cut the body into runs of equal tags; ops of parameters alone that others
// read stand apart.
// 4. Replace each group by a task whose body is a function; constants are
//    cloned into each group that uses them.

#include "SegmentOps.h"

#include "BatchDims.h"
#include "Piper/Transforms/Passes.h"
#include "Tasks/VerifyTasks.h"
#include "VerifyModel.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::piper {
#define GEN_PASS_DEF_PIPEROUTLINESEGMENTS
#include "Piper/Transforms/Passes.h.inc"
} // namespace mlir::piper

using namespace mlir;
using namespace mlir::piper;

namespace {

/// What an op belongs to.
enum class Part { Constant, RandomKey, Prologue, Body, Epilogue };

/// A group of ops that becomes one task.
struct Segment {
  SmallVector<Operation *> ops;
  TagsAttr tags;
  PassKind pass = PassKind::F;
  std::string name;
};

class Outliner {
public:
  Outliner(func::FuncOp function, BodyTable &bodies)
      : function(function), bodies(bodies), block(function.front()),
        batch(function) {}
  LogicalResult run();

private:
  void followParameters();
  Part classify(Operation *op);
  void classifyAll();
  Segment takeOutSingle(Segment &segment);
  void formSegments();
  void replace(Segment &segment, int64_t ordinal);
  /// Whether an op takes values of the body where the body makes them; the
  /// prologue makes its own.
  bool readsBody(Operation *op) const {
    auto found = parts.find(op);
    return found == parts.end() || inBody.contains(op) ||
           (found->second != Part::Prologue && found->second != Part::Body);
  }
  Value copy(Value parameter, OpBuilder &builder);
  void finish();

  func::FuncOp function;
  BodyTable &bodies;
  Block &block;
  BatchDims batch;
  /// Values that depend on a parameter or a random key; values summed over the
  /// batch in the body, and what depends on them.
  DenseSet<Value> ofParameters, ofBody;
  DenseMap<Operation *, Part> parts;
  /// Ops of the body that more than the prologue needs.
  DenseSet<Operation *> inBody;
  SmallVector<Segment> segments;
  int64_t bodySegments = 0;
  /// Old values to the results of the new tasks.
  IRMapping replaced;
  Value count;
};

} // namespace

//===----------------------------------------------------------------------===//
// Prologue, body, epilogue
//===----------------------------------------------------------------------===//

/// A value with random numbers counts as one of a parameter: a prologue that
/// made it again, as another task, would get other numbers.
void Outliner::followParameters() {
  for (BlockArgument argument : block.getArguments())
    if (!function.getArgAttr(argument.getArgNumber(),
                             PiperDialect::InputAttrHelper::getNameStr()))
      ofParameters.insert(argument);
  for (Operation &op : block.without_terminator())
    if (isa<RandomKeyOp>(op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return ofParameters.contains(operand);
        }))
      ofParameters.insert(op.result_begin(), op.result_end());
}

Part Outliner::classify(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return Part::Constant;
  if (isa<RandomKeyOp>(op))
    return Part::RandomKey;
  auto batched = [&](Value value) { return batch.isBatched(value); };
  bool takesBatch = llvm::any_of(op->getOperands(), batched);
  bool makesBatch = llvm::any_of(op->getResults(), batched);
  bool dependsOnBody = llvm::any_of(op->getOperands(), [&](Value operand) {
    return ofBody.contains(operand);
  });
  bool dependsOnParameters = llvm::any_of(op->getResults(), [&](Value result) {
    return ofParameters.contains(result);
  });
  if (dependsOnBody && !takesBatch) {
    ofBody.insert(op->result_begin(), op->result_end());
    return Part::Epilogue;
  }
  if (makesBatch || dependsOnParameters || dependsOnBody) {
    if (takesBatch && !makesBatch)
      ofBody.insert(op->result_begin(), op->result_end());
    return Part::Body;
  }
  return Part::Prologue;
}

void Outliner::classifyAll() {
  for (Operation &op : block.without_terminator())
    parts[&op] = classify(&op);
  // What the body reads stands in the body, though it comes after a sum over
  // the batch (the mean of a batch that is subtracted from it).
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (parts[&op] == Part::Epilogue &&
        llvm::any_of(op.getUsers(), [&](Operation *user) {
          auto found = parts.find(user);
          return found != parts.end() && found->second == Part::Body;
        }))
      parts[&op] = Part::Body;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (parts[&op] == Part::Body &&
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return readsBody(user); }))
      inBody.insert(&op);
}

/// The tag `name`, or "layerN" from the tag `layer`, or "segment".
static std::string segmentName(TagsAttr tags) {
  if (!tags)
    return "segment";
  if (auto name = dyn_cast_or_null<StringAttr>(tags.getEntries().get("name")))
    return name.empty() ? "segment" : name.str();
  if (auto layer =
          dyn_cast_or_null<IntegerAttr>(tags.getEntries().get("layer")))
    return "layer" + std::to_string(layer.getInt());
  return "segment";
}

/// Takes ops of parameters alone out of a segment that also handles samples, if
/// something outside of it reads their values: such a value is made once in a
/// step, and so is its gradient, however many pieces the batch is cut into. Ops
/// that only their segment reads stay there.
Segment Outliner::takeOutSingle(Segment &segment) {
  DenseSet<Operation *> inside(segment.ops.begin(), segment.ops.end());
  auto isSingle = [&](Operation *op) {
    return llvm::none_of(op->getOperands(),
                         [&](Value operand) {
                           return batch.isBatched(operand) ||
                                  ofBody.contains(operand);
                         }) &&
           llvm::none_of(op->getResults(),
                         [&](Value result) { return batch.isBatched(result); });
  };
  DenseSet<Operation *> taken;
  for (Operation *op : llvm::reverse(segment.ops)) {
    if (!isSingle(op))
      continue;
    if (llvm::any_of(op->getUsers(), [&](Operation *user) {
          return taken.contains(user) ||
                 (!inside.contains(user) && readsBody(user));
        }))
      taken.insert(op);
  }
  Segment once;
  if (taken.empty() || taken.size() == segment.ops.size())
    return once;
  once.tags = segment.tags;
  once.name = segment.name + ".once";
  auto isTaken = [&](Operation *op) { return taken.contains(op); };
  llvm::copy_if(segment.ops, std::back_inserter(once.ops), isTaken);
  llvm::erase_if(segment.ops, isTaken);
  return once;
}

void Outliner::formSegments() {
  Segment prologue, epilogue;
  prologue.pass = epilogue.pass = PassKind::Once;
  prologue.name = "prologue";
  epilogue.name = "epilogue";
  SmallVector<Segment> keys, body;
  // The prologue runs before the body: what it reads of the body's ops it
  // computes for itself.
  DenseSet<Operation *> inPrologue;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool wanted = parts[&op] == Part::Prologue || inPrologue.contains(&op);
    if (!wanted)
      continue;
    inPrologue.insert(&op);
    for (Value operand : op.getOperands())
      if (Operation *definition = operand.getDefiningOp())
        if (parts[definition] == Part::Body)
          inPrologue.insert(definition);
  }

  TagsAttr tags;
  for (Operation &op : block.without_terminator()) {
    if (inPrologue.contains(&op))
      prologue.ops.push_back(&op);
    if (parts[&op] == Part::RandomKey)
      keys.push_back({{&op}, {}, PassKind::Once, "random_key"});
    if (parts[&op] == Part::Epilogue)
      epilogue.ops.push_back(&op);
    if (!inBody.contains(&op))
      continue;
    auto own =
        op.getAttrOfType<TagsAttr>(PiperDialect::TagsAttrHelper::getNameStr());
    bool startsRun = body.empty() || (own && tags && own != tags);
    if (startsRun)
      body.push_back({{}, own, PassKind::F, ""});
    if (own)
      body.back().tags = tags = own;
    body.back().ops.push_back(&op);
  }
  if (llvm::any_of(prologue.ops,
                   [](Operation *op) { return isa<CountValidOp>(op); }))
    prologue.name = "count";
  if (llvm::any_of(epilogue.ops,
                   [](Operation *op) { return isa<DivideOp>(op); }))
    epilogue.name = "mean";
  if (!prologue.ops.empty())
    segments.push_back(std::move(prologue));
  llvm::append_range(segments, std::move(keys));
  for (Segment &segment : body) {
    segment.name = segmentName(segment.tags);
    Segment once = takeOutSingle(segment);
    if (!once.ops.empty())
      segments.push_back(std::move(once));
    segments.push_back(std::move(segment));
  }
  if (!epilogue.ops.empty())
    segments.push_back(std::move(epilogue));
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void Outliner::replace(Segment &segment, int64_t ordinal) {
  // Inputs in the order of first use, and the constants that come along.
  DenseSet<Operation *> inside(segment.ops.begin(), segment.ops.end());
  llvm::SetVector<Operation *> constants;
  llvm::SetVector<Value> inputs;
  bool random = false;
  for (Operation *op : segment.ops)
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && parts[definition] == Part::Constant)
        constants.insert(definition);
      else if (!definition || !inside.contains(definition))
        inputs.insert(operand);
      random |= definition && parts[definition] == Part::RandomKey;
    }
  SmallVector<Value> outputs;
  for (Operation *op : segment.ops) {
    // A body op that the prologue computes for itself has its users elsewhere;
    // one that it reads it has, as the body has it.
    bool isOnce = segment.pass == PassKind::Once;
    bool copied = isOnce && parts[op] == Part::Body;
    for (Value result : op->getResults())
      if (!copied && llvm::any_of(result.getUsers(), [&](Operation *user) {
            return isOnce ? !inside.contains(user) || inBody.contains(user)
                          : !inside.contains(user) && readsBody(user);
          }))
        outputs.push_back(result);
  }
  if (outputs.empty())
    return;

  SmallVector<Operation *> ops(constants.begin(), constants.end());
  llvm::append_range(ops, segment.ops);
  func::FuncOp body =
      bodies.clone(segment.name, ops, inputs.getArrayRef(), outputs);
  SmallVector<Value> operands = llvm::map_to_vector(
      inputs, [&](Value value) { return replaced.lookupOrDefault(value); });
  OpBuilder builder(block.getTerminator());
  TaskOp task =
      createTask(builder, segment.ops.front()->getLoc(), body, operands,
                 segment.pass, segment.tags, random ? ordinal : 0);
  if (segment.pass == PassKind::F)
    task.setSegment(bodySegments++);
  replaced.map(ValueRange(outputs), task.getOuts());
  if (!count)
    for (Value output : outputs)
      if (output.getDefiningOp<CountValidOp>())
        count = replaced.lookup(output);
}

/// A parameter that is returned is returned as it was before its update, which
/// takes its memory.
Value Outliner::copy(Value parameter, OpBuilder &builder) {
  func::FuncOp body = bodies.build(
      "copy", parameter.getLoc(), parameter.getType(),
      [&](OpBuilder &inside, ValueRange operands) -> SmallVector<Value> {
        return {ScaleOp::create(inside, parameter.getLoc(), parameter.getType(),
                                operands[0], APFloat(1.0))};
      });
  return createTask(builder, parameter.getLoc(), body, parameter,
                    PassKind::Once)
      .getResult(0);
}

/// Rewires the results of the function and drops the old ops.
void Outliner::finish() {
  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  SmallVector<Value> results;
  for (Value value : terminator->getOperands()) {
    Operation *definition = value.getDefiningOp();
    if (definition && parts.lookup(definition) == Part::Constant) {
      func::FuncOp body = bodies.clone("constant", {definition}, {}, {value});
      value =
          createTask(builder, definition->getLoc(), body, {}, PassKind::Once)
              .getResult(0);
    } else if (!definition && ofParameters.contains(value)) {
      value = copy(value, builder);
    }
    results.push_back(replaced.lookupOrDefault(value));
  }
  terminator->setOperands(results);
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    if (parts.contains(&op))
      old.push_back(&op);
  for (Operation *op : llvm::reverse(old))
    op->erase();
  if (!count || function.getSymName() == "predict")
    return;
  unsigned index = function.getNumResults();
  auto attributes = DictionaryAttr::get(
      builder.getContext(),
      builder.getNamedAttr(PiperDialect::OutputAttrHelper::getNameStr(),
                           builder.getStringAttr("count")));
  (void)function.insertResult(index, count.getType(), attributes);
  terminator->insertOperands(index, count);
}

LogicalResult Outliner::run() {
  followParameters();
  classifyAll();
  formSegments();
  for (const Segment &segment : segments)
    if (failed(verifyRandomIndices(segment.ops)))
      return failure();
  for (auto [ordinal, segment] : llvm::enumerate(segments))
    replace(segment, ordinal);
  finish();
  return success();
}

namespace {
class PiperOutlineSegmentsPass
    : public mlir::piper::impl::PiperOutlineSegmentsBase<
          PiperOutlineSegmentsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, getArgument(), Level::Model)) ||
        failed(verifyModel(module)))
      return signalPassFailure();
    BodyTable bodies(module);
    for (func::FuncOp entry : getEntryFunctions(module)) {
      dropDeadOps(entry);
      if (failed(Outliner(entry, bodies).run()))
        return signalPassFailure();
    }
    setLevel(module, Level::DAG);
  }
};
} // namespace

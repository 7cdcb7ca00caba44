// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the backward of a body in two.
//
// 1. The ops of the first half: those that the input gradients need, and those
//    that read a weight, with what they need.
// 2. A graph of its values and the operands, each an edge with its bytes. Flow
//    comes from the operands and from results that are not made twice, goes
//    through the ops that may run again, and ends where the second half reads a
//    value. The smallest cut is what the second half takes.
// 3. Build the two functions.

#include "CutBackward.h"
#include "MinCut.h"
#include "Piper/Dialect/Shapes.h"
#include "Tasks/BodySlice.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::piper;

namespace {

class BackwardCutter {
public:
  BackwardCutter(func::FuncOp body, const llvm::BitVector &inputGradients,
                 const llvm::BitVector &parameters);
  BackwardHalves run(BodyTable &bodies);

private:
  void findFirstHalf();
  void chooseHeld();
  void copyHeldResults();
  void buildInput(BodyTable &bodies, BackwardHalves &halves);
  void buildWeight(BodyTable &bodies, BackwardHalves &halves);

  bool isParameter(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && parameters[argument.getArgNumber()];
  }
  /// Whether a value is there after the first half has run.
  bool isOfFirstHalf(Value value) {
    return isa<BlockArgument>(value) ||
           firstHalf.contains(value.getDefiningOp());
  }

  StringRef name;
  const llvm::BitVector &parameters;
  /// A copy, because results may need further ops.
  OwningOpRef<func::FuncOp> copy;
  Block &block;
  SmallVector<Value> inputResults, weightResults;
  DenseSet<Operation *> firstHalf;
  /// What the second half takes: values of the first half and operands.
  DenseSet<Value> held;
};

} // namespace

BackwardCutter::BackwardCutter(func::FuncOp body,
                               const llvm::BitVector &inputGradients,
                               const llvm::BitVector &parameters)
    : name(body.getSymName()), parameters(parameters), copy(body.clone()),
      block(copy->front()) {
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands()))
    (inputGradients[index] ? inputResults : weightResults).push_back(value);
}

//===----------------------------------------------------------------------===//
// The cut
//===----------------------------------------------------------------------===//

void BackwardCutter::findFirstHalf() {
  SmallVector<Value> roots(inputResults);
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return isParameter(operand); }))
      llvm::append_range(roots, op.getResults());
  SmallVector<Operation *> ops = findSlice(block, roots);
  firstHalf.insert(ops.begin(), ops.end());
}

/// As the runtime stores it: an i1 takes one byte.
static int64_t bytesOf(Value value) {
  unsigned bits = elementTypeOf(value).getIntOrFloatBitWidth();
  return *elementCount(shapeOf(value)) * llvm::divideCeil(bits, 8);
}

static bool isCheap(Operation *op) {
  auto interface = dyn_cast<DifferentiableOpInterface>(op);
  return op->hasTrait<OpTrait::ConstantLike>() ||
         (interface && interface.isCheapToRecompute());
}

void BackwardCutter::chooseHeld() {
  constexpr int kSource = 0, kSink = 1;
  SmallVector<Value> values(block.getArguments());
  for (Operation &op : block.without_terminator())
    if (firstHalf.contains(&op))
      llvm::append_range(values, op.getResults());
  // A value is an edge: from the node at which it is made to the node from
  // which it is read.
  DenseMap<Value, int> readNode;
  MinCut graph(2 + 2 * values.size());
  // So that even absurd sizes add up to less than infinity.
  int64_t most = (MinCut::kInfinite - 1) / values.size();
  for (auto [index, value] : llvm::enumerate(values)) {
    int made = 2 + 2 * index, read = made + 1;
    readNode[value] = read;
    graph.addEdge(made, read,
                  isParameter(value) ? MinCut::kInfinite
                                     : std::min(bytesOf(value), most));
    Operation *op = value.getDefiningOp();
    if (!op || !isCheap(op))
      graph.addEdge(kSource, made, MinCut::kInfinite);
    else
      for (Value operand : op->getOperands())
        graph.addEdge(readNode[operand], made, MinCut::kInfinite);
  }
  auto require = [&](Value value) {
    if (isOfFirstHalf(value))
      graph.addEdge(readNode[value], kSink, MinCut::kInfinite);
  };
  for (Operation *op : findSlice(block, weightResults))
    if (!firstHalf.contains(op))
      llvm::for_each(op->getOperands(), require);
  llvm::for_each(weightResults, require);
  (void)graph.run(kSource, kSink);
  std::vector<bool> second = graph.sinkSide(kSink);
  for (Value value : values)
    if (second[readNode[value]] && !second[readNode[value] - 1])
      held.insert(value);
}

//===----------------------------------------------------------------------===//
// The two functions
//===----------------------------------------------------------------------===//

/// No body returns its operand: one that is held is copied.
void BackwardCutter::copyHeldResults() {
  OpBuilder builder(block.getTerminator());
  for (Value &result : weightResults)
    if (held.contains(result))
      result = ScaleOp::create(builder, result.getLoc(), result.getType(),
                               result, APFloat(1.0));
}

static SmallVector<unsigned> numbers(ArrayRef<BlockArgument> arguments) {
  return llvm::map_to_vector(arguments, [](BlockArgument argument) {
    return argument.getArgNumber();
  });
}

void BackwardCutter::buildInput(BodyTable &bodies, BackwardHalves &halves) {
  DenseSet<Value> returned(inputResults.begin(), inputResults.end());
  for (Operation &op : block.without_terminator())
    for (Value value : op.getResults())
      if (held.contains(value) && !returned.contains(value))
        inputResults.push_back(value);
  for (auto [index, value] : llvm::enumerate(inputResults))
    if (held.contains(value))
      halves.passed.push_back(index);
  SmallVector<Operation *> ops = findSlice(block, inputResults);
  SmallVector<BlockArgument> arguments =
      findArguments(block, ops, inputResults);
  halves.inputOperands = numbers(arguments);
  halves.input = bodies.clone(
      deriveName(name, ".bw", ".bi"), ops,
      SmallVector<Value>(arguments.begin(), arguments.end()), inputResults);
}

void BackwardCutter::buildWeight(BodyTable &bodies, BackwardHalves &halves) {
  SmallVector<Operation *> ops = findSlice(block, weightResults, held);
  SmallVector<BlockArgument> arguments =
      findArguments(block, ops, weightResults);
  halves.weightOperands = numbers(arguments);
  SmallVector<Value> operands;
  for (unsigned index : halves.passed)
    operands.push_back(inputResults[index]);
  llvm::append_range(operands, arguments);
  halves.weight = bodies.clone(deriveName(name, ".bw", ".dw"), ops, operands,
                               weightResults);
}

BackwardHalves BackwardCutter::run(BodyTable &bodies) {
  findFirstHalf();
  chooseHeld();
  copyHeldResults();
  BackwardHalves halves;
  buildInput(bodies, halves);
  buildWeight(bodies, halves);
  return halves;
}

BackwardHalves mlir::piper::cutBackward(BodyTable &bodies, func::FuncOp body,
                                        const llvm::BitVector &inputGradients,
                                        const llvm::BitVector &parameters) {
  return BackwardCutter(body, inputGradients, parameters).run(bodies);
}

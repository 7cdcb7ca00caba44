// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One op split along one factor of its sharding rule.

#include "SplitOp.h"
#include "Interpreter.h"

#include "Piper/Target/BuildProgram.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using mlir::piper::ConstantOp;
using mlir::piper::PositionOpInterface;
using mlir::piper::ShardingRule;

namespace piper::test {

namespace {

/// One part of a factor: part `number` of `count`.
struct Part {
  int factor;
  int64_t number, count;
};

/// Where the elements of one part of a tensor lie in the whole. A dimension is
/// a number with one digit per factor; the digit of the split factor starts
/// at the part's first position.
class PartView {
public:
  PartView(const ShardingRule &rule, const ShardingRule::Dims &dims,
           const rt::TensorType &whole, Part part)
      : wholeType(whole), partType(whole) {
    for (auto [dim, factors] : llvm::enumerate(dims)) {
      std::vector<Digit> &own = digits.emplace_back();
      int64_t stride = 1;
      for (int factor : llvm::reverse(factors)) {
        Digit digit{rule.factors[factor].size, 0, stride};
        stride *= digit.size;
        if (factor == part.factor) {
          digit.size /= part.count;
          digit.first = part.number * digit.size;
          partType.shape[dim] /= part.count;
          isSplit = true;
        }
        own.push_back(digit);
      }
    }
  }

  /// The tensor is cut by the part.
  bool isSplit = false;
  const rt::TensorType &type() const { return partType; }

  int64_t wholeIndex(int64_t element) const {
    int64_t index = 0, stride = 1;
    for (size_t dim = digits.size(); dim-- > 0;) {
      int64_t position = element % partType.shape[dim];
      element /= partType.shape[dim];
      int64_t wholePosition = 0;
      for (const Digit &digit : digits[dim]) {
        wholePosition += (position % digit.size + digit.first) * digit.stride;
        position /= digit.size;
      }
      index += wholePosition * stride;
      stride *= wholeType.shape[dim];
    }
    return index;
  }

private:
  struct Digit {
    int64_t size, first, stride;
  };
  rt::TensorType wholeType, partType;
  /// Of each dimension, minor first.
  std::vector<std::vector<Digit>> digits;
};

} // namespace

static HostTensor cut(const HostTensor &whole, const PartView &view) {
  HostTensor part(view.type());
  for (int64_t i = 0; i < part.size(); ++i)
    part.set(i, whole.get(view.wholeIndex(i)));
  return part;
}

//===----------------------------------------------------------------------===//
// The op on one part
//===----------------------------------------------------------------------===//

static Type localType(Type type, const PartView &view) {
  return cast<RankedTensorType>(type).clone(view.type().shape);
}

/// The op if its results depend on positions, else null.
static PositionOpInterface positioned(Operation *op, const ShardingRule &rule) {
  auto position = dyn_cast<PositionOpInterface>(op);
  return position && !position.getPositionDims(rule).empty()
             ? position
             : PositionOpInterface();
}

/// The shape of the whole tensor in which positions count.
static SmallVector<int64_t> wholeShape(PositionOpInterface op,
                                       const ShardingRule &rule) {
  if (auto shape = op.getGlobalShape())
    return SmallVector<int64_t>(*shape);
  SmallVector<int64_t> shape;
  for (ArrayRef<int> factors : op.getPositionDims(rule)) {
    shape.push_back(1);
    for (int factor : factors)
      shape.back() *= rule.factors[factor].size;
  }
  return shape;
}

/// @part: the op with local types, and with what the engine rewrites beside
/// them: the value of a constant, and where the part lies in the whole tensor
/// (an origin as the last operand).
static func::FuncOp buildPart(CaseModule &module, const ShardingRule &rule,
                              const std::vector<PartView> &operands,
                              const std::vector<PartView> &results) {
  Operation *op = module.op();
  OpBuilder builder(op->getContext());
  SmallVector<Type> operandTypes, resultTypes;
  for (auto [type, view] : llvm::zip_equal(op->getOperandTypes(), operands))
    operandTypes.push_back(localType(type, view));
  for (auto [type, view] : llvm::zip_equal(op->getResultTypes(), results))
    resultTypes.push_back(localType(type, view));
  PositionOpInterface position = positioned(op, rule);
  if (position && !position.getOrigin())
    operandTypes.push_back(RankedTensorType::get(
        {static_cast<int64_t>(wholeShape(position, rule).size())},
        builder.getI64Type()));

  auto function = func::FuncOp::create(
      op->getLoc(), "part", builder.getFunctionType(operandTypes, resultTypes));
  module.module().push_back(function);
  Block &block = *function.addEntryBlock();
  Operation *part = Operation::create(
      op->getLoc(), op->getName(), resultTypes,
      ValueRange(block.getArguments()).take_front(op->getNumOperands()),
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage());
  block.push_back(part);
  if (auto constant = dyn_cast<ConstantOp>(part))
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue())
            .resizeSplat(cast<ShapedType>(resultTypes.front())));
  if (position)
    cast<PositionOpInterface>(part).setPosition(block.getArguments().back(),
                                                wholeShape(position, rule));
  builder.setInsertionPointToEnd(&block);
  func::ReturnOp::create(builder, op->getLoc(), part->getResults());
  EXPECT_TRUE(succeeded(verify(function)));
  return function;
}

/// Adds the place of the part to the origin, which is the last operand.
static void addOrigin(std::vector<HostTensor> &operands, PositionOpInterface op,
                      const ShardingRule &rule, Part part) {
  ShardingRule::Dims dims = op.getPositionDims(rule);
  if (!op.getOrigin()) {
    operands.push_back(
        HostTensor({rt::ElementType::I64, {int64_t(dims.size())}}));
    fill(operands.back(), "index 1", 0);
  }
  for (auto [dim, factors] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(factors, part.factor))
      continue;
    // The part factor is the major one of its dimension.
    EXPECT_EQ(factors.front(), part.factor);
    int64_t size = 1;
    for (int factor : factors)
      size *= rule.factors[factor].size;
    operands.back().set(dim, operands.back().get(dim) +
                                 double(part.number * size / part.count));
  }
}

//===----------------------------------------------------------------------===//
// All parts
//===----------------------------------------------------------------------===//

static void combine(HostTensor &whole, const HostTensor &part,
                    const PartView &view, ShardingRule::Reduce reduce,
                    bool isFirst) {
  for (int64_t i = 0; i < part.size(); ++i) {
    int64_t at = view.wholeIndex(i);
    double value = part.get(i);
    if (!view.isSplit && !isFirst)
      value = reduce == ShardingRule::Reduce::Max
                  ? std::max(whole.get(at), value)
                  : whole.get(at) + value;
    whole.set(at, value);
  }
}

static int64_t smallestPrimeFactor(int64_t number) {
  for (int64_t prime = 2; prime * prime <= number; ++prime)
    if (number % prime == 0)
      return prime;
  return number;
}

std::vector<HostTensor> runInParts(const OpCase &row, CaseModule &module,
                                   const ShardingRule &rule, int factor,
                                   const std::vector<HostTensor> &operands) {
  Operation *op = module.op();
  std::vector<HostTensor> joined;
  for (Type type : op->getResultTypes())
    joined.emplace_back(mlir::piper::convertType(type));
  int64_t count = smallestPrimeFactor(rule.factors[factor].size);
  for (int64_t number = 0; number < count; ++number) {
    Part part{factor, number, count};
    std::vector<PartView> operandViews, resultViews;
    std::vector<HostTensor> local;
    for (auto [whole, dims] : llvm::zip_equal(operands, rule.operands)) {
      operandViews.emplace_back(rule, dims, whole.type(), part);
      local.push_back(cut(whole, operandViews.back()));
    }
    for (auto [whole, dims] : llvm::zip_equal(joined, rule.results))
      resultViews.emplace_back(rule, dims, whole.type(), part);
    if (PositionOpInterface position = positioned(op, rule))
      addOrigin(local, position, rule, part);
    Interpreter interpreter(buildPart(module, rule, operandViews, resultViews));
    std::vector<HostTensor> results = interpreter.run(local);
    for (size_t i = 0; i < joined.size(); ++i)
      combine(joined[i], results[i], resultViews[i],
              rule.factors[factor].reduce, number == 0);
  }
  return joined;
}

} // namespace piper::test

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharding rules: building blocks, the check against an op's shapes, and the
// printed form.

#include "Piper/Dialect/ShardingRule.h"
#include "Piper/Dialect/Shapes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

ShardingRule::Dims ShardingRule::addDims(ArrayRef<int64_t> shape,
                                         Reduce reduce) {
  Dims dims;
  for (int64_t size : shape)
    dims.push_back({add(size, reduce)});
  return dims;
}

ShardingRule::Dims ShardingRule::addFixedDims(ArrayRef<int64_t> shape,
                                              const std::string &reason) {
  Dims dims;
  for (int64_t size : shape)
    dims.push_back({addFixed(size, reason)});
  return dims;
}

ShardingRule ShardingRule::elementwise(Operation *op,
                                       SmallVector<SmallVector<int>> linear) {
  ShardingRule rule;
  rule.linear = std::move(linear);
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  Dims dims = rule.addDims(shape);
  rule.results.assign(op->getNumResults(), dims);
  for (Value operand : op->getOperands()) {
    Dims &own = rule.operands.emplace_back(dims);
    own.erase(own.begin(), own.end() - shapeOf(operand).size());
    ArrayRef<int64_t> aligned = shape.take_back(own.size());
    for (auto [dim, size, whole] :
         llvm::zip_equal(own, shapeOf(operand), aligned))
      if (size != whole)
        dim.clear();
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

using Dims = ShardingRule::Dims;

/// Checks the dimensions of one tensor. `name` is "operand 1".
static std::string checkTensor(const ShardingRule &rule, const Dims &dims,
                               Value value, const std::string &name) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (dims.size() != shape.size())
    return llvm::formatv("{0}: expects {1} dimensions but got {2}", name,
                         shape.size(), dims.size());
  llvm::DenseSet<int> seen;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    int64_t product = 1;
    for (int factor : dim) {
      if (factor < 0 || factor >= static_cast<int>(rule.factors.size()))
        return llvm::formatv(
            "{0}, dimension {1}: expects a factor below {2} but got {3}", name,
            index, rule.factors.size(), factor);
      if (!seen.insert(factor).second)
        return llvm::formatv("{0}, dimension {1}: expects each factor once but "
                             "got factor {2} again",
                             name, index, factor);
      product *= rule.factors[factor].size;
    }
    if (product != shape[index])
      return llvm::formatv(
          "{0}, dimension {1}: expects factors of {2} positions but got {3}",
          name, index, shape[index], product);
  }
  return "";
}

/// Checks one list of tensors. `name` is "operand" or "result".
static std::string checkTensors(const ShardingRule &rule, ArrayRef<Dims> all,
                                ValueRange values, StringRef name) {
  if (all.size() != values.size())
    return llvm::formatv("expects {0} {1}s but got {2}", values.size(), name,
                         all.size());
  for (auto [index, dims, value] : llvm::enumerate(all, values)) {
    std::string message = checkTensor(
        rule, dims, value, llvm::formatv("{0} {1}", name, index).str());
    if (!message.empty())
      return message;
  }
  return "";
}

static bool has(const Dims &dims, int factor) {
  return llvm::any_of(
      dims, [&](ArrayRef<int> dim) { return llvm::is_contained(dim, factor); });
}

static std::string checkFactors(const ShardingRule &rule) {
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    auto uses = [index = index](const Dims &dims) { return has(dims, index); };
    if (!llvm::any_of(rule.operands, uses) && !llvm::any_of(rule.results, uses))
      return llvm::formatv("factor {0}: expects a dimension that has it",
                           index);
    if (factor.splittable != factor.reason.empty())
      return llvm::formatv("factor {0}: expects a reason if and only if it "
                           "cannot be split",
                           index);
    if (factor.splittable && factor.reduce == ShardingRule::Reduce::None &&
        !llvm::all_of(rule.results, uses))
      return llvm::formatv("factor {0}: expects a reduction, as a result lacks "
                           "the factor",
                           index);
  }
  return "";
}

static std::string checkLinear(const ShardingRule &rule) {
  for (ArrayRef<int> set : rule.linear) {
    if (set.empty())
      return "expects operands in each linear set";
    for (int operand : set)
      if (operand < 0 || operand >= static_cast<int>(rule.operands.size()))
        return llvm::formatv(
            "linear set: expects an operand below {0} but got {1}",
            rule.operands.size(), operand);
  }
  return "";
}

LogicalResult ShardingRule::verify(Operation *op, std::string &message) const {
  message = checkTensors(*this, operands, op->getOperands(), "operand");
  if (message.empty())
    message = checkTensors(*this, results, op->getResults(), "result");
  if (message.empty())
    message = checkFactors(*this);
  if (message.empty())
    message = checkLinear(*this);
  return success(message.empty());
}

//===----------------------------------------------------------------------===//
// Printed form
//===----------------------------------------------------------------------===//

const char *ShardingRule::reduceName(Reduce reduce) {
  switch (reduce) {
  case Reduce::None:
    return "none";
  case Reduce::Sum:
    return "sum";
  case Reduce::Max:
    return "max";
  }
  return "";
}

/// i, j, .., z, a, .., h, i1, j1, ..
static std::string factorName(int factor) {
  std::string name(1, static_cast<char>('a' + (factor + 8) % 26));
  return factor < 26 ? name : name + std::to_string(factor / 26);
}

static void printTensors(llvm::raw_ostream &stream, ArrayRef<Dims> tensors) {
  auto printDim = [&](ArrayRef<int> dim) {
    for (int factor : dim)
      stream << factorName(factor);
    if (dim.empty())
      stream << "1";
  };
  auto printTensor = [&](const Dims &dims) {
    stream << "[";
    llvm::interleaveComma(dims, stream, printDim);
    stream << "]";
  };
  stream << "(";
  llvm::interleaveComma(tensors, stream, printTensor);
  stream << ")";
}

std::string ShardingRule::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printTensors(stream, operands);
  stream << " -> ";
  printTensors(stream, results);
  stream << " {";
  llvm::interleaveComma(llvm::enumerate(factors), stream, [&](auto entry) {
    const Factor &factor = entry.value();
    stream << factorName(entry.index()) << "=" << factor.size;
    if (factor.reduce != Reduce::None)
      stream << " " << reduceName(factor.reduce);
    if (!factor.splittable)
      stream << " fixed (" << factor.reason << ")";
  });
  stream << "}";
  if (!linear.empty())
    stream << " linear";
  for (ArrayRef<int> set : linear) {
    stream << " {";
    llvm::interleaveComma(set, stream);
    stream << "}";
  }
  return text;
}

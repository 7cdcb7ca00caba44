// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random bodies cut in two: the halves have the bits of the whole, the second
// takes the fewest bytes that any choice could, reads no weight, and no
// expensive op is in both.

#include "Interpreter.h"
#include "OpCase.h"

#include "Split/CutBackward.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace piper::test;
using mlir::piper::BackwardHalves;
using mlir::piper::BodyTable;
using mlir::piper::cutBackward;

namespace {

/// A body of vectors. Node i is an operand or the result of an op.
struct RandomBody {
  struct Node {
    int size;
    /// Empty for an operand.
    std::string op;
    std::vector<int> operands;
    bool cheap = false;
  };
  std::vector<Node> nodes;
  int numOperands = 0;
  std::vector<int> results;
  llvm::BitVector inputGradients, parameters;

  explicit RandomBody(std::mt19937 &random);
  std::string text() const;
  int64_t fewestBytes() const;

private:
  void addOp(std::mt19937 &random);
  void need(int node, std::set<int> &nodes) const;
  bool canMake(int node, unsigned held, const std::set<int> &firstHalf) const;
};

} // namespace

static std::string typeText(int size) {
  return "tensor<" + std::to_string(size) + "xf32>";
}

void RandomBody::addOp(std::mt19937 &random) {
  int a = random() % nodes.size(), b = random() % nodes.size();
  int size = nodes[a].size;
  bool same = nodes[b].size == size;
  switch (random() % 6) {
  case 0:
    return nodes.push_back({size, "tanh", {a}, true});
  case 1:
    return nodes.push_back({size, "softmax", {a}});
  case 2:
    if (same)
      return nodes.push_back({size, "add", {a, b}, true});
    return;
  case 3:
    if (same)
      return nodes.push_back({size, "tanh_grad", {a, b}});
    return;
  case 4:
    if (size > 1)
      return nodes.push_back(
          {1 + int(random() % (size - 1)), "slice", {a}, true});
    return;
  case 5:
    if (size + nodes[b].size <= 12)
      return nodes.push_back({size + nodes[b].size, "concat", {a, b}, true});
    return;
  }
}

RandomBody::RandomBody(std::mt19937 &random) {
  numOperands = 2 + random() % 3;
  for (int i = 0; i < numOperands; ++i)
    nodes.push_back({1 + int(random() % 6), "", {}});
  parameters.resize(numOperands);
  for (int i = 0; i < numOperands; ++i)
    parameters[i] = random() % 4 == 0;
  size_t count = numOperands + 4 + random() % 6;
  while (nodes.size() < count)
    addOp(random);
  // What no op reads is a result, and sometimes more.
  std::set<int> read;
  for (const Node &node : nodes)
    read.insert(node.operands.begin(), node.operands.end());
  for (int i = numOperands; i < int(count); ++i)
    if (!read.count(i) || random() % 8 == 0)
      results.push_back(i);
  inputGradients.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    inputGradients[i] = random() % 2;
}

std::string RandomBody::text() const {
  std::string operands, ops, values, types;
  for (int i = 0; i < int(nodes.size()); ++i) {
    const Node &node = nodes[i];
    std::string name = "%" + std::to_string(i);
    if (node.op.empty()) {
      operands += (i ? ", " : "") + name + ": " + typeText(node.size);
      continue;
    }
    ops += name + " = \"piper." + node.op + "\"(";
    std::string from;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      ops += (k ? ", %" : "%") + std::to_string(node.operands[k]);
      from += (k ? ", " : "") + typeText(nodes[node.operands[k]].size);
    }
    ops += ")";
    if (node.op == "slice")
      ops += " {offsets = array<i64: 0>}";
    if (node.op == "concat")
      ops += " {dim = 0 : i64}";
    ops += " : (" + from + ") -> " + typeText(node.size) + "\n";
  }
  for (size_t i = 0; i < results.size(); ++i) {
    values += (i ? ", %" : "%") + std::to_string(results[i]);
    types += (i ? ", " : "") + typeText(nodes[results[i]].size);
  }
  return "func.func private @f.bw(" + operands + ") -> (" + types + ") {\n" +
         ops + "return " + values + " : " + types + "\n}\n";
}

void RandomBody::need(int node, std::set<int> &needed) const {
  if (!nodes[node].op.empty() && needed.insert(node).second)
    for (int operand : nodes[node].operands)
      need(operand, needed);
}

/// Whether the second half can make a node from the nodes of `held`.
bool RandomBody::canMake(int node, unsigned held,
                         const std::set<int> &firstHalf) const {
  if (held >> node & 1)
    return true;
  if (node < numOperands || (firstHalf.count(node) && !nodes[node].cheap))
    return false;
  for (int operand : nodes[node].operands)
    if (!canMake(operand, held, firstHalf))
      return false;
  return true;
}

/// By trying all sets of values.
int64_t RandomBody::fewestBytes() const {
  std::set<int> firstHalf;
  for (size_t i = 0; i < results.size(); ++i)
    if (inputGradients[i])
      need(results[i], firstHalf);
  unsigned weights = 0;
  for (int i = 0; i < int(nodes.size()); ++i) {
    if (i < numOperands && parameters[i])
      weights |= 1u << i;
    for (int operand : nodes[i].operands)
      if (operand < numOperands && parameters[operand])
        need(i, firstHalf);
  }
  int64_t best = INT64_MAX;
  for (unsigned held = 0; held < (1u << nodes.size()); ++held) {
    int64_t bytes = 0;
    bool there = !(held & weights);
    for (int i = 0; i < int(nodes.size()); ++i)
      if (held >> i & 1) {
        bytes += 4 * nodes[i].size;
        there &= i < numOperands || firstHalf.count(i);
      }
    if (!there || bytes >= best)
      continue;
    bool all = true;
    for (size_t i = 0; all && i < results.size(); ++i)
      all = inputGradients[i] || canMake(results[i], held, firstHalf);
    if (all)
      best = bytes;
  }
  return best;
}

/// The expensive ops of a body by name.
static std::map<std::string, int> countExpensive(mlir::func::FuncOp function) {
  std::map<std::string, int> counts;
  for (mlir::Operation &op : function.front().without_terminator())
    if (mlir::isa<mlir::piper::SoftmaxOp, mlir::piper::TanhGradOp>(op))
      ++counts[op.getName().getStringRef().str()];
  return counts;
}

static int64_t operandBytes(mlir::func::FuncOp function) {
  int64_t bytes = 0;
  for (mlir::Type type : function.getArgumentTypes())
    bytes += 4 * mlir::cast<mlir::RankedTensorType>(type).getNumElements();
  return bytes;
}

/// Runs the halves as the tasks that replace the whole do.
static std::vector<HostTensor>
runHalves(const RandomBody &body, BackwardHalves halves,
          const std::vector<HostTensor> &operands) {
  std::vector<HostTensor> given;
  for (unsigned index : halves.inputOperands)
    given.push_back(operands[index]);
  std::vector<HostTensor> first = Interpreter(halves.input).run(given);
  given.clear();
  for (unsigned index : halves.passed)
    given.push_back(first[index]);
  for (unsigned index : halves.weightOperands)
    given.push_back(operands[index]);
  std::vector<HostTensor> second = Interpreter(halves.weight).run(given);
  std::vector<HostTensor> results;
  size_t nextFirst = 0, nextSecond = 0;
  for (unsigned i = 0; i < body.inputGradients.size(); ++i)
    results.push_back(body.inputGradients[i] ? first[nextFirst++]
                                             : second[nextSecond++]);
  return results;
}

TEST(CutBackwardTest, HasTheFewestBytesAndTheSameBits) {
  std::mt19937 random(3);
  int compared = 0;
  for (int round = 0; compared < 250; ++round) {
    RandomBody body(random);
    if (body.inputGradients.none() || body.inputGradients.all())
      continue;
    ++compared;
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(body.text(), &testContext());
    ASSERT_TRUE(module) << body.text();
    auto whole = *module->getOps<mlir::func::FuncOp>().begin();
    BodyTable bodies(*module);
    BackwardHalves halves =
        cutBackward(bodies, whole, body.inputGradients, body.parameters);
    ASSERT_EQ(operandBytes(halves.weight), body.fewestBytes()) << body.text();
    for (unsigned index : halves.weightOperands)
      EXPECT_FALSE(body.parameters[index]) << body.text();
    std::map<std::string, int> both = countExpensive(halves.input);
    for (auto &[name, count] : countExpensive(halves.weight))
      both[name] += count;
    EXPECT_EQ(both, countExpensive(whole)) << body.text();

    std::vector<HostTensor> operands;
    for (int i = 0; i < body.numOperands; ++i) {
      operands.emplace_back(piper::rt::TensorType{piper::rt::ElementType::F32,
                                                  {body.nodes[i].size}});
      fill(operands.back(), "", random());
    }
    std::vector<HostTensor> expected = Interpreter(whole).run(operands);
    std::vector<HostTensor> got = runHalves(body, halves, operands);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(got[i].sameBits(expected[i])) << body.text() << i;
  }
}

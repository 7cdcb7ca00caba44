// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes placed steps as text and reads their order.

#include "PlacedStep.h"

#include "Piper/Dialect/PiperDialect.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using namespace piper::test;
using llvm::formatv;
using piper::schedule::Action;
using piper::schedule::Pass;
using piper::schedule::Schedule;

static const char *const kBodies = R"(
func.func private @seed() -> tensor<4xf32> {
  %0 = piper.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @fw(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = piper.tanh %x : tensor<4xf32>
  %s = piper.square %x : tensor<4xf32>
  return %y, %s : tensor<4xf32>, tensor<4xf32>
}
func.func private @bw(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %dx = piper.tanh %dy : tensor<4xf32>
  %dw = piper.square %s : tensor<4xf32>
  return %dx, %dw : tensor<4xf32>, tensor<4xf32>
}
func.func private @bi(%dy: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %dx = piper.tanh %dy : tensor<4xf32>
  %r = piper.square %s : tensor<4xf32>
  return %dx, %r : tensor<4xf32>, tensor<4xf32>
}
func.func private @dw(%r: tensor<4xf32>) -> tensor<4xf32> {
  %dw = piper.tanh %r : tensor<4xf32>
  return %dw : tensor<4xf32>
}
)";

namespace {
class Writer {
public:
  explicit Writer(const PlacedStep &step) : step(step), s(step.schedule) {
    for (const auto &rank : s.ranks)
      for (const Action &action : rank)
        if (action.pass == Pass::BI)
          split.insert({action.stage, action.microBatch});
  }
  std::string module();

private:
  struct Value {
    std::string name;
    int coordinate;
  };
  int stages() const { return static_cast<int>(s.chains[0].size()); }
  static std::string type(int coordinate) {
    return formatv("!piper.dist<tensor<4xf32>, on [pp = {0}]>", coordinate);
  }
  std::string fresh() { return "%v" + std::to_string(count++); }
  std::string move(Value value, int coordinate);
  std::vector<std::string> task(const char *callee, const char *pass,
                                std::vector<std::string> operands,
                                std::string into, int results, int coordinate,
                                const std::string &place);
  void forward(int mb);
  void backward(int mb);
  std::string entry(bool isTraining);
  std::string directives() const;

  const PlacedStep &step;
  const Schedule &s;
  std::set<std::pair<int, int>> split;
  std::string body;
  int count = 0;
  std::string all; ///< type of a value on every coordinate
  Value value;     ///< what goes from stage to stage
  std::map<std::pair<int, int>, std::string> saved;
  std::map<std::pair<int, int>, Value> sums; ///< by segment and copy
};
} // namespace

std::string Writer::move(Value value, int coordinate) {
  if (value.coordinate == coordinate || value.coordinate < 0)
    return value.name;
  std::string result = fresh();
  body += formatv("  {0} = piper.transfer {1} : {2} -> {3}\n", result,
                  value.name, type(value.coordinate), type(coordinate));
  return result;
}

/// The last result is the sum where there is an `into`. Operands named %x.. are
/// views, %seed is on all coordinates.
std::vector<std::string> Writer::task(const char *callee, const char *pass,
                                      std::vector<std::string> operands,
                                      std::string into, int results,
                                      int coordinate,
                                      const std::string &place) {
  std::string name = fresh(), list, types, out;
  for (const std::string &operand : operands) {
    list += (list.empty() ? "" : ", ") + operand;
    types +=
        (types.empty() ? "" : ", ") + (operand[1] == 'x'    ? "tensor<4xf32>"
                                       : operand == "%seed" ? all
                                                            : type(coordinate));
  }
  if (!into.empty())
    types += ", " + type(coordinate);
  std::vector<std::string> names;
  for (int i = 0; i < results; ++i) {
    names.push_back(name + "#" + std::to_string(i));
    out += (out.empty() ? "" : ", ") + type(coordinate);
  }
  body += formatv("  {0}:{1} = piper.task @{2}({3}) {4}pass = {5} {6} : ({7}) "
                  "-> ({8})\n",
                  name, results, callee, list,
                  into.empty() ? "" : "into(" + into + ") ", pass, place, types,
                  out);
  return names;
}

void Writer::forward(int mb) {
  int copy = s.chainOf(mb);
  value = {"%x" + std::to_string(mb), -1};
  for (int stage = 0; stage < stages(); ++stage)
    for (int i = 0; i < step.segments; ++i) {
      int segment = stage * step.segments + i;
      int coordinate = s.stageRank[s.chains[copy][stage]];
      std::string place =
          formatv("segment = {0} mb = {1} stage = {2} copy = {3}", segment, mb,
                  stage, copy);
      auto results =
          task("fw", "F", {move(value, coordinate)}, "", 2, coordinate, place);
      value = {results[0], coordinate};
      saved[{segment, mb}] = results[1];
    }
}

void Writer::backward(int mb) {
  int copy = s.chainOf(mb);
  value = {"%seed", -1};
  for (int stage = stages(); stage-- > 0;)
    for (int i = step.segments; i-- > 0;) {
      int segment = stage * step.segments + i;
      int number = s.chains[copy][stage], coordinate = s.stageRank[number];
      std::string place =
          formatv("segment = {0} mb = {1} stage = {2} copy = {3}", segment, mb,
                  stage, copy);
      std::string dy = move(value, coordinate), kept = saved[{segment, mb}];
      Value &sum = sums[{segment, copy}];
      if (split.count({number, mb})) {
        auto results = task("bi", "BI", {dy, kept}, "", 2, coordinate, place);
        value = {results[0], coordinate};
        sum = {
            task("dw", "BW", {results[1]}, sum.name, 1, coordinate, place)[0],
            coordinate};
        continue;
      }
      auto results =
          task("bw", "B", {dy, kept}, sum.name, 2, coordinate, place);
      value = {results[0], coordinate};
      sum = {results[1], coordinate};
    }
}

std::string Writer::entry(bool isTraining) {
  body = "";
  for (int mb = 0; mb < s.M; ++mb)
    body +=
        formatv("  %x{0} = piper.micro_batch %x[{0}] : tensor<{1}x4xf32> -> "
                "tensor<4xf32>\n",
                mb, s.M);
  if (isTraining)
    body +=
        formatv("  %seed = piper.task @seed() pass = once : () -> {0}\n", all);
  std::string results, types;
  auto addResult = [&](const Value &result) {
    results += (results.empty() ? "" : ", ") + result.name;
    types += (types.empty() ? "" : ", ") + type(result.coordinate);
  };
  for (int mb = 0; mb < s.M; ++mb) {
    forward(mb);
    if (isTraining)
      backward(mb);
    else
      addResult(value);
  }
  if (isTraining)
    for (const auto &[place, sum] : sums)
      addResult(sum);
  return formatv(
      "func.func @{0}(%x: tensor<{1}x4xf32> {{piper.input = "
      "#piper.input<\"x\", dims = [batch], split = 0>}) -> ({2}) {{\n"
      "{3}  return {4} : {2}\n}\n",
      isTraining ? "train" : "eval", s.M, types, body, results);
}

std::string Writer::directives() const {
  std::string text;
  for (int stage = 0; stage < stages(); ++stage)
    for (int i = 0; i < step.segments; ++i) {
      std::string devices;
      for (const auto &chain : s.chains)
        devices += (devices.empty() ? "" : ", ") +
                   std::to_string(s.stageRank[chain[stage]]);
      text += formatv(
          "{0}{{op = \"place\", filter = {{SEGMENT = {1}}, devices = "
          "[{2}], stage = {3}}",
          text.empty() ? "" : ",\n", stage * step.segments + i, devices, stage);
    }
  return text + step.directives;
}

std::string Writer::module() {
  std::string on;
  for (int rank = 0; rank < s.P; ++rank)
    on += (rank ? ", " : "") + std::to_string(rank);
  all = formatv("!piper.dist<tensor<4xf32>, on [pp = {0}]>", on);
  std::string text = formatv(
      "module attributes {{piper.level = #piper.level<placed>, "
      "piper.directives = [{0}]} {{\npiper.mesh @mesh [\"pp\"] = [{1}]\n",
      directives(), s.P);
  text += entry(true);
  text += entry(false);
  return text + kBodies + "}\n";
}

std::string PlacedStep::text() const { return Writer(*this).module(); }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::string piper::test::taskText(const Action &action, int segment) {
  return schedule::toString(action) + " #" + std::to_string(segment);
}

std::string piper::test::transferText(const Action &producer,
                                      int64_t coordinate) {
  return schedule::toString(producer) + " to " + std::to_string(coordinate);
}

static Action actionOf(const Schedule &s, mlir::piper::TaskOp task) {
  using mlir::piper::PassKind;
  Pass pass = task.getPass() == PassKind::F    ? Pass::F
              : task.getPass() == PassKind::B  ? Pass::B
              : task.getPass() == PassKind::BI ? Pass::BI
                                               : Pass::BW;
  return {pass, s.chains[task.getCopy()][task.getStage()],
          static_cast<int>(task.getMb())};
}

std::vector<std::string> piper::test::readOrder(const PlacedStep &step,
                                                mlir::func::FuncOp entry) {
  std::vector<std::string> order;
  for (mlir::Operation &op : entry.front()) {
    if (auto task = mlir::dyn_cast<mlir::piper::TaskOp>(op);
        task && task.getMb() >= 0)
      order.push_back(
          taskText(actionOf(step.schedule, task),
                   static_cast<int>(task.getSegment()) % step.segments));
    if (auto transfer = mlir::dyn_cast<mlir::piper::TransferOp>(op))
      order.push_back(transferText(
          actionOf(step.schedule,
                   transfer.getInput().getDefiningOp<mlir::piper::TaskOp>()),
          mlir::piper::getCoordinates(transfer.getOut().getType()).front()));
  }
  return order;
}

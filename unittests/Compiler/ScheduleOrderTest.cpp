// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order that `piper-apply-schedule` gives to a placed step is the one of
// the schedule library, op by op, for every kind of schedule; and
// `piper-print-schedule` reads the schedule back.

#include "OpCase.h"
#include "PlacedStep.h"

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Schedule/Generate.h"
#include "Piper/Schedule/JSON.h"
#include "Piper/Schedule/OpOrder.h"
#include "Piper/Schedule/Verify.h"
#include "Piper/Transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

#include <fstream>
#include <map>
#include <random>
#include <sstream>

using namespace piper::test;
namespace schedule = piper::schedule;
using schedule::Action;
using schedule::Schedule;

namespace {

/// F = 1, B = 2, BI = BW = 1 for a stage of `segments` segments.
std::string writeCosts(int segments, double latency) {
  std::string path = testing::TempDir() + "/schedule-order-costs-" +
                     std::to_string(segments) + ".json";
  double unit = 1.0 / segments;
  std::ofstream(path) << "{\"tasks\": {\"fw\": " << unit
                      << ", \"bw\": " << 2 * unit << ", \"bi\": " << unit
                      << ", \"dw\": " << unit
                      << "}, \"link\": {\"latency\": " << latency << "}}";
  return path;
}

struct Case {
  std::string kind;
  int P, V, M, prefetch, segments;
  double comm;
  std::string str() const {
    std::ostringstream os;
    os << kind << " P=" << P << " V=" << V << " M=" << M
       << " prefetch=" << prefetch << " segments=" << segments
       << " comm=" << comm;
    return os.str();
  }
};

/// Directives that list the actions of each coordinate one after the other.
std::string writeOrders(const Schedule &s) {
  std::map<int, int> stageOf; // of the model
  for (const auto &chain : s.chains)
    for (size_t i = 0; i < chain.size(); ++i)
      stageOf[chain[i]] = static_cast<int>(i);
  auto filter = [&](schedule::Pass pass, int stage, int mb) {
    return std::string("{PASS = \"") + schedule::passName(pass) +
           "\", STAGE = " + std::to_string(stageOf[stage]) +
           ", MB = " + std::to_string(mb) + "}";
  };
  std::string text;
  for (const auto &rank : s.ranks) {
    std::string groups;
    for (const Action &a : rank) {
      bool isPair = a.pass == schedule::Pass::FB;
      groups +=
          (groups.empty() ? "[" : ", [") +
          filter(isPair ? schedule::Pass::F : a.pass, a.stage, a.microBatch);
      if (isPair)
        groups += ", " + filter(schedule::Pass::B, a.stageB, a.microBatchB);
      groups += "]";
    }
    text += ", {op = \"order\", filters = [" + groups + "]}";
  }
  return text;
}

/// The step of a case, ordered by one of the passes.
class OrderedStep {
public:
  OrderedStep(const Case &c, const Schedule &given, bool byOrders)
      : output(testing::TempDir() + "/schedule-order-printed-" +
               std::to_string(getpid()) + ".txt") {
    step.schedule = given;
    step.segments = c.segments;
    step.directives =
        (byOrders ? writeOrders(given)
                  : ", {op = \"schedule\", kind = \"" + c.kind + "\"}") +
        ", {op = \"options\", prefetch = " + std::to_string(c.prefetch) +
        ", costs = \"" + writeCosts(c.segments, c.comm) + "\"}";
    module =
        mlir::parseSourceString<mlir::ModuleOp>(step.text(), &testContext());
    if (!module)
      return;
    mlir::PassManager passes(&testContext());
    passes.addPass(mlir::piper::createPiperApplySchedule());
    passes.addPass(mlir::piper::createPiperOrder());
    mlir::piper::PiperPrintScheduleOptions options;
    options.output = output;
    passes.addPass(mlir::piper::createPiperPrintSchedule(options));
    ok = succeeded(passes.run(*module)) && succeeded(mlir::verify(*module));
  }
  mlir::func::FuncOp entry(const char *name) {
    return module->lookupSymbol<mlir::func::FuncOp>(name);
  }
  /// The schedule that was read back, as JSON.
  std::string printed() const {
    std::ifstream file(output);
    std::string line;
    std::getline(file, line);
    return line;
  }

  PlacedStep step;
  bool ok = false;
  std::string output;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The tasks of an action in the order of the pass.
void appendTasks(std::vector<std::string> &order, const Action &action,
                 int segments) {
  bool isPair = action.pass == schedule::Pass::FB;
  for (int i = 0; i < segments; ++i) {
    if (action.pass == schedule::Pass::F || isPair)
      order.push_back(
          taskText(Action::forward(action.stage, action.microBatch), i));
    if (isPair)
      order.push_back(
          taskText(Action::backward(action.stageB, action.microBatchB),
                   segments - 1 - i));
    else if (action.pass != schedule::Pass::F)
      order.push_back(taskText(action, segments - 1 - i));
  }
}

Action producerOf(const Action &action, bool backward) {
  if (action.pass != schedule::Pass::FB)
    return action;
  return backward ? Action::backward(action.stageB, action.microBatchB)
                  : Action::forward(action.stage, action.microBatch);
}

/// The order of the library, in the words of `readOrder`.
std::vector<std::string> expectedOrder(const Schedule &s, const Case &c) {
  schedule::Costs costs;
  costs.comm = c.comm;
  auto planned = schedule::makeOpOrder(s, costs, c.prefetch);
  EXPECT_TRUE(bool(planned)) << planned.error();
  std::vector<std::string> order;
  for (const schedule::PlannedOp &op : *planned) {
    const Action &action = s.ranks[op.rank][op.index];
    if (op.isTransfer())
      order.push_back(transferText(producerOf(action, op.backward), op.toRank));
    else
      appendTasks(order, action, c.segments);
  }
  return order;
}

/// The forwards of each coordinate of an order, and of a schedule.
std::map<int, std::vector<std::string>>
forwardsOf(const std::vector<std::string> &order, const Schedule &s) {
  std::map<int, std::vector<std::string>> lists;
  for (const std::string &op : order)
    for (int stage = 0; stage < s.numStages(); ++stage)
      if (op.find("F(stage " + std::to_string(stage) + ",") == 0 &&
          op.find('#') != std::string::npos)
        lists[s.stageRank[stage]].push_back(op);
  return lists;
}

/// Pairs of one task each look like a forward and a backward.
Schedule withoutPairs(Schedule s) {
  for (auto &rank : s.ranks) {
    std::vector<Action> actions;
    for (const Action &action : rank) {
      actions.push_back(producerOf(action, false));
      if (action.pass == schedule::Pass::FB)
        actions.push_back(producerOf(action, true));
    }
    rank = actions;
  }
  return s;
}

std::string asPrinted(const Case &c, Schedule s) {
  return schedule::toJSON(c.segments == 1 ? withoutPairs(s) : s);
}

void checkSchedule(const Case &c, const Schedule &s) {
  OrderedStep ordered(c, s, /*byOrders=*/false);
  ASSERT_TRUE(ordered.ok) << c.str();
  EXPECT_EQ(readOrder(ordered.step, ordered.entry("train")),
            expectedOrder(s, c))
      << c.str();
  EXPECT_EQ(ordered.printed(), asPrinted(c, s)) << c.str();
  // An evaluation runs the forwards of each coordinate in the same order.
  std::vector<std::string> forwards;
  for (const auto &rank : s.ranks)
    for (const Action &action : rank)
      if (action.pass == schedule::Pass::F || action.pass == schedule::Pass::FB)
        appendTasks(forwards, Action::forward(action.stage, action.microBatch),
                    c.segments);
  EXPECT_EQ(forwardsOf(readOrder(ordered.step, ordered.entry("eval")), s),
            forwardsOf(forwards, s))
      << c.str();
}

/// The same schedule as `order` directives: the same actions on each
/// coordinate.
void checkOrders(const Case &c, Schedule s) {
  OrderedStep ordered(c, s, /*byOrders=*/true);
  ASSERT_TRUE(ordered.ok) << c.str();
  s.kind = "order";
  EXPECT_EQ(ordered.printed(), asPrinted(c, s)) << c.str();
}

/// Each kind on some sizes, with other prefetches, segments and costs.
void forEachCase(void (*check)(const Case &, const Schedule &)) {
  int cases = 0;
  for (const schedule::KindInfo &kind : schedule::kinds()) {
    int before = cases;
    for (int P : {2, 3, 4})
      for (int V : {1, 2, 3})
        for (int M : {1, 3, 4, 8}) {
          schedule::Request request;
          request.kind = kind.name;
          request.P = P, request.V = V, request.M = M;
          auto made = schedule::generate(request);
          if (!made)
            continue;
          check({kind.name, P, V, M, cases % 3, 1 + cases / 3 % 2,
                 cases % 5 * 0.125},
                *made);
          ++cases;
        }
    EXPECT_GT(cases, before) << kind.name;
  }
  schedule::Request request;
  request.kind = "search";
  request.P = 2, request.M = 2;
  auto made = schedule::generate(request);
  ASSERT_TRUE(bool(made)) << made.error();
  check({"search", 2, 1, 2, 1, 2, 0.125}, *made);
}

} // namespace

TEST(ScheduleOrder, IsTheOneOfTheLibrary) { forEachCase(checkSchedule); }

TEST(ScheduleOrder, IsThatOfOrderDirectives) {
  forEachCase([](const Case &c, const Schedule &s) { checkOrders(c, s); });
}

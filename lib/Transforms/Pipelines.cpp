// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes, and the options that a user gives for all of them.

#include "Piper/Transforms/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

void mlir::piper::buildCompilePipeline(OpPassManager &passes,
                                       const CompileOptions &options) {
  // What a user wrote wrong is said in the user's terms, before anything
  // changes.
  passes.addPass(createPiperVerifyModel());
  // While dropout still stands next to what it drops: evaluation has none.
  passes.addPass(createPiperAddEvaluation());
  // Tasks are what everything after this places, orders and differentiates.
  passes.addPass(createPiperOutlineSegments());
  // On shared bodies: a block is differentiated once, not once per layer.
  passes.addPass(createPiperAutodiff());
  // Needs the gradients; the end of the step is one place's business as well
  // as another's, so it comes before places are chosen.
  passes.addPass(createPiperOptimizer(options.optimizer));
  // The wall of level 1.
  passes.addPass(createPiperVerifyDag());
  // From one global block to what each place runs.
  passes.addPass(createPiperPartition(options.partition));
  // Last: every offset depends on the order and the set of all tasks.
  passes.addPass(createPiperPlanMemory());
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {

/// One key of the string of options.
struct Key {
  StringRef name;
  StringRef meaning;
  /// Sets the value from its text; returns what it expects if that is wrong.
  std::function<StringRef(StringRef)> set;
  /// The default, as text.
  std::string initial;
};

class Keys {
public:
  explicit Keys(CompileOptions &options);
  Key *find(StringRef name) {
    auto found =
        llvm::find_if(keys, [&](Key &key) { return key.name == name; });
    return found == keys.end() ? nullptr : &*found;
  }
  std::string names() const {
    return llvm::join(
        llvm::map_range(keys, [](const Key &key) { return key.name; }), ", ");
  }
  std::vector<Key> keys;

private:
  void add(StringRef name, double &value, StringRef meaning);
  void add(StringRef name, int64_t &value, StringRef meaning);
  void add(StringRef name, bool &value, StringRef meaning);
  void add(StringRef name, std::string &value, ArrayRef<StringRef> legal,
           StringRef expects, StringRef meaning);
};

} // namespace

static std::string text(double value) {
  if (std::isinf(value))
    return "inf";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

void Keys::add(StringRef name, double &value, StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) -> StringRef {
                    return given.getAsDouble(value) ? "a number" : "";
                  },
                  text(value)});
}

void Keys::add(StringRef name, int64_t &value, StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) -> StringRef {
                    return given.getAsInteger(10, value) ? "a whole number"
                                                         : "";
                  },
                  std::to_string(value)});
}

void Keys::add(StringRef name, bool &value, StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) -> StringRef {
                    value = given == "true";
                    return given == "true" || given == "false"
                               ? ""
                               : "true or false";
                  },
                  value ? "true" : "false"});
}

void Keys::add(StringRef name, std::string &value, ArrayRef<StringRef> legal,
               StringRef expects, StringRef meaning) {
  SmallVector<StringRef> copies(legal);
  keys.push_back({name, meaning,
                  [&value, copies, expects](StringRef given) -> StringRef {
                    value = given.str();
                    return llvm::is_contained(copies, given) ? "" : expects;
                  },
                  value});
}

Keys::Keys(CompileOptions &options) {
  PiperOptimizerOptions &o = options.optimizer;
  add("optimizer", o.optimizer, {"adamw", "sgd"}, "adamw or sgd",
      "adamw or sgd");
  add("lr", o.lr, "learning rate");
  add("momentum", o.momentum, "momentum of sgd");
  add("beta1", o.beta1, "decay of the first moment of adamw");
  add("beta2", o.beta2, "decay of the second moment of adamw");
  add("eps", o.eps, "epsilon of adamw");
  add("weight-decay", o.weightDecay,
      "weight decay of parameters with two or more dimensions");
  add("clip", o.clip,
      "largest global norm of the gradients; inf measures only");
  add("lr-schedule", o.schedule, {"constant", "linear", "cosine"},
      "constant, linear or cosine", "constant, linear or cosine");
  add("warmup-steps", o.warmupSteps, "updates of linear warm-up");
  add("total-steps", o.totalSteps, "updates until the rate is min-lr");
  add("min-lr", o.minLr, "final learning rate of linear and cosine");
  add("keep-gradients", o.keepGradients,
      "keep raw gradients to the end of the step");
  add("threads", options.partition.threads, "threads of a rank; 0: all cores");
}

std::string CompileOptions::parse(StringRef given) {
  Keys keys(*this);
  llvm::StringSet<> seen;
  SmallVector<StringRef> words;
  given.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    Key *key = keys.find(name);
    if (!key)
      return ("unknown key '" + name + "': expects " + keys.names()).str();
    if (!word.contains('='))
      return ("key '" + name + "' expects a value, as " + name + "=" +
              key->initial)
          .str();
    if (!seen.insert(name).second)
      return ("key '" + name + "' is given twice").str();
    if (StringRef expects = key->set(value); !expects.empty())
      return ("key '" + name + "' expects " + expects + " but got '" + value +
              "'")
          .str();
  }
  // A key that changes nothing was meant to change something.
  auto refuse = [&](StringRef name, StringRef needs) {
    return ("key '" + name + "' needs " + needs).str();
  };
  for (StringRef name : {"total-steps", "min-lr"})
    if (seen.contains(name) && optimizer.schedule == "constant")
      return refuse(name, "lr-schedule=linear or lr-schedule=cosine");
  for (StringRef name : {"beta1", "beta2", "eps"})
    if (seen.contains(name) && optimizer.optimizer != "adamw")
      return refuse(name, "optimizer=adamw");
  if (seen.contains("momentum") && optimizer.optimizer != "sgd")
    return refuse("momentum", "optimizer=sgd");
  return "";
}

std::string CompileOptions::help() {
  CompileOptions options;
  Keys keys(options);
  std::string result;
  for (const Key &key : keys.keys) {
    std::string head = ("  " + key.name + "=" + key.initial).str();
    head.resize(std::max<size_t>(head.size() + 1, 26), ' ');
    result += head + key.meaning.str() + "\n";
  }
  return result;
}

void mlir::piper::registerPiperPasses() {
  registerPiperTransformsPasses();
  registerPassPipeline(
      "piper-compile",
      "Take a model to a plan. Keys, as key=value:\n" + CompileOptions::help(),
      [](OpPassManager &passes, StringRef text,
         function_ref<LogicalResult(const Twine &)> report) -> LogicalResult {
        CompileOptions options;
        std::string problem = options.parse(text);
        if (!problem.empty())
          return report("--piper-compile: " + problem);
        buildCompilePipeline(passes, options);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}

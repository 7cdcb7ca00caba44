// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of --piper-compile, as a table.

#include "Piper/Transforms/CompileKeys.h"

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Dialect/ProgramLocation.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::piper;

namespace {

/// One key of the string of options.
struct Key {
  StringRef name;
  StringRef meaning;
  /// Sets the value from its text; returns what it expects if that is wrong.
  std::function<std::string(StringRef)> set;
  /// The default, as text, or what stands for a value where there is none.
  std::string initial;
};

class Keys {
public:
  explicit Keys(CompileOptions &options);
  /// Calls `set` for each "key=value"; returns what is wrong.
  std::string read(StringRef text,
                   function_ref<std::string(Key &, StringRef)> set);
  std::vector<Key> keys;

private:
  Key *find(StringRef name) {
    auto found =
        llvm::find_if(keys, [&](Key &key) { return key.name == name; });
    return found == keys.end() ? nullptr : &*found;
  }
  std::string names() const {
    return llvm::join(
        llvm::map_range(keys, [](const Key &key) { return key.name; }), ", ");
  }
  void add(StringRef name, Number &value, StringRef meaning);
  void add(StringRef name, int64_t &value, StringRef meaning);
  /// A number with no default: an empty value, or a 0 that is none, stands for
  /// a key that is not given, and so takes back the one of a strategy.
  void add(StringRef name, int64_t &value, int64_t least, StringRef letter,
           StringRef meaning);
  void add(StringRef name, bool &value, StringRef meaning);
  void add(StringRef name, std::string &value, ArrayRef<StringRef> legal,
           StringRef expects, StringRef meaning);
  /// A text that its pass checks; the empty one is as if not given.
  void add(StringRef name, std::string &value, StringRef example,
           StringRef meaning);
};

} // namespace

static std::string text(double value) {
  if (std::isinf(value))
    return "inf";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

void Keys::add(StringRef name, Number &value, StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) { return value.read(given); },
                  text(value)});
}

void Keys::add(StringRef name, int64_t &value, StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) -> std::string {
                    return given.getAsInteger(10, value) ? "a whole number"
                                                         : "";
                  },
                  std::to_string(value)});
}

void Keys::add(StringRef name, int64_t &value, int64_t least, StringRef letter,
               StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value, least](StringRef given) -> std::string {
                    int64_t number = 0;
                    if (given.empty())
                      return "";
                    bool isNumber = !given.getAsInteger(10, number);
                    if (isNumber && number == 0 && least == 1)
                      return "";
                    if (isNumber && number >= least) {
                      value = number;
                      return "";
                    }
                    return "a whole number of " + std::to_string(least) +
                           " or more";
                  },
                  letter.str()});
}

void Keys::add(StringRef name, bool &value, StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) -> std::string {
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
                  [&value, copies, expects](StringRef given) -> std::string {
                    value = given.str();
                    return llvm::is_contained(copies, given) ? ""
                                                             : expects.str();
                  },
                  value});
}

void Keys::add(StringRef name, std::string &value, StringRef example,
               StringRef meaning) {
  keys.push_back({name, meaning,
                  [&value](StringRef given) -> std::string {
                    value = given.str();
                    return "";
                  },
                  example.str()});
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
  PiperPipelineOptions &p = options.pipeline;
  add("pipeline-parallel", p.pipelineParallel, 1, "P",
      "devices that hold stages of the model");
  add("micro-batches", p.microBatches, 1, "M", "pieces of the batch");
  add("schedule", p.schedule, "KIND",
      "1f1b (default), gpipe, .. or a file F.json of piper-schedule");
  add("chunks", p.chunks, 1, "V", "stages on each device");
  add("cuts", p.cuts, "I,J,..",
      "first segments of stages 1..; balanced by cost without");
  add("recompute", p.recompute, "true",
      "true or TAG=VALUE: segments that run again before their backward");
  add("prefetch", p.prefetch, 0, "1", "actions that a transfer may run ahead");
  add("buffering", p.buffering, 0, "0", "messages that a channel may hold");
  add("memory-limit", p.memoryLimit, "BYTES",
      "bytes that a device has, one number or one for each");
  add("costs", p.costs, "FILE", "JSON file of what tasks cost");
  add("directives", options.directives.file, "FILE",
      "JSON file of directives, beside those of these keys");
}

/// Takes the value from the start of `text`; nothing if its quotes or braces do
/// not close, at a blank or the end, or braces in it do not.
static std::optional<StringRef> takeValue(StringRef &text) {
  size_t end = text.find_first_of(" \t\n");
  StringRef value = text.take_front(end);
  if (text.starts_with("'") || text.starts_with("\"")) {
    end = text.find(text.front(), 1);
    value = text.slice(1, end++);
    if (end == 0)
      return std::nullopt;
  } else if (text.starts_with("{")) {
    int64_t depth = 0;
    for (end = 0; end < text.size(); ++end) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (depth == 0)
        break;
    }
    value = text.slice(1, end++);
  }
  if (end > text.size() && end != StringRef::npos)
    return std::nullopt;
  text = text.drop_front(std::min(end, text.size()));
  // The text of a pipeline knows braces only.
  int64_t depth = 0;
  for (char c : value)
    if ((depth += c == '{' ? 1 : c == '}' ? -1 : 0) < 0)
      return std::nullopt;
  bool isWhole = text.empty() || llvm::isSpace(text.front());
  return depth == 0 && isWhole ? std::optional(value) : std::nullopt;
}

/// The text that `takeValue` takes as `value`.
static std::string quote(StringRef value) {
  bool isPlain = value.find_first_of(" \t\n") == StringRef::npos &&
                 (value.empty() || !StringRef("'\"{").contains(value.front()));
  if (isPlain)
    return value.str();
  for (StringRef mark : {"'", "\""})
    if (!value.contains(mark))
      return (mark + value + mark).str();
  return ("{" + value + "}").str();
}

std::string Keys::read(StringRef text,
                       function_ref<std::string(Key &, StringRef)> set) {
  llvm::StringSet<> seen;
  for (text = text.ltrim(); !text.empty(); text = text.ltrim()) {
    StringRef name = text.take_front(text.find_first_of("= \t\n"));
    text = text.drop_front(name.size());
    Key *key = find(name);
    if (!key)
      return ("unknown key '" + name + "': expects " + names()).str();
    if (!text.consume_front("="))
      return ("key '" + name + "' expects a value, as " + name + "=" +
              key->initial)
          .str();
    if (!seen.insert(name).second)
      return ("key '" + name + "' is given twice").str();
    StringRef rest = text;
    std::optional<StringRef> taken = takeValue(text);
    if (!taken)
      return ("key '" + name +
              "' expects quotes and braces that close, at the end or before a "
              "blank, but got " +
              rest.take_front(60))
          .str();
    StringRef value = *taken;
    if (std::string expects = set(*key, value); !expects.empty())
      return ("key '" + name + "' expects " + expects + " but got '" + value +
              "'")
          .str();
  }
  return "";
}

std::string CompileOptions::parse(StringRef text) {
  return Keys(*this).read(text, [&](Key &key, StringRef value) {
    given.insert(key.name);
    texts[key.name.str()] = quote(value);
    return key.set(value);
  });
}

std::string CompileOptions::addStrategy(StringRef text) {
  // Whether a value is allowed does not depend on who overrides it.
  CompileOptions checked;
  if (std::string problem = checked.parse(text); !problem.empty())
    return problem;
  llvm::StringSet<> before = given;
  return Keys(*this).read(text, [&](Key &key, StringRef value) {
    if (before.contains(key.name))
      return std::string();
    given.insert(key.name);
    return key.set(value);
  });
}

std::string CompileOptions::verify() const {
  // A key that changes nothing was meant to change something.
  auto refuse = [&](StringRef name, StringRef needs) {
    return ("key '" + name + "' needs " + needs).str();
  };
  for (StringRef name : {"total-steps", "min-lr"})
    if (given.contains(name) && optimizer.schedule == "constant")
      return refuse(name, "lr-schedule=linear or lr-schedule=cosine");
  for (StringRef name : {"beta1", "beta2", "eps"})
    if (given.contains(name) && optimizer.optimizer != "adamw")
      return refuse(name, "optimizer=adamw");
  if (given.contains("momentum") && optimizer.optimizer != "sgd")
    return refuse("momentum", "optimizer=sgd");
  return "";
}

SmallVector<StringRef> CompileOptions::otherKeys() {
  CompileOptions options;
  SmallVector<StringRef> names;
  bool isPipeline = false;
  for (const Key &key : Keys(options).keys) {
    isPipeline |= key.name == "pipeline-parallel";
    if (!isPipeline || key.name == "directives")
      names.push_back(key.name);
  }
  return names;
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

LogicalResult mlir::piper::takeStrategy(ModuleOp module,
                                        CompileOptions &options) {
  StringRef name = PiperDialect::StrategyAttrHelper::getNameStr();
  auto strategy = module->getAttrOfType<StrategyAttr>(name);
  if (!strategy)
    return success();
  std::string problem = options.addStrategy(strategy.getKeys().getValue());
  if (!problem.empty())
    return emitProgramError(module) << "'" << name << "': " << problem;
  module->removeAttr(name);
  return success();
}

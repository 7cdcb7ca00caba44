// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One subcommand per model; without one, --config names a Hugging Face config.

#include "ModelFlags.h"

#include "ConfigFile.h"
#include "Piper/Driver/CommandLine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"

#include <cfloat>

using namespace mlir;
using namespace mlir::piper;
namespace cl = llvm::cl;

/// What a parser below found wrong. (LLVM's own way would print it at once.)
static std::string flagError;

static bool failFlag(const cl::Option &option, const Twine &message) {
  flagError = ("--" + option.ArgStr + " " + message).str();
  return true;
}

namespace {
// Values of flags that have parsers of their own, below.

/// An integer from 1 to INT32_MAX.
struct Count {
  int64_t value = 0;
};
/// A number from 0 to below 1.
struct Probability {
  double value = 0;
};
} // namespace

namespace llvm::cl {
template <> class parser<Count> : public basic_parser<Count> {
public:
  using basic_parser<Count>::basic_parser;
  bool parse(Option &option, StringRef, StringRef text, Count &count) {
    if (text.getAsInteger(10, count.value) || count.value < 1 ||
        count.value > INT32_MAX)
      return failFlag(option,
                      "expects an integer from 1 to 2147483647 but got '" +
                          text + "'");
    return false;
  }
  void printOptionDiff(const Option &option, const Count &, const OptVal &,
                       size_t width) const {
    printOptionNoValue(option, width);
  }
};

template <> class parser<Probability> : public basic_parser<Probability> {
public:
  using basic_parser<Probability>::basic_parser;
  bool parse(Option &option, StringRef, StringRef text, Probability &rate) {
    if (text.getAsDouble(rate.value) || !(rate.value >= 0 && rate.value < 1))
      return failFlag(option, "expects a number from 0 to below 1 but got '" +
                                  text + "'");
    if (rate.value != 0 && rate.value < FLT_MIN)
      return failFlag(option, "expects 0 or a number of at least "
                              "1.17549435e-38 but got '" +
                                  text + "'");
    return false;
  }
  void printOptionDiff(const Option &option, const Probability &,
                       const OptVal &, size_t width) const {
    printOptionNoValue(option, width);
  }
};
} // namespace llvm::cl

namespace {
using Size = cl::opt<Count>;
using Rate = cl::opt<Probability>;
using Flag = cl::opt<bool>;
using Text = cl::opt<std::string>;
} // namespace

static cl::SubCommand gpt2("gpt2", "GPT-2 language model: @train and @predict");
static cl::SubCommand mlp("mlp",
                          "Multi-layer perceptron: classifier or regression");
static cl::SubCommand
    chain("chain", "Test model CHAIN: four products with tanh, by formula");
static cl::SubCommand chain8("chain8", "Test model CHAIN8: eight products");
static cl::SubCommand lm("lm",
                         "Test model LM: four residual blocks, vocabulary 11");
static cl::SubCommand lm8("lm8", "Test model LM8: eight residual blocks");
static cl::SubCommand &noModel() { return cl::SubCommand::getTopLevel(); }
static cl::SubCommand &all() { return cl::SubCommand::getAll(); }

static cl::OptionCategory category("Options");
static cl::cat in(category);

static Text output("o", cl::desc("Where the model goes; - is stdout (default)"),
                   cl::value_desc("file"), cl::sub(all()), in);
static Flag bytecode("bytecode",
                     cl::desc("Write MLIR bytecode instead of text"),
                     cl::sub(all()), in);
static Text
    element("element",
            cl::desc("Element type: f32 (default), or f64 for gradient checks"),
            cl::value_desc("type"), cl::init("f32"), cl::sub(all()), in);
static cl::list<std::string>
    freeze("freeze",
           cl::desc("Freeze the parameters whose names match, e.g. '*.h.0.*'; "
                    "may be repeated"),
           cl::value_desc("glob"), cl::sub(all()), in);

static Text config("config",
                   cl::desc("Hugging Face config.json of model_type gpt2"),
                   cl::value_desc("file"), cl::sub(noModel()), in);
static Size batch("batch",
                  cl::desc("Rows of the global batch (mlp: default 32)"),
                  cl::value_desc("N"), cl::sub(noModel()), cl::sub(gpt2),
                  cl::sub(mlp), in);
static Size seq("seq", cl::desc("Tokens of a sequence"), cl::value_desc("N"),
                cl::sub(noModel()), cl::sub(gpt2), in);
static Rate dropout("dropout",
                    cl::desc("Dropout of embeddings, attention and residuals "
                             "(default 0, or the config's)"),
                    cl::value_desc("P"), cl::sub(noModel()), cl::sub(gpt2), in);

static Size layers("layers",
                   cl::desc("Blocks (gpt2), affine maps (mlp, default 2)"),
                   cl::value_desc("N"), cl::sub(gpt2), cl::sub(mlp), in);
static Size hidden("hidden", cl::desc("Width (mlp: default 32)"),
                   cl::value_desc("N"), cl::sub(gpt2), cl::sub(mlp), in);
static Size heads("heads", cl::desc("Attention heads; must divide the width"),
                  cl::value_desc("N"), cl::sub(gpt2), in);
static Size vocab("vocab", cl::desc("Vocabulary"), cl::value_desc("N"),
                  cl::sub(gpt2), in);
static Size positions("positions",
                      cl::desc("Rows of the position table (default: seq)"),
                      cl::value_desc("N"), cl::sub(gpt2), in);
static Size
    inner("inner",
          cl::desc("Width of the feed-forward layer (default: 4 hidden)"),
          cl::value_desc("N"), cl::sub(gpt2), in);
static Flag untied("untied",
                   cl::desc("A head of its own instead of the token embedding"),
                   cl::sub(gpt2), in);

static Size features("features",
                     cl::desc("Numbers of an input row (default 16)"),
                     cl::value_desc("N"), cl::sub(mlp), in);
static Size outputs("outputs",
                    cl::desc("Classes, or numbers to predict (default 10)"),
                    cl::value_desc("N"), cl::sub(mlp), in);
static Flag
    regression("regression",
               cl::desc("Predict numbers (squared error) instead of classes"),
               cl::sub(mlp), in);
static Text activation("activation", cl::desc("Activation (default relu)"),
                       cl::value_desc("name"), cl::init("relu"), cl::sub(mlp),
                       in);

static Size rows("rows", cl::desc("Rows of the global batch (default 8)"),
                 cl::value_desc("N"), cl::init(Count{8}), cl::sub(chain),
                 cl::sub(chain8), cl::sub(lm), cl::sub(lm8), in);
static Flag tied("tied", cl::desc("Use the embedding as head"), cl::sub(lm),
                 cl::sub(lm8), in);
static Text
    inputs("inputs",
           cl::desc("Write the model's inputs as safetensors, for piper-run "
                    "--inputs; the model itself only with -o"),
           cl::value_desc("file"), cl::sub(chain), cl::sub(chain8), cl::sub(lm),
           cl::sub(lm8), in);
static Size steps("steps", cl::desc("Steps of --inputs (default 1)"),
                  cl::value_desc("N"), cl::init(Count{1}), cl::sub(chain),
                  cl::sub(chain8), cl::sub(lm), cl::sub(lm8), in);

static constexpr char kOverview[] =
    "Writes training programs for Piper (Level 0 models)\n\n"
    "  piper-model gpt2 --layers 4 --hidden 128 --heads 4 --vocab 256 --batch "
    "16 --seq 128 -o gpt.mlir\n"
    "  piper-model --config config.json --batch 8 --seq 24 -o gpt.mlir\n";

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static llvm::Error needs(StringRef model, ArrayRef<const Size *> sizes) {
  SmallVector<std::string> missing;
  for (const Size *size : sizes)
    if (!size->getNumOccurrences())
      missing.push_back(("--" + size->ArgStr).str());
  if (missing.empty())
    return llvm::Error::success();
  return llvm::createStringError(model + " needs " + llvm::join(missing, ", "));
}

static void setDropout(GPT2Config &gpt) {
  if (dropout.getNumOccurrences())
    gpt.embeddingDropout = gpt.attentionDropout = gpt.residualDropout =
        dropout.value;
}

static llvm::Error requestGPT2(ModelRequest &request) {
  if (llvm::Error error =
          needs("gpt2", {&layers, &hidden, &heads, &vocab, &batch, &seq}))
    return error;
  GPT2Config gpt;
  gpt.layers = layers.value;
  gpt.hidden = hidden.value;
  gpt.heads = heads.value;
  gpt.vocab = vocab.value;
  gpt.batch = batch.value;
  gpt.seq = seq.value;
  gpt.positions = positions.value;
  gpt.inner = inner.value;
  gpt.tied = !untied;
  setDropout(gpt);
  request.config = gpt;
  return llvm::Error::success();
}

static llvm::Error requestConfig(ModelRequest &request) {
  if (!config.getNumOccurrences())
    return llvm::createStringError(
        "expects a model (gpt2, mlp, chain, chain8, lm, lm8) or --config FILE; "
        "see piper-model --help");
  if (llvm::Error error = needs("--config", {&batch, &seq}))
    return error;
  auto gpt = readConfigFile(config, request.warnings);
  if (!gpt)
    return gpt.takeError();
  gpt->batch = batch.value;
  gpt->seq = seq.value;
  setDropout(*gpt);
  request.config = *gpt;
  return llvm::Error::success();
}

static llvm::Error requestMLP(ModelRequest &request) {
  MLPConfig net;
  auto set = [](int64_t &value, const Size &flag) {
    if (flag.getNumOccurrences())
      value = flag.value;
  };
  set(net.features, features);
  set(net.hidden, hidden);
  set(net.layers, layers);
  set(net.outputs, outputs);
  set(net.batch, batch);
  net.regression = regression;
  net.activation = activation;
  if (!ModelBuilder::isActivation(net.activation))
    return llvm::createStringError("--activation expects one of " +
                                   ModelBuilder::activationNames() +
                                   " but got '" + net.activation + "'");
  request.config = net;
  return llvm::Error::success();
}

static llvm::Error requestModel(ModelRequest &request) {
  if (gpt2)
    return requestGPT2(request);
  if (mlp)
    return requestMLP(request);
  if (chain || chain8)
    request.config = ChainConfig{chain8 ? 8 : 4, rows.value};
  else if (lm || lm8)
    request.config = LMConfig{lm8 ? 8 : 4, rows.value, tied};
  else
    return requestConfig(request);
  if (steps.getNumOccurrences() && inputs.empty())
    return llvm::createStringError("--steps needs --inputs");
  return llvm::Error::success();
}

/// LLVM's message as one line without its program name and advice. Empty where
/// it has printed its message itself.
static std::string flagMessage(StringRef printed, StringRef program) {
  if (!flagError.empty())
    return flagError;
  StringRef line = printed.split('\n').first;
  line.consume_front(program);
  line.consume_front(": ");
  line = line.split("  Try:").first.rtrim('.');
  if (line.empty())
    return "";
  std::string text = line.str() + "; see piper-model --help";
  text[0] = llvm::toLower(text[0]);
  return text;
}

llvm::Expected<ModelRequest> mlir::piper::parseModelFlags(int argc,
                                                          char **argv) {
  // The test models are known by upper case names too.
  std::vector<const char *> arguments(argv, argv + argc);
  std::string model = argc > 1 ? StringRef(argv[1]).lower() : "";
  if (argc > 1 && !StringRef(argv[1]).starts_with("-"))
    arguments[1] = model.c_str();
  // Flags that LLVM's libraries register are none of piper-model's.
  cl::SubCommand *subCommands[] = {&noModel(), &gpt2, &mlp, &chain,
                                   &chain8,    &lm,   &lm8};
  for (cl::SubCommand *sub : subCommands)
    cl::HideUnrelatedOptions(category, *sub);
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "piper-model " PIPER_VERSION "\n"; });
  std::string error;
  llvm::raw_string_ostream os(error);
  if (!cl::ParseCommandLineOptions(argc, arguments.data(), kOverview, &os,
                                   nullptr, nullptr,
                                   /*LongOptionsUseDoubleDash=*/true))
    return llvm::createStringError(
        flagMessage(error, llvm::sys::path::filename(argv[0])));
  for (cl::SubCommand *sub : subCommands)
    if (std::string repeated = findRepeatedFlag(*sub); !repeated.empty())
      return llvm::createStringError(repeated);
  for (const Text *file : {&output, &inputs, &config})
    if (file->getNumOccurrences() && file->empty())
      return llvm::createStringError(Twine(file == &output ? "-" : "--") +
                                     file->ArgStr +
                                     " expects the name of a file but got ''");
  if (element != "f32" && element != "f64")
    return llvm::createStringError("--element expects f32 or f64 but got '" +
                                   element + "'");

  ModelRequest request;
  if (llvm::Error failure = requestModel(request))
    return failure;
  request.options.doublePrecision = element == "f64";
  request.options.freeze.assign(freeze.begin(), freeze.end());
  request.bytecode = bytecode;
  request.inputs = inputs;
  request.configFile = config;
  request.steps = steps.value;
  request.output = output;
  if (output.empty() && inputs.empty())
    request.output = "-";
  return request;
}

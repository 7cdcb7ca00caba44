// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one model under many settings and compares each with one device. Reads
// lines of a word and keys (see cells.py and random_cells.py):
//
// - run: three steps of SGD with NaN in released memory and late messages, then
//   evaluation and prediction; results, raw gradients of each step and
//   parameters MATCH the reference, and have the bits of one device with as
//   many micro-batches, unless stages have two copies; parameters of several
//   ranks are equal;
// - refuse: it is refused before it runs; the text is printed;
// - try: either of the two; which is right, the reader of this output decides;
// - order: as try, in an order of its own, so that the bits may be others.
//
// The reference is the model without any setting, or a file.

#include "CellRunner.h"

#include "Piper/Driver/SourceFile.h"
#include "Piper/Runtime/Compare.h"
#include "Piper/Transforms/BodyTable.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

#include <fstream>
#include <iostream>

namespace cl = llvm::cl;
using namespace mlir;
using namespace mlir::piper;

static cl::opt<std::string> modelPath(cl::Positional, cl::Required,
                                      cl::desc("MODEL.mlir"));
static cl::opt<std::string> cellsPath("cells", cl::Required,
                                      cl::desc("The lines; - for stdin"));
static cl::opt<int> below("below", cl::init(1),
                          cl::desc("Integer inputs are below this"));
static cl::opt<double>
    delays("delays", cl::init(0),
           cl::desc("Every message may be late by up to so many milliseconds"));
static cl::opt<std::string>
    inputsPath("inputs", cl::desc("Inputs as ENTRY.NAME, steps first"));
static cl::opt<std::string>
    referencePath("reference", cl::desc("What every cell must MATCH"));
static cl::opt<bool> summary("summary", cl::desc("Print only the counts and "
                                                 "what fails"));

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// What differs between two records of one model, or an empty string.
static std::string compareBits(const Record &got, const Record &reference) {
  if (got.size() != reference.size())
    return std::to_string(reference.size()) + " tensors expected but got " +
           std::to_string(got.size());
  for (auto [a, b] : llvm::zip_equal(got, reference)) {
    if (a.name != b.name || a.type != b.type)
      return a.name + " in place of " + b.name;
    if (a.bytes != b.bytes)
      return a.name + " has other bits than on one device";
  }
  return "";
}

/// Of numbers that are rounded; a file has them as f64.
static bool isFloat(const Tensor &tensor) {
  return llvm::is_contained(
      {rt::ElementType::F32, rt::ElementType::F64, rt::ElementType::BF16},
      tensor.type.element);
}

static bool isZero(const Tensor &tensor) {
  return llvm::all_of(tensor.bytes,
                      [](std::byte byte) { return byte == std::byte(0); });
}

/// Whether the reference has to say something about a tensor: the results that
/// the step adds (count, lr, ..) are not in a file.
static bool mustBeKnown(StringRef name) {
  return name.starts_with("gradient") || name.starts_with("parameter") ||
         name.starts_with("loss");
}

/// What does not MATCH, or an empty string. A parameter that the loss does not
/// reach has no gradient; in the reference it is zero.
static std::string compareValues(const Record &got, const Record &reference) {
  llvm::StringMap<const Tensor *> known;
  for (const Tensor &tensor : reference)
    known[tensor.name] = &tensor;
  llvm::StringSet<> seen;
  for (const Tensor &a : got) {
    seen.insert(a.name);
    const Tensor *b = known.lookup(a.name);
    if (!b && mustBeKnown(a.name))
      return a.name + " is not in the reference";
    if (!b)
      continue;
    bool isRounded = isFloat(*b);
    if (a.type.shape != b->type.shape || isFloat(a) != isRounded ||
        (!isRounded && a.type.element != b->type.element))
      return a.name + ": " + a.type.str() + " against " + b->type.str();
    rt::MatchResult match =
        rt::matchTensors({a.bytes.data(), a.type}, {b->bytes.data(), b->type});
    if (!match.match || (!isRounded && a.bytes != b->bytes))
      return a.name + ", element " + std::to_string(match.element) + ": " +
             std::to_string(match.value) + " against " +
             std::to_string(match.reference);
  }
  for (const Tensor &b : reference)
    if (!seen.contains(b.name) &&
        !(StringRef(b.name).starts_with("gradient") && isZero(b)))
      return b.name + " is missing";
  return "";
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// The value of a key, or an empty string.
static std::string valueOf(StringRef keys, StringRef name) {
  SmallVector<StringRef> words;
  keys.split(words, ' ', -1, false);
  for (StringRef word : words)
    if (word.consume_front(name) && word.consume_front("="))
      return word.str();
  return "";
}

namespace {

class Checker {
public:
  Checker(CellRunner &runner, Record reference)
      : runner(runner), reference(std::move(reference)) {}
  /// "MATCH", "refused" or "WRONG", and why.
  std::pair<StringRef, std::string> check(StringRef word, StringRef keys);

private:
  const Outcome &oneDevice(StringRef keys);

  CellRunner &runner;
  Record reference;
  std::map<std::string, Outcome> known;
};

} // namespace

/// One device with as many micro-batches. A file of directives has its number
/// of them in its name, as in "7.mb4.json".
const Outcome &Checker::oneDevice(StringRef keys) {
  std::string micro = valueOf(keys, "micro-batches");
  if (size_t at = keys.find(".mb"); at != StringRef::npos)
    micro = keys.drop_front(at + 3)
                .take_while([](char c) { return c >= '0' && c <= '9'; })
                .str();
  if (micro.empty())
    micro = "1";
  auto [found, isNew] = known.try_emplace(micro);
  if (isNew)
    found->second = runner.run("micro-batches=" + micro);
  return found->second;
}

std::pair<StringRef, std::string> Checker::check(StringRef word,
                                                 StringRef keys) {
  bool mayBeRefused = word == "try" || word == "order";
  Outcome cell = runner.run(keys.str());
  if (cell.refused && (word == "refuse" || mayBeRefused))
    return {"refused", cell.problem};
  if (word == "refuse")
    return {"WRONG", "runs"};
  if (!cell.problem.empty())
    return {"WRONG", cell.problem};
  std::string problem = compareValues(cell.record, reference);
  if (problem.empty() && !cell.hasCopies && word != "order") {
    const Outcome &one = oneDevice(keys);
    problem = one.problem.empty()
                  ? compareBits(cell.record, one.record)
                  : "runs, but not on one device: " + one.problem;
  }
  return {problem.empty() ? "MATCH" : "WRONG", problem};
}

static int checkCells(Checker &checker, std::istream &lines) {
  int matched = 0, refused = 0, wrong = 0;
  for (std::string line; std::getline(lines, line);) {
    auto [word, keys] = StringRef(line).split(' ');
    auto [verdict, problem] = checker.check(word, keys);
    matched += verdict == "MATCH";
    refused += verdict == "refused";
    wrong += verdict == "WRONG";
    if (!summary || verdict == "WRONG")
      std::cout << verdict.str() << " " << keys.str()
                << (problem.empty() ? "" : ": " + problem) << std::endl;
  }
  std::cout << matched << " match, " << refused << " refused, " << wrong
            << " wrong\n";
  return wrong == 0 && matched > 0 ? 0 : 1;
}

static int fail(const std::string &problem) {
  std::cerr << problem << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Checks a model under settings\n");
  DialectRegistry registry;
  registry.insert<PiperDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openSource(modelPath, error);
  if (!buffer)
    return fail(error);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> model = parseSourceFile<ModuleOp>(sources, &context);
  if (!model)
    return fail("'" + modelPath + "' is no model");

  RunnerOptions options;
  options.below = below;
  options.delays = delays;
  if (!inputsPath.empty()) {
    auto inputs = rt::SafetensorsFile::open(inputsPath);
    if (!inputs.ok())
      return fail(inputs.takeStatus().str());
    options.inputs = std::move(*inputs);
  }
  CellRunner runner(*model, std::move(options));
  Record reference;
  if (referencePath.empty()) {
    Outcome oracle = runner.run("");
    if (!oracle.problem.empty())
      return fail("the model itself does not run: " + oracle.problem);
    reference = std::move(oracle.record);
  } else {
    auto file = rt::SafetensorsFile::open(referencePath);
    if (!file.ok())
      return fail(file.takeStatus().str());
    auto read = readRecord(*file);
    if (!read.ok())
      return fail(read.takeStatus().str());
    reference = std::move(*read);
  }
  Checker checker(runner, std::move(reference));
  if (cellsPath == "-")
    return checkCells(checker, std::cin);
  std::ifstream file(cellsPath);
  if (!file)
    return fail("cannot open '" + cellsPath + "'");
  return checkCells(checker, file);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one model under many settings and compares each with one device. Reads
// lines "run KEYS" and "refuse KEYS" (see cells.py); for each
//
// - run: three steps of SGD with NaN in released memory and late messages;
// loss, raw gradients of
//   each step and parameters MATCH the model without any setting, and have the
//   bits of one device with as many micro-batches, unless stages have two
//   copies; parameters of several ranks are equal;
// - refuse: it is refused before it runs; the text is printed.

#include "Piper/Driver/SourceFile.h"
#include "Piper/Runtime/Compare.h"
#include "Piper/Runtime/Executor.h"
#include "Piper/Target/BuildProgram.h"
#include "Piper/Transforms/BodyTable.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
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
static cl::opt<bool> summary("summary", cl::desc("Print only the counts and "
                                                 "what fails"));

namespace {

constexpr int kSteps = 3;

/// Loss, gradients and parameters, by name, as bytes with their types.
struct Tensor {
  std::string name;
  rt::TensorType type;
  std::vector<std::byte> bytes;
};
using Record = std::vector<Tensor>;

/// What came of a cell: a record, or why there is none.
struct Outcome {
  Record record;
  std::string problem;
  bool refused = false;
  /// Whether several ranks run copies of one stage.
  bool hasCopies = false;
};

class Checker {
public:
  explicit Checker(ModuleOp model) : model(model) {}
  Outcome run(const std::string &keys);

private:
  rt::Result<Record> train(rt::Executor &executor);

  ModuleOp model;
};

} // namespace

/// A number from -1 to 1 that depends on its place alone.
static double noise(uint64_t step, uint64_t input, uint64_t index) {
  uint64_t x = (step * 31 + input) * 0x9E3779B97F4A7C15ull + index + 1;
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCDull;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53ull;
  x ^= x >> 33;
  return static_cast<double>(x >> 11) / (1ull << 52) - 1;
}

template <typename T, typename Make>
static void fill(std::vector<std::byte> &bytes, Make make) {
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value = make(i);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

/// The same of the same name: plans may list inputs in another order.
static std::vector<std::byte> makeInput(const std::string &name,
                                        const rt::TensorType &type, int step) {
  std::vector<std::byte> bytes(type.numBytes());
  uint64_t input = llvm::xxh3_64bits(name);
  auto number = [&](size_t i) { return noise(step, input, i); };
  auto id = [&](size_t i) {
    return static_cast<int64_t>((number(i) + 1) / 2 * below);
  };
  switch (type.element) {
  case rt::ElementType::F64:
    fill<double>(bytes, number);
    break;
  case rt::ElementType::I32:
    fill<int32_t>(bytes, [&](size_t i) { return int32_t(id(i)); });
    break;
  case rt::ElementType::I64:
    fill<int64_t>(bytes, id);
    break;
  case rt::ElementType::I1:
    fill<int8_t>(bytes, [&](size_t i) { return number(i) > 0; });
    break;
  default:
    fill<float>(bytes, [&](size_t i) { return float(number(i)); });
  }
  return bytes;
}

static void append(Record &record, std::string name, const rt::TensorType &type,
                   const std::byte *data) {
  record.push_back({std::move(name), type, {data, data + type.numBytes()}});
}

rt::Result<Record> Checker::train(rt::Executor &executor) {
  Record record;
  int index = executor.findEntry("train");
  const rt::EntryPoint &entry = executor.entry(index);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::vector<std::byte>> buffers;
    std::vector<rt::ConstBytes> inputs;
    for (const rt::Binding &input : entry.inputs)
      buffers.push_back(
          makeInput(input.name, entry.values[input.value].type, step));
    for (auto &buffer : buffers)
      inputs.push_back({buffer.data(), static_cast<int64_t>(buffer.size())});
    PIPER_RETURN_IF_ERROR(executor.run(index, inputs));
    std::string when = " of step " + std::to_string(step);
    for (const rt::Binding &output : entry.outputs)
      if (output.name == "loss")
        append(record, "loss" + when, entry.values[output.value].type,
               executor.valueData(index, output.value));
    for (const rt::Binding &gradient : entry.gradients)
      append(record, "gradient '" + gradient.name + "'" + when,
             entry.values[gradient.value].type,
             executor.valueData(index, gradient.value));
  }
  const rt::Program &program = executor.program();
  for (size_t s = 0; s < program.state.size(); ++s) {
    if (program.state[s].kind != rt::StateTensor::Kind::Parameter)
      continue;
    std::string name = "parameter '" + program.state[s].name + "'";
    append(record, name, program.state[s].type,
           executor.stateData(static_cast<int>(s)));
    for (int rank : executor.stateHolders(static_cast<int>(s)))
      if (std::memcmp(executor.stateData(static_cast<int>(s), rank),
                      record.back().bytes.data(),
                      record.back().bytes.size()) != 0)
        return rt::Status::error(name + " differs between ranks");
  }
  // Tensors in the order of names: plans may list them in another order.
  std::sort(record.begin(), record.end(),
            [](const Tensor &a, const Tensor &b) { return a.name < b.name; });
  return record;
}

Outcome Checker::run(const std::string &keys) {
  Outcome outcome;
  CompileOptions options;
  std::string first;
  ScopedDiagnosticHandler handler(
      model.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            first.empty())
          first = diagnostic.str();
        return success();
      });
  auto refuse = [&](std::string why) {
    outcome.problem = std::move(why);
    outcome.refused = true;
    return outcome;
  };
  std::string problem = options.parse(
      "optimizer=sgd lr=0.1 keep-gradients=true threads=1 " + keys);
  if (!problem.empty())
    return refuse(problem);
  OwningOpRef<ModuleOp> module(model.clone());
  PassManager passes(module->getContext());
  passes.enableVerifier(false);
  buildCompilePipeline(passes, options);
  if (failed(passes.run(*module)))
    return refuse(first.empty() ? "no error was printed" : first);
  FailureOr<rt::Plan> plan = buildPlan(*module);
  if (failed(plan)) {
    outcome.problem = "no plan: " + first;
    return outcome;
  }
  for (const rt::Program &program : plan->programs)
    for (const rt::EntryPoint &entry : program.entries)
      for (const rt::Instruction &op : entry.instructions)
        outcome.hasCopies |= op.copy > 0;
  rt::ExecutorOptions executorOptions;
  executorOptions.poison = true;
  executorOptions.delayMilliseconds = delays;
  rt::Result<std::unique_ptr<rt::Executor>> executor =
      rt::Executor::create(std::move(*plan), executorOptions);
  if (!executor.ok()) {
    outcome.problem = executor.takeStatus().str();
    return outcome;
  }
  (*executor)->initializeState(1);
  rt::Result<Record> record = train(**executor);
  if (!record.ok())
    outcome.problem = record.takeStatus().str();
  else
    outcome.record = std::move(*record);
  return outcome;
}

/// What differs, or an empty string.
static std::string compareRecords(const Record &got, const Record &reference,
                                  bool bitwise) {
  if (got.size() != reference.size())
    return std::to_string(reference.size()) + " tensors expected but got " +
           std::to_string(got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor &a = got[i], &b = reference[i];
    if (a.name != b.name || a.type != b.type)
      return a.name + " in place of " + b.name;
    if (bitwise) {
      if (a.bytes != b.bytes)
        return a.name + " has other bits than on one device";
      continue;
    }
    rt::MatchResult match =
        rt::matchTensors({a.bytes.data(), a.type}, {b.bytes.data(), b.type});
    if (!match.match)
      return a.name + ": " + std::to_string(match.value) + " against " +
             std::to_string(match.reference);
  }
  return "";
}

/// The value of a key, or an empty string.
static std::string valueOf(StringRef keys, StringRef name) {
  SmallVector<StringRef> words;
  keys.split(words, ' ', -1, false);
  for (StringRef word : words)
    if (word.consume_front(name) && word.consume_front("="))
      return word.str();
  return "";
}

static int checkCells(Checker &checker, std::istream &lines) {
  Outcome oracle = checker.run("");
  if (!oracle.problem.empty()) {
    std::cerr << "the model itself does not run: " << oracle.problem << "\n";
    return 1;
  }
  std::map<std::string, Record> oneDevice;
  int matched = 0, refused = 0, wrong = 0;
  for (std::string line; std::getline(lines, line);) {
    auto [word, keys] = StringRef(line).split(' ');
    Outcome cell = checker.run(keys.str());
    std::string verdict;
    if (word == "refuse" && cell.refused) {
      verdict = "refused";
      ++refused;
    } else if (!cell.problem.empty() || word == "refuse") {
      verdict = "WRONG";
    } else {
      std::string micro = valueOf(keys, "micro-batches");
      if (micro.empty())
        micro = "1";
      auto [base, isNew] = oneDevice.try_emplace(micro);
      if (isNew)
        base->second = checker.run("micro-batches=" + micro).record;
      cell.problem = compareRecords(cell.record, oracle.record, false);
      if (cell.problem.empty() && !cell.hasCopies)
        cell.problem = compareRecords(cell.record, base->second, true);
      verdict = cell.problem.empty() ? "MATCH" : "WRONG";
      matched += cell.problem.empty();
    }
    wrong += verdict == "WRONG";
    if (!summary || verdict == "WRONG")
      std::cout << verdict << " " << keys.str()
                << (cell.problem.empty() ? "" : ": " + cell.problem)
                << std::endl;
  }
  std::cout << matched << " match, " << refused << " refused, " << wrong
            << " wrong\n";
  return wrong == 0 && matched > 0 ? 0 : 1;
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
  if (!buffer) {
    std::cerr << error << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> model = parseSourceFile<ModuleOp>(sources, &context);
  if (!model)
    return 1;
  Checker checker(*model);
  if (cellsPath == "-")
    return checkCells(checker, std::cin);
  std::ifstream file(cellsPath);
  if (!file) {
    std::cerr << "cannot open '" << cellsPath << "'\n";
    return 1;
  }
  return checkCells(checker, file);
}

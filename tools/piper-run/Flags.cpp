// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags in three groups: the program and its data, what to do, what to
// write. What goes with what is checked by the runtime (Run.h).

#include "Flags.h"

#include "Piper/Driver/CommandLine.h"

#include "llvm/Support/CommandLine.h"

#include <unistd.h>

namespace cl = llvm::cl;

namespace {
using Text = cl::opt<std::string>;
using Number = cl::opt<int64_t>;
using Flag = cl::opt<bool>;

/// A struct that lives while flags are read, not globals: LLVM's own flags,
/// some with the same names, are dropped first.
struct Flags {
  cl::OptionCategory inputs{"Program and data"};
  cl::OptionCategory actions{"What to do"};
  cl::OptionCategory results{"What to write"};

  Text program{cl::Positional, cl::Required, cl::desc("MODEL-OR-PLAN.mlir"),
               cl::cat(inputs)};
  Text compile{
      "piper-compile", cl::cat(inputs), cl::value_desc("keys"),
      cl::desc("How a model is compiled: \"key=value ...\", see below")};
  Text lr{"lr", cl::cat(inputs), cl::value_desc("rate"),
          cl::desc("Learning rate of a model: the key lr")};
  Text threads{"threads", cl::cat(inputs), cl::value_desc("N"),
               cl::desc("Threads of a model: the key threads")};
  Text data{"data", cl::cat(inputs), cl::value_desc("file"),
            cl::desc("Text, or tokens of a .bin: sequence after sequence")};
  Text tokenType{"token-type", cl::cat(inputs), cl::value_desc("type"),
                 cl::desc("Tokens of --data: u8 (default), u16 (default of a "
                          ".bin) or u32")};
  Text inputTensors{"inputs", cl::cat(inputs), cl::value_desc("file"),
                    cl::desc("safetensors named as the inputs, [steps, ...]")};
  Text load{"load", cl::cat(inputs), cl::value_desc("file"),
            cl::desc("Start from parameters or state (safetensors)")};
  Number seed{"seed", cl::cat(inputs), cl::value_desc("N"),
              cl::desc("Of initial values, dropout and samples (default 0)")};

  Number steps{"steps", cl::cat(actions), cl::value_desc("N"),
               cl::desc("Steps to train, or batches to evaluate (default: all "
                        "of --inputs)")};
  Flag eval{"eval", cl::cat(actions), cl::desc("Evaluate; change nothing")};
  Text oracle{"oracle", cl::cat(actions), cl::value_desc("file"),
              cl::desc("Train a second model or plan too and compare loss, "
                       "gradients, parameters")};
  Text onNonfinite{"on-nonfinite", cl::cat(actions), cl::value_desc("what"),
                   cl::init("skip"),
                   cl::desc("Where gradients are not finite: skip the step "
                            "(default) or stop")};
  Number generate{"generate", cl::cat(actions), cl::value_desc("N"),
                  cl::desc("Generate N bytes of text, after any training")};
  Text prompt{"prompt", cl::cat(actions), cl::value_desc("text"),
              cl::init("\n"),
              cl::desc("What the text goes on from (default: a new line)")};
  cl::opt<double> temperature{
      "temperature", cl::cat(actions), cl::value_desc("T"), cl::init(0.8),
      cl::desc("0 takes the likeliest byte each time (default 0.8)")};
  Flag info{"info", cl::cat(actions), cl::desc("Print what the program is")};
  Flag memory{"memory", cl::cat(actions), cl::desc("Print the memory plan")};
  Flag poison{"poison", cl::cat(actions),
              cl::desc("Fill released memory with NaN (a check)")};
  Text clock{"clock", cl::cat(actions), cl::value_desc("what"),
             cl::desc("devices: the step time of one device per rank")};
  Flag simulate{"simulate", cl::cat(actions),
                cl::desc("Print the timetable of a training step")};
  Text costs{"costs", cl::cat(actions), cl::value_desc("file"),
             cl::desc("For --clock or --simulate: times of tasks and messages "
                      "(JSON)")};
  cl::opt<double> deadline{
      "deadline", cl::cat(actions), cl::value_desc("S"), cl::init(600),
      cl::desc("Ranks that wait for each other for S seconds are an error "
               "(default 600)")};
  cl::opt<double> delays{
      "delays",
      cl::cat(actions),
      cl::value_desc("MS"),
      cl::init(0),
      cl::Hidden,
      cl::desc("Messages start late by up to MS milliseconds (a check)")};

  Text save{"save", cl::cat(results), cl::value_desc("file"),
            cl::desc("Parameters (safetensors)")};
  Text saveState{"save-state", cl::cat(results), cl::value_desc("file"),
                 cl::desc("Parameters, moments, counters and seed, to go on "
                          "from with --load")};
  Text dumpGradients{"dump-gradients", cl::cat(results), cl::value_desc("file"),
                     cl::desc("Gradients of the last step, before clipping")};
  Text dumpOutputs{"dump-outputs", cl::cat(results), cl::value_desc("file"),
                   cl::desc("Outputs of the last step")};
  Text metrics{"metrics", cl::cat(results), cl::value_desc("file"),
               cl::desc("Loss and more, one JSON line per step")};
  Text trace{"trace", cl::cat(results), cl::value_desc("file"),
             cl::desc("Times of all tasks (by --clock or --simulate), for "
                      "Perfetto or Chrome")};

  /// What is wrong with a flag by itself, or empty.
  std::string findProblem() const;
  mlir::piper::LoadOptions loadOptions() const;
  piper::rt::RunOptions runOptions() const;
};
} // namespace

std::string Flags::findProblem() const {
  std::string repeated = mlir::piper::findRepeatedFlag();
  if (!repeated.empty())
    return repeated;
  // Empty is what these are where they are not given.
  for (const Text *flag :
       {&data, &inputTensors, &load, &oracle, &costs, &save, &saveState,
        &dumpGradients, &dumpOutputs, &metrics, &trace, &tokenType, &clock})
    if (flag->getNumOccurrences() && flag->empty())
      return "--" + flag->ArgStr.str() + " expects " +
             (flag == &clock       ? "'devices'"
              : flag == &tokenType ? "u8, u16 or u32"
                                   : "the name of a file") +
             " but got ''";
  return "";
}

mlir::piper::LoadOptions Flags::loadOptions() const {
  mlir::piper::LoadOptions options;
  options.compile = compile;
  if (lr.getNumOccurrences())
    options.keys.emplace_back("lr", lr);
  if (threads.getNumOccurrences())
    options.keys.emplace_back("threads", threads);
  options.keepGradients = !dumpGradients.empty() || !oracle.empty();
  return options;
}

piper::rt::RunOptions Flags::runOptions() const {
  piper::rt::RunOptions options;
  options.data = data;
  options.tokenType = tokenType;
  options.inputs = inputTensors;
  if (steps.getNumOccurrences())
    options.steps = steps;
  options.seed = seed;
  options.seedIsGiven = seed.getNumOccurrences() > 0;
  options.load = load;
  options.save = save;
  options.saveState = saveState;
  options.dumpGradients = dumpGradients;
  options.dumpOutputs = dumpOutputs;
  options.metrics = metrics;
  options.trace = trace;
  if (onNonfinite.getNumOccurrences())
    options.onNonfinite = onNonfinite;
  options.eval = eval;
  if (generate.getNumOccurrences())
    options.generate = generate;
  if (prompt.getNumOccurrences())
    options.prompt = prompt;
  if (temperature.getNumOccurrences())
    options.temperature = temperature;
  options.memory = memory;
  options.info = info;
  options.poison = poison;
  options.clock = clock;
  options.simulate = simulate;
  options.costs = costs;
  if (deadline.getNumOccurrences())
    options.deadline = deadline;
  options.delays = delays;
  options.terminal = isatty(STDERR_FILENO);
  return options;
}

static const char *const overview =
    "Piper: trains, evaluates and compares programs\n\n"
    "  piper-run gpt.mlir --data text --steps 100 --save gpt.safetensors\n"
    "  piper-run gpt.mlir --load gpt.safetensors --generate 200\n"
    "  piper-run a.mlir --oracle b.mlir --inputs in.safetensors\n";

RunRequest parseRunFlags(int argc, char **argv) {
  cl::ResetCommandLineParser();
  Flags flags;
  cl::HideUnrelatedOptions({&flags.inputs, &flags.actions, &flags.results});
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "piper-run " PIPER_VERSION "\n"; });
  std::string keys = "\nKeys of --piper-compile and their defaults:\n\n" +
                     mlir::piper::CompileOptions::help();
  cl::extrahelp keysHelp{keys};
  cl::ParseCommandLineOptions(argc, argv, overview);
  std::string problem = flags.findProblem();
  if (!problem.empty()) {
    llvm::errs() << "piper-run: error: " << problem << "\n";
    exit(1);
  }
  RunRequest request{flags.program, flags.loadOptions(), flags.oracle,
                     flags.runOptions()};
  std::vector<std::string> &programs = request.run.programs;
  programs = mlir::piper::findFileOptions({request.load.compile.c_str()},
                                          {"schedule", "costs", "directives"});
  programs.push_back(request.program);
  programs.push_back(request.oracle);
  return request;
}

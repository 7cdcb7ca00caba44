// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole runs as the tool makes them, and options that do not go together.

#include "Piper/Runtime/Run.h"

#include "Piper/Runtime/Report.h"
#include "TrainingTest.h"

#include <sstream>

using namespace piper::rt;
using namespace piper::rt::test;

namespace {
class RunTest : public TrainingTest {
protected:
  /// What the run wrote to `out`, or its error.
  std::string run(const Program &program, const RunOptions &options) {
    std::ostringstream out;
    log.str("");
    Plan plan;
    plan.programs = {program};
    Status status = runPlan(plan, options, out, log);
    return status.ok() ? out.str() : status.str();
  }
  static std::string check(const RunOptions &options) {
    Status status = checkRunOptions(options);
    return status.ok() ? "success" : status.message();
  }
  std::ostringstream log;
};
} // namespace

TEST_F(RunTest, TrainsSavesAndResumes) {
  std::string text = folder.write("t", "all work and no play makes a dull boy");
  RunOptions options;
  options.data = text;
  options.steps = 6;
  options.saveState = folder.file("whole");
  std::string printed = run(makeBigram(), options);
  EXPECT_EQ(printed.rfind("train loss ", 0), 0u) << printed;
  options.steps = 4;
  options.saveState = folder.file("part");
  run(makeBigram(), options);
  options.steps = 2;
  options.load = folder.file("part");
  options.saveState = folder.file("rest");
  options.save = folder.file("parameters");
  options.seed = 99;
  options.poison = true;
  run(makeBigram(), options);
  EXPECT_EQ(log.str().rfind("restored 1 parameter, 2 moments and 3 counters "
                            "from '" +
                                options.load +
                                "' (iteration 4, update 4, seed 0, token 32)\n",
                            0),
            0u)
      << log.str();
  EXPECT_EQ(folder.read("rest"), folder.read("whole"));
  EXPECT_NE(folder.read("rest"), folder.read("part"));
  EXPECT_NE(folder.read("parameters"), "");

  RunOptions evaluation;
  evaluation.load = folder.file("parameters");
  evaluation.data = text;
  evaluation.steps = 2;
  evaluation.eval = true;
  printed = run(makeBigram(), evaluation);
  EXPECT_EQ(printed.rfind("eval loss ", 0), 0u) << printed;
}

TEST_F(RunTest, InputsGiveTheNumberOfSteps) {
  RunOptions options;
  options.inputs = writeInputs("f", makeData(5));
  options.metrics = folder.file("m");
  options.dumpGradients = folder.file("g");
  options.dumpOutputs = folder.file("o");
  options.trace = folder.file("t");
  EXPECT_EQ(run(makeRegression(), options).rfind("train loss ", 0), 0u);
  std::string lines = folder.read("m");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 5);
  EXPECT_EQ(folder.count(), 5u);
  options.steps = 6;
  EXPECT_EQ(run(makeRegression(), options),
            "'" + options.inputs +
                "' has 5 steps but 6 from step 0 on are asked for");
}

TEST_F(RunTest, Generates) {
  RunOptions options;
  options.generate = 5;
  options.prompt = "a";
  EXPECT_EQ(run(makeBigram(), options).size(), 7u) << "prompt, text, newline";
}

TEST_F(RunTest, Reports) {
  RunOptions options;
  options.info = options.memory = true;
  std::string text = run(makeRegression(), options);
  EXPECT_EQ(text.rfind("program regression for cpu", 0), 0u);
  EXPECT_NE(text.find("arena: "), std::string::npos);
}

// The last buffer of the program is the second result of the task of eval.
TEST_F(RunTest, MeasuresTheArena) {
  Program program = makeRegression();
  const EntryPoint &eval = program.entries[1];
  const EntryValue &error = eval.values[eval.instructions[0].results[1]];
  RunOptions options;
  options.inputs = writeInputs("f", makeData(2));
  options.eval = options.memory = true;
  std::string text = run(program, options);
  std::string end = formatCount(error.offset + error.type.numBytes());
  std::string line = "entry point eval gave " + end +
                     " bytes of the arena to kernels, which wrote up to byte " +
                     end + "\n";
  EXPECT_NE(text.find(line), std::string::npos) << text;
  options.eval = false;
  EXPECT_NE(run(program, options).find("entry point train gave "),
            std::string::npos);
  options.poison = true;
  EXPECT_EQ(run(program, options).find("entry point train gave "),
            std::string::npos);
}

TEST_F(RunTest, AFailedRunSavesNothing) {
  RegressionData data = makeData(2);
  data.x.back() = std::nanf("");
  RunOptions options;
  options.inputs = writeInputs("f", data);
  options.onNonfinite = "stop";
  options.save = folder.write("s", "old");
  EXPECT_EQ(run(makeRegression(), options),
            "stopped at step 1: the gradient of 'w' is not finite");
  EXPECT_EQ(folder.read("s"), "old");
  options.onNonfinite = "skip";
  EXPECT_EQ(run(makeRegression(), options).rfind("train loss ", 0), 0u);
  EXPECT_NE(log.str().find("warning: 1 of 2 steps were skipped\n"),
            std::string::npos);
  EXPECT_NE(folder.read("s"), "old");
}

TEST_F(RunTest, OptionsThatDoNotGoTogether) {
  auto with = [&](void (*change)(RunOptions &, const TempFolder &)) {
    RunOptions options;
    options.data = "t";
    options.steps = 1;
    change(options, folder);
    return check(options);
  };
  using O = RunOptions;
  using F = TempFolder;
  EXPECT_EQ(with([](O &, const F &) {}), "success");
  EXPECT_EQ(with([](O &o, const F &) { o.inputs = "i"; }),
            "--data and --inputs cannot be given together");
  EXPECT_EQ(with([](O &o, const F &) { o.steps.reset(); }),
            "--data needs --steps");
  EXPECT_EQ(with([](O &o, const F &) { o.data = ""; }),
            "--steps needs --data or --inputs");
  EXPECT_EQ(with([](O &o, const F &) {
              o.data = "";
              o.inputs = "i";
              o.tokenType = "u8";
            }),
            "--token-type needs --data");
  EXPECT_EQ(with([](O &o, const F &) { o.tokenType = "u7"; }),
            "--token-type: expects a token type out of u8, u16, u32 but got "
            "'u7'");
  EXPECT_EQ(with([](O &o, const F &) { o = {}; }),
            "there is nothing to do: expects --data or --inputs, --generate, "
            "--simulate, --memory or --info");
  EXPECT_EQ(with([](O &o, const F &) { o.clock = "mine"; }),
            "--clock: expects 'devices' but got 'mine'");
  EXPECT_EQ(with([](O &o, const F &) { o.costs = "c"; }),
            "--costs needs --clock or --simulate");
  EXPECT_EQ(with([](O &o, const F &) { o.deadline = 0; }),
            "--deadline: expects more than 0 seconds but got 0.000000");
  EXPECT_EQ(with([](O &o, const F &) { o.delays = -1; }),
            "--delays: expects 0 or more milliseconds but got -1.000000");
  EXPECT_EQ(with([](O &o, const F &) {
              o.clock = "devices";
              o.eval = true;
            }),
            "--clock cannot be given with --eval");
  EXPECT_EQ(with([](O &o, const F &) {
              o = {};
              o.eval = true;
              o.info = true;
            }),
            "--eval needs --data or --inputs");
  EXPECT_EQ(with([](O &o, const F &) { o.steps = -1; }),
            "--steps: expects 0 or more but got -1");
  EXPECT_EQ(with([](O &o, const F &) {
              o.steps = 0;
              o.eval = true;
            }),
            "--eval needs at least one step");
  EXPECT_EQ(with([](O &o, const F &f) {
              o.steps = 0;
              o.dumpOutputs = f.file("d");
            }),
            "a dump needs at least one step");
  EXPECT_EQ(with([](O &o, const F &) { o.generate = -2; }),
            "--generate: expects 0 or more but got -2");
  EXPECT_EQ(with([](O &o, const F &) {
              o.generate = 1;
              o.temperature = -2;
            }),
            "--temperature: expects 0 or more but got -2.000000");
  EXPECT_EQ(with([](O &o, const F &) {
              o.generate = 1;
              o.temperature = -std::nan("");
            }),
            "--temperature: expects 0 or more but got nan");
  EXPECT_EQ(with([](O &o, const F &) { o.temperature = 1; }),
            "--temperature needs --generate");
  EXPECT_EQ(with([](O &o, const F &) { o.prompt = "a"; }),
            "--prompt needs --generate");
  for (bool isPoison : {true, false}) {
    RunOptions idle;
    idle.info = true;
    idle.poison = isPoison;
    if (!isPoison)
      idle.deadline = 1;
    EXPECT_EQ(check(idle), std::string(isPoison ? "--poison" : "--deadline") +
                               " needs --data, --inputs or --generate");
  }
  EXPECT_EQ(with([](O &o, const F &) {
              o.eval = true;
              o.onNonfinite = "stop";
            }),
            "--on-nonfinite cannot be given with --eval");
  // Also where a state that is loaded is only saved again.
  EXPECT_EQ(with([](O &o, const F &f) {
              o = {};
              o.load = "l";
              o.save = f.file("s");
              o.metrics = f.file("m");
            }),
            "--metrics needs --data or --inputs");
  EXPECT_EQ(with([](O &o, const F &) { o.onNonfinite = "go"; }),
            "--on-nonfinite: expects 'skip' or 'stop' but got 'go'");
  struct Flag {
    const char *name;
    std::string RunOptions::*member;
  };
  for (Flag flag : {Flag{"--save", &RunOptions::save},
                    {"--save-state", &RunOptions::saveState},
                    {"--dump-gradients", &RunOptions::dumpGradients},
                    {"--dump-outputs", &RunOptions::dumpOutputs},
                    {"--metrics", &RunOptions::metrics},
                    {"--trace", &RunOptions::trace}}) {
    RunOptions options;
    options.*flag.member = folder.file("x");
    options.info = true;
    EXPECT_EQ(check(options),
              std::string(flag.name) + " needs --data or --inputs");
    options.data = "t";
    options.steps = 1;
    EXPECT_EQ(check(options), "success");
    options.eval = true;
    EXPECT_EQ(check(options),
              std::string(flag.name) + " cannot be given with --eval");
  }
}

TEST_F(RunTest, FilesToWriteAreCheckedFirst) {
  RunOptions options;
  options.data = "t";
  options.steps = 1;
  options.save = folder.file("absent/s");
  EXPECT_EQ(check(options),
            "cannot write '" + options.save + "': No such file or directory");
  options.save = options.metrics = folder.file("s");
  EXPECT_EQ(check(options), "'" + options.save + "' is to be written twice");
  options.save = "";
  options.data = folder.write("t", "all work and no play");
  std::filesystem::create_symlink("t", folder.path / "link");
  options.metrics = folder.file("link");
  options.programs = {folder.file("t")};
  EXPECT_EQ(check(options), "'" + options.data + "' would be overwritten by '" +
                                options.metrics + "'");
}

// What is loaded may be replaced by what is saved, and by nothing else.
TEST_F(RunTest, SavedWhereItWasLoaded) {
  RunOptions options;
  options.data = folder.write("t", "all work and no play");
  options.steps = 1;
  options.saveState = folder.file("state");
  run(makeBigram(), options);
  options.load = options.saveState;
  EXPECT_EQ(run(makeBigram(), options).rfind("train loss ", 0), 0u);
  options.saveState = "";
  options.metrics = options.load;
  EXPECT_EQ(check(options), "'" + options.load + "' would be overwritten by '" +
                                options.load + "'");
}

// A report alone loads the file all the same, and says what is in it.
TEST_F(RunTest, ReportsCheckWhatIsLoaded) {
  RunOptions options;
  options.info = true;
  options.load = folder.file("absent");
  EXPECT_EQ(run(makeBigram(), options),
            "cannot open '" + options.load + "': No such file or directory");
  RunOptions training;
  training.data = folder.write("t", "all work and no play");
  training.steps = 1;
  training.saveState = options.load = folder.file("state");
  run(makeBigram(), training);
  EXPECT_EQ(run(makeBigram(), options).rfind("program bigram for cpu", 0), 0u);
  EXPECT_NE(log.str().find("(iteration 1, update 1, seed 0, token 8)"),
            std::string::npos)
      << log.str();
}

// A file of state becomes one of parameters.
TEST_F(RunTest, ConvertsWithoutRunning) {
  RunOptions options;
  options.data = folder.write("t", "all work and no play");
  options.steps = 1;
  options.saveState = folder.file("state");
  options.save = folder.file("parameters");
  run(makeBigram(), options);
  RunOptions convert;
  convert.load = options.saveState;
  convert.save = folder.file("again");
  EXPECT_EQ(run(makeBigram(), convert), "");
  EXPECT_EQ(folder.read("again"), folder.read("parameters"));
}

TEST_F(RunTest, Comparison) {
  RunOptions options;
  options.inputs = writeInputs("f", makeData(3));
  auto compare = [&] {
    std::ostringstream out;
    Plan plan;
    plan.programs = {makeRegression()};
    Status status = runComparison(plan, plan, options, out);
    return status.ok() ? out.str() : status.message();
  };
  EXPECT_EQ(compare(), "'regression' matches 'regression': 7 comparisons over "
                       "3 steps\n");
  options.trace = folder.file("t");
  EXPECT_EQ(compare(), "--trace cannot be given with --oracle");
  options.trace = "";
  options.eval = true;
  EXPECT_EQ(compare(), "--eval cannot be given with --oracle");
  options.eval = false;
  options.generate = 1;
  EXPECT_EQ(compare(), "--generate cannot be given with --oracle");
  options.generate.reset();
  options.inputs = "";
  options.info = true;
  EXPECT_EQ(compare(), "--oracle needs --data or --inputs");
}

TEST_F(RunTest, EntryPointsThatAreMissing) {
  Program program = makeRegression();
  program.entries.pop_back();
  RunOptions options;
  options.inputs = writeInputs("f", makeData(3));
  options.eval = true;
  EXPECT_EQ(run(program, options),
            "the program 'regression' has no entry point 'eval'");
}

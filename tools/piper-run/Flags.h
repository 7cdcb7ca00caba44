// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of piper-run. A struct that main makes, not globals: LLVM's own
// flags, some with the same names, are dropped first.

#ifndef PIPER_TOOLS_RUN_FLAGS_H
#define PIPER_TOOLS_RUN_FLAGS_H

#include "Piper/Runtime/Status.h"

#include "llvm/Support/CommandLine.h"

#include <string>

namespace cl = llvm::cl;

struct Flags {
  cl::OptionCategory inputs{"Program and data"};
  cl::OptionCategory actions{"What to do"};
  cl::OptionCategory results{"What to write"};

  cl::opt<std::string> programPath{cl::Positional, cl::Required,
                                   cl::desc("MODEL-OR-PLAN.mlir"),
                                   cl::cat(inputs)};
  cl::opt<std::string> compileText{
      "piper-compile", cl::cat(inputs), cl::value_desc("key=value ..."),
      cl::desc("How a model is compiled (keys: piper-opt --help)")};
  cl::opt<std::string> lr{"lr", cl::cat(inputs), cl::value_desc("rate"),
                          cl::desc("The key lr of a model")};
  cl::opt<std::string> threads{"threads", cl::cat(inputs), cl::value_desc("n"),
                               cl::desc("The key threads of a model")};
  cl::opt<std::string> dataPath{
      "data", cl::cat(inputs), cl::value_desc("file"),
      cl::desc("Train on the bytes of a file, or on the tokens of a .bin")};
  cl::opt<std::string> tokenType{
      "token-type", cl::cat(inputs), cl::value_desc("u8|u16|u32"),
      cl::desc("Type of the tokens of --data: u16 for a .bin, else u8")};
  cl::opt<std::string> inputsPath{
      "inputs", cl::cat(inputs), cl::value_desc("file"),
      cl::desc("Train on the tensors of a safetensors file, named as the "
               "inputs, whose first dimension is the step")};
  cl::opt<std::string> loadPath{
      "load", cl::cat(inputs), cl::value_desc("file"),
      cl::desc("Start from parameters or state of a safetensors file")};
  cl::opt<int64_t> seed{"seed", cl::cat(inputs), cl::init(0),
                        cl::value_desc("n"),
                        cl::desc("Seed of initial values and random numbers")};

  cl::opt<int64_t> steps{"steps", cl::cat(actions), cl::init(-1),
                         cl::value_desc("n"),
                         cl::desc("Steps to train, or batches to evaluate")};
  cl::opt<bool> evaluateOnly{"eval", cl::cat(actions),
                             cl::desc("Evaluate --steps batches; no update")};
  cl::opt<int64_t> generateCount{"generate", cl::cat(actions), cl::init(0),
                                 cl::value_desc("n"),
                                 cl::desc("Generate n bytes of text")};
  cl::opt<std::string> prompt{"prompt", cl::cat(actions), cl::init("\n"),
                              cl::value_desc("text"),
                              cl::desc("What the generated text goes on from")};
  cl::opt<double> temperature{
      "temperature", cl::cat(actions), cl::init(0.8), cl::value_desc("t"),
      cl::desc("0 generates the most likely byte each time (default 0.8)")};
  cl::opt<std::string> oraclePath{
      "oracle", cl::cat(actions), cl::value_desc("file"),
      cl::desc("Run a second model or plan on the same data, and compare "
               "loss, gradients and parameters")};
  cl::opt<std::string> onNonfinite{
      "on-nonfinite", cl::cat(actions), cl::init("skip"),
      cl::value_desc("skip|stop"),
      cl::desc("A step whose gradients are not finite is skipped, or ends "
               "the run (default skip)")};
  cl::opt<bool> memory{"memory", cl::cat(actions),
                       cl::desc("Print the memory plan")};
  cl::opt<bool> info{"info", cl::cat(actions),
                     cl::desc("Print what the program is")};
  cl::opt<bool> poison{"poison", cl::cat(actions),
                       cl::desc("Fill released memory with NaN")};

  cl::opt<std::string> savePath{"save", cl::cat(results),
                                cl::value_desc("file"),
                                cl::desc("Write the parameters (safetensors)")};
  cl::opt<std::string> saveStatePath{
      "save-state", cl::cat(results), cl::value_desc("file"),
      cl::desc("Write parameters, moments, counters and seed")};
  cl::opt<std::string> gradientsPath{
      "dump-gradients", cl::cat(results), cl::value_desc("file"),
      cl::desc("Write the raw gradients of the last step")};
  cl::opt<std::string> outputsPath{
      "dump-outputs", cl::cat(results), cl::value_desc("file"),
      cl::desc("Write the outputs of the last step")};
  cl::opt<std::string> metricsPath{"metrics", cl::cat(results),
                                   cl::value_desc("file"),
                                   cl::desc("Write one JSON line per step")};
  cl::opt<std::string> tracePath{
      "trace", cl::cat(results), cl::value_desc("file"),
      cl::desc("Write a trace for Chrome or Perfetto")};

  /// Flags that contradict each other or lack what they need are an error.
  piper::rt::Status check() const;
};

#endif // PIPER_TOOLS_RUN_FLAGS_H

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model and keys to loss, gradients, parameters and results.

#include "CellRunner.h"

#include "Piper/Transforms/Pipelines.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::piper;

constexpr int kSteps = 3;
/// Where ranks wait for each other longer than this, they hang.
constexpr double kDeadlineSeconds = 20;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

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
                                        const rt::TensorType &type, int step,
                                        int below) {
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

rt::Result<std::vector<std::byte>>
CellRunner::getInput(const rt::EntryPoint &entry, const rt::Binding &input,
                     int step) {
  const rt::TensorType &type = entry.values[input.value].type;
  if (!options.inputs)
    return makeInput(input.name, type, step, options.below);
  std::string name = entry.name + "." + input.name;
  const auto *tensor = options.inputs->find(name);
  if (!tensor)
    return rt::Status::error("there is no input '" + name + "'");
  std::vector<std::byte> bytes(type.numBytes());
  PIPER_RETURN_IF_ERROR(options.inputs->read(*tensor, step * type.numElements(),
                                             type.numElements(), type.element,
                                             bytes.data()));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void append(Record &record, std::string name, const rt::TensorType &type,
                   const std::byte *data) {
  record.push_back({std::move(name), type, {data, data + type.numBytes()}});
}

static void sortByName(Record &record) {
  std::sort(record.begin(), record.end(),
            [](const Tensor &a, const Tensor &b) { return a.name < b.name; });
}

rt::Status CellRunner::runEntry(rt::Executor &executor, int index, int step,
                                const std::string &when, Record &record) {
  const rt::EntryPoint &entry = executor.entry(index);
  std::vector<std::vector<std::byte>> buffers;
  std::vector<rt::ConstBytes> inputs;
  for (const rt::Binding &input : entry.inputs) {
    auto bytes = getInput(entry, input, step);
    if (!bytes.ok())
      return bytes.takeStatus();
    buffers.push_back(std::move(*bytes));
  }
  for (auto &buffer : buffers)
    inputs.push_back({buffer.data(), static_cast<int64_t>(buffer.size())});
  PIPER_RETURN_IF_ERROR(executor.run(index, inputs));
  for (const rt::Binding &output : entry.outputs)
    append(record, output.name + when, entry.values[output.value].type,
           executor.valueData(index, output.value));
  for (const rt::Binding &gradient : entry.gradients)
    append(record, "gradient '" + gradient.name + "'" + when,
           entry.values[gradient.value].type,
           executor.valueData(index, gradient.value));
  return {};
}

rt::Result<Record> CellRunner::train(rt::Executor &executor) {
  Record record;
  for (int step = 0; step < kSteps; ++step)
    PIPER_RETURN_IF_ERROR(runEntry(executor, executor.findEntry("train"), step,
                                   " of step " + std::to_string(step), record));
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
  for (const char *other : {"eval", "predict"})
    if (int index = executor.findEntry(other); index >= 0)
      PIPER_RETURN_IF_ERROR(
          runEntry(executor, index, 0, std::string(" of ") + other, record));
  sortByName(record);
  return record;
}

/// "FILE:LINE:COLUMN: TEXT" of the first error.
static std::string describe(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    out << place.getFilename().getValue() << ":" << place.getLine() << ":"
        << place.getColumn() << ": ";
  out << diagnostic.str();
  return text;
}

Outcome CellRunner::run(const std::string &keys) {
  Outcome outcome;
  CompileOptions compile;
  std::string first;
  ScopedDiagnosticHandler handler(
      model.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            first.empty())
          first = describe(diagnostic);
        return success();
      });
  auto refuse = [&](std::string why) {
    outcome.problem = std::move(why);
    outcome.refused = true;
    return outcome;
  };
  std::string problem = compile.parse(
      "optimizer=sgd lr=0.1 keep-gradients=true threads=1 " + keys);
  if (!problem.empty())
    return refuse(problem);
  OwningOpRef<ModuleOp> module(model.clone());
  PassManager passes(module->getContext());
  passes.enableVerifier(false);
  buildCompilePipeline(passes, compile);
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
  executorOptions.delayMilliseconds = options.delays;
  executorOptions.deadlineSeconds = kDeadlineSeconds;
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

//===----------------------------------------------------------------------===//
// A record from a file
//===----------------------------------------------------------------------===//

static rt::ElementType elementOf(rt::FileType type) {
  switch (type) {
  case rt::FileType::I32:
    return rt::ElementType::I32;
  case rt::FileType::I64:
    return rt::ElementType::I64;
  case rt::FileType::Bool:
    return rt::ElementType::I1;
  default:
    return rt::ElementType::F64;
  }
}

rt::Result<Record> mlir::piper::readRecord(const rt::SafetensorsFile &file) {
  Record record;
  for (const auto &tensor : file.tensors()) {
    record.push_back({tensor.name, {elementOf(tensor.type), tensor.shape}, {}});
    rt::TensorType &type = record.back().type;
    record.back().bytes.resize(type.numBytes());
    PIPER_RETURN_IF_ERROR(file.read(tensor, 0, type.numElements(), type.element,
                                    record.back().bytes.data()));
  }
  sortByName(record);
  return record;
}

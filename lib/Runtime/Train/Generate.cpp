// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generation of text, one byte after another.

#include "Piper/Runtime/Generate.h"

#include "Piper/Runtime/Random.h"
#include "Piper/Runtime/Report.h"
#include "Piper/Runtime/Step.h"

#include <algorithm>
#include <cmath>

using namespace piper::rt;

namespace {
/// The entry point "predict" of a program, checked.
class Predictor {
public:
  explicit Predictor(Executor &executor) : executor(executor) {}

  Status bind();
  /// The logits of what follows `text`.
  Status predict(const std::string &text, std::vector<double> &logits);
  int64_t vocabulary() const { return vocab; }

private:
  Executor &executor;
  int index = -1;
  ElementType tokenElement = ElementType::I32;
  ElementType logitsElement = ElementType::F32;
  int logitsValue = -1;
  int64_t seq = 0, vocab = 0;
  std::vector<std::byte> tokens;
};
} // namespace

Status Predictor::bind() {
  const Program &program = executor.program();
  index = executor.findEntry("predict");
  if (index < 0)
    return Status::error("the program '" + program.name +
                         "' has no entry point 'predict'");
  const EntryPoint &entry = executor.entry(index);
  if (entry.inputs.size() != 1 || entry.inputs[0].name != "tokens")
    return Status::error(
        "entry point 'predict' expects the one input 'tokens' to generate "
        "text but has " +
        std::to_string(entry.inputs.size()) + " inputs" +
        (entry.inputs.empty() ? "" : ", '" + entry.inputs[0].name + "' first"));
  const TensorType &in = entry.values[entry.inputs[0].value].type;
  if (in.rank() != 2 || in.numElements() == 0 ||
      (in.element != ElementType::I32 && in.element != ElementType::I64))
    return Status::error("input 'tokens' of entry point 'predict': expects "
                         "integers of shape [batch, seq] but got " +
                         in.str());
  tokenElement = in.element;
  seq = in.shape[1];
  tokens.resize(in.numBytes());
  for (const Binding &output : entry.outputs)
    if (output.name == "logits")
      logitsValue = output.value;
  if (logitsValue < 0)
    return Status::error("entry point 'predict' has no output 'logits'");
  const TensorType &out = entry.values[logitsValue].type;
  bool isFloat = out.element == ElementType::F32 ||
                 out.element == ElementType::F64 ||
                 out.element == ElementType::BF16;
  if (!isFloat || out.rank() != 3 || out.shape[0] != in.shape[0] ||
      out.shape[1] != seq || out.shape[2] < 1)
    return Status::error("output 'logits' of entry point 'predict': expects "
                         "floats of shape [batch, seq, vocab] but got " +
                         out.str());
  logitsElement = out.element;
  vocab = out.shape[2];
  if (vocab > 256)
    return Status::error("the program '" + program.name + "' has " +
                         std::to_string(vocab) +
                         " tokens, but text is made of at most 256 bytes");
  return Status::success();
}

Status Predictor::predict(const std::string &text,
                          std::vector<double> &logits) {
  std::fill(tokens.begin(), tokens.end(), std::byte(0));
  int64_t used = std::min<int64_t>(seq, int64_t(text.size()));
  for (int64_t i = 0; i < used; ++i) {
    auto byte = (unsigned char)text[text.size() - used + i];
    // Little-endian, the other bytes are zero.
    tokens[i * elementBytes(tokenElement)] = std::byte(byte);
  }
  PIPER_RETURN_IF_ERROR(
      executor.run(index, {{tokens.data(), int64_t(tokens.size())}}));
  const std::byte *row = executor.valueData(index, logitsValue) +
                         (used - 1) * vocab * elementBytes(logitsElement);
  logits.resize(vocab);
  for (int64_t i = 0; i < vocab; ++i) {
    logits[i] =
        readScalar(logitsElement, row + i * elementBytes(logitsElement));
    if (!std::isfinite(logits[i]))
      return Status::error("the logit of byte " + std::to_string(i) +
                           " after " + std::to_string(text.size()) +
                           " bytes of text is not finite");
  }
  return Status::success();
}

/// The first index i with sum(p[0..i]) > u, for p = softmax(logits / t).
static int64_t sample(const std::vector<double> &logits, double temperature,
                      double u) {
  auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature == 0)
    return largest - logits.begin();
  double total = 0;
  for (double logit : logits)
    total += std::exp((logit - *largest) / temperature);
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    sum += std::exp((logits[i] - *largest) / temperature) / total;
    if (u < sum)
      return int64_t(i);
  }
  // The sum was rounded to less than u.
  return largest - logits.begin();
}

Status piper::rt::generate(Executor &executor, const GenerateOptions &options,
                           std::ostream &out) {
  if (options.count < 0)
    return Status::error("expects to generate 0 or more bytes but got " +
                         std::to_string(options.count));
  if (options.prompt.empty())
    return Status::error("expects a prompt of at least one byte");
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return Status::error("expects a temperature of 0 or more but got " +
                         formatNumber("%f", options.temperature));
  Predictor predictor(executor);
  PIPER_RETURN_IF_ERROR(predictor.bind());
  for (unsigned char byte : options.prompt)
    if (byte >= predictor.vocabulary())
      return Status::error("the prompt has the byte " + std::to_string(byte) +
                           " but the program has the tokens 0 to " +
                           std::to_string(predictor.vocabulary() - 1));
  RandomStream stream = sampleStream(options.seed);
  std::string text = options.prompt;
  std::vector<double> logits;
  for (int64_t i = 0; i < options.count; ++i) {
    PIPER_RETURN_IF_ERROR(predictor.predict(text, logits));
    RandomBlock block = randomBlock(stream, uint64_t(i));
    double u = uniformDouble(block.word[0], block.word[1]);
    text += char(sample(logits, options.temperature, u));
    out << text.back() << std::flush;
  }
  return Status::success();
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches from a file of tokens (--data).

#include "Piper/Runtime/Data.h"

#include "IndexLimit.h"
#include "Piper/Runtime/Files.h"

#include <algorithm>
#include <cstring>

using namespace piper::rt;

Result<TokenType> piper::rt::parseTokenType(const std::string &name) {
  if (name == "u8")
    return TokenType::U8;
  if (name == "u16")
    return TokenType::U16;
  if (name == "u32")
    return TokenType::U32;
  return Status::error("expects a token type out of u8, u16, u32 but got '" +
                       name + "'");
}

TokenType piper::rt::defaultTokenType(const std::string &path) {
  std::string end = path.substr(path.size() - std::min<size_t>(path.size(), 4));
  std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  });
  return end == ".bin" ? TokenType::U16 : TokenType::U8;
}

static int64_t tokenBytes(TokenType type) {
  return type == TokenType::U8 ? 1 : type == TokenType::U16 ? 2 : 4;
}

static int64_t loadToken(const std::byte *raw, int64_t index, TokenType type) {
  const auto *bytes =
      reinterpret_cast<const unsigned char *>(raw) + index * tokenBytes(type);
  int64_t value = 0;
  for (int64_t b = tokenBytes(type) - 1; b >= 0; --b)
    value = value << 8 | bytes[b];
  return value;
}

namespace {
/// One of the inputs `tokens` and `labels`.
struct TokenInput {
  size_t buffer = 0;
  ElementType element = ElementType::I32;
  /// 0 for tokens, 1 for labels: what is added to a position.
  int64_t shift = 0;
};

class TokenFile : public BatchSource {
public:
  TokenFile(InputFile file, TokenType type)
      : file(std::move(file)), type(type) {}

  Status bind(const EntryPoint &entry, const std::vector<IndexLimit> &limits);
  Status fill(int64_t iteration,
              const std::vector<MutableBytes> &buffers) override;
  int64_t count() const override { return -1; }
  Status resume(int64_t iteration, const DataPosition &position) override;
  DataPosition position(int64_t iteration) const override;
  const std::string &path() const override { return file.path(); }

private:
  Status bindInput(const EntryPoint &entry, size_t index);
  int64_t firstSequence(int64_t iteration) const;
  std::string batches() const;
  Status checkTokens(int64_t below);
  void store(const TokenInput &input, int64_t row,
             const MutableBytes &buffer) const;

  InputFile file;
  TokenType type;
  std::vector<TokenInput> inputs;
  int64_t batch = -1;
  int64_t seq = 0;
  int64_t sequences = 0;
  /// Batch `resumed` begins at sequence `begin`.
  int64_t resumed = 0;
  int64_t begin = 0;
  /// seq + 1 tokens as they are in the file.
  std::vector<std::byte> raw;
};
} // namespace

Status TokenFile::bindInput(const EntryPoint &entry, size_t index) {
  const Binding &binding = entry.inputs[index];
  std::string what =
      "input '" + binding.name + "' of entry point '" + entry.name + "'";
  if (binding.name != "tokens" && binding.name != "labels")
    return Status::error("a file of tokens gives 'tokens' and 'labels', not " +
                         what + ": use a file of inputs");
  const TensorType &tensor = entry.values[binding.value].type;
  bool isIndex =
      tensor.element == ElementType::I32 || tensor.element == ElementType::I64;
  if (!isIndex || tensor.rank() != 2 || tensor.numElements() == 0)
    return Status::error(what +
                         ": expects integers of shape [batch, seq] but "
                         "got " +
                         tensor.str());
  if (batch >= 0 && (tensor.shape[0] != batch || tensor.shape[1] != seq))
    return Status::error("the inputs 'tokens' and 'labels' of entry point '" +
                         entry.name + "' differ in shape");
  batch = tensor.shape[0];
  seq = tensor.shape[1];
  inputs.push_back({index, tensor.element, binding.name == "labels" ? 1 : 0});
  return Status::success();
}

Status TokenFile::bind(const EntryPoint &entry,
                       const std::vector<IndexLimit> &limits) {
  // An i32 input holds no more.
  int64_t below = int64_t(1) << 31;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    PIPER_RETURN_IF_ERROR(bindInput(entry, i));
    below = std::min(below, limits[i].below);
  }
  if (inputs.empty())
    return Status::error("entry point '" + entry.name +
                         "' has no input 'tokens' to read '" + path() +
                         "' into");
  int64_t width = tokenBytes(type);
  if (file.size() % width != 0)
    return Status::error("'" + path() + "': expects tokens of " +
                         std::to_string(width) + " bytes but it has " +
                         std::to_string(file.size()) + " bytes");
  int64_t tokens = file.size() / width;
  sequences = (tokens - 1) / seq;
  if (tokens == 0 || sequences < batch)
    return Status::error("'" + path() + "' has " + std::to_string(tokens) +
                         " tokens, but a batch of " + std::to_string(batch) +
                         " sequences of " + std::to_string(seq) + " needs " +
                         std::to_string(batch * seq + 1));
  raw.resize((seq + 1) * width);
  return checkTokens(below);
}

Status TokenFile::checkTokens(int64_t below) {
  int64_t width = tokenBytes(type);
  if (below >= int64_t(1) << (8 * width))
    return Status::success();
  constexpr int64_t kChunk = 1 << 20;
  std::vector<std::byte> chunk(kChunk * width);
  int64_t tokens = file.size() / width;
  for (int64_t first = 0; first < tokens; first += kChunk) {
    int64_t part = std::min(kChunk, tokens - first);
    PIPER_RETURN_IF_ERROR(file.read(first * width, part * width, chunk.data()));
    for (int64_t i = 0; i < part; ++i)
      if (loadToken(chunk.data(), i, type) >= below)
        return Status::error("'" + path() + "': token " +
                             std::to_string(first + i) + " of the file is " +
                             std::to_string(loadToken(chunk.data(), i, type)) +
                             " but the program has the tokens 0 to " +
                             std::to_string(below - 1));
  }
  return Status::success();
}

void TokenFile::store(const TokenInput &input, int64_t row,
                      const MutableBytes &buffer) const {
  for (int64_t i = 0; i < seq; ++i) {
    int64_t value = loadToken(raw.data(), i + input.shift, type);
    if (input.element == ElementType::I32)
      static_cast<int32_t *>(buffer.data)[row * seq + i] = int32_t(value);
    else
      static_cast<int64_t *>(buffer.data)[row * seq + i] = value;
  }
}

/// The sequence that a batch begins with.
int64_t TokenFile::firstSequence(int64_t iteration) const {
  int64_t after = (iteration - resumed) % sequences;
  // Of batches before the one that was resumed the remainder is negative.
  return ((after * batch + begin) % sequences + sequences) % sequences;
}

std::string TokenFile::batches() const {
  return "batches of " + std::to_string(batch) + " x " + std::to_string(seq) +
         " tokens";
}

Status TokenFile::resume(int64_t iteration, const DataPosition &position) {
  if (position.unit != DataPosition::Unit::Tokens)
    return Status::success();
  if (position.value % seq != 0)
    return Status::error("'" + path() + "': after " + position.batches +
                         " the next token is number " +
                         std::to_string(position.value) +
                         ", which lies inside a sequence of " + batches() +
                         ": expects a multiple of " + std::to_string(seq));
  resumed = iteration;
  begin = position.value / seq % sequences;
  return Status::success();
}

DataPosition TokenFile::position(int64_t iteration) const {
  return {DataPosition::Unit::Tokens, firstSequence(iteration) * seq,
          batches()};
}

const char *piper::rt::unitName(DataPosition::Unit unit) {
  return unit == DataPosition::Unit::Tokens ? "token" : "row";
}

Status TokenFile::fill(int64_t iteration,
                       const std::vector<MutableBytes> &buffers) {
  int64_t first = firstSequence(iteration);
  for (int64_t row = 0; row < batch; ++row) {
    int64_t sequence = (first + row) % sequences;
    PIPER_RETURN_IF_ERROR(file.read(sequence * seq * tokenBytes(type),
                                    int64_t(raw.size()), raw.data()));
    for (const TokenInput &input : inputs)
      store(input, row, buffers[input.buffer]);
  }
  return Status::success();
}

static Result<std::unique_ptr<BatchSource>>
openFile(const EntryPoint &entry, const std::vector<IndexLimit> &limits,
         const std::string &path, TokenType type) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  auto source = std::make_unique<TokenFile>(std::move(*file), type);
  PIPER_RETURN_IF_ERROR(source->bind(entry, limits));
  return std::unique_ptr<BatchSource>(std::move(source));
}

Result<std::unique_ptr<BatchSource>>
piper::rt::openTokens(const Program &program, const EntryPoint &entry,
                      const std::string &path, TokenType type) {
  return openFile(entry, findIndexLimits(program, entry), path, type);
}

Result<std::unique_ptr<BatchSource>>
piper::rt::openTokens(const Executor &executor, int entry,
                      const std::string &path, TokenType type) {
  const EntryPoint &point = executor.entry(entry);
  return openFile(point, findIndexLimits(executor.plan(), point), path, type);
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches from a safetensors file (--inputs).

#include "Piper/Runtime/Data.h"

#include "IndexLimit.h"
#include "Piper/Runtime/Safetensors.h"

#include <algorithm>
#include <cstring>

using namespace piper::rt;

namespace {
/// An input of the entry point and its tensor in the file.
struct FileInput {
  const SafetensorsFile::Tensor *tensor = nullptr;
  TensorType type;
  IndexLimit limit;
};

class InputsFile : public BatchSource {
public:
  explicit InputsFile(SafetensorsFile file) : file(std::move(file)) {}

  Status bind(const EntryPoint &entry, const std::vector<IndexLimit> &limits);
  Status fill(int64_t iteration,
              const std::vector<MutableBytes> &buffers) override;
  int64_t count() const override {
    return std::max<int64_t>(steps - begin + resumed, 0);
  }
  Status resume(int64_t iteration, const DataPosition &position) override;
  DataPosition position(int64_t iteration) const override;
  const std::string &path() const override { return file.path(); }

private:
  Status bindInput(const EntryPoint &entry, const Binding &binding,
                   const IndexLimit &limit);
  std::string batches() const;
  Status checkIndices(const FileInput &input, int64_t step,
                      const void *data) const;
  Status fail(const std::string &message) const {
    return Status::error("'" + path() + "': " + message);
  }

  SafetensorsFile file;
  std::vector<FileInput> inputs;
  int64_t steps = -1;
  /// Of a batch: the size of the dimension "batch", or 1 where none has it.
  int64_t rows = 1;
  /// Batch `resumed` is part `begin` of the file.
  int64_t resumed = 0;
  int64_t begin = 0;
};
} // namespace

Status InputsFile::bindInput(const EntryPoint &entry, const Binding &binding,
                             const IndexLimit &limit) {
  const SafetensorsFile::Tensor *tensor = file.find(binding.name);
  if (!tensor)
    return fail("there is no tensor for the input '" + binding.name + "'");
  const TensorType &type = entry.values[binding.value].type;
  bool isStacked = !tensor->shape.empty() &&
                   std::equal(tensor->shape.begin() + 1, tensor->shape.end(),
                              type.shape.begin(), type.shape.end());
  if (!isStacked || !canReadAs(tensor->type, type.element)) {
    SafetensorsFile::Tensor expected;
    expected.type = fileTypeOf(type.element);
    expected.shape = type.shape;
    std::string text = expected.str();
    text.insert(text.find('[') + 1, type.shape.empty() ? "steps" : "steps, ");
    return fail("tensor '" + binding.name + "': expects " + text + " but got " +
                tensor->str());
  }
  if (steps >= 0 && tensor->shape[0] != steps)
    return fail("tensor '" + binding.name + "' has " +
                std::to_string(tensor->shape[0]) +
                " steps but the tensors before it have " +
                std::to_string(steps));
  steps = tensor->shape[0];
  for (size_t d = 0; d < binding.dims.size(); ++d)
    if (binding.dims[d] == "batch")
      rows = std::max<int64_t>(type.shape[d], 1);
  inputs.push_back({tensor, type, limit});
  return Status::success();
}

Status InputsFile::bind(const EntryPoint &entry,
                        const std::vector<IndexLimit> &limits) {
  if (entry.inputs.empty())
    return fail("entry point '" + entry.name + "' has no inputs");
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    PIPER_RETURN_IF_ERROR(bindInput(entry, entry.inputs[i], limits[i]));
  for (const SafetensorsFile::Tensor &tensor : file.tensors()) {
    bool isInput =
        std::any_of(entry.inputs.begin(), entry.inputs.end(),
                    [&](const Binding &b) { return b.name == tensor.name; });
    if (!isInput)
      return fail("entry point '" + entry.name + "' has no input for tensor '" +
                  tensor.name + "'");
  }
  return Status::success();
}

template <typename T>
static int64_t findRefused(const IndexLimit &limit, const void *data,
                           int64_t count) {
  const T *values = static_cast<const T *>(data);
  for (int64_t i = 0; i < count; ++i)
    if (!limit.accepts(values[i]))
      return i;
  return -1;
}

Status InputsFile::checkIndices(const FileInput &input, int64_t step,
                                const void *data) const {
  int64_t count = input.type.numElements();
  bool isShort = input.type.element == ElementType::I32;
  int64_t at = isShort ? findRefused<int32_t>(input.limit, data, count)
                       : findRefused<int64_t>(input.limit, data, count);
  if (at < 0)
    return Status::success();
  int64_t value = isShort ? static_cast<const int32_t *>(data)[at]
                          : static_cast<const int64_t *>(data)[at];
  std::string where;
  const std::vector<int64_t> &shape = input.type.shape;
  if (shape.size() > 1)
    where = " (row " + std::to_string(at / (count / shape[0])) + ")";
  return fail("tensor '" + input.tensor->name + "': element " +
              std::to_string(at) + where + " of step " + std::to_string(step) +
              " is " + std::to_string(value) + " but the program has " +
              (input.limit.negativeIsError ? "0 to " : "labels up to ") +
              std::to_string(input.limit.below - 1));
}

std::string InputsFile::batches() const {
  return "batches of " + std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

Status InputsFile::resume(int64_t iteration, const DataPosition &position) {
  if (position.unit != DataPosition::Unit::Rows)
    return Status::success();
  std::string where = "after " + position.batches + " the next row is number " +
                      std::to_string(position.value);
  if (position.value % rows != 0)
    return fail(where + ", which lies inside a batch of " +
                std::to_string(rows) + " rows: expects a multiple of " +
                std::to_string(rows));
  if (position.value / rows > steps)
    return fail(where + ", but it has " + std::to_string(steps) + " steps of " +
                batches());
  resumed = iteration;
  begin = position.value / rows;
  return Status::success();
}

DataPosition InputsFile::position(int64_t iteration) const {
  return {DataPosition::Unit::Rows, (iteration - resumed + begin) * rows,
          batches()};
}

Status InputsFile::fill(int64_t iteration,
                        const std::vector<MutableBytes> &buffers) {
  int64_t step = iteration - resumed + begin;
  if (step < 0 || step >= steps)
    return fail("it has " + std::to_string(steps) +
                " steps and none of number " + std::to_string(step));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const FileInput &input = inputs[i];
    int64_t count = input.type.numElements();
    PIPER_RETURN_IF_ERROR(file.read(*input.tensor, step * count, count,
                                    input.type.element, buffers[i].data));
    if (input.type.element == ElementType::I32 ||
        input.type.element == ElementType::I64)
      PIPER_RETURN_IF_ERROR(checkIndices(input, step, buffers[i].data));
  }
  return Status::success();
}

static Result<std::unique_ptr<BatchSource>>
openFile(const EntryPoint &entry, const std::vector<IndexLimit> &limits,
         const std::string &path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file.ok())
    return file.takeStatus();
  auto source = std::make_unique<InputsFile>(std::move(*file));
  PIPER_RETURN_IF_ERROR(source->bind(entry, limits));
  return std::unique_ptr<BatchSource>(std::move(source));
}

Result<std::unique_ptr<BatchSource>>
piper::rt::openInputs(const Program &program, const EntryPoint &entry,
                      const std::string &path) {
  return openFile(entry, findIndexLimits(program, entry), path);
}

Result<std::unique_ptr<BatchSource>>
piper::rt::openInputs(const Executor &executor, int entry,
                      const std::string &path) {
  const EntryPoint &point = executor.entry(entry);
  return openFile(point, findIndexLimits(executor.plan(), point), path);
}

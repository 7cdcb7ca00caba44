// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the header event by event: the handler knows what may come next, so
// that deep nesting, double names and wrong kinds end the parse at once.

#include "SafetensorsHeader.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

using namespace piper::rt;
using Tensor = SafetensorsFile::Tensor;
using Json = nlohmann::json;

static std::string quote(const std::string &name) { return "'" + name + "'"; }

namespace {
/// What the file says of one tensor, before it is checked.
struct RawTensor {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;
  std::set<std::string> keys;
};

class HeaderHandler : public nlohmann::json_sax<Json> {
public:
  std::vector<RawTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::string error;

  bool null() override {
    // The reference has this entry optional.
    return (place == Place::Top && currentKey == kMetadata) ||
           unexpected("null");
  }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t value) override {
    return unexpected("the number " + std::to_string(value));
  }
  bool number_float(number_float_t, const string_t &text) override {
    return unexpected("the number " + text);
  }
  bool binary(binary_t &) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!list)
      return unexpected("the number " + std::to_string(value));
    if (value > uint64_t(std::numeric_limits<int64_t>::max()))
      return unexpected("the number " + std::to_string(value));
    list->push_back(int64_t(value));
    return true;
  }

  bool string(string_t &text) override {
    if (place == Place::Metadata) {
      metadata[currentKey] = text;
      return true;
    }
    if (place != Place::Tensor || currentKey != "dtype")
      return unexpected("the string " + quote(text));
    tensors.back().type = text;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place == Place::Start) {
      place = Place::Top;
      return true;
    }
    if (place != Place::Top)
      return unexpected("an object");
    if (currentKey == kMetadata) {
      place = Place::Metadata;
      return true;
    }
    place = Place::Tensor;
    tensors.emplace_back();
    tensors.back().name = currentKey;
    return true;
  }

  bool end_object() override {
    if (place == Place::Tensor)
      for (const char *key : {"dtype", "shape", "data_offsets"})
        if (!tensors.back().keys.count(key))
          return fail("tensor " + quote(tensors.back().name) + " has no '" +
                      key + "'");
    place = place == Place::Top ? Place::End : Place::Top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place != Place::Tensor || list ||
        (currentKey != "shape" && currentKey != "data_offsets"))
      return unexpected("a list");
    list =
        currentKey == "shape" ? &tensors.back().shape : &tensors.back().offsets;
    return true;
  }
  bool end_array() override {
    list = nullptr;
    return true;
  }

  bool key(string_t &name) override {
    bool isNew = true;
    if (place == Place::Top)
      isNew = names.insert(name).second;
    else if (place == Place::Metadata)
      isNew = !metadata.count(name);
    else if (place == Place::Tensor)
      isNew = tensors.back().keys.insert(name).second;
    if (!isNew)
      return fail("the name " + quote(name) + " stands twice in " +
                  placeName());
    if (place == Place::Tensor && name != "dtype" && name != "shape" &&
        name != "data_offsets")
      return fail(placeName() + " has the unknown entry " + quote(name));
    currentKey = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const Json::exception &) override {
    return fail("the header is not valid JSON at its byte " +
                std::to_string(position));
  }

private:
  enum class Place { Start, Top, Tensor, Metadata, End };
  static constexpr const char *kMetadata = "__metadata__";

  std::string placeName() const {
    switch (place) {
    case Place::Tensor:
      return "tensor " + quote(tensors.back().name);
    case Place::Metadata:
      return "the metadata";
    default:
      return "the header";
    }
  }

  bool unexpected(const std::string &what) {
    std::string where = placeName();
    if (place == Place::Tensor || place == Place::Metadata)
      where += ", entry " + quote(currentKey);
    return fail(where + ": got " + what + " where none can stand");
  }

  bool fail(std::string message) {
    if (error.empty())
      error = std::move(message);
    return false;
  }

  Place place = Place::Start;
  std::string currentKey;
  std::set<std::string> names;
  /// The list that numbers go to.
  std::vector<int64_t> *list = nullptr;
};
} // namespace

static Result<FileType> parseType(const RawTensor &raw) {
  std::string known;
  for (FileType type :
       {FileType::F64, FileType::F32, FileType::BF16, FileType::F16,
        FileType::I64, FileType::I32, FileType::U8, FileType::Bool}) {
    if (raw.type == fileTypeName(type))
      return type;
    known += std::string(known.empty() ? "" : ", ") + fileTypeName(type);
  }
  return Status::error("tensor " + quote(raw.name) +
                       ": expects a type out of " + known + " but got " +
                       quote(raw.type));
}

/// Elements of the shape times `elementBytes`, or -1 where it is too large.
static int64_t bytesOf(const std::vector<int64_t> &shape,
                       int64_t elementBytes) {
  int64_t bytes = elementBytes;
  bool overflow = false;
  for (int64_t size : shape)
    overflow |= __builtin_mul_overflow(bytes, size, &bytes);
  return overflow ? -1 : bytes;
}

static Result<Tensor> checkTensor(RawTensor raw, int64_t dataStart,
                                  int64_t fileBytes) {
  Result<FileType> type = parseType(raw);
  if (!type.ok())
    return type.takeStatus();
  std::string what = "tensor " + quote(raw.name);
  if (raw.offsets.size() != 2)
    return Status::error(what + ": expects 2 offsets but got " +
                         std::to_string(raw.offsets.size()));
  int64_t begin = raw.offsets[0], end = raw.offsets[1];
  std::string range = std::to_string(begin) + " to " + std::to_string(end);
  if (begin > end)
    return Status::error(what + ": its bytes " + range +
                         " end before they "
                         "start");
  if (end > fileBytes - dataStart)
    return Status::error(
        what + ": its bytes " + range + " do not lie in the file, which has " +
        std::to_string(fileBytes - dataStart) + " bytes of data");
  Tensor tensor;
  tensor.name = std::move(raw.name);
  tensor.type = *type;
  tensor.shape = std::move(raw.shape);
  tensor.offset = dataStart + begin;
  tensor.bytes = end - begin;
  int64_t expected = bytesOf(tensor.shape, fileTypeBytes(*type));
  if (expected < 0)
    return Status::error(what + ": its shape " + tensor.str() +
                         " is too large");
  if (expected != tensor.bytes)
    return Status::error(what + ": expects " + std::to_string(expected) +
                         " bytes for " + tensor.str() + " but got " +
                         std::to_string(tensor.bytes));
  return tensor;
}

/// The tensors fill bytes dataStart .. fileBytes - 1, each byte once.
static Status checkTiling(const std::vector<Tensor> &tensors, int64_t dataStart,
                          int64_t fileBytes) {
  std::vector<const Tensor *> order;
  for (const Tensor &tensor : tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const Tensor *a, const Tensor *b) {
    return std::tie(a->offset, a->bytes) < std::tie(b->offset, b->bytes);
  });
  int64_t next = dataStart;
  const Tensor *before = nullptr;
  for (const Tensor *tensor : order) {
    if (tensor->offset < next)
      return Status::error("tensors " + quote(before->name) + " and " +
                           quote(tensor->name) + " overlap");
    if (tensor->offset > next)
      return Status::error(
          "there are " + std::to_string(tensor->offset - next) +
          " unused bytes before tensor " + quote(tensor->name));
    next = tensor->offset + tensor->bytes;
    before = tensor;
  }
  if (next != fileBytes)
    return Status::error("the file has " + std::to_string(fileBytes - next) +
                         " bytes after its last tensor");
  return Status::success();
}

Result<SafetensorsHeader>
piper::rt::parseSafetensorsHeader(const std::string &text, int64_t dataStart,
                                  int64_t fileBytes) {
  // nlohmann's parser would skip a byte-order mark; others do not.
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0)
    return Status::error("the header begins with a byte-order mark, which is "
                         "not JSON: write the file without it");
  HeaderHandler handler;
  if (!Json::sax_parse(text, &handler))
    return Status::error(handler.error);
  SafetensorsHeader header;
  header.metadata = std::move(handler.metadata);
  for (RawTensor &raw : handler.tensors) {
    Result<Tensor> tensor = checkTensor(std::move(raw), dataStart, fileBytes);
    if (!tensor.ok())
      return tensor.takeStatus();
    header.tensors.push_back(std::move(*tensor));
  }
  PIPER_RETURN_IF_ERROR(checkTiling(header.tensors, dataStart, fileBytes));
  return header;
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directives as JSON.
//
// 1. Scan the text: brackets may not nest deep, since the parser recurses, and
//    an object has each key once, of which the parser would keep the last.
// 2. Parse it and turn values into attributes, digit strings into numbers.
// 3. Read each directive as those of a module are, errors at its line.

#include "DirectiveJSON.h"

#include "Directive.h"
#include "Piper/Runtime/Files.h"
#include "Piper/Schedule/JSON.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::piper;
namespace json = llvm::json;

/// Brackets of a directive file may nest this deep; an `order` needs five.
constexpr size_t kMaxNesting = 16;
/// A list of a directive for each task of a large step takes a few megabytes.
constexpr int64_t kMaxBytes = int64_t(1) << 28;

//===----------------------------------------------------------------------===//
// Scanning
//===----------------------------------------------------------------------===//

namespace {

/// A place in the text, both from 1.
struct Position {
  unsigned line = 1, column = 1;
};

class Scanner {
public:
  explicit Scanner(StringRef text) : text(text) {}
  /// False where `problem` at `position` is wrong.
  bool run();
  /// Where each element of the outermost list begins.
  std::vector<Position> elements;
  std::string problem;
  Position position;

private:
  bool string();
  bool open();
  bool refuse(const Twine &message) {
    problem = message.str();
    position = here();
    return false;
  }
  Position here() const {
    return {line, static_cast<unsigned>(at - lineStart) + 1};
  }

  StringRef text;
  size_t at = 0, lineStart = 0;
  unsigned line = 1;
  /// Of each open bracket, the keys of an object so far.
  std::vector<llvm::StringSet<>> keys;
};

} // namespace

bool Scanner::open() {
  if (keys.size() == 1)
    elements.push_back(here());
  if (keys.size() == kMaxNesting)
    return refuse("brackets nest deeper than " + Twine(kMaxNesting) +
                  " levels");
  keys.emplace_back();
  return true;
}

/// A string before a colon is a key.
bool Scanner::string() {
  size_t end = at + 1;
  while (end < text.size() && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  StringRef token = text.slice(at, end + 1);
  StringRef rest = text.drop_front(std::min(end + 1, text.size())).ltrim();
  if (rest.starts_with(":") && !keys.empty()) {
    llvm::Expected<json::Value> key = json::parse(token);
    if (!key) {
      llvm::consumeError(key.takeError()); // the parser says it better
    } else if (auto name = key->getAsString()) {
      if (name->empty())
        return refuse("expects keys that are not empty");
      if (!keys.back().insert(*name).second)
        return refuse("key '" + *name + "' is given twice");
    }
  }
  at = std::min(end, text.size());
  return true;
}

bool Scanner::run() {
  for (; at < text.size(); ++at) {
    char c = text[at];
    bool startsElement = keys.size() == 1 && !llvm::isSpace(c) && c != ',';
    if (c == '\n') {
      ++line;
      lineStart = at + 1;
    } else if (c == '[' || c == '{') {
      if (!open())
        return false;
    } else if (c == ']' || c == '}') {
      if (!keys.empty())
        keys.pop_back();
    } else if (c == '"') {
      if (startsElement)
        elements.push_back(here());
      if (!string())
        return false;
    } else if (startsElement) {
      elements.push_back(here());
      while (at + 1 < text.size() && !StringRef(",]}\n").contains(text[at + 1]))
        ++at;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// JSON to attributes
//===----------------------------------------------------------------------===//

static Attribute toAttribute(const json::Value &value, Builder &builder) {
  if (const json::Object *object = value.getAsObject()) {
    NamedAttrList entries;
    for (const auto &[key, element] : *object)
      entries.append(StringRef(key), toAttribute(element, builder));
    return entries.getDictionary(builder.getContext());
  }
  if (const json::Array *array = value.getAsArray())
    return builder.getArrayAttr(llvm::map_to_vector(
        *array, [&](const json::Value &v) { return toAttribute(v, builder); }));
  if (auto integer = value.getAsInteger())
    // 1.0 is an integer here as well, as it is in JSON.
    return builder.getI64IntegerAttr(*integer);
  if (auto number = value.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (auto boolean = value.getAsBoolean())
    return builder.getBoolAttr(*boolean);
  auto text = value.getAsString();
  if (!text)
    return builder.getUnitAttr(); // null
  int64_t number;
  if (!text->getAsInteger(10, number))
    return builder.getI64IntegerAttr(number);
  return builder.getStringAttr(*text);
}

namespace {

/// One file on its way to a list of attributes.
class FileReader {
public:
  FileReader(ModuleOp module, StringRef path) : module(module), path(path) {}
  LogicalResult addToModule();

private:
  LogicalResult error(Position at, const Twine &message) {
    return emitError(FileLineColLoc::get(module.getContext(), path, at.line,
                                         at.column))
           << message.str();
  }
  LogicalResult syntaxError(llvm::Error problem);

  ModuleOp module;
  StringRef path;
};

} // namespace

/// The parser's message is "[line:column, byte=offset]: what".
LogicalResult FileReader::syntaxError(llvm::Error problem) {
  std::string text = llvm::toString(std::move(problem));
  Position at;
  if (std::sscanf(text.c_str(), "[%u:%u", &at.line, &at.column) == 2)
    text = StringRef(text).split("]: ").second.str();
  ++at.column; // it counts from 0
  return error(at, "no JSON: " + Twine(text));
}

LogicalResult FileReader::addToModule() {
  auto file = ::piper::rt::InputFile::open(path.str());
  if (!file.ok())
    return emitProgramError(module) << file.takeStatus().str();
  if (file->size() > kMaxBytes)
    return emitProgramError(module)
           << "'" << path << "' has " << file->size()
           << " bytes: a file of directives may have " << kMaxBytes;
  std::string text(file->size(), '\0');
  auto status = file->read(0, file->size(), text.data());
  if (!status.ok())
    return emitProgramError(module) << status.str();

  if (::piper::schedule::hasByteOrderMark(text))
    return error({}, ::piper::schedule::kByteOrderMarkError);
  Scanner scanner(text);
  if (!scanner.run())
    return error(scanner.position, scanner.problem);
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return syntaxError(parsed.takeError());
  const json::Array *list = parsed->getAsArray();
  if (!list)
    return error({}, "expects a list of directives, as [{\"op\": \"split\", "
                     "\"num_microbatches\": 8}]");
  Builder builder(module.getContext());
  SmallVector<Attribute> result, origins;
  for (const json::Value &element : *list)
    result.push_back(toAttribute(element, builder));
  // The directive that a message names is the one it is at.
  for (const Position &at : ArrayRef(scanner.elements).take_front(list->size()))
    origins.push_back(
        FileLineColLoc::get(module.getContext(), path, at.line, at.column));
  Origins places(module, origins);
  if (failed(verifyFilterNames(module, result, places)) ||
      failed(parseDirectives(result, places)))
    return failure();
  addDirectives(module, result, origins);
  return success();
}

LogicalResult mlir::piper::addDirectiveFile(ModuleOp module, StringRef path) {
  return FileReader(module, path).addToModule();
}

//===----------------------------------------------------------------------===//
// Attributes to JSON
//===----------------------------------------------------------------------===//

static json::Value toJSON(Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute entry : dictionary)
      object[entry.getName().getValue()] = toJSON(entry.getValue());
    return object;
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    json::Array list;
    for (Attribute element : array)
      list.push_back(toJSON(element));
    return list;
  }
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getSExtValue();
  StringRef text = cast<StringAttr>(attribute).getValue();
  int64_t number;
  if (!text.getAsInteger(10, number))
    return number;
  return json::fixUTF8(text);
}

std::string mlir::piper::printDirectives(ArrayRef<Attribute> list) {
  std::string result = "[";
  for (auto [index, attribute] : llvm::enumerate(list)) {
    result += index ? ",\n  {" : "\n  {";
    auto directive = cast<DictionaryAttr>(attribute);
    auto add = [&](StringRef key, Attribute value) {
      result += llvm::formatv("{0}{1}: {2}", key == "op" ? "" : ", ",
                              json::Value(key), toJSON(value))
                    .str();
    };
    add("op", directive.get("op"));
    for (NamedAttribute entry : directive)
      if (entry.getName() != "op")
        add(entry.getName().getValue(), entry.getValue());
    result += "}";
  }
  return result + (list.empty() ? "]\n" : "\n]\n");
}

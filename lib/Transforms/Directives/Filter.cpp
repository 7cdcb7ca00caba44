// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tasks a filter matches.

#include "DirectiveReader.h"

using namespace mlir;
using namespace mlir::piper;

/// A user's tag with the text "3" is the number 3.
static bool equals(Attribute tag, const Filter::Value &value) {
  if (!value)
    return true;
  const int64_t *number = std::get_if<int64_t>(&*value);
  if (auto integer = dyn_cast<IntegerAttr>(tag))
    return number && integer.getValue().getSignificantBits() <= 64 &&
           integer.getValue().getSExtValue() == *number;
  StringRef text = cast<StringAttr>(tag).getValue();
  return number ? text == std::to_string(*number)
                : text == std::get<std::string>(*value);
}

static bool isIndex(int64_t index, const Filter::Value &value) {
  return index >= 0 && (!value || std::get<int64_t>(*value) == index);
}

static bool matchesTerm(TaskOp task, StringRef name, const Filter::Value &value,
                        StringRef microBatchTag) {
  if (name == kPass)
    return !value ||
           std::get<std::string>(*value) == stringifyPassKind(task.getPass());
  if (name == kSegment)
    return isIndex(task.getSegment(), value);
  if (name == kStage)
    return isIndex(task.getStage(), value);
  if (name == microBatchTag)
    return isIndex(task.getMb(), value);
  TagsAttr tags = task.getTagsAttr();
  Attribute tag = tags ? tags.getEntries().get(name) : Attribute();
  return tag && equals(tag, value);
}

bool Filter::matches(TaskOp task, StringRef microBatchTag) const {
  return llvm::all_of(terms, [&](const auto &term) {
    return matchesTerm(task, term.first, term.second, microBatchTag);
  });
}

std::string Filter::text() const {
  std::string result = "{";
  for (const auto &[name, value] : terms) {
    result += (result.size() > 1 ? ", " : "") + name + " = ";
    if (!value)
      result += "*";
    else if (const int64_t *number = std::get_if<int64_t>(&*value))
      result += std::to_string(*number);
    else
      result += "\"" + std::get<std::string>(*value) + "\"";
  }
  return result + "}";
}

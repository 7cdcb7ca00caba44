// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the keys of one directive, with messages that name it.

#include "DirectiveReader.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::piper;

/// A whole number, or a string of its digits.
static std::optional<int64_t> toInteger(Attribute attribute) {
  int64_t number = 0;
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    if (!integer.getType().isInteger(1) &&
        integer.getValue().getSignificantBits() <= 64)
      return integer.getValue().getSExtValue();
  if (auto text = dyn_cast<StringAttr>(attribute))
    if (!text.getValue().getAsInteger(10, number))
      return number;
  return std::nullopt;
}

LogicalResult DirectiveReader::keys(ArrayRef<StringRef> legal) const {
  for (NamedAttribute entry : entries) {
    StringRef key = entry.getName();
    if (key != "op" && !llvm::is_contained(legal, key))
      return error("unknown key '" + key + "': expects " +
                   llvm::join(legal, ", "));
  }
  return success();
}

/// A key that is absent keeps its value.
LogicalResult DirectiveReader::integer(StringRef key, int64_t &value,
                                       int64_t least, int64_t most) const {
  Attribute attribute = entries.get(key);
  if (!attribute)
    return success();
  std::optional<int64_t> number = toInteger(attribute);
  if (!number || *number < least)
    return expects(key, "a whole number of " + Twine(least) + " or more",
                   attribute);
  if (*number > most)
    return expects(key, "at most " + Twine(most), attribute);
  value = *number;
  return success();
}

LogicalResult DirectiveReader::integers(StringRef key,
                                        SmallVectorImpl<int64_t> &values,
                                        int64_t least) const {
  Attribute attribute = entries.get(key);
  if (!attribute)
    return success();
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list || list.empty())
    return expects(key, "a list of whole numbers", attribute);
  for (Attribute element : list) {
    std::optional<int64_t> number = toInteger(element);
    if (!number || *number < least)
      return expects(key, "whole numbers of " + Twine(least) + " or more",
                     element);
    values.push_back(*number);
  }
  return success();
}

LogicalResult DirectiveReader::string(StringRef key, std::string &value) const {
  Attribute attribute = entries.get(key);
  if (!attribute)
    return success();
  auto text = dyn_cast<StringAttr>(attribute);
  if (!text || text.empty())
    return expects(key, "a string", attribute);
  value = text.str();
  return success();
}

LogicalResult DirectiveReader::term(StringRef key, NamedAttribute term,
                                    Filter &filter) const {
  StringRef name = term.getName();
  auto text = dyn_cast<StringAttr>(term.getValue());
  Filter::Value value;
  auto expectsTerm = [&](const Twine &what) {
    return expects(key, what + " for '" + name + "'", term.getValue());
  };
  if (!text || text != "*") {
    std::optional<int64_t> number = toInteger(term.getValue());
    if (name == kPass) {
      if (!text || !llvm::is_contained({"F", "B", "BI", "BW"}, text.getValue()))
        return expectsTerm("\"F\", \"B\", \"BI\", \"BW\" or \"*\"");
      value = text.str();
    } else if (name == kSegment || name == kStage) {
      if (!number || *number < 0)
        return expectsTerm("a whole number or \"*\"");
      value = *number;
    } else {
      if (!number && !text)
        return expectsTerm("a whole number, a string or \"*\"");
      if (number)
        value = *number;
      else
        value = text.str();
    }
  }
  filter.terms.emplace_back(name.str(), value);
  return success();
}

LogicalResult DirectiveReader::filter(StringRef key, Attribute value,
                                      Filter &filter) const {
  auto terms = dyn_cast_or_null<DictionaryAttr>(value);
  if (!terms)
    return expects(key, "a filter, as {layer = 3}", value);
  for (NamedAttribute entry : terms)
    if (failed(term(key, entry, filter)))
      return failure();
  return success();
}

LogicalResult DirectiveReader::filter(StringRef key, Filter &result) const {
  return filter(key, entries.get(key), result);
}

LogicalResult
DirectiveReader::groups(StringRef key,
                        SmallVectorImpl<SmallVector<Filter>> &groups) const {
  auto list = dyn_cast_or_null<ArrayAttr>(entries.get(key));
  if (!list || list.size() < 2)
    return expects(key, "a list of two groups of filters or more",
                   entries.get(key));
  for (Attribute element : list) {
    auto filters = dyn_cast<ArrayAttr>(element);
    if (!filters || filters.empty())
      return expects(key, "each group to be a list of filters", element);
    groups.emplace_back();
    for (Attribute value : filters)
      if (failed(filter(key, value, groups.back().emplace_back())))
        return failure();
  }
  return success();
}

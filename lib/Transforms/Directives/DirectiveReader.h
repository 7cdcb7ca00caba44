// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the keys of one directive, with messages that name it.

#ifndef PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVEREADER_H
#define PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVEREADER_H

#include "Directive.h"

namespace mlir::piper {

/// The properties of tasks that filters name.
constexpr StringRef kPass = "PASS", kSegment = "SEGMENT", kStage = "STAGE";

/// The keys of one directive. After a failure nothing more is reported.
class DirectiveReader {
public:
  DirectiveReader(DictionaryAttr entries, int64_t number, StringRef op,
                  const Origins &origins)
      : entries(entries), number(number), op(op), origins(origins) {}

  LogicalResult error(const Twine &message) const {
    return origins.error(number, op) << message.str();
  }
  /// Of another directive.
  std::string name(int64_t other, StringRef otherOp) const {
    return origins.name(other, otherOp);
  }
  /// "key 'devices' expects a list but got 3".
  LogicalResult expects(StringRef key, const Twine &what, Attribute got) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!got)
      os << "nothing";
    else if (isa<UnitAttr>(got))
      os << "null"; // as a file has it
    else
      got.print(os, /*elideType=*/true);
    // A value may be as long as the user likes; a message may not.
    constexpr size_t kShown = 80;
    if (text.size() > kShown)
      text = text.substr(0, kShown) + "...";
    return error("key '" + key + "' expects " + what + " but got " + text);
  }

  LogicalResult keys(ArrayRef<StringRef> legal) const;
  bool has(StringRef key) const { return bool(entries.get(key)); }
  LogicalResult
  integer(StringRef key, int64_t &value, int64_t least,
          int64_t most = std::numeric_limits<int64_t>::max()) const;
  LogicalResult integers(StringRef key, SmallVectorImpl<int64_t> &values,
                         int64_t least) const;
  LogicalResult string(StringRef key, std::string &value) const;
  LogicalResult filter(StringRef key, Filter &filter) const;
  LogicalResult filter(StringRef key, Attribute value, Filter &filter) const;
  LogicalResult groups(StringRef key,
                       SmallVectorImpl<SmallVector<Filter>> &groups) const;

private:
  LogicalResult term(StringRef key, NamedAttribute term, Filter &filter) const;

  DictionaryAttr entries;
  int64_t number;
  StringRef op;
  const Origins &origins;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_DIRECTIVES_DIRECTIVEREADER_H

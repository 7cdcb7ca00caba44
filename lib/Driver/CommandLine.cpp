// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command lines, after LLVM has parsed them and before a pass is made.

#include "Piper/Driver/CommandLine.h"

using namespace llvm;

std::string mlir::piper::findRepeatedFlag(cl::SubCommand &sub) {
  StringRef first;
  for (auto [name, option] : cl::getRegisteredOptions(sub)) {
    cl::NumOccurrencesFlag allowed = option->getNumOccurrencesFlag();
    bool isSingle = allowed == cl::Optional || allowed == cl::Required;
    if (isSingle && option->getNumOccurrences() > 1 &&
        (first.empty() || name < first))
      first = name;
  }
  if (first.empty())
    return "";
  return ("flag '" + Twine(first.size() == 1 ? "-" : "--") + first +
          "' is given twice")
      .str();
}

std::vector<std::string>
mlir::piper::findFileOptions(ArrayRef<const char *> arguments,
                             ArrayRef<StringRef> keys) {
  std::vector<std::string> files;
  for (StringRef argument : arguments)
    for (StringRef key : keys)
      for (size_t at = 0; (at = argument.find(key, at)) != StringRef::npos;
           ++at) {
        StringRef rest = argument.drop_front(at + key.size());
        bool isStart =
            at == 0 || StringRef(" \t={'\"").contains(argument[at - 1]);
        if (!isStart || !rest.consume_front("="))
          continue;
        StringRef ends = " \t})'\"";
        if (rest.starts_with("'") || rest.starts_with("\""))
          ends = rest.take_front(1);
        else if (rest.starts_with("{"))
          ends = "}";
        if (ends.size() == 1)
          rest = rest.drop_front();
        rest = rest.take_until([&](char c) { return ends.contains(c); });
        // A schedule is the name of a kind or a file.
        if (!rest.empty() && (key != "schedule" || rest.ends_with(".json")))
          files.push_back(rest.str());
      }
  return files;
}

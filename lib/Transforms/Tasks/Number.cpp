// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and prints the numbers among the options of passes.

#include "Piper/Transforms/Number.h"

#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>

using namespace llvm;
using namespace mlir::piper;

/// Whether a text that is a number is too large or too small for an f64.
static bool isLost(StringRef given, double value) {
  if (std::isinf(value))
    return !given.contains_insensitive("inf");
  StringRef digits =
      given.take_until([](char c) { return c == 'e' || c == 'E'; });
  return value == 0 && digits.find_first_of("123456789") != StringRef::npos;
}

std::string Number::read(StringRef text) {
  if (text.getAsDouble(value))
    return "a number";
  return isLost(text, value) ? "a number that f64 can hold" : "";
}

raw_ostream &mlir::piper::operator<<(raw_ostream &os, const Number &number) {
  // The fewest digits that read as the same number.
  char text[32];
  char *end = std::to_chars(text, text + sizeof text, number.value).ptr;
  return os << StringRef(text, end - text);
}

bool cl::parser<Number>::parse(Option &option, StringRef, StringRef text,
                               Number &number) {
  std::string expects = number.read(text);
  return !expects.empty() &&
         option.error("expects " + expects + " but got '" + text + "'");
}

void cl::parser<Number>::printOptionDiff(const Option &option,
                                         const Number &number, const OptVal &,
                                         size_t width) const {
  printOptionName(option, width);
  outs() << "= " << number << "\n";
}

// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The type of the numbers among the options of passes. LLVM prints an option of
// type double with 6 digits, which read as another number.

#ifndef PIPER_TRANSFORMS_NUMBER_H
#define PIPER_TRANSFORMS_NUMBER_H

#include "llvm/Support/CommandLine.h"

namespace mlir::piper {

/// A double that prints as a text that reads as the same double.
struct Number {
  Number(double value = 0) : value(value) {}
  operator double() const { return value; }

  /// Takes the value of a text. Returns an empty string, or what is expected
  /// instead.
  std::string read(llvm::StringRef text);

  double value;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Number &number);

} // namespace mlir::piper

template <>
class llvm::cl::parser<mlir::piper::Number>
    : public llvm::cl::basic_parser<mlir::piper::Number> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef name, StringRef text,
             mlir::piper::Number &number);
  StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const Option &option, const mlir::piper::Number &number,
                       const OptVal &init, size_t width) const;
};

#endif // PIPER_TRANSFORMS_NUMBER_H

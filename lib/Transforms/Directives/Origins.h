// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each directive of a module came from, for messages: from the text of
// the module, from a line of a file, or from a key that a user gave.

#ifndef PIPER_LIB_TRANSFORMS_DIRECTIVES_ORIGINS_H
#define PIPER_LIB_TRANSFORMS_DIRECTIVES_ORIGINS_H

#include "Piper/Dialect/ProgramLocation.h"

#include <string>

namespace mlir::piper {

/// Adds directives to those of the module. Each has an origin: a location in a
/// file, or a string, the key. Origins are a part of the module's location, so
/// that the text of a program is the same whatever it came from.
void addDirectives(ModuleOp module, ArrayRef<Attribute> directives,
                   ArrayRef<Attribute> origins);

class Origins {
public:
  /// Of the directives that the module has.
  explicit Origins(ModuleOp module);
  /// Of directives that it is to have.
  Origins(ModuleOp module, ArrayRef<Attribute> origins)
      : module(module), origins(origins) {}

  /// "directive #2 (place)", counted from 1 in the list or file that it stands
  /// in, or "key 'recompute'".
  std::string name(int64_t number, StringRef op) const;
  /// The line of the file, else the place of the module.
  Location place(int64_t number) const;
  InFlightDiagnostic error(int64_t number) const;
  /// The same, which begins with the name.
  InFlightDiagnostic error(int64_t number, StringRef op) const;

private:
  /// None for a directive of the module's text.
  Attribute at(int64_t number) const;

  ModuleOp module;
  SmallVector<Attribute> origins;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_DIRECTIVES_ORIGINS_H
